import { compileField } from './compile-shape.js';
import { MAX_TEXT } from './convert-text.js';
import { type Finisher, finisherOf, type Unchecked } from './finish.js';
import { cut } from './quote.js';
import type { Parameter, Shape } from './shape.js';

/** The outcome: values for the tool, keyed by name, or the lines that the model is told. */
export type Conversion =
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false;
      readonly lines: readonly string[];
      /** What a rule of the application's threw: for the observer, never for the model. */
      readonly error?: unknown;
    };

/** Checks and converts what the model sent for one tool; a promise only where rules of the application's are asked. */
export type ArgumentsConverter = (sent: Readonly<Record<string, unknown>>) => Conversion | Promise<Conversion>;

const MAX_LINES = 10;
/** In characters, of all lines together. */
const MAX_LINES_TEXT = 2_048;
/** In characters, of all texts of a call together; a parameter that declares more has more. */
const MAX_ARGUMENTS = 262_144;
const MAX_VALUES = 10_000;

/** Made once for a tool. Only own keys are read; a key that is not declared is an error. */
export function compileArguments(parameters: readonly Parameter[]): ArgumentsConverter {
  const limit =
    MAX_ARGUMENTS + parameters.reduce((sum, { shape }) => sum + Math.max(0, declaredText(shape) - MAX_TEXT), 0);
  const fields = parameters.map((field) => ({
    name: field.name,
    convert: compileField(field),
    finish: finisherOf(field.shape),
  }));
  const known = new Set(parameters.map(({ name }) => name));
  const names = parameters.length === 0 ? 'this tool takes none' : `the arguments are ${[...known].join(', ')}`;
  const finished = fields.some(({ finish }) => finish !== undefined);
  return (sent) => {
    const keys = Object.keys(sent);
    let size = 0;
    let unknown = 0;
    for (const key of keys) {
      const value = sent[key];
      if (typeof value === 'string') size += value.length;
      else if (typeof value === 'object' && value !== null) size += sizeOf(value, limit);
      if (!known.has(key)) {
        unknown++;
        size += key.length;
      }
    }
    if (size > limit)
      return { ok: false, lines: [`the arguments are longer than ${limit.toString()} characters; send less`] };
    const lines: string[] = [];
    const values: Record<string, unknown> = {};
    for (const { name, convert } of fields)
      values[name] = convert(Object.hasOwn(sent, name) ? sent[name] : undefined, name, lines);
    if (unknown > 0) for (const key of keys) if (!known.has(key)) lines.push(`${cut(key)}: no such argument; ${names}`);
    if (lines.length > 0) return { ok: false, lines: bounded(lines) };
    return finished ? finish(fields, values) : { ok: true, values };
  };
}

/** What only the application's own rules can say; they may take their time. */
async function finish(
  fields: readonly { readonly name: string; readonly finish: Finisher | undefined }[],
  values: Record<string, unknown>,
): Promise<Conversion> {
  const lines: string[] = [];
  const unchecked: Unchecked[] = [];
  for (const { name, finish: finishField } of fields)
    if (finishField !== undefined) values[name] = await finishField(values[name], name, lines, unchecked);
  if (lines.length === 0) return { ok: true, values };
  return { ok: false, lines: bounded(lines), ...(unchecked[0] !== undefined && { error: unchecked[0].error }) };
}

/** The first lines that fit, and how many do not. */
function bounded(lines: readonly string[]): readonly string[] {
  let length = 0;
  const shown = lines.slice(0, MAX_LINES).filter((line) => (length += line.length) <= MAX_LINES_TEXT);
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `and ${more.toString()} more`] : shown;
}

/** What a parameter may hold by its own declaration, in characters. */
function declaredText(shape: Shape): number {
  if (shape.kind === 'standard') return declaredText(shape.outline);
  if (shape.kind === 'string') return 2 * (shape.maxLength ?? 0);
  return shape.kind === 'bytes' ? Math.ceil((shape.maxBytes ?? 0) / 3) * 4 : 0;
}

/** The length of all texts in a value, or more than the limit: of one that holds itself, too. */
function sizeOf(sent: object, limit: number): number {
  let size = 0;
  let values = 0;
  const next: unknown[] = [sent];
  while (next.length > 0) {
    const value = next.pop();
    if (typeof value === 'string') size += value.length;
    else if (Array.isArray(value)) next.push(...(value as unknown[]));
    else if (typeof value === 'object' && value !== null)
      for (const key of Object.keys(value)) {
        const held = (value as Readonly<Record<string, unknown>>)[key];
        size += key.length;
        if (typeof held === 'string') size += held.length;
        else if (typeof held === 'object') next.push(held);
      }
    if (size > limit || ++values + next.length > MAX_VALUES) return limit + 1;
  }
  return size;
}
