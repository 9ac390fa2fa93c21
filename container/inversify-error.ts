/**
 * Whether inversify threw it: nothing is bound, several are, or they need each other. Told by the mark that inversify
 * sets on its errors, since `inversify` itself does not export the classes.
 */
export function isInversifyError(error: unknown): error is Error {
  return (
    typeof error === 'object' &&
    error !== null &&
    ((error as Record<symbol, unknown>)[Symbol.for('@inversifyjs/core/InversifyCoreError')] === true ||
      (error as Record<symbol, unknown>)[Symbol.for('@inversifyjs/container/InversifyContainerError')] === true)
  );
}

/** What the application itself threw where inversify says so in words of its own: in a `@postConstruct` method. */
export function thrownWithin(error: Error): unknown {
  return error.message.startsWith('Unexpected error found when calling') ? error.cause : undefined;
}

/** A service identifier, for messages. */
export function identifierName(id: unknown): string {
  if (typeof id === 'function') return id.name === '' ? '(anonymous class)' : id.name;
  return typeof id === 'symbol' ? (id.description ?? 'a symbol') : String(id);
}
