import { convertValue, MAX_TEXT } from './convert-value.js';
import { cut } from './quote.js';
import type { Parameter } from './shape.js';

/** The outcome: values for the tool, keyed by name, or the lines that the model is told. */
export type Conversion =
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly lines: readonly string[] };

const MAX_LINES = 10;
/** In characters, of all lines together. */
const MAX_LINES_TEXT = 2_048;
/** In characters, of all texts of a call together; a parameter that declares more has more. */
const MAX_ARGUMENTS = 262_144;

/** Checks and converts what the model sent. Only own keys are read; a key that is not declared is an error. */
export function convertArguments(
  parameters: readonly Parameter[],
  sent: Readonly<Record<string, unknown>>,
): Conversion {
  const limit =
    MAX_ARGUMENTS + parameters.reduce((sum, { shape }) => sum + Math.max(0, declaredText(shape) - MAX_TEXT), 0);
  if (!isShorter(sent, limit))
    return { ok: false, lines: [`the arguments are longer than ${limit.toString()} characters; send less`] };
  const lines: string[] = [];
  const entries: [string, unknown][] = [];
  for (const parameter of parameters) {
    const { name } = parameter;
    const result = convertParameter(parameter, Object.hasOwn(sent, name) ? sent[name] : undefined);
    if ('lines' in result) lines.push(...result.lines);
    else entries.push([name, result.value]);
  }
  const known = new Set(parameters.map(({ name }) => name));
  const names = parameters.length === 0 ? 'this tool takes none' : `the arguments are ${[...known].join(', ')}`;
  for (const key of Object.keys(sent)) if (!known.has(key)) lines.push(`${cut(key)}: no such argument; ${names}`);
  return lines.length === 0
    ? { ok: true, values: Object.freeze(Object.fromEntries(entries)) }
    : { ok: false, lines: bounded(lines) };
}

function convertParameter(parameter: Parameter, sent: unknown): ReturnType<typeof convertValue> {
  const { name, shape, optional, nullable, makeDefault } = parameter;
  const isNullWord = sent === 'null' && !(shape.kind === 'enum' && shape.members.some(({ word }) => word === 'null'));
  if (nullable && (sent === null || isNullWord)) return { value: null };
  const isEmpty = sent === '' && shape.kind !== 'string' && !(shape.kind === 'enum' && hasEmptyMember(shape.members));
  if (optional && (sent === undefined || sent === null || isNullWord || isEmpty)) return { value: makeDefault?.() };
  return convertValue(shape, sent, name);
}

function hasEmptyMember(members: readonly { readonly word: string }[]): boolean {
  return members.some(({ word }) => word === '');
}

/** The first lines that fit, and how many do not. */
function bounded(lines: readonly string[]): readonly string[] {
  let length = 0;
  const shown = lines.slice(0, MAX_LINES).filter((line) => (length += line.length) <= MAX_LINES_TEXT);
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `and ${more.toString()} more`] : shown;
}

/** What a parameter may hold by its own declaration, in characters. */
function declaredText(shape: Parameter['shape']): number {
  if (shape.kind === 'string') return 2 * (shape.maxLength ?? 0);
  return shape.kind === 'bytes' ? Math.ceil((shape.maxBytes ?? 0) / 3) * 4 : 0;
}

/** Whether all texts in a value are shorter than a limit together. JSON has no cycles, and was bounded in depth when it was read. */
function isShorter(sent: unknown, limit: number): boolean {
  let length = 0;
  const next: unknown[] = [sent];
  while (next.length > 0) {
    const value = next.pop();
    if (typeof value === 'string') length += value.length;
    else if (Array.isArray(value)) next.push(...(value as unknown[]));
    else if (typeof value === 'object' && value !== null)
      for (const [key, held] of Object.entries(value)) {
        length += key.length;
        next.push(held);
      }
    if (length > limit) return false;
  }
  return true;
}
