import type { ModelProfile } from '../model/chat-model.js';
import type { RunOptions } from '../run-options.js';
import { wireFor, wireProblems } from '../wire/wires.js';
import { toolChoiceProblems } from './chat-options.js';
import { perToolProblems } from './limits.js';
import type { AgentTools } from './tool-list.js';

/** The options that depend on tools or model. */
type Checked = {
  readonly [K in 'limits' | 'toolChoice' | 'wire' | 'parallelToolCalls']?: RunOptions[K] | undefined;
};

/**
 * What of an agent's options does not go with its tools, as far as those are known; with late ones, the run looks again.
 * @param model the one that it is known to have
 */
export function toolProblems(
  where: string,
  { known, late }: AgentTools,
  { limits, toolChoice, wire, parallelToolCalls }: Checked,
  model: { readonly name: string; readonly profile: ModelProfile } | undefined,
): string[] {
  const wires = model === undefined ? [] : wireProblems(where, wire, model, known);
  if (parallelToolCalls === true && wire !== undefined && wire !== 'native')
    wires.push(
      `${where}: parallelToolCalls needs the wire native, and wire is '${wire}', which has one call a turn; take wire: 'native', or leave parallelToolCalls out`,
    );
  if (late.length > 0) return wires;
  return [...perToolProblems(where, limits, known), ...toolChoiceProblems(where, toolChoice, known), ...wires];
}

/** What an agent asks for in vain, since its model's profile leads to a wire that does not have it. */
export function vainOptions(
  where: string,
  { known }: AgentTools,
  { wire, parallelToolCalls }: Checked,
  { name, profile }: { readonly name: string; readonly profile: ModelProfile },
): string[] {
  if (parallelToolCalls !== true || wire !== undefined) return [];
  const taken = wireFor(profile, undefined, known).name;
  return taken === 'native'
    ? []
    : [
        `${where}: parallelToolCalls does nothing, since ${name} leads to the wire ${taken}, which has one call a turn; write wire: 'native' beside it.`,
      ];
}
