import { canonical, isPlainData } from './canonical.js';
import type { Field, ObjectShape, Parameter, Shape } from './shape.js';

/*
 * What makes two calls the same call. Compared is what the method gets, as far as that says what it is: of an instance
 * of a class, the properties that were sent and no others, since a class may fill in the time of day; of what another
 * library makes, plain data alone, since two things that hide what they hold look alike.
 */

/** What one argument counts by: two calls have the same one where either of these is equal. */
export type ArgumentKey = readonly [madeFrom: string, said: string];

/**
 * The keys of a call's arguments, from the values as converted by their shapes, and as they became. What hides what it
 * holds counts by what it was made from; an object that hides nothing by what it holds, too, so that " 42" and "42" are
 * one order.
 */
export function callKeys(
  parameters: readonly Parameter[],
  converted: Readonly<Record<string, unknown>>,
  finished: Readonly<Record<string, unknown>>,
): readonly ArgumentKey[] {
  return parameters.map(({ name, shape }) => [
    safeKeyOf(shape, converted[name], finished[name], madeFrom),
    safeKeyOf(shape, converted[name], finished[name], saidBy),
  ]);
}

/** Whether two calls of one tool have the same arguments. */
export function areSame(one: readonly ArgumentKey[], other: readonly ArgumentKey[]): boolean {
  return (
    one.length === other.length &&
    one.every(([from, said], index) => from === other[index]?.[0] || said === other[index]?.[1])
  );
}

/** How a value counts that the shapes say nothing more of. */
type PlainKey = (converted: unknown, finished: unknown) => string;

/** What fails when it is read, an accessor or a proxy, counts by what it was made from. */
function safeKeyOf(shape: Shape, converted: unknown, finished: unknown, plainKey: PlainKey): string {
  try {
    return keyOf(shape, converted, finished, plainKey);
  } catch {
    return `from ${canonical(converted)}`;
  }
}

function keyOf(shape: Shape, converted: unknown, finished: unknown, plainKey: PlainKey): string {
  if (finished === undefined || finished === null) return canonical(finished);
  switch (shape.kind) {
    case 'object':
      return shape.dto === undefined || !isObject(converted)
        ? plainKey(converted, finished)
        : fieldsKey(shape.dto.name, shape.fields, converted, finished, plainKey);
    case 'union': {
      const branch = branchOf(shape.branches, finished);
      if (branch === undefined || !isObject(converted)) return plainKey(converted, finished);
      return fieldsKey(branch.word, branch.shape.fields, converted, finished, plainKey);
    }
    case 'array':
    case 'set': {
      const [before, after] = [listOf(converted), listOf(finished)];
      if (before === undefined || after?.length !== before.length) return plainKey(converted, finished);
      const keys = before.map((item, index) => keyOf(shape.items, item, after[index], plainKey));
      return finished instanceof Set ? `set [${keys.sort().join()}]` : `[${keys.join()}]`;
    }
    case 'map':
    case 'record': {
      const [before, after] = [entriesOf(converted), entriesOf(finished)];
      if (before === undefined || after === undefined) return plainKey(converted, finished);
      return `map {${[...before]
        .map(([key, value]) => `${JSON.stringify(key)}:${keyOf(shape.values, value, after.get(key), plainKey)}`)
        .sort()
        .join()}}`;
    }
    default:
      return plainKey(converted, finished);
  }
}

/** What does not say what it is counts by what it was made from. */
function madeFrom(converted: unknown, finished: unknown): string {
  return isPlainData(finished) ? canonical(finished) : `from ${canonical(converted)}`;
}

/** An object hides nothing whose class has neither methods nor accessors: what is in it is all there is of it. */
function saidBy(converted: unknown, finished: unknown): string {
  if (isPlainData(finished) || !isObject(finished)) return madeFrom(converted, finished);
  const name = String((finished.constructor as { readonly name?: unknown } | undefined)?.name);
  if (finished instanceof URL) return `${name} ${finished.href}`;
  const seen = Object.fromEntries(Object.entries(finished));
  return isBare(finished) && Object.keys(seen).length > 0 && isPlainData(seen)
    ? `${name} ${canonical(seen)}`
    : madeFrom(converted, finished);
}

function isBare(value: object): boolean {
  for (
    let prototype = Object.getPrototypeOf(value) as object | null;
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null
  )
    if (Reflect.ownKeys(prototype).some((key) => key !== 'constructor')) return false;
  return Reflect.ownKeys(value).length === Object.keys(value).length;
}

function fieldsKey(
  name: string,
  fields: readonly Field[],
  converted: object,
  finished: unknown,
  plainKey: PlainKey,
): string {
  const before = converted as Readonly<Record<string, unknown>>;
  const after = finished as Readonly<Record<string, unknown>>;
  return `${JSON.stringify(name)}{${fields
    .filter((field) => before[field.name] !== undefined)
    .map((field) => {
      const value = after[field.property ?? field.name];
      return `${JSON.stringify(field.name)}:${keyOf(field.shape, before[field.name], value, plainKey)}`;
    })
    .join()}}`;
}

function branchOf(
  branches: readonly { readonly word: string; readonly shape: ObjectShape }[],
  finished: unknown,
): { readonly word: string; readonly shape: ObjectShape } | undefined {
  return branches.find(({ shape: { dto } }) => dto !== undefined && finished instanceof dto.type);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function listOf(value: unknown): readonly unknown[] | undefined {
  if (value instanceof Set) return [...(value as Set<unknown>)];
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
}

function entriesOf(value: unknown): ReadonlyMap<unknown, unknown> | undefined {
  if (value instanceof Map) return value as Map<unknown, unknown>;
  return isObject(value) && !Array.isArray(value) ? new Map(Object.entries(value)) : undefined;
}
