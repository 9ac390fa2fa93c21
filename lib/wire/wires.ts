import type { ModelProfile, WireName } from '../model/chat-model.js';
import { envelope } from './envelope.js';
import { native } from './native.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import { union } from './union.js';
import type { Wire } from './wire.js';

const WIRES: Readonly<Record<WireName, Wire>> = { envelope, union, native };

/** The strongest first: what constrains the model most, without asking for function calls that nobody asked for. */
const STRONGEST: readonly WireName[] = ['union', 'envelope', 'native'];

/**
 * The wire of a run: the one that was asked for, else the one that the model prefers, else the strongest that it speaks
 * and that the tools fit into: all of them together may be more than a provider takes in one schema.
 */
export function wireFor(profile: ModelProfile, asked: WireName | undefined, toolset: CompiledToolset): Wire {
  const { wires, prefers } = profile;
  const fits = (wire: WireName): boolean => wires.includes(wire) && WIRES[wire].excess(toolset).length === 0;
  const name = asked ?? [prefers, ...STRONGEST].find((wire) => wire !== undefined && fits(wire)) ?? 'envelope';
  return WIRES[name];
}

/** A problem where a model does not speak the wire that was asked for. */
export function wireProblems(
  where: string,
  asked: WireName | undefined,
  { name, profile }: { readonly name: string; readonly profile: ModelProfile },
  toolset: CompiledToolset,
): string[] {
  if (asked === undefined) return [];
  if (profile.wires.includes(asked))
    return WIRES[asked]
      .excess(toolset)
      .map((found) => `${where}, wire ${asked}: all tools together have ${found}; declare less, or take the envelope`);
  return [
    `${where}: the model ${name} does not speak the wire ${asked}, its profile has ${profile.wires.join(', ')}; take one of these, or say in its profile that it does`,
  ];
}
