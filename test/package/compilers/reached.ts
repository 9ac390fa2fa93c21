const calls: unknown[][] = [];

/** Keeps what a method was called with. */
export function reached(...values: readonly unknown[]): void {
  calls.push(values.map(told));
}

export function takeReached(): readonly unknown[][] {
  return calls.splice(0);
}

/** A value with its type, or its class, so that no two kinds of value look the same as JSON. */
function told(value: unknown): unknown {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  // Anything but an object is a primitive here.
  if (typeof value !== 'object') return `${typeof value} ${String(value as string | number | boolean | bigint)}`;
  const { constructor } = value as { readonly constructor?: { readonly name: string } };
  const name = constructor?.name ?? 'no class';
  if (value instanceof Date) return `${name} ${value.toISOString()}`;
  if (value instanceof Uint8Array) return `${name} ${Buffer.from(value).toString()}`;
  if (value instanceof Map) return { [name]: [...(value as Map<unknown, unknown>)].map((entry) => entry.map(told)) };
  if (value instanceof Set || Array.isArray(value)) return { [name]: [...(value as Iterable<unknown>)].map(told) };
  return { [name]: Object.fromEntries(Object.entries(value).map(([key, member]) => [key, told(member)])) };
}
