import type { ModelProfile, WireName } from '../model/chat-model.js';
import { envelope } from './envelope.js';
import { native } from './native.js';
import { union } from './union.js';
import type { Wire } from './wire.js';

const WIRES: Readonly<Record<WireName, Wire>> = { envelope, union, native };

/** The strongest first: what constrains the model most, without asking for function calls that nobody asked for. */
const STRONGEST: readonly WireName[] = ['union', 'envelope', 'native'];

/** The wire of a run: the one that was asked for, else the one that the model prefers, else the strongest it speaks. */
export function wireFor(profile: ModelProfile, asked: WireName | undefined): Wire {
  const name = asked ?? profile.prefers ?? STRONGEST.find((wire) => profile.wires.includes(wire)) ?? 'envelope';
  return WIRES[name];
}

/** A problem where a model does not speak the wire that was asked for. */
export function wireProblems(
  where: string,
  asked: WireName | undefined,
  { name, profile }: { readonly name: string; readonly profile: ModelProfile },
): string[] {
  if (asked === undefined || profile.wires.includes(asked)) return [];
  return [
    `${where}: the model ${name} does not speak the wire ${asked}, its profile has ${profile.wires.join(', ')}; take one of these, or say in its profile that it does`,
  ];
}
