import { describeKind } from '../declaration.js';
import { memberOf, twiceNamed } from './from-json-schema.js';
import type { EnumMember, Shape } from './shape.js';

export type Kind = Shape['kind'];

/** What each type, by name or by class, is here. Any other class must have rules of its own. */
export const KINDS: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'integer'],
  ['boolean', 'boolean'],
  ['array', 'array'],
  ['object', 'record'],
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
  [BigInt, 'bigint'],
  [Date, 'date'],
  [Array, 'array'],
  [Set, 'set'],
  [Map, 'map'],
  [Object, 'record'],
  [Buffer, 'bytes'],
  [Uint8Array, 'bytes'],
]);

/** The members of a declared enumeration; what is wrong goes to `problems`. */
export function enumMembers(where: string, declared: unknown, problems: string[]): readonly EnumMember[] | undefined {
  if (typeof declared !== 'object' || declared === null) {
    problems.push(
      `${where}: found enum ${describeKind(declared)}; write enum: ['a', 'b'] or the enum itself, enum: Status`,
    );
    return undefined;
  }
  const members: EnumMember[] = Array.isArray(declared)
    ? (declared as (string | number)[]).map(memberOf)
    : membersOf(declared as Readonly<Record<string, string | number>>);
  const twice = twiceNamed(members);
  if (members.length === 0) problems.push(`${where}: the enum is empty; name at least one value`);
  else if (members.some(({ value }) => typeof value !== 'string' && !Number.isFinite(value)))
    problems.push(`${where}: the enum has values that are neither texts nor numbers; use an enum, or a list of texts`);
  else if (twice !== undefined)
    problems.push(`${where}: the enum names ${JSON.stringify(twice)} twice; name each value once`);
  return Object.freeze(members);
}

/** Of an enum of TypeScript's, without the way back from number to name that it also has. */
export function membersOf(declared: Readonly<Record<string, string | number>>): EnumMember[] {
  return Object.entries(declared)
    .filter(([name, value]) => !(String(Number(name)) === name && declared[value] === Number(name)))
    .map(([name, value]) => (typeof value === 'string' ? memberOf(value) : { word: name, value }));
}
