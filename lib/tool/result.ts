import { Stream } from 'node:stream';
import { types } from 'node:util';
import { writeJson } from '../schema/json.js';
import { type DeclaredType, type Exposed, type Exposure, loadExposure, ownMembers } from './exposed.js';
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
  if (value === undefined || value === null || value === '') return nothingText(options);
  const text = typeof value === 'string' ? value : await tell(value);
  return text === '' ? nothingText(options) : shorten(text, options.maxResultChars);
}

/** What is told where a tool returns nothing; the same where it may not tell. */
export function nothingText({ notFound }: Pick<ResultOptions, 'notFound'>): string {
  return notFound ?? NOTHING;
}

/** At most `limit` characters of a text, with a mark that says how many are missing. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()} … [${(text.length - limit).toString()} more characters left out]`;
}

async function tell(value: unknown): Promise<string> {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new UnsupportedResultError(`a ${typeof value} is no result`);
  if (types.isNativeError(value) || value instanceof Error)
    throw new UnsupportedResultError(`an Error was returned (${value.name}); throw it instead`);
  if (typeof value !== 'object' || value === null) return String(value);
  refuseStreams(value);
  const plain = new Telling(await loadExposure()).plain(value);
  if (plain === undefined || plain === null) return '';
  return typeof plain === 'string' ? plain : writeJson(plain);
}

/** Closes what would run on, since nobody is going to read it; how long that takes is nobody's business either. */
function refuseStreams(value: object): void {
  if (value instanceof Stream || value instanceof ReadableStream) {
    const { cancel, destroy } = value as { readonly cancel?: unknown; readonly destroy?: unknown };
    closing(value, cancel ?? destroy);
    throw new UnsupportedResultError('a stream is no result; read it and return what was read');
  }
  const { next, return: close } = value as { readonly next?: unknown; readonly return?: unknown };
  if (typeof next === 'function' && (Symbol.iterator in value || Symbol.asyncIterator in value)) {
    closing(value, close);
    throw new UnsupportedResultError('a generator is no result; collect it and return the list');
  }
}

function closing(value: object, close: unknown): void {
  const closed = async (): Promise<void> => {
    if (typeof close === 'function') await (Reflect.apply(close as () => unknown, value, []) as Promise<unknown>);
  };
  closed().catch(() => undefined);
}

/** One walk over one result: JSON's rules, apart from where they lose what the model should read. */
class Telling {
  readonly #exposure: Exposure;
  readonly #path = new Set<object>();
  #values = 0;

  constructor(exposure: Exposure) {
    this.#exposure = exposure;
  }

  /** `type` tells what a declaration says of the value, or of each of its items. */
  plain(value: unknown, type?: DeclaredType): unknown {
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
      return this.#object(value, type);
    } finally {
      this.#path.delete(value);
    }
  }

  #object(value: object, type: DeclaredType | undefined): unknown {
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value))
      return `[binary data, ${value.byteLength.toString()} bytes]`;
    if (types.isBoxedPrimitive(value)) return this.plain(value.valueOf());
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === 'function' && !types.isDate(value)) {
      const told: unknown = Reflect.apply(toJSON as (key: string) => unknown, value, ['']);
      if (told !== value) return this.plain(told, type);
    }
    if (types.isDate(value)) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (types.isNativeError(value) || value instanceof Error) return value.name;
    if (Array.isArray(value)) return Array.from(value as unknown[], (item) => this.plain(item, type) ?? null);
    if (types.isMap(value)) return this.#map(value, type);
    if (types.isSet(value)) return [...value].map((item) => this.plain(item, type) ?? null);
    if (isPlain(value)) return this.#members(this.#shown(value, type?.(value)));
    const { toString } = value as { readonly toString?: unknown };
    if (typeof toString === 'function' && !isObjectsOwn(toString))
      return String(Reflect.apply(toString as () => unknown, value, []));
    return this.#members(this.#exposure(value, type?.(value)));
  }

  /** A plain object shows all it has, unless a declaration says what it is. */
  #shown(value: object, type: ReturnType<DeclaredType>): readonly Exposed[] {
    return type === undefined ? ownMembers(value) : this.#exposure(value, type);
  }

  #members(members: readonly Exposed[]): unknown {
    return Object.fromEntries(members.map(({ key, value, type }) => [key, this.plain(value, type)]));
  }

  #map(value: ReadonlyMap<unknown, unknown>, type: DeclaredType | undefined): unknown {
    const entries = [...value].map(([key, member]) => [key, this.plain(member, type)] as const);
    return entries.every(([key]) => typeof key === 'string')
      ? Object.fromEntries(entries as [string, unknown][])
      : entries.map(([key, member]) => [this.plain(key) ?? null, member ?? null]);
  }
}

/** An object of no class, of this realm or another: its prototype is the root of all, or nothing. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'));
}

/** `Object.prototype.toString`, of this realm or another: it says nothing. */
function isObjectsOwn(toString: unknown): boolean {
  return String(toString) === OBJECTS_OWN;
}

const OBJECTS_OWN = String(Object.getOwnPropertyDescriptor(Object.prototype, 'toString')?.value);
