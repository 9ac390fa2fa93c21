/** The same text for equal plain data, and another for other data. */
export function canonical(value: unknown): string {
  if (typeof value === 'bigint') return `${value.toString()}n`;
  if (typeof value === 'number') return value.toString();
  if (value instanceof Date) return `date ${value.getTime().toString()}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('base64')}`;
  if (value instanceof Set) return `set [${[...value].map(canonical).sort().join()}]`;
  if (value instanceof Map)
    return `map {${[...(value as Map<string, unknown>)]
      .map(([key, held]) => `${JSON.stringify(key)}:${canonical(held)}`)
      .sort()
      .join()}}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, held]) => `${JSON.stringify(key)}:${canonical(held)}`)
      .sort()
      .join()}}`;
  return value === undefined ? 'undefined' : JSON.stringify(value);
}

const MAX_DEPTH = 64;

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
