import type { RuleMetadata } from './libraries.js';
import { KINDS, membersOf } from '../kinds.js';
import { isBuiltIn } from './rule-words.js';

/* Which kinds of value class-validator's rules take at all: a rule refuses every value of another kind. */

/** What a value is in the class. */
export type ValueKind =
  'string' | 'number' | 'boolean' | 'bigint' | 'date' | 'bytes' | 'object' | 'array' | 'set' | 'map';

/** As a problem says them. */
export const KIND_WORDS: Readonly<Record<ValueKind, string>> = {
  ...{ string: 'texts', number: 'numbers', boolean: 'true or false', bigint: 'bigints', date: 'dates', bytes: 'bytes' },
  ...{ object: 'objects', array: 'arrays', set: 'Sets', map: 'Maps' },
};

const NUMBER: readonly ValueKind[] = ['number'];
const DATE: readonly ValueKind[] = ['date'];
const ARRAY: readonly ValueKind[] = ['array'];

/** Built-in rules that are not of texts alone; `any` says nothing of the kind. */
const TAKEN: Readonly<Record<string, readonly ValueKind[] | 'any' | 'listed' | 'instance'>> = {
  ...{ isInt: NUMBER, isNumber: NUMBER, min: NUMBER, max: NUMBER },
  ...{ isPositive: NUMBER, isNegative: NUMBER, isDivisibleBy: NUMBER },
  ...{ isBoolean: ['boolean'], isDate: DATE, minDate: DATE, maxDate: DATE },
  ...{ isLatitude: ['string', 'number'], isLongitude: ['string', 'number'] },
  ...{ isArray: ARRAY, arrayContains: ARRAY, arrayNotContains: ARRAY, arrayUnique: ARRAY },
  ...{ arrayMinSize: ARRAY, arrayMaxSize: ARRAY, arrayNotEmpty: ARRAY },
  ...{ isObject: ['date', 'bytes', 'object', 'set', 'map'], isNotEmptyObject: ['bytes', 'object'] },
  ...{ notEquals: 'any', isNotIn: 'any', isNotEmpty: 'any', isDefined: 'any', isOptional: 'any' },
  ...{ nestedValidation: 'any', equals: 'listed', isIn: 'listed', isEnum: 'listed', isInstance: 'instance' },
};

/** The kinds that a rule takes; `undefined` where it says nothing, or is the application's own. */
export function kindsTaken({ type, name, constraints = [] }: RuleMetadata): readonly ValueKind[] | undefined {
  if (type !== 'customValidation' || name === undefined || !isBuiltIn(name)) return undefined;
  const taken = Object.hasOwn(TAKEN, name) ? TAKEN[name] : (['string'] as const);
  if (taken === 'any') return undefined;
  if (taken === 'listed') {
    const values = listedValues(name, constraints[0]);
    return values.length === 0 ? undefined : kindsOf(values);
  }
  return taken === 'instance' ? instanceKinds(constraints[0]) : taken;
}

/** The values that one of the rules of values names: `isEnum`, `isIn`, `isNotIn`, `equals`, `notEquals`. */
export function listedValues(name: string, constraint: unknown): readonly unknown[] {
  if (name === 'equals' || name === 'notEquals') return [constraint];
  // As class-validator asks: `isIn` looks at lists alone, `isEnum` at the values under all keys, those of a list too.
  if (Array.isArray(constraint)) return constraint as unknown[];
  return name === 'isEnum' && typeof constraint === 'object' && constraint !== null
    ? membersOf(constraint as Readonly<Record<string, string | number>>).map(({ value }) => value)
    : [];
}

function kindsOf(values: readonly unknown[]): readonly ValueKind[] {
  const kinds = new Set(values.map((value) => typeof value));
  return (['string', 'number', 'boolean', 'bigint'] as const).filter((kind) => kinds.has(kind));
}

function instanceKinds(type: unknown): readonly ValueKind[] {
  if (typeof type !== 'function') return [];
  const kind = KINDS.get(type);
  if (kind === 'date' || kind === 'bytes' || kind === 'array' || kind === 'set' || kind === 'map') return [kind];
  if (type === Object) return ['date', 'bytes', 'object', 'array', 'set', 'map'];
  return kind === undefined ? ['object'] : [];
}

const SPELLED: Readonly<Record<string, string>> = {
  ...{ isFqdn: 'IsFQDN', isIp: 'IsIP', isIsbn: 'IsISBN', isIsin: 'IsISIN', isIso8601: 'IsISO8601', isJson: 'IsJSON' },
  ...{ isJwt: 'IsJWT', isLength: 'Length', isMacAddress: 'IsMACAddress', isUuid: 'IsUUID' },
};

/** A rule as it is written: `@IsInt()`, `@Min(…, { each: true })`. */
export function written({
  name = '',
  each,
  constraints = [],
}: Pick<RuleMetadata, 'name' | 'each' | 'constraints'>): string {
  const decorator = SPELLED[name] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const options = `${constraints.length > 0 ? '…, ' : ''}{ each: true }`;
  return `@${decorator}(${each === true ? options : ''})`;
}
