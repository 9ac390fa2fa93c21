import { expectedList, expectedObject } from './expected.js';
import { MAX_ITEMS, UNSAFE } from './call-limits.js';
import { type Converter, wrong } from './converter.js';
import type { Findings, ReadText } from './findings.js';
import { isJsonObject } from './json.js';
import { cut, quote } from './quote.js';
import type { AnyShape, ListShape, MapShape, ObjectShape, UnionShape } from './shape.js';

/* What has parts: lists, maps, objects. */

const MAX_KEYS = 256;

export function listConverter(shape: ListShape, convertItem: Converter): Converter {
  const { kind, minItems = 0, maxItems = MAX_ITEMS } = shape;
  const expected = expectedList(shape);
  const expectedCount = expectedList({ ...shape, maxItems });
  return (sent, path, findings) => {
    const read = readText(sent, findings);
    const list = valueOf(read, sent);
    if (!Array.isArray(list)) return wrongKind(findings, path, expected, sent, read);
    if (list.length < minItems || list.length > maxItems) return wrong(findings, path, expectedCount, list);
    const values: unknown[] = [];
    for (const item of list as unknown[]) {
      if (findings.isEnough()) break;
      values.push(convertItem(item, `${path}[${values.length.toString()}]`, findings));
    }
    findings.close(read);
    if (kind !== 'set') return values;
    const set = new Set(values);
    if (set.size < minItems && values.length === list.length)
      findings.add(`${path}: expected ${expectedCount}, all different, got ${set.size.toString()} different ones`);
    return set;
  };
}

export function mapConverter({ kind }: MapShape, convertValue: Converter): Converter {
  return (sent, path, findings) => {
    const read = readText(sent, findings);
    const map = valueOf(read, sent);
    const entries = isJsonObject(map) ? Object.entries(map) : pairsOf(map);
    if (entries === undefined) return wrongKind(findings, path, 'an object', sent, read);
    if (entries.length > MAX_KEYS)
      return wrong(findings, path, `an object of at most ${MAX_KEYS.toString()} keys`, sent);
    const values = new Map<string, unknown>();
    for (const [key, value] of entries) {
      if (findings.isEnough()) break;
      if (!isHarmlessKey(key) || values.has(key)) findings.add(`${path}: the key ${quote(key)} is not allowed`);
      values.set(key, convertValue(value, `${path}[${quote(key)}]`, findings));
    }
    findings.close(read);
    return kind === 'map' ? values : Object.assign(Object.create(null) as object, Object.fromEntries(values));
  };
}

function isHarmlessKey(key: string): boolean {
  return !UNSAFE.has(key) && key.isWellFormed();
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
  return (sent, path, findings) => {
    const read = readText(sent, findings);
    const object = valueOf(read, sent);
    if (!isJsonObject(object)) return wrongKind(findings, path, expectedObject(shape), sent, read);
    if (known === undefined) list = [...(known = fields())];
    for (const key of Object.keys(object)) {
      if (findings.isEnough()) break;
      if (!known.has(key))
        findings.add(`${path}.${cut(key)}: no such key; the keys are ${[...known.keys()].join(', ')}`);
    }
    const values: Record<string, unknown> = {};
    for (const [name, convert] of list) {
      if (findings.isEnough()) break;
      const value = convert(Object.hasOwn(object, name) ? object[name] : undefined, `${path}.${name}`, findings);
      // What is absent stays absent, so that what a class has from the start remains.
      if (value !== undefined) values[name] = value;
    }
    findings.close(read);
    return values;
  };
}

export function unionConverter({ tag, branches }: UnionShape, convertBranch: readonly Converter[]): Converter {
  const expected = `one of ${branches.map(({ word }) => JSON.stringify(word)).join(', ')}`;
  const convertObject = (object: Readonly<Record<string, unknown>>, path: string, findings: Findings): unknown => {
    const word = Object.hasOwn(object, tag) ? object[tag] : undefined;
    const index = branches.findIndex((branch) => branch.word === word);
    const convert = convertBranch[index];
    if (convert === undefined) return wrong(findings, `${path}.${tag}`, expected, word);
    if (branches[index]?.shape.fields.some(({ name }) => name === tag) === true) return convert(object, path, findings);
    const { [tag]: _, ...rest } = object;
    const value = convert(rest, path, findings);
    return typeof value === 'object' ? { [tag]: word, ...value } : value;
  };
  return (sent, path, findings) => {
    const read = readText(sent, findings);
    const object = valueOf(read, sent);
    if (!isJsonObject(object)) return wrongKind(findings, path, `an object with ${tag}`, sent, read);
    const value = convertObject(object, path, findings);
    findings.close(read);
    return value;
  };
}

/** What another library looks at; what would harm whoever does is refused before. JSON has no cycles. */
export function anyConverter({ mayBeText }: AnyShape): Converter {
  return (sent, path, findings) => {
    if (sent === undefined) return wrong(findings, path, 'a value', sent);
    const read = mayBeText ? undefined : readText(sent, findings);
    if (read !== undefined && 'reason' in read) return wrongKind(findings, path, 'JSON', sent, read);
    const value = valueOf(read, sent);
    checkHarmless(value, path, findings);
    findings.close(read);
    // A copy: what was sent stays as it was, whatever the method does with what it gets.
    return read === undefined && typeof value === 'object' ? structuredClone(value) : value;
  };
}

function checkHarmless(sent: unknown, path: string, findings: Findings): void {
  const next: unknown[] = [sent];
  while (next.length > 0 && !findings.isEnough()) {
    const value = next.pop();
    if (typeof value === 'string' && !value.isWellFormed())
      wrong(findings, path, 'text without unpaired surrogate characters', value);
    if (typeof value === 'object' && value !== null)
      for (const [key, held] of Object.entries(value)) {
        if (!isHarmlessKey(key)) findings.add(`${path}: the key ${quote(key)} is not allowed`);
        next.push(held);
      }
  }
}

/** What arrives as text where a list or an object is declared is read once: some models encode it one time too often. */
function readText(sent: unknown, findings: Findings): ReadText {
  return typeof sent === 'string' ? findings.open(sent) : undefined;
}

function valueOf(read: ReadText, sent: unknown): unknown {
  if (read === undefined) return sent;
  return 'value' in read ? read.value : undefined;
}

function wrongKind(findings: Findings, path: string, expected: string, sent: unknown, read: ReadText): unknown {
  findings.close(read);
  if (read === undefined || 'value' in read) return wrong(findings, path, expected, sent);
  findings.add(`${path}: expected ${expected}, got text that ${read.reason}`);
  return undefined;
}
