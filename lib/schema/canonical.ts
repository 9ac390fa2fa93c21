/**
 * The same text for equal plain data, and another for other data. What occurs a second time within a value, as in a
 * circle, is told by where it came first.
 */
export function canonical(value: unknown): string {
  return write(value, new Map());
}

function write(value: unknown, seen: Map<object, number>): string {
  if (typeof value === 'bigint') return `${value.toString()}n`;
  if (typeof value === 'number') return value.toString();
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Date) return `date ${value.getTime().toString()}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('base64')}`;
  const first = seen.get(value);
  if (first !== undefined) return `#${first.toString()}`;
  seen.set(value, seen.size);
  const inner = (held: unknown): string => write(held, seen);
  const pairs = (entries: readonly (readonly [unknown, unknown])[]): string =>
    entries
      .map(([key, held]) => `${JSON.stringify(key)}:${inner(held)}`)
      .sort()
      .join();
  if (value instanceof Set) return `set [${[...(value as Set<unknown>)].map(inner).sort().join()}]`;
  if (value instanceof Map) return `map {${pairs([...(value as Map<unknown, unknown>)])}}`;
  return Array.isArray(value) ? `[${value.map(inner).join()}]` : `{${pairs(sorted(Object.entries(value)))}}`;
}

/** In one order before anything is numbered. */
function sorted(entries: readonly [string, unknown][]): readonly [string, unknown][] {
  return [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
}

const MAX_DEPTH = 64;

/** Whether a value is data and nothing else, to its leaves: `canonical` says all of it. */
export function isPlainData(value: unknown): boolean {
  return isPlain(value, 0, new Set());
}

function isPlain(value: unknown, depth: number, seen: Set<object>): boolean {
  if (typeof value === 'function' || typeof value === 'symbol' || depth > MAX_DEPTH) return false;
  if (typeof value !== 'object' || value === null || seen.has(value)) return true;
  if (value instanceof Date || value instanceof Uint8Array) return true;
  seen.add(value);
  const inner = (held: unknown): boolean => isPlain(held, depth + 1, seen);
  if (value instanceof Map) return [...value].every(([key, held]) => typeof key === 'string' && inner(held));
  if (value instanceof Set || Array.isArray(value)) return [...(value as Iterable<unknown>)].every(inner);
  return (
    isPlainObject(value) &&
    Object.values(Object.getOwnPropertyDescriptors(value)).every(
      (descriptor) => descriptor.get === undefined && inner(descriptor.value),
    )
  );
}

/** Of no class, in whichever realm it was made. */
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
