import { AIDefinitionError } from '../errors.js';
import { canonical, isPlainData } from '../schema/canonical.js';
import { copyOf } from '../schema/copy.js';

/** What an edit started from: the values, the copies that the middleware was shown, and what had been sent for them. */
export interface BeforeEdit {
  readonly values: Readonly<Record<string, unknown>>;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly sent: Readonly<Record<string, unknown>>;
}

/** An edit in the form in which a model sends arguments: what was not changed as it was sent, so that it converts to the same. */
export function editedArguments(
  by: string,
  edited: Readonly<Record<string, unknown>>,
  { values, shown, sent }: BeforeEdit,
): Readonly<Record<string, unknown>> {
  const again: [string, unknown][] = [];
  for (const [name, value] of Object.entries(edited)) {
    // A Date that was changed in place is another one, also within an object; what hides what it holds is itself.
    const isSame =
      Object.hasOwn(values, name) &&
      (value === shown[name] || (isPlainData(value) && isPlainData(values[name]))) &&
      canonical(value) === canonical(copyOf(values[name]));
    if (!isSame) again.push([name, asSent(by, value)]);
    else if (Object.hasOwn(sent, name)) again.push([name, sent[name]]);
  }
  return Object.fromEntries(again.filter(([, value]) => value !== undefined));
}

const MAX_DEPTH = 64;

/** A converted value in the form in which a model sends it. Throws an `AIDefinitionError` for one that has no end. */
function asSent(by: string, value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH)
    throw new AIDefinitionError(`${by}: the edited arguments hold themselves, or are nested too deep to be sent`);
  const inner = (held: unknown): unknown => asSent(by, held, depth + 1);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Set) return [...(value as Set<unknown>)].map(inner);
  if (Array.isArray(value)) return value.map(inner);
  const entries = value instanceof Map ? [...(value as Map<unknown, unknown>)] : Object.entries(value);
  return Object.fromEntries(
    entries
      .filter(([, held]) => held !== undefined)
      .map(([key, held]) => [typeof key === 'string' ? key : String(key), inner(held)]),
  );
}
