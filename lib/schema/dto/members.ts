import type { RuleMetadata } from './libraries.js';
import { memberOf } from '../from-json-schema.js';
import { isOfShape } from '../is-of-shape.js';
import { membersOf as enumMembersOf } from '../kinds.js';
import { listedValues, written } from './rule-kinds.js';
import type { EnumMember, Shape } from '../shape.js';

/* The values that a property may have, where its rules list them. */

const LISTING: ReadonlySet<string | undefined> = new Set(['isEnum', 'isIn', 'equals']);

/**
 * What all of the rules allow, each by the name that an enum has for it, in the order of the first. `undefined` where none
 * lists texts or numbers. `plain` is what the other rules say of a value.
 */
export function membersOf(
  where: string,
  rules: readonly RuleMetadata[],
  plain: Shape | undefined,
  problems: string[],
): readonly EnumMember[] | undefined {
  // An enum knows the names, wherever it stands among the decorators; the last of those is the first to be applied.
  const listing = rules
    .filter(({ name }) => LISTING.has(name))
    .reverse()
    .sort((a, b) => Number(b.name === 'isEnum') - Number(a.name === 'isEnum'));
  const [first, ...others] = listing.map(valuesOf);
  if (first === undefined) return undefined;
  const names = listing.map(written).join(' and ');
  if (first.length === 0) {
    problems.push(`${where}: ${names} names no value, so every call would be refused; name at least one`);
    return undefined;
  }
  if (![first, ...others].every((values) => values.every(isWord))) return undefined;
  const excluded = rules.filter(({ name }) => name === 'isNotIn' || name === 'notEquals').flatMap(valuesOf);
  const allowed = namesOf(listing[0]).filter(
    ({ value }) =>
      others.every((values) => values.includes(value)) &&
      !excluded.includes(value) &&
      (plain === undefined || isOfShape(plain, value)),
  );
  const members = withoutRepetition(where, allowed, problems);
  if (allowed.length === 0)
    problems.push(
      `${where}: no value of ${names} is one that its other rules take, so every call would be refused; make them agree`,
    );
  return Object.freeze(members);
}

function valuesOf({ name = '', constraints: [constraint] = [] }: RuleMetadata): readonly unknown[] {
  // Null is absence, or a condition's; it is no value that could be offered.
  return listedValues(name, constraint).filter((value) => value !== null && value !== undefined);
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' || Number.isFinite(value);
}

function namesOf(rule: RuleMetadata | undefined): readonly EnumMember[] {
  const { name, constraints: [constraint] = [] } = rule ?? {};
  if (rule === undefined) return [];
  if (name === 'isEnum' && !Array.isArray(constraint))
    return enumMembersOf(constraint as Readonly<Record<string, string | number>>);
  return (valuesOf(rule) as readonly (string | number)[]).map(memberOf);
}

function withoutRepetition(where: string, members: readonly EnumMember[], problems: string[]): readonly EnumMember[] {
  const byWord = new Map<string, EnumMember>();
  for (const member of members) {
    const known = byWord.get(member.word);
    if (known === undefined) byWord.set(member.word, member);
    else if (known.value !== member.value)
      problems.push(
        `${where}: ${JSON.stringify(member.word)} would stand for two values, a text and a number; leave one of them out`,
      );
  }
  return [...byWord.values()];
}
