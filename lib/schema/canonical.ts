/** The same text for equal arguments, and another for others: what makes two calls the same call. */
export function canonical(value: unknown): string {
  if (typeof value === 'bigint') return `${value.toString()}n`;
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
    return `${says(value)}{${Object.entries(value)
      .map(([key, held]) => `${JSON.stringify(key)}:${canonical(held)}`)
      .sort()
      .join()}}`;
  return value === undefined ? 'undefined' : JSON.stringify(value);
}

/** What an object of a class says of itself: another library may make a value that has no property to look at. */
function says(value: object): string {
  if (isPlain(value)) return '';
  const { toJSON, toString } = value as { readonly toJSON?: unknown; readonly toString?: unknown };
  const ownText = toString === Object.prototype.toString ? undefined : toString;
  const tell = typeof toJSON === 'function' ? toJSON : ownText;
  try {
    const said: unknown = typeof tell === 'function' ? Reflect.apply(tell as () => unknown, value, ['']) : undefined;
    return said === undefined || said === value ? '' : canonical(said);
  } catch {
    return '';
  }
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A copy that shares nothing that can be changed: for an event, of which whoever reads it may do what they like. */
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return new Date(value);
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (value instanceof Set) return new Set([...value].map(copyOf));
  if (value instanceof Map) return new Map([...value].map(([key, held]) => [key, copyOf(held)]));
  if (Array.isArray(value)) return Object.freeze(value.map(copyOf));
  const entries = Object.entries(value);
  // A value that keeps what it is in private, a URL, is of no use as a copy; it says itself what it is.
  const said = entries.length === 0 ? says(value) : '';
  if (said !== '') return said;
  const copy = Object.create(Object.getPrototypeOf(value) as object | null) as Record<string, unknown>;
  for (const [key, held] of entries) copy[key] = copyOf(held);
  return Object.freeze(copy);
}
