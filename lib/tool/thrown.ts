const ours = new WeakSet<object>();

/** A middleware of this package: what it throws is ours. */
export function declareOurs(middleware: object): void {
  ours.add(middleware);
}

/**
 * What the middleware of one run threw itself. It ends the run as it is, also where it is of a kind that is otherwise
 * made anew, so that an application finds the very error that it threw.
 */
export class ThrownErrors {
  readonly #thrown = new Set<unknown>();

  note(error: unknown, by: object): void {
    if (!ours.has(by)) this.#thrown.add(error);
  }

  has(error: unknown): boolean {
    return this.#thrown.has(error);
  }
}
