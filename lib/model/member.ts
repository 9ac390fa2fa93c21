/** A member of what came from outside, where it is an object at all; one that cannot be read is none. */
export function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return (value as Readonly<Record<string, unknown>>)[key];
  } catch {
    return undefined; // a getter that throws, a revoked proxy
  }
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
