import { types } from 'node:util';
import { cut, quote } from '../schema/quote.js';
import { adoptWithin } from './adopt.js';
import { byteCount, isPlain, ownText, pairsOf } from './built-in.js';
import { errorName, isError } from './error-name.js';
import { type DeclaredType, type Exposed, type Exposure, ownMembers } from './exposed.js';
import { UnsupportedResultError, whyUnseen, whyUnsupported } from './unsupported.js';

/** A result larger than this is refused before it is told: it would be cut to a fraction, and shared parts multiply. */
const MAX_VALUES = 100_000;

/** One walk over one result: JSON's rules, apart from where they lose what the model should read. */
export class Telling {
  readonly #exposure: Exposure;
  /** What is being told, from the outside in, each with the key that led to it. */
  readonly #path = new Map<object, string | number | undefined>();
  #values = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(exposure: Exposure) {
    this.#exposure = exposure;
  }

  /** What the value is told as. Throws the first reason for which it, or anything in it, cannot be told. */
  tell(value: object): unknown {
    let plain: unknown;
    try {
      plain = this.#plain(value);
    } catch (error) {
      this.#failure ??= { error };
    }
    if (this.#failure === undefined) return plain;
    adoptWithin(value);
    throw this.#failure.error as Error;
  }

  /** `type` tells what a declaration says of the value, or of each of its items. */
  #plain(value: unknown, type?: DeclaredType, key?: string | number): unknown {
    if (++this.#values > MAX_VALUES)
      throw new UnsupportedResultError(
        `the result holds more than ${MAX_VALUES.toString()} values; return a page of it`,
      );
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    if (typeof value === 'function' || typeof value === 'symbol') return undefined;
    if (typeof value !== 'object' || value === null) return value;
    const isCycle = this.#path.has(value);
    try {
      if (isCycle) throw new UnsupportedResultError('the result holds itself');
      this.#path.set(value, key);
      return this.#object(value, type);
    } catch (error) {
      this.#failure ??= { error };
      if (this.#values > MAX_VALUES) throw error;
      // On to the rest: whatever else must be closed is closed.
      return undefined;
    } finally {
      if (!isCycle) this.#path.delete(value);
    }
  }

  #object(value: object, type: DeclaredType | undefined): unknown {
    this.#refuse(whyUnsupported(value, this.#path.size > 1));
    if (isError(value)) return errorName(value);
    const bytes = byteCount(value);
    if (bytes !== undefined) return `[binary data, ${bytes.toString()} bytes]`;
    if (types.isBoxedPrimitive(value)) return this.#plain(value.valueOf());
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === 'function' && !types.isDate(value)) {
      const told: unknown = Reflect.apply(toJSON as (key: string) => unknown, value, ['']);
      if (told !== value) return this.#plain(told, type);
    }
    if (types.isDate(value)) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (Array.isArray(value) || types.isSet(value)) return this.#list(value, type);
    const pairs = pairsOf(value);
    if (pairs !== undefined) return this.#pairs(pairs, type);
    // A plain object shows all it has, unless a declaration says what it is.
    const declared = type?.(value);
    if (isPlain(value))
      return this.#members(value, declared === undefined ? ownMembers(value) : this.#exposure(value, declared));
    const text = ownText(value);
    if (typeof text === 'string') return text.toWellFormed();
    if (typeof text === 'object' && text !== null) this.#refuse(whyUnsupported(text, true));
    return this.#members(value, this.#exposure(value, declared));
  }

  #list(items: Iterable<unknown>, type: DeclaredType | undefined): unknown {
    const told: unknown[] = [];
    for (const item of items) told.push(this.#plain(item, type, told.length) ?? null);
    return told;
  }

  #members(value: object, members: readonly Exposed[]): unknown {
    if (members.length === 0) this.#refuse(whyUnseen(value));
    const told: [string, unknown][] = [];
    for (const { key, value: member, type } of members) told.push([key.toWellFormed(), this.#plain(member, type, key)]);
    return Object.fromEntries(told);
  }

  /** An object where its keys would be those of one; else pairs, so that none is lost. */
  #pairs(pairs: Iterable<readonly [unknown, unknown]>, type: DeclaredType | undefined): unknown {
    const told: (readonly [unknown, unknown])[] = [];
    const names = new Set<string>();
    for (const [key, member] of pairs) {
      if (typeof key === 'string') names.add(key.toWellFormed());
      told.push([key, this.#plain(member, type, typeof key === 'string' ? key : told.length)]);
    }
    if (names.size === told.length)
      return Object.fromEntries(told.map(([key, member]) => [(key as string).toWellFormed(), member]));
    return told.map(([key, member], index) => [this.#plain(key, undefined, index) ?? null, member ?? null]);
  }

  #refuse(why: string | undefined): void {
    if (why === undefined) return;
    const place = [...this.#path.values()].filter((key) => key !== undefined).map(step);
    throw new UnsupportedResultError(place.length === 0 ? why : `${why} (at ${cut(`result${place.join('')}`, 200)})`);
  }
}

function step(key: string | number): string {
  if (typeof key === 'number') return `[${key.toString()}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${quote(key)}]`;
}
