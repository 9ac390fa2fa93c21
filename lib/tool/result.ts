import { Stream } from 'node:stream';
import { writeJson } from '../schema/json.js';
import { loadExposure } from './exposed.js';
import { NOTHING } from './told.js';

/** The tool returned something that is no value: the call has failed, and the observer is told which kind it was. */
export class UnsupportedResultError extends Error {
  override readonly name = 'UnsupportedResultError';
}

interface ResultOptions {
  readonly notFound: string | undefined;
  readonly maxResultChars: number;
}

/** A result larger than this is refused before it is told: it would be cut to a fraction, and shared parts multiply. */
const MAX_VALUES = 100_000;

/** The text that the model is told for what a tool returned. Throws where it cannot be told. */
export async function resultText(value: unknown, options: ResultOptions): Promise<string> {
  if (value === undefined || value === null || value === '') return options.notFound ?? NOTHING;
  return shorten(typeof value === 'string' ? value : await tell(value), options.maxResultChars);
}

/** At most `limit` characters of a text, with a mark that says how many are missing. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()} … [${(text.length - limit).toString()} more characters left out]`;
}

async function tell(value: unknown): Promise<string> {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new UnsupportedResultError(`a ${typeof value} is no result`);
  if (value instanceof Error)
    throw new UnsupportedResultError(`an Error was returned (${value.name}); throw it instead`);
  if (typeof value !== 'object' || value === null) return String(value);
  await refuseStreams(value);
  const plain = new Telling(await loadExposure()).plain(value);
  return typeof plain === 'string' ? plain : writeJson(plain);
}

/** Closes what would run on: nobody is going to read it. */
async function refuseStreams(value: object): Promise<void> {
  if (value instanceof Stream || value instanceof ReadableStream) {
    if (value instanceof ReadableStream) await value.cancel();
    else if ('destroy' in value && typeof value.destroy === 'function')
      Reflect.apply(value.destroy as () => void, value, []);
    throw new UnsupportedResultError('a stream is no result; read it and return what was read');
  }
  const { next, return: close } = value as { readonly next?: unknown; readonly return?: unknown };
  if (typeof next === 'function' && (Symbol.iterator in value || Symbol.asyncIterator in value)) {
    if (typeof close === 'function') await (close.call(value) as unknown);
    throw new UnsupportedResultError('a generator is no result; collect it and return the list');
  }
}

/** One walk over one result: JSON's rules, apart from where they lose what the model should read. */
class Telling {
  readonly #exposed: (instance: object) => readonly (readonly [string, unknown])[];
  readonly #path = new Set<object>();
  #values = 0;

  constructor(exposed: (instance: object) => readonly (readonly [string, unknown])[]) {
    this.#exposed = exposed;
  }

  plain(value: unknown): unknown {
    if (++this.#values > MAX_VALUES)
      throw new UnsupportedResultError(
        `the result holds more than ${MAX_VALUES.toString()} values; return a page of it`,
      );
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'function' || typeof value === 'symbol') return undefined;
    if (typeof value !== 'object' || value === null) return value;
    if (this.#path.has(value)) throw new UnsupportedResultError('the result holds itself');
    this.#path.add(value);
    try {
      return this.#object(value);
    } finally {
      this.#path.delete(value);
    }
  }

  #object(value: object): unknown {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (Array.isArray(value)) return Array.from(value as unknown[], (item) => this.plain(item) ?? null);
    if (value instanceof Map) return this.#map(value);
    if (value instanceof Set) return [...value].map((item) => this.plain(item) ?? null);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      return `[binary data, ${value.byteLength.toString()} bytes]`;
    if (value instanceof Error) return value.name;
    const { toJSON, toString } = value as { readonly toJSON?: unknown; readonly toString?: unknown };
    if (typeof toJSON === 'function') return this.plain(Reflect.apply(toJSON as () => unknown, value, []));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return this.#entries(Object.entries(value));
    if (typeof toString === 'function' && toString !== Object.prototype.toString)
      return String(Reflect.apply(toString as () => unknown, value, []));
    return this.#entries(this.#exposed(value));
  }

  #entries(entries: readonly (readonly [string, unknown])[]): unknown {
    return Object.fromEntries(entries.map(([key, member]) => [key, this.plain(member)]));
  }

  #map(value: ReadonlyMap<unknown, unknown>): unknown {
    const entries = [...value].map(([key, member]) => [key, this.plain(member)] as const);
    return entries.every(([key]) => typeof key === 'string')
      ? Object.fromEntries(entries as [string, unknown][])
      : entries.map(([key, member]) => [this.plain(key) ?? null, member ?? null]);
  }
}
