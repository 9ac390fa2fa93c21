import { expectedList, expectedObject } from './expected.js';
import { type Converter, wrong } from './converter.js';
import { isJsonObject, JsonTextError, parseJson } from './json.js';
import { cut, quote } from './quote.js';
import type { AnyShape, ListShape, MapShape, ObjectShape, UnionShape } from './shape.js';

/* What has parts: lists, maps, objects. */

const MAX_ITEMS = 1_000;
const MAX_KEYS = 256;
/** Keys that some later merge of the application's would take for something else. */
const DANGEROUS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function listConverter(shape: ListShape, convertItem: Converter): Converter {
  const { kind, minItems = 0, maxItems = MAX_ITEMS } = shape;
  const expected = expectedList(shape);
  const expectedCount = expectedList({ ...shape, maxItems });
  return (sent, path, lines) => {
    const list = unwrapped(sent);
    if (!Array.isArray(list)) return wrongKind(lines, path, expected, sent, list);
    if (list.length < minItems || list.length > maxItems) return wrong(lines, path, expectedCount, list);
    const values = list.map((item, index) => convertItem(item, `${path}[${index.toString()}]`, lines));
    return kind === 'set' ? new Set(values) : values;
  };
}

export function mapConverter({ kind }: MapShape, convertValue: Converter): Converter {
  return (sent, path, lines) => {
    const map = unwrapped(sent);
    const entries = isObject(map) ? Object.entries(map) : pairsOf(map);
    if (entries === undefined) return wrongKind(lines, path, 'an object', sent, map);
    if (entries.length > MAX_KEYS) return wrong(lines, path, `an object of at most ${MAX_KEYS.toString()} keys`, sent);
    const values = new Map<string, unknown>();
    for (const [key, value] of entries) {
      if (!isHarmlessKey(key) || values.has(key)) lines.push(`${path}: the key ${quote(key)} is not allowed`);
      values.set(key, convertValue(value, `${path}[${quote(key)}]`, lines));
    }
    return kind === 'map' ? values : Object.assign(Object.create(null) as object, Object.fromEntries(values));
  };
}

function isHarmlessKey(key: string): boolean {
  return !DANGEROUS.has(key) && key.isWellFormed();
}

/** A list of `{ key, value }`, which is how a map travels where a schema must name every key. */
function pairsOf(sent: unknown): [string, unknown][] | undefined {
  if (!Array.isArray(sent)) return undefined;
  const pairs = (sent as unknown[]).map((pair): [string, unknown] | undefined =>
    isJsonObject(pair) && typeof pair.key === 'string' && 'value' in pair && Object.keys(pair).length === 2
      ? [pair.key, pair.value]
      : undefined,
  );
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

/** `fields` is asked for with the first value: a class may hold itself. */
export function objectConverter(shape: ObjectShape, fields: () => ReadonlyMap<string, Converter>): Converter {
  let known: ReadonlyMap<string, Converter> | undefined;
  let list: readonly (readonly [name: string, convert: Converter])[] = [];
  return (sent, path, lines) => {
    const object = unwrapped(sent);
    if (!isObject(object)) return wrongKind(lines, path, expectedObject(shape), sent, object);
    if (known === undefined) list = [...(known = fields())];
    const keys = Object.keys(object);
    for (const key of keys)
      if (!known.has(key)) {
        lines.push(`${path}.${cut(key)}: no such key; the keys are ${[...known.keys()].join(', ')}`);
        if (keys.length > MAX_KEYS) return undefined;
      }
    const values: Record<string, unknown> = {};
    for (const [name, convert] of list) {
      const value = convert(Object.hasOwn(object, name) ? object[name] : undefined, `${path}.${name}`, lines);
      // What is absent stays absent, so that what a class has from the start remains.
      if (value !== undefined) values[name] = value;
    }
    return values;
  };
}

export function unionConverter({ tag, branches }: UnionShape, convertBranch: readonly Converter[]): Converter {
  const expected = `one of ${branches.map(({ word }) => JSON.stringify(word)).join(', ')}`;
  return (sent, path, lines) => {
    const object = unwrapped(sent);
    if (!isObject(object)) return wrongKind(lines, path, `an object with ${tag}`, sent, object);
    const word = Object.hasOwn(object, tag) ? object[tag] : undefined;
    const index = branches.findIndex((branch) => branch.word === word);
    const convert = convertBranch[index];
    if (convert === undefined) return wrong(lines, `${path}.${tag}`, expected, word);
    if (branches[index]?.shape.fields.some(({ name }) => name === tag) === true) return convert(object, path, lines);
    const { [tag]: _, ...rest } = object;
    const value = convert(rest, path, lines);
    return typeof value === 'object' ? { [tag]: word, ...value } : value;
  };
}

/** What another library looks at; what would harm whoever does is refused before. JSON has no cycles. */
export function anyConverter({ mayBeText }: AnyShape): Converter {
  return (sent, path, lines) => {
    const read = mayBeText ? sent : unwrapped(sent);
    if (read instanceof Untrusted) return wrongKind(lines, path, 'JSON', sent, read);
    checkHarmless(read, path, lines);
    return read;
  };
}

function checkHarmless(sent: unknown, path: string, lines: string[]): void {
  const next: unknown[] = [sent];
  while (next.length > 0) {
    const value = next.pop();
    if (typeof value === 'string' && !value.isWellFormed())
      wrong(lines, path, 'text without unpaired surrogate characters', value);
    if (Array.isArray(value)) next.push(...(value as unknown[]));
    else if (typeof value === 'object' && value !== null)
      for (const [key, held] of Object.entries(value)) {
        if (!isHarmlessKey(key)) lines.push(`${path}: the key ${quote(key)} is not allowed`);
        next.push(held);
      }
  }
}

/** Text that is JSON, but none that can be trusted. */
class Untrusted {
  constructor(readonly reason: string) {}
}

/** What arrives as text where a list or an object is declared is read once: some models encode it one time too often. */
function unwrapped(sent: unknown): unknown {
  if (typeof sent !== 'string') return sent;
  try {
    return parseJson(sent);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return error.isSyntax ? sent : new Untrusted(error.message);
  }
}

function isObject(read: unknown): read is Readonly<Record<string, unknown>> {
  return isJsonObject(read) && !(read instanceof Untrusted);
}

function wrongKind(lines: string[], path: string, expected: string, sent: unknown, read: unknown): unknown {
  if (!(read instanceof Untrusted)) return wrong(lines, path, expected, sent);
  lines.push(`${path}: expected ${expected}, got text that ${read.reason}`);
  return undefined;
}
