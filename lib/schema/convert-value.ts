import { expectedList, expectedMember, expectedNumber, expectedText, hasBounds } from './expected.js';
import { FORMATS, isDate, isDateTime } from './format.js';
import { isJsonObject, JsonTextError, parseJson } from './json.js';
import { quote } from './quote.js';
import type { EnumShape, ListShape, MapShape, NumberShape, Shape, TextShape } from './shape.js';

/*
 * Why our own: class-transformer's implicit conversion makes the text "false" true and "" zero, zod's coercion the
 * same, and ajv converts nothing and words its errors for programmers. The model needs each mistake said in the form
 * that it can correct: which argument, what was expected, what it sent.
 */

export type Converted = { readonly value: unknown } | { readonly lines: readonly string[] };

/** A longer text is refused, where no `maxLength` says otherwise. */
export const MAX_TEXT = 65_536;
const MAX_ITEMS = 1_000;
const MAX_KEYS = 256;
const MAX_DIGITS = 100;
/** A longer text is no misspelt member; folding the case of megabytes is not free. */
const MAX_FOLDED = 1_000;
/** Keys that some later merge of the application's would take for something else. */
const DANGEROUS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Checks and converts one value. The lines say what is wrong, each with the path to it. */
export function convertValue(shape: Shape, sent: unknown, path: string): Converted {
  switch (shape.kind) {
    case 'string':
      return toText(shape, sent, path);
    case 'number':
      return toNumber(shape, sent, path);
    case 'integer':
      return toInteger(shape, sent, path);
    case 'boolean':
      if (sent === true || sent === 'true') return { value: true };
      if (sent === false || sent === 'false') return { value: false };
      return wrong(path, 'true or false', sent);
    case 'bigint':
      return toBigInt(sent, path);
    case 'date':
      return toDate(sent, path);
    case 'enum':
      return toMember(shape, sent, path);
    case 'array':
    case 'set':
      return toList(shape, sent, path);
    case 'map':
    case 'record':
      return toMap(shape, sent, path);
    case 'bytes':
      return toBytes(shape.maxBytes, sent, path);
  }
}

function wrong(path: string, expected: string, sent: unknown): Converted {
  return { lines: [`${path}: expected ${expected}, got ${quote(sent)}`] };
}

function toText(shape: TextShape, sent: unknown, path: string): Converted {
  // An integer literal keeps its digits: an id of nineteen digits is one the model forgot to quote.
  const text = typeof sent === 'bigint' || Number.isSafeInteger(sent) ? String(sent) : sent;
  if (typeof text !== 'string') return wrong(path, expectedText(shape), sent);
  if (!text.isWellFormed()) return wrong(path, 'text without unpaired surrogate characters', sent);
  const { minLength = 0, maxLength = MAX_TEXT, pattern, format } = shape;
  // A code point is at most two of the units that `length` counts; counting a text that is far too long is not free.
  const isTooLong = text.length > 2 * maxLength || (text.length > maxLength && countCharacters(text) > maxLength);
  if (isTooLong && shape.maxLength === undefined)
    return wrong(path, `a string of at most ${MAX_TEXT.toString()} characters`, sent);
  const fits =
    !isTooLong &&
    (text.length >= 2 * minLength || countCharacters(text) >= minLength) &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text)) &&
    (format === undefined || FORMATS[format].matches(text));
  return fits ? { value: text } : wrong(path, expectedText(shape), sent);
}

/** As JSON Schema counts them: code points, without a list of them. */
function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // The second half of a pair; the text is well-formed.
    if (unit >= 0xdc00 && unit <= 0xdfff) count--;
  }
  return count;
}

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const SAFE_RANGE = `an integer from ${Number.MIN_SAFE_INTEGER.toString()} to ${Number.MAX_SAFE_INTEGER.toString()}`;

function toInteger(shape: NumberShape, sent: unknown, path: string): Converted {
  const value =
    typeof sent === 'number' ? sent : typeof sent === 'string' && INTEGER.test(sent) ? Number(sent) : Number.NaN;
  if (Number.isSafeInteger(value) && isWithin(shape, value)) return { value: value + 0 };
  const isBeyond = typeof sent === 'bigint' || Number.isInteger(value) || Math.abs(value) === Infinity;
  return wrong(
    path,
    isBeyond && !hasBounds(shape) && !Number.isSafeInteger(value) ? SAFE_RANGE : expectedNumber(shape),
    sent,
  );
}

function toNumber(shape: NumberShape, sent: unknown, path: string): Converted {
  const inexact = `a number that is exact, so ${SAFE_RANGE} or a decimal`;
  if (typeof sent === 'bigint') return wrong(path, inexact, sent);
  const value =
    typeof sent === 'number' ? sent : typeof sent === 'string' && NUMBER.test(sent) ? Number(sent) : Number.NaN;
  // Written out in full, digits beyond 2^53 would be lost unnoticed; with an exponent nobody means them.
  const isExact =
    typeof sent !== 'string' || /[eE]/.test(sent) || Math.abs(value) <= Number.MAX_SAFE_INTEGER || Number.isNaN(value);
  if (!isExact) return wrong(path, inexact, sent);
  return Number.isFinite(value) && isWithin(shape, value)
    ? { value: value + 0 }
    : wrong(path, expectedNumber(shape), sent);
}

