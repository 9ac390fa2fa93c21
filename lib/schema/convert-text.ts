import { expectedMember, expectedText } from './expected.js';
import { FORMATS, isDate, isDateTime } from './format.js';
import { type Converter, wrong } from './converter.js';
import type { BytesShape, EnumShape, TextShape } from './shape.js';

/* What travels as text: texts, dates, bytes, big integers, the words of an enumeration. */

/** A longer text is refused, where no `maxLength` says otherwise. */
export const MAX_TEXT = 65_536;
/** The same where a `pattern` looks at it: some take the square of the length. */
export const MAX_PATTERN_TEXT = 2_048;
const MAX_DIGITS = 100;
/** A longer text is no misspelt member; folding the case of megabytes is not free. */
const MAX_FOLDED = 1_000;

export function textConverter(shape: TextShape): Converter {
  const { minLength = 0, pattern, format } = shape;
  const isOpen = shape.maxLength === undefined;
  const maxLength = shape.maxLength ?? (pattern === undefined ? MAX_TEXT : MAX_PATTERN_TEXT);
  const expected = expectedText(shape);
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const matches = format === undefined ? undefined : FORMATS[format].matches;
  return (sent, path, findings) => {
    // An integer literal keeps its digits: an id of nineteen digits is one the model forgot to quote.
    const text = typeof sent === 'bigint' || Number.isSafeInteger(sent) ? String(sent) : sent;
    if (typeof text !== 'string') return wrong(findings, path, expected, sent);
    if (!text.isWellFormed()) return wrong(findings, path, 'text without unpaired surrogate characters', sent);
    const { length } = text;
    // A code point is at most two of the units that `length` counts; counting a text that is far too long is not free.
    if (length > maxLength && (length > 2 * maxLength || countCharacters(text) > maxLength))
      return wrong(findings, path, isOpen ? `a string of at most ${maxLength.toString()} characters` : expected, sent);
    if (length < 2 * minLength && countCharacters(text) < minLength) return wrong(findings, path, expected, sent);
    if (expression?.test(text) === false || matches?.(text) === false) return wrong(findings, path, expected, sent);
    return text;
  };
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

const DIGITS = /^-?\d+$/;

export const convertBigInt: Converter = (sent, path, findings) => {
  if (typeof sent === 'bigint') return sent;
  if (Number.isSafeInteger(sent)) return BigInt(sent as number);
  if (typeof sent === 'string' && DIGITS.test(sent) && sent.replace('-', '').length <= MAX_DIGITS) return BigInt(sent);
  const expected = `a whole number in decimal digits, sent as a string, of at most ${MAX_DIGITS.toString()} digits`;
  return wrong(findings, path, expected, sent);
};

const DATE_LIKE = /^\d{4}-\d\d-\d\d(T.*)?$/;

export const convertDate: Converter = (sent, path, findings) => {
  if (typeof sent === 'string' && (isDate(sent) || isDateTime(sent))) {
    const date = new Date(sent);
    const year = date.getUTCFullYear();
    // An offset may lead out of the years that four digits can say.
    if (year >= 0 && year <= 9_999) return date;
  }
  const isNoDay = typeof sent === 'string' && DATE_LIKE.test(sent) && !isDate(sent.slice(0, 10));
  return wrong(
    findings,
    path,
    isNoDay
      ? 'a date that exists in the calendar'
      : 'a date-time like "2026-03-01T09:30:00Z" or a date like "2026-03-01"',
    sent,
  );
};

export function enumConverter(shape: EnumShape): Converter {
  const exact = new Map<unknown, string | number>();
  const folded = new Map<string, readonly (string | number)[]>();
  // A word wins over the digits of another member's value.
  for (const { value } of shape.members) exact.set(String(value), value).set(value, value);
  for (const { word, value } of shape.members) {
    exact.set(word, value);
    const key = word.toLowerCase();
    folded.set(key, [...(folded.get(key) ?? []), value]);
  }
  return (sent, path, findings) => {
    const value = exact.get(sent);
    if (value !== undefined) return value;
    const alike = typeof sent === 'string' && sent.length <= MAX_FOLDED ? folded.get(sent.toLowerCase()) : undefined;
    return alike?.length === 1 ? alike[0] : wrong(findings, path, expectedMember(shape), sent);
  };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Base64 is four characters for three bytes. */
const MAX_BYTES = (MAX_TEXT / 4) * 3;

export function bytesConverter({ maxBytes = MAX_BYTES }: BytesShape): Converter {
  const expected = `base64 text of at most ${maxBytes.toString()} bytes`;
  const maxLength = Math.ceil(maxBytes / 3) * 4;
  return (sent, path, findings) => {
    if (typeof sent !== 'string' || sent.length % 4 !== 0 || sent.length > maxLength || !BASE64.test(sent))
      return wrong(findings, path, expected, sent);
    const bytes = Buffer.from(sent, 'base64');
    // What is left of the last character must be nothing, else two texts would stand for the same bytes.
    return bytes.length <= maxBytes && bytes.toString('base64') === sent
      ? bytes
      : wrong(findings, path, expected, sent);
  };
}
