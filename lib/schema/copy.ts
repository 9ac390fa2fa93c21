import { isPlainData, isPlainObject } from './canonical.js';

/**
 * A copy that shares nothing that can be changed: for an event, of which whoever reads it may do what they like. What
 * cannot be copied, since it keeps what it is to itself or fails when it is read, is told by what it says of itself, or
 * by its class.
 */
export function copyOf(value: unknown): unknown {
  try {
    return copy(value, new Map(), 0);
  } catch {
    return nameOf(value);
  }
}

const MAX_DEPTH = 64;

function copy(value: unknown, made: Map<object, unknown>, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (made.has(value)) return made.get(value);
  if (depth > MAX_DEPTH) return nameOf(value);
  const keep = <T extends object>(result: T): T => {
    made.set(value, result);
    return result;
  };
  const inner = (held: unknown): unknown => copy(held, made, depth + 1);
  if (value instanceof Date) return new Date(value);
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (value instanceof Set) {
    const set = keep(new Set());
    for (const item of value) set.add(inner(item));
    return set;
  }
  if (value instanceof Map) {
    const map = keep(new Map());
    for (const [key, held] of value) map.set(key, inner(held));
    return map;
  }
  if (Array.isArray(value)) {
    const list: unknown[] = keep([]);
    for (const item of value as unknown[]) list.push(inner(item));
    return Object.freeze(list);
  }
  const entries = Object.entries(value);
  if (entries.length === 0 && !isPlainData(value)) return saidBy(value) ?? nameOf(value);
  const result = keep(Object.create(Object.getPrototypeOf(value) as object | null) as object);
  // Defined, not assigned: a key may be "__proto__", or a setter of the class.
  for (const [key, held] of entries) Object.defineProperty(result, key, { value: inner(held), enumerable: true });
  return Object.freeze(result);
}

/** What it says itself, where it is of a class that says anything. */
function saidBy(value: object): string | undefined {
  const { toJSON, toString } = value as { readonly toJSON?: unknown; readonly toString?: unknown };
  const tell = typeof toJSON === 'function' ? toJSON : toString === Object.prototype.toString ? undefined : toString;
  const said: unknown = typeof tell === 'function' ? Reflect.apply(tell as () => unknown, value, ['']) : undefined;
  return typeof said === 'string' ? said : undefined;
}

function nameOf(value: unknown): string {
  try {
    const name: unknown = (value as { readonly constructor?: { readonly name?: unknown } }).constructor?.name;
    return `[${typeof name === 'string' && name !== '' ? name : 'object'}]`;
  } catch {
    return '[object]'; // a revoked proxy, a getter that throws
  }
}

/** Copies in which nothing can be changed: nobody needs one of their own. */
const frozen = new WeakSet<object>();

/**
 * What an application hands along with a question, so that nobody who is shown it can change it for the others: data is
 * copied and frozen, Dates, Sets and Maps are copied, and objects of the application's own stay what they are, those of
 * classes that extend these included. What is frozen already is not copied again.
 */
export function copyOfMetadata(metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (frozen.has(metadata)) return metadata;
  const data = new DataCopy();
  const copied = data.copy(metadata, 0) as Readonly<Record<string, unknown>>;
  if (!data.isChangeable) frozen.add(copied);
  return copied;
}

class DataCopy {
  /** Whether something in the copy can be changed. */
  isChangeable = false;
  readonly #made = new Map<object, unknown>();

  copy(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const before = this.#made.get(value);
    if (before !== undefined) return before;
    const inner = (held: unknown): unknown => this.copy(held, depth + 1);
    // What is deeper than data is, stays what it is.
    if (depth > MAX_DEPTH) return value;
    switch (Object.getPrototypeOf(value)) {
      case Date.prototype:
        return this.#changeable(value, new Date(value as Date));
      case Set.prototype: {
        const set = this.#changeable(value, new Set());
        for (const item of value as Set<unknown>) set.add(inner(item));
        return set;
      }
      case Map.prototype: {
        const map = this.#changeable(value, new Map());
        for (const [key, held] of value as Map<unknown, unknown>) map.set(key, inner(held));
        return map;
      }
      case Array.prototype: {
        const list: unknown[] = [];
        this.#made.set(value, list);
        for (const item of value as unknown[]) list.push(inner(item));
        return Object.freeze(list);
      }
    }
    if (Array.isArray(value) || !isPlainObject(value)) return value;
    const result = Object.create(Object.getPrototypeOf(value) as object | null) as object;
    this.#made.set(value, result);
    for (const key of Reflect.ownKeys(value)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(value, key) as PropertyDescriptor;
      if (descriptor.enumerable !== true) continue;
      // Defined, not assigned: a key may be "__proto__". One that is computed is so each time.
      const copied = descriptor.get === undefined ? { value: inner(descriptor.value), enumerable: true } : descriptor;
      Object.defineProperty(result, key, copied);
    }
    return Object.freeze(result);
  }

  #changeable<T extends object>(value: object, copy: T): T {
    this.isChangeable = true;
    this.#made.set(value, copy);
    return copy;
  }
}
