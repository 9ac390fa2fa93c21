const MAX_DEPTH = 64;

/** The same text for equal plain data, and another for other data; what is deeper than data is, a cycle, is not told. */
export function canonical(value: unknown, depth = 0): string {
  if (typeof value === 'bigint') return `${value.toString()}n`;
  if (typeof value === 'number') return value.toString();
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (value instanceof Date) return `date ${value.getTime().toString()}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('base64')}`;
  if (depth > MAX_DEPTH) return '…';
  const inner = (held: unknown): string => canonical(held, depth + 1);
  const pairs = (entries: Iterable<readonly [unknown, unknown]>): string =>
    [...entries]
      .map(([key, held]) => `${JSON.stringify(key)}:${inner(held)}`)
      .sort()
      .join();
  if (value instanceof Set) return `set [${[...(value as Set<unknown>)].map(inner).sort().join()}]`;
  if (value instanceof Map) return `map {${pairs(value as Map<unknown, unknown>)}}`;
  return Array.isArray(value) ? `[${value.map(inner).join()}]` : `{${pairs(Object.entries(value))}}`;
}

/** Whether a value is data and nothing else, to its leaves: `canonical` says all of it. */
export function isPlainData(value: unknown, depth = 0): boolean {
  if (typeof value === 'function' || typeof value === 'symbol' || depth > MAX_DEPTH) return false;
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof Date || value instanceof Uint8Array) return true;
  const isPlain = (held: unknown): boolean => isPlainData(held, depth + 1);
  if (value instanceof Map) return [...value].every(([key, held]) => typeof key === 'string' && isPlain(held));
  if (value instanceof Set || Array.isArray(value)) return [...(value as Iterable<unknown>)].every(isPlain);
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false;
  return Object.values(Object.getOwnPropertyDescriptors(value)).every(
    (descriptor) => descriptor.get === undefined && isPlain(descriptor.value),
  );
}