function isWithin(shape: NumberShape, value: number): boolean {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum, multipleOf } = shape;
  return (
    value >= minimum &&
    value <= maximum &&
    (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
    (exclusiveMaximum === undefined || value < exclusiveMaximum) &&
    (multipleOf === undefined || isMultiple(value, multipleOf))
  );
}

/** 0.3 is a multiple of 0.1 to everybody but the processor. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient));
}

function toBigInt(sent: unknown, path: string): Converted {
  if (typeof sent === 'bigint') return { value: sent };
  if (Number.isSafeInteger(sent)) return { value: BigInt(sent as number) };
  return typeof sent === 'string' && INTEGER.test(sent) && sent.replace('-', '').length <= MAX_DIGITS
    ? { value: BigInt(sent) }
    : wrong(
        path,
        `a whole number in decimal digits, sent as a string, of at most ${MAX_DIGITS.toString()} digits`,
        sent,
      );
}

const DATE_LIKE = /^\d{4}-\d\d-\d\d(T.*)?$/;

function toDate(sent: unknown, path: string): Converted {
  if (typeof sent === 'string' && (isDate(sent) || isDateTime(sent))) return { value: new Date(sent) };
  const isNoDay = typeof sent === 'string' && DATE_LIKE.test(sent) && !isDate(sent.slice(0, 10));
  return wrong(
    path,
    isNoDay
      ? 'a date that exists in the calendar'
      : 'a date-time like "2026-03-01T09:30:00Z" or a date like "2026-03-01"',
    sent,
  );
}

function toMember(shape: EnumShape, sent: unknown, path: string): Converted {
  const { members } = shape;
  const exact = members.find(
    ({ word, value }) => word === sent || value === sent || (typeof value === 'number' && String(value) === sent),
  );
  if (exact !== undefined) return { value: exact.value };
  if (typeof sent === 'string' && sent.length <= MAX_FOLDED) {
    const folded = sent.toLowerCase();
    const alike = members.filter(({ word }) => word.toLowerCase() === folded);
    if (alike.length === 1) return { value: alike[0]?.value };
  }
  return wrong(path, expectedMember(shape), sent);
}

function toList(shape: ListShape, sent: unknown, path: string): Converted {
  const list = unwrapped(sent);
  const { kind, items, minItems = 0, maxItems = MAX_ITEMS } = shape;
  if (!Array.isArray(list)) return wrong(path, expectedList(shape), sent);
  if (list.length < minItems || list.length > maxItems)
    return wrong(path, expectedList({ ...shape, ...(shape.maxItems === undefined && { maxItems }) }), list);
  const { values, lines } = convertEach(
    list.map((item, index) => [index.toString(), `${path}[${index.toString()}]`, item]),
    items,
  );
  if (lines.length > 0) return { lines };
  return { value: kind === 'set' ? new Set(values.map(([, value]) => value)) : values.map(([, value]) => value) };
}

function toMap(shape: MapShape, sent: unknown, path: string): Converted {
  const map = unwrapped(sent);
  const entries = isJsonObject(map) ? Object.entries(map) : pairsOf(map);
  if (entries === undefined || entries.length > MAX_KEYS)
    return wrong(path, `an object${entries === undefined ? '' : ` of at most ${MAX_KEYS.toString()} keys`}`, sent);
  const lines = entries.flatMap(([key], index) =>
    DANGEROUS.has(key) || !key.isWellFormed() || entries.findIndex(([other]) => other === key) !== index
      ? [`${path}: the key ${quote(key)} is not allowed`]
      : [],
  );
  const converted = convertEach(
    entries.map(([key, value]) => [key, `${path}[${quote(key)}]`, value]),
    shape.values,
  );
  lines.push(...converted.lines);
  if (lines.length > 0) return { lines };
  if (shape.kind === 'map') return { value: new Map(converted.values) };
  return { value: Object.assign(Object.create(null) as object, Object.fromEntries(converted.values)) };
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

function convertEach(
  parts: readonly (readonly [key: string, path: string, sent: unknown])[],
  shape: Shape,
): { readonly values: [string, unknown][]; readonly lines: string[] } {
  const values: [string, unknown][] = [];
  const lines: string[] = [];
  for (const [key, path, sent] of parts) {
    const result = convertValue(shape, sent, path);
    if ('lines' in result) lines.push(...result.lines);
    else values.push([key, result.value]);
  }
  return { values, lines };
}

/** What arrives as text where a list or an object is declared is read once: some models encode it one time too often. */
function unwrapped(sent: unknown): unknown {
  if (typeof sent !== 'string') return sent;
  try {
    return parseJson(sent);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return sent;
  }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function toBytes(maxBytes: number | undefined, sent: unknown, path: string): Converted {
  const most = maxBytes ?? (MAX_TEXT / 4) * 3;
  const expected = `base64 text of at most ${most.toString()} bytes`;
  if (typeof sent !== 'string' || sent.length % 4 !== 0 || sent.length > Math.ceil(most / 3) * 4 || !BASE64.test(sent))
    return wrong(path, expected, sent);
  const bytes = Buffer.from(sent, 'base64');
  // What is left of the last character must be nothing, else two texts would stand for the same bytes.
  return bytes.length <= most && bytes.toString('base64') === sent ? { value: bytes } : wrong(path, expected, sent);
}
