import type { ModelProfile } from '../model/chat-model.js';
import type { RunOptions } from '../run-options.js';
import { wireProblems } from '../wire/wires.js';
import { toolChoiceProblems } from './chat-options.js';
import { perToolProblems } from './limits.js';
import type { AgentTools } from './tool-list.js';

/**
 * What of an agent's options does not go with its tools, as far as those are known; with late ones, the run looks again.
 * @param model the one that it is known to have
 */
export function toolProblems(
  where: string,
  { known, late }: AgentTools,
  { limits, toolChoice, wire }: { readonly [K in 'limits' | 'toolChoice' | 'wire']?: RunOptions[K] | undefined },
  model: { readonly name: string; readonly profile: ModelProfile } | undefined,
): string[] {
  const wires = model === undefined ? [] : wireProblems(where, wire, model, known);
  if (late.length > 0) return wires;
  return [...perToolProblems(where, limits, known), ...toolChoiceProblems(where, toolChoice, known), ...wires];
}
