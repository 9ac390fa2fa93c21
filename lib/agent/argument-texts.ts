import { JsonTextError, parseJson } from '../schema/json.js';
import { isPlainObject } from '../schema/canonical.js';

/** Something in the arguments cannot be looked into. */
export class UnseenError extends Error {}

/** Beyond this nobody looks. What a model can send has less: 10,000 values and 32 levels in all its texts. */
const MAX_VALUES = 100_000;

/**
 * Every text in a value, however deep, keys too: numbers, dates and big integers in their text form, bytes as UTF-8, what
 * is in a text that is JSON, what an object of a class shows by its properties, its accessors or its own text. One that
 * holds itself ends.
 * @param isForeign the value was made by a schema of another library, and may hide what it was made from: throws an
 * `UnseenError` where something shows nothing of itself, since a pattern that was not looked for is not one that is not
 * there. Other values were made from what was sent, which is looked at as well.
 */
export function* textsIn(value: unknown, isForeign: boolean): Generator<string> {
  const seen = new Set<object>();
  const next: unknown[] = [value];
  let left = MAX_VALUES;
  while (next.length > 0) {
    // An accessor may give a new object each time.
    if (left-- === 0) throw new UnseenError('more values than can be looked at');
    const held = next.pop();
    if (typeof held === 'string') {
      yield held;
      next.push(...insideText(held));
    } else if (typeof held === 'number' || typeof held === 'bigint') yield held.toString();
    if (typeof held !== 'object' || held === null || seen.has(held)) continue;
    seen.add(held);
    next.push(...shownOf(held, isForeign));
  }
}

/** On the envelope nested arguments are JSON text, in which a letter can be written in several ways. */
function insideText(text: string): readonly unknown[] {
  if (!/^\s*[{["]/.test(text)) return [];
  try {
    return [parseJson(text)];
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    if (error.isSyntax) return [];
    // A tool may read what is not read here: a key that is given twice, or deeper and longer than anybody needs.
    throw new UnseenError('a text of JSON that is not read here');
  }
}

function shownOf(held: object, isForeign: boolean): readonly unknown[] {
  try {
    return inside(held);
  } catch (error) {
    if (!isForeign) return [];
    if (error instanceof UnseenError) throw error;
    throw new UnseenError('an object that fails when it is read');
  }
}

function inside(held: object): readonly unknown[] {
  if (held instanceof Date) return [Number.isNaN(held.getTime()) ? '' : held.toISOString()];
  if (held instanceof ArrayBuffer) return [Buffer.from(held).toString('utf8')];
  if (ArrayBuffer.isView(held)) return [Buffer.from(held.buffer, held.byteOffset, held.byteLength).toString('utf8')];
  if (held instanceof Set || Array.isArray(held)) return [...(held as Iterable<unknown>)];
  if (held instanceof Map) return [...(held as Map<unknown, unknown>)].flat();
  return isPlainObject(held) ? shownBy(held) : shownByClass(held);
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
