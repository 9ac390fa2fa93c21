import { types } from 'node:util';

/*
 * What built-in objects say of themselves. The types of the platform are known by their tag, so that those of another
 * realm and of a package that stands in for the platform's count too.
 */

/** The name that an object gives its kind by `Symbol.toStringTag`. */
export function tagOf(value: object): string | undefined {
  const tag: unknown = (value as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  return typeof tag === 'string' && tag !== '' ? tag : undefined;
}

/** How many bytes there are in what holds nothing else. */
export function byteCount(value: object): number | undefined {
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return value.byteLength;
  const tag = tagOf(value);
  if (tag !== 'Blob' && tag !== 'File') return undefined;
  const { size } = value as { readonly size?: unknown };
  return typeof size === 'number' ? size : undefined;
}

/** The entries of what consists of them. */
export function pairsOf(value: object): Iterable<readonly [unknown, unknown]> | undefined {
  if (types.isMap(value)) return value;
  const tag = tagOf(value);
  return (tag === 'Headers' || tag === 'FormData') && Symbol.iterator in value
    ? (value as Iterable<readonly [unknown, unknown]>)
    : undefined;
}

/** An object of no class, of this realm or another: its prototype is the root of all, or nothing. */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || isRoot(prototype);
}

/** What an instance's `toString` gives; nothing where that is the one which every object has, or says as little. */
export function ownText(value: object): unknown {
  let owner: object | null = value;
  while (owner !== null && !Object.hasOwn(owner, 'toString')) owner = Object.getPrototypeOf(owner) as object | null;
  if (owner === null || isRoot(owner)) return undefined;
  const { toString } = value as { readonly toString: unknown };
  if (typeof toString !== 'function') return undefined;
  const text: unknown = Reflect.apply(toString as () => unknown, value, []);
  return typeof text === 'string' && /^\[object [^\]]*\]$/.test(text) ? undefined : text;
}

/** `Object.prototype`, of this realm or another. */
function isRoot(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}
