/*
 * Why our own: JSON.parse rounds an integer of nineteen digits and lets the last of two equal keys win, and both would
 * run a call the model did not make. lossless-json keeps the digits but accepts two equal keys with equal values and
 * recurses without a bound; jsonc-parser repairs what it reads. Here JSON.parse decides what is JSON; one pass over the
 * text that it accepted then keeps the digits, finds the equal keys and bounds the depth.
 */

/** The text is no JSON, or none that can be trusted. The message quotes nothing of it. */
export class JsonTextError extends Error {
  /** It is no JSON at all. */
  get isSyntax(): boolean {
    return this.message === NOT_JSON;
  }
}

const NOT_JSON = 'is not valid JSON';

const MAX_CHARACTERS = 4 * 1024 * 1024;
const MAX_DEPTH = 32;
const MAX_VALUES = 10_000;
/** `BigInt` takes seconds for a million. */
const MAX_DIGITS = 100;

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

interface Open {
  readonly container: unknown[] | Map<string, unknown>;
  key: string | undefined;
}

/** How a JSON text is read. */
export interface ParseOptions {
  /** `as-text`: every number is the text it was written as. */
  readonly numbers?: 'as-text';
  /** Where less is left than the 10,000 values and 32 levels of one text. */
  readonly maxValues?: number;
  readonly maxDepth?: number;
  /** Told how many values there were, and how deep. */
  readonly counted?: (values: number, depth: number) => void;
}

/**
 * Reads one JSON text strictly. An integer literal beyond 2^53 becomes a `bigint`, and another literal that no number
 * is as exact as stays the text that it is, so that no digit is lost. Throws a `JsonTextError` for anything else than
 * JSON, a key given twice, and more than 32 levels, 10,000 values or 4 Mi characters.
 */
export function parseJson(text: string, options: ParseOptions = {}): unknown {
  const { numbers, maxValues = MAX_VALUES, maxDepth = MAX_DEPTH } = options;
  const stack: Open[] = [];
  let result: unknown;
  let values = 0;
  let depth = 0;
  const put = (value: unknown): void => {
    if (++values > maxValues) throw new JsonTextError(`holds more than ${MAX_VALUES.toString()} values`);
    const top = stack.at(-1);
    if (top === undefined) result = value;
    else if (Array.isArray(top.container)) top.container.push(value);
    else {
      top.container.set(top.key as string, value);
      top.key = undefined;
    }
  };
  for (const { token } of jsonTokens(text)) {
    const top = stack.at(-1);
    if (token === '{' || token === '[') {
      if (stack.length >= maxDepth) throw new JsonTextError(`is nested deeper than ${MAX_DEPTH.toString()} levels`);
      stack.push({ container: token === '[' ? [] : new Map<string, unknown>(), key: undefined });
      depth = Math.max(depth, stack.length);
    } else if (token === '}' || token === ']') {
      const { container } = stack.pop() as Open;
      // fromEntries defines its keys, so that "__proto__" is one like any other
      put(Array.isArray(container) ? container : Object.fromEntries(container));
    } else if (token.startsWith('"')) {
      const string = JSON.parse(token) as string;
      if (top === undefined || Array.isArray(top.container) || top.key !== undefined) put(string);
      else if (top.container.has(string)) throw new JsonTextError('gives a key twice');
      else top.key = string;
    } else if (token !== ',' && token !== ':')
      put(WORDS.has(token) ? WORDS.get(token) : numbers === 'as-text' ? token : readNumber(token));
  }
  options.counted?.(values, depth);
  return result;
}

/** The tokens of a JSON text, each with where it begins; throws a `JsonTextError` where it is none. */
export function* jsonTokens(text: string): Generator<{ readonly token: string; readonly at: number }> {
  if (text.length > MAX_CHARACTERS) throw new JsonTextError('is too long');
  try {
    JSON.parse(text);
  } catch {
    throw new JsonTextError(NOT_JSON);
  }
  const space = /[ \t\n\r]*/y;
  const plain = /[^ \t\n\r,:[\]{}"]+/y;
  for (let at = skip(space, text, 0); at < text.length;) {
    const first = text[at] as string;
    const end = first === '"' ? endOfString(text, at) : ',:[]{}'.includes(first) ? at + 1 : skip(plain, text, at);
    yield { token: text.slice(at, end), at };
    at = skip(space, text, end);
  }
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

/** Where a string that begins at `at` ends: after the first quote that no backslash escapes. */
function endOfString(text: string, at: number): number {
  let end = at + 1;
  for (;;) {
    const quote = text.indexOf('"', end);
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    end = quote + 1;
  }
}

function readNumber(literal: string): number | bigint | string {
  if (literal.length > MAX_DIGITS)
    throw new JsonTextError(`holds a number of more than ${MAX_DIGITS.toString()} characters`);
  const value = Number(literal);
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(literal)) return isAsWritten(literal, value) ? value : literal;
  return BigInt(literal);
}

/** Whether a number says all that its literal does: up to 15 digits always do, an overflow never. */
function isAsWritten(literal: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  return literal.length <= 15 || digitsOf(literal) === digitsOf(value.toString());
}

/** The significant digits and where they stand: equal for equal numbers, however they are written. */
function digitsOf(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${(Number(exponent) - fraction.length + digits.length - significant.length).toString()}`;
}

/** JSON text in which a `bigint` keeps its digits as a number literal, so that the model reads its own value again. */
export function writeJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `${JSON.stringify(key)}:${writeJson(member)}`)
      .join(',')}}`;
  return JSON.stringify(value ?? null);
}

/** Whether a value read from JSON is an object, neither `null` nor an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
