import { types } from 'node:util';

/*
 * Nobody is going to await a promise that a tool left in its result. One that rejects would then end the process, and
 * there is mostly more than one: `orders.map(async …)`.
 */

/** Further than this, nobody looks for them: there are proxies without an end. */
const MAX_SEEN = 1_000_000;

/** A rejection of it is nobody's surprise from now on. */
export function adopt(promise: Promise<unknown>): void {
  try {
    // The built-in `then`: that of a subclass may do anything.
    void Promise.prototype.then.call(promise, undefined, () => undefined);
  } catch {
    // A subclass that cannot be constructed: then it is not ours to keep quiet.
  }
}

/** Adopts each promise in a value, however deep; runs nothing of the application's, no getter either. */
export function adoptWithin(root: unknown): void {
  const seen = new Set<unknown>();
  const open = [root];
  let left = MAX_SEEN;
  while (open.length > 0) {
    const value = open.pop();
    if (types.isPromise(value)) adopt(value);
    if (!isContainer(value) || seen.has(value)) continue;
    seen.add(value);
    for (const part of partsOf(value)) {
      if (left-- === 0) return;
      if (isContainer(part)) open.push(part);
    }
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !types.isProxy(value);
}

function* partsOf(value: object): Iterable<unknown> {
  if (types.isMap(value))
    for (const pair of Map.prototype.entries.call(value) as Iterable<readonly unknown[]>) yield* pair;
  else if (types.isSet(value)) yield* Set.prototype.values.call(value) as Iterable<unknown>;
  for (const key of keysOf(value)) yield Object.getOwnPropertyDescriptor(value, key)?.value;
}

function* keysOf(value: object): Iterable<PropertyKey> {
  if (!Array.isArray(value)) return yield* Object.keys(value);
  for (let index = 0; index < value.length; index++) yield index;
}
