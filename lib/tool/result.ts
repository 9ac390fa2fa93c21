import { writeJson } from '../schema/json.js';
import { NOTHING } from './told.js';

/** The tool returned something that is no value: the call has failed, and the observer is told which kind it was. */
export class UnsupportedResultError extends Error {
  override readonly name = 'UnsupportedResultError';
}

interface ResultOptions {
  readonly notFound: string | undefined;
  readonly maxResultChars: number;
}

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
  const plain = new Telling(await classTransformer()).plain(value);
  return typeof plain === 'string' ? plain : writeJson(plain);
}

/** Closes what would run on: nobody is going to read it. */
async function refuseStreams(value: object): Promise<void> {
  const member = (name: string): unknown => (value as Record<string, unknown>)[name];
  if (typeof member('pipe') === 'function' || typeof member('getReader') === 'function') {
    const close = member('destroy') ?? member('cancel');
    if (typeof close === 'function') await (close.call(value) as unknown);
    throw new UnsupportedResultError('a stream is no result; read it and return what was read');
  }
  if (typeof member('next') === 'function' && (Symbol.iterator in value || Symbol.asyncIterator in value)) {
    const close = member('return');
    if (typeof close === 'function') await (close.call(value) as unknown);
    throw new UnsupportedResultError('a generator is no result; collect it and return the list');
  }
}

type InstanceToPlain = (instance: object) => unknown;

/** class-transformer, if the application has it: it knows what `@Exclude` keeps in. Loaded on the first object. */
let transformer: Promise<InstanceToPlain | undefined> | undefined;

function classTransformer(): Promise<InstanceToPlain | undefined> {
  transformer ??= import('class-transformer').then(
    ({ instanceToPlain }) =>
      (instance) =>
        instanceToPlain(instance) as unknown,
    () => undefined,
  );
  return transformer;
}

/** One walk over one result: JSON's rules, apart from where they lose what the model should read. */
class Telling {
  readonly #path = new Set<object>();

  constructor(readonly instanceToPlain: InstanceToPlain | undefined) {}

  plain(value: unknown): unknown {
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
    if (Array.isArray(value)) return value.map((item) => this.plain(item) ?? null);
    if (value instanceof Map) return this.#map(value);
    if (value instanceof Set) return [...value].map((item) => this.plain(item) ?? null);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      return `[binary data, ${value.byteLength.toString()} bytes]`;
    if (value instanceof Error) return value.name;
    if ('toJSON' in value && typeof value.toJSON === 'function')
      return this.plain(Reflect.apply(value.toJSON as () => unknown, value, []));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return this.#entries(value);
    const text: unknown = (value as { readonly toString?: unknown }).toString;
    if (typeof text === 'function' && text !== Object.prototype.toString)
      return String(Reflect.apply(text as () => unknown, value, []));
    const told = this.instanceToPlain?.(value);
    return typeof told === 'object' && told !== null ? this.#entries(told) : this.#entries(value);
  }

  #entries(value: object): unknown {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.plain(member)]));
  }

  #map(value: ReadonlyMap<unknown, unknown>): unknown {
    const entries = [...value].map(([key, member]) => [key, this.plain(member)] as const);
    return entries.every(([key]) => typeof key === 'string')
      ? Object.fromEntries(entries as [string, unknown][])
      : entries.map(([key, member]) => [this.plain(key) ?? null, member ?? null]);
  }
}
