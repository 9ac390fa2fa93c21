import type { Parameter } from './parameter.js';

/*
 * Why our own: class-transformer's implicit conversion makes the text "false" true and "" zero, zod's coercion the
 * same, and ajv converts nothing and words its errors for programmers. The model needs each mistake said in the form
 * that it can correct: which argument, what was expected, what it sent.
 */

/** The outcome: values for the tool, keyed by name, or the lines that the model is told. */
export type Conversion =
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly lines: readonly string[] };

const MAX_LINES = 10;
const MAX_QUOTE = 80;
const MAX_MEMBERS = 20;
/** A longer text is no misspelt member; folding the case of megabytes is not free. */
const MAX_FOLDED = 1_000;

/** Checks and converts what the model sent. Only own keys are read; a key that is not declared is an error. */
export function convertArguments(
  parameters: readonly Parameter[],
  sent: Readonly<Record<string, unknown>>,
): Conversion {
  const lines: string[] = [];
  const entries: [string, unknown][] = [];
  for (const parameter of parameters) {
    const result = convertValue(parameter, Object.hasOwn(sent, parameter.name) ? sent[parameter.name] : undefined);
    if ('expected' in result)
      lines.push(`${parameter.name}: expected ${result.expected}, got ${quote(sent, parameter.name)}`);
    else entries.push([parameter.name, result.value]);
  }
  const known = new Set(parameters.map(({ name }) => name));
  const names = parameters.length === 0 ? 'this tool takes none' : `the arguments are ${[...known].join(', ')}`;
  for (const key of Object.keys(sent)) if (!known.has(key)) lines.push(`${cut(key)}: no such argument; ${names}`);
  if (lines.length === 0) return { ok: true, values: Object.freeze(Object.fromEntries(entries)) };
  const more = lines.length - MAX_LINES;
  return { ok: false, lines: more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more.toString()} more`] : lines };
}

type Converted = { readonly value: unknown } | { readonly expected: string };

function convertValue(parameter: Parameter, sent: unknown): Converted {
  if (parameter.optional && isAbsent(parameter, sent)) return { value: undefined };
  switch (parameter.kind) {
    case 'string':
      return parameter.values === undefined ? toText(sent) : toMember(parameter.values, sent);
    case 'number':
      return toNumber(sent);
    case 'integer':
      return toInteger(sent);
    case 'boolean':
      if (sent === true || sent === 'true') return { value: true };
      if (sent === false || sent === 'false') return { value: false };
      return { expected: 'true or false' };
  }
}

/** Absent, `null`, the word `null`; and an empty text where text is not what is asked for. */
function isAbsent(parameter: Parameter, sent: unknown): boolean {
  if (sent === undefined || sent === null) return true;
  if (sent === 'null') return parameter.values?.includes('null') !== true;
  return sent === '' && (parameter.kind !== 'string' || parameter.values?.includes('') === false);
}

function toText(sent: unknown): Converted {
  // An integer literal keeps its digits: an id of nineteen digits is one the model forgot to quote.
  if (typeof sent === 'bigint' || Number.isSafeInteger(sent)) return { value: String(sent) };
  if (typeof sent !== 'string') return { expected: 'a string' };
  return sent.isWellFormed() ? { value: sent } : { expected: 'text without unpaired surrogate characters' };
}

function toMember(values: readonly string[], sent: unknown): Converted {
  if (typeof sent === 'string') {
    if (values.includes(sent)) return { value: sent };
    const folded = sent.length > MAX_FOLDED ? undefined : sent.toLowerCase();
    const alike = values.filter((value) => value.toLowerCase() === folded);
    if (alike.length === 1) return { value: alike[0] };
  }
  const shown = values.slice(0, MAX_MEMBERS).map((value) => JSON.stringify(value));
  return { expected: `one of ${shown.join(', ')}${values.length > MAX_MEMBERS ? ', …' : ''}` };
}

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER_RANGE = `an integer from ${Number.MIN_SAFE_INTEGER.toString()} to ${Number.MAX_SAFE_INTEGER.toString()}`;

function toInteger(sent: unknown): Converted {
  if (typeof sent === 'bigint') return { expected: INTEGER_RANGE };
  const value = typeof sent === 'number' ? sent : typeof sent === 'string' && INTEGER.test(sent) ? Number(sent) : NaN;
  if (Number.isSafeInteger(value)) return { value: value + 0 };
  return { expected: Number.isInteger(value) || Math.abs(value) === Infinity ? INTEGER_RANGE : 'an integer' };
}

function toNumber(sent: unknown): Converted {
  if (typeof sent === 'bigint') return { expected: `a number that is exact, so ${INTEGER_RANGE} or a decimal` };
  const value = typeof sent === 'number' ? sent : typeof sent === 'string' && NUMBER.test(sent) ? Number(sent) : NaN;
  // Written out in full, digits beyond 2^53 would be lost unnoticed; with an exponent nobody means them.
  const exact =
    typeof sent !== 'string' || /[eE]/.test(sent) || Math.abs(value) <= Number.MAX_SAFE_INTEGER || Number.isNaN(value);
  if (!exact) return { expected: `a number that is exact, so ${INTEGER_RANGE} or a decimal` };
  return Number.isFinite(value) ? { value: value + 0 } : { expected: 'a finite number' };
}

/** What was sent, said so that the model knows its own value again; never more than a line of it. */
function quote(sent: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') {
    const text = JSON.stringify(cut(value));
    return value.length > MAX_QUOTE ? `${text} of ${value.length.toString()} characters` : text;
  }
  if (Array.isArray(value)) return `an array of ${value.length.toString()}`;
  if (typeof value === 'object' && value !== null) return `an object with ${Object.keys(value).length.toString()} keys`;
  return value === null ? 'null' : cut((value as number | bigint | boolean).toString());
}

/** At most a line of the model's own text, well-formed and without line breaks of its own. */
export function cut(text: string): string {
  const line = text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text;
  // eslint-disable-next-line no-control-regex
  return line.toWellFormed().replace(/[\u0000-\u001f\u007f\u2028\u2029]/g, ' ');
}
