import { isJsonObject, JsonTextError, parseJson } from '../schema/json.js';
import { isPlainObject } from '../schema/canonical.js';

/** Something in the arguments cannot be looked into. */
export class UnseenError extends Error {}

/**
 * Every text in a value, however deep, keys too: numbers, dates and big integers in their text form, bytes as UTF-8, what
 * is in a text that is JSON, what an object of a class shows by its properties, its accessors or its own text. One that
 * holds itself ends. Throws an `UnseenError` where something is hidden altogether: a pattern that was not looked for is
 * not one that is not there.
 */
export function* textsIn(value: unknown): Generator<string> {
  const seen = new Set<object>();
  const next: unknown[] = [value];
  while (next.length > 0) {
    const held = next.pop();
    if (typeof held === 'string') {
      yield held;
      next.push(...insideText(held));
    } else if (typeof held === 'number' || typeof held === 'bigint') yield held.toString();
    if (typeof held !== 'object' || held === null || seen.has(held)) continue;
    seen.add(held);
    next.push(...inside(held));
  }
}

/** On the envelope nested arguments are JSON text, in which a letter can be written in several ways. */
function insideText(text: string): readonly unknown[] {
  if (!/^\s*[{["]/.test(text)) return [];
  try {
    const value = parseJson(text);
    return typeof value === 'string' || Array.isArray(value) || isJsonObject(value) ? [value] : [];
  } catch (error) {
    if (error instanceof JsonTextError) return []; // nor does a conversion read it
    throw error;
  }
}

function inside(held: object): readonly unknown[] {
  if (held instanceof Date) return [Number.isNaN(held.getTime()) ? '' : held.toISOString()];
  if (held instanceof ArrayBuffer) return [Buffer.from(held).toString('utf8')];
  if (ArrayBuffer.isView(held)) return [Buffer.from(held.buffer, held.byteOffset, held.byteLength).toString('utf8')];
  if (held instanceof Set || Array.isArray(held)) return [...(held as Iterable<unknown>)];
  if (held instanceof Map) return [...(held as Map<unknown, unknown>)].flat();
  try {
    return isPlainObject(held) ? shownBy(held) : shownByClass(held);
  } catch (error) {
    if (error instanceof UnseenError) throw error;
    throw new UnseenError('an object that fails when it is read');
  }
}

function shownBy(held: object): readonly unknown[] {
  return Reflect.ownKeys(held)
    .filter((key) => typeof key === 'string')
    .flatMap((key) => [key, memberOf(held, key)]);
}

function shownByClass(held: object): readonly unknown[] {
  const said = ['toJSON', 'toString']
    .map((name) => memberOf(held, name))
    .filter((tell) => typeof tell === 'function' && tell !== OBJECTS_OWN)
    .map((tell) => Reflect.apply(tell as () => unknown, held, ['']) as unknown);
  const shown = [...shownBy(held), ...accessorsOf(held).map((key) => memberOf(held, key)), ...said];
  if (shown.length === 0) throw new UnseenError('an object that shows nothing of what it holds');
  return shown;
}

const memberOf = (held: object, key: string): unknown => Reflect.get(held, key) as unknown;
const OBJECTS_OWN: unknown = memberOf(Object.prototype, 'toString');

function accessorsOf(held: object): readonly string[] {
  const keys: string[] = [];
  for (
    let prototype = Object.getPrototypeOf(held) as object | null;
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null
  )
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (descriptor.get !== undefined) keys.push(key);
  return keys;
}
