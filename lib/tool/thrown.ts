/*
 * What a middleware itself threw. It ends the run as it is, also where it is of a kind that is otherwise made anew, so
 * that an application finds the very error that it threw. What a middleware of this package throws is ours.
 */
const thrown = new WeakSet<object>();
const ours = new WeakSet<object>();

/** Notes what was thrown by somebody's middleware. */
export function noteThrown(error: unknown, by: object): void {
  if (typeof error === 'object' && error !== null && !ours.has(by)) thrown.add(error);
}

export function wasThrown(error: unknown): boolean {
  return typeof error === 'object' && error !== null && thrown.has(error);
}

/** A middleware of this package. */
export function declareOurs(middleware: object): void {
  ours.add(middleware);
}
