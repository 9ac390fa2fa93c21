import { MAX_VALUES } from './call-limits.js';
import { type ArgumentKey, callKeys } from './call-key.js';
import { compileField } from './compile-shape.js';
import { MAX_TEXT } from './convert-text.js';
import { Findings } from './findings.js';
import { type Finisher, finisherOf, type Unchecked } from './finish.js';
import { cut } from './quote.js';
import type { Parameter, Shape } from './shape.js';

/** The outcome: values for the tool, keyed by name, or the lines that the model is told. */
export type Conversion =
  | {
      readonly ok: true;
      readonly values: Readonly<Record<string, unknown>>;
      /** What makes two calls the same call: see `areSame`. */
      readonly keys: () => readonly ArgumentKey[];
    }
  | {
      readonly ok: false;
      readonly lines: readonly string[];
      /** What a rule of the application's threw: for the observer, never for the model. */
      readonly error?: unknown;
    };

/** Checks and converts what the model sent for one tool; a promise only where rules of the application's are asked. */
export type ArgumentsConverter = (sent: Readonly<Record<string, unknown>>) => Conversion | Promise<Conversion>;

/** In characters, of all texts of a call together; a parameter that declares more has more. */
const MAX_ARGUMENTS = 262_144;

interface CompiledField {
  readonly parameter: Parameter;
  readonly convert: ReturnType<typeof compileField>;
  readonly finish: Finisher | undefined;
}

/** Made once for a tool. Only own keys are read; a key that is not declared is an error. */
export function compileArguments(parameters: readonly Parameter[]): ArgumentsConverter {
  const limit =
    MAX_ARGUMENTS + parameters.reduce((sum, { shape }) => sum + Math.max(0, declaredText(shape) - MAX_TEXT), 0);
  const fields = parameters.map((parameter): CompiledField => ({
    parameter,
    convert: compileField(parameter),
    finish: finisherOf(parameter.shape, parameter.optional),
  }));
  const known = new Set(parameters.map(({ name }) => name));
  const names = parameters.length === 0 ? 'this tool takes none' : `the arguments are ${[...known].join(', ')}`;
  const finished = fields.some(({ finish }) => finish !== undefined);
  return (sent) => {
    const tooLong = excess(sent, known, limit);
    if (tooLong !== undefined) return { ok: false, lines: [tooLong] };
    const findings = new Findings();
    const values: Record<string, unknown> = {};
    for (const { parameter, convert } of fields) {
      const { name } = parameter;
      values[name] = convert(Object.hasOwn(sent, name) ? sent[name] : undefined, name, findings);
    }
    for (const name of Object.keys(sent))
      if (!known.has(name)) findings.add(`${cut(name)}: no such argument; ${names}`);
    if (findings.count > 0) return { ok: false, lines: findings.lines };
    if (finished) return finish(fields, values);
    return { ok: true, values, keys: () => callKeys(parameters, values, values) };
  };
}

/** What only the application's own rules can say; they may take their time. */
async function finish(fields: readonly CompiledField[], converted: Record<string, unknown>): Promise<Conversion> {
  const findings = new Findings();
  const unchecked: Unchecked[] = [];
  const values: Record<string, unknown> = {};
  for (const { parameter, finish: finishField } of fields) {
    const { name } = parameter;
    const value = converted[name];
    const finished = finishField?.(value, name, findings, unchecked) ?? { value };
    values[name] = (finished instanceof Promise ? await finished : finished).value;
  }
  if (findings.count > 0)
    return { ok: false, lines: findings.lines, ...(unchecked[0] !== undefined && { error: unchecked[0].error }) };
  return {
    ok: true,
    values,
    keys: () =>
      callKeys(
        fields.map(({ parameter }) => parameter),
        converted,
        values,
      ),
  };
}

/** What is too much of it, before anything is looked at. */
function excess(
  sent: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  limit: number,
): string | undefined {
  let size = 0;
  for (const name of Object.keys(sent)) {
    const value = sent[name];
    if (!known.has(name)) size += name.length;
    if (typeof value === 'string') size += value.length;
    else if (typeof value === 'object' && value !== null) {
      const inner = sizeOf(value, limit);
      if (inner === undefined) return `the arguments hold more than ${MAX_VALUES.toString()} values; send less`;
      size += inner;
    }
  }
  return size > limit ? `the arguments are longer than ${limit.toString()} characters; send less` : undefined;
}

/** What a parameter may hold by its own declaration, in characters. */
function declaredText(shape: Shape): number {
  if (shape.kind === 'standard') return declaredText(shape.outline);
  if (shape.kind === 'string') return 2 * (shape.maxLength ?? 0);
  return shape.kind === 'bytes' ? Math.ceil((shape.maxBytes ?? 0) / 3) * 4 : 0;
}

/** The length of all texts in a value; nothing where it holds too many values: one that holds itself, too. */
function sizeOf(sent: object, limit: number): number | undefined {
  let size = 0;
  let values = 0;
  const next: object[] = [sent];
  for (let value = next.pop(); value !== undefined && size <= limit; value = next.pop()) {
    const list: unknown[] | undefined = Array.isArray(value) ? value : undefined;
    const keys = list === undefined ? Object.keys(value) : undefined;
    const { length } = keys ?? (list as unknown[]);
    values += length;
    if (values > MAX_VALUES) return undefined;
    for (let at = 0; at < length; at++) {
      const key = keys?.[at];
      if (key !== undefined) size += key.length;
      const held = key === undefined ? list?.[at] : (value as Readonly<Record<string, unknown>>)[key];
      if (typeof held === 'string') size += held.length;
      else if (typeof held === 'object' && held !== null) next.push(held);
    }
  }
  return size;
}
