import type { Shape } from './shape.js';

/**
 * A copy of a default that shares nothing with another, of the classes that a conversion makes: bytes in a buffer of
 * their own, objects of any names without a prototype. `structuredClone` would make neither.
 */
export function defaultOf(shape: Shape, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  switch (shape.kind) {
    case 'date':
      return new Date((value as Date).getTime());
    case 'bytes': {
      // Node keeps small buffers that are made of others in one block, which all of them could read.
      const bytes = Buffer.alloc((value as Uint8Array).length);
      bytes.set(value as Uint8Array);
      return bytes;
    }
    case 'array':
      return Array.from(value as readonly unknown[], (item) => defaultOf(shape.items, item));
    case 'set':
      return new Set(Array.from(value as ReadonlySet<unknown>, (item) => defaultOf(shape.items, item)));
    case 'map':
      return new Map(
        Array.from(value as ReadonlyMap<string, unknown>, ([key, held]) => [key, defaultOf(shape.values, held)]),
      );
    case 'record':
      return Object.assign(
        Object.create(null) as object,
        Object.fromEntries(Object.entries(value).map(([key, held]) => [key, defaultOf(shape.values, held)])),
      );
    case 'object':
      return Object.fromEntries(
        shape.fields
          .map(({ name, shape: inner }) => [name, defaultOf(inner, (value as Readonly<Record<string, unknown>>)[name])])
          .filter(([, held]) => held !== undefined),
      );
    default:
      return value;
  }
}
