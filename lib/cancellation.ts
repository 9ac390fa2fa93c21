/**
 * Ends work, as an `AbortController` does. Its signal is made when somebody outside asks for it: Node's are dear to make,
 * outlive a young collection with all that hangs on them, and a run would need several at each step.
 */
export class Cancellation {
  readonly #listeners = new Set<() => void>();
  #controller: AbortController | undefined;
  #isAborted = false;
  #reason: unknown;
  #make: (() => unknown) | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    if (this.#make !== undefined) {
      this.#reason = this.#make();
      this.#make = undefined;
    }
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.reason;
  }

  /** The same as a signal, for who knows only those. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    this.abortWith(() => reason);
  }

  /** The same with a reason that is made when somebody asks for it: the stack of an error is dear. */
  abortWith(make: () => unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#make = make;
    this.#controller?.abort(this.reason);
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }

  /** Calls `listener` when it is aborted; the returned function ends that. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

/** What can end work: anybody's signal, or a cancellation of ours. */
export type Abortable = AbortSignal | Cancellation;

export function signalOf(abortable: Abortable): AbortSignal {
  return abortable instanceof Cancellation ? abortable.signal : abortable;
}

/** Options with a signal, as they are handed to others. */
interface SignalOptions {
  readonly signal: AbortSignal;
}

const cancellations = new WeakMap<SignalOptions, Cancellation>();

/** Options for somebody who may want the signal, and may be one of ours who does not. */
export function signalOptions(cancellation: Cancellation): SignalOptions {
  const options: SignalOptions = {
    get signal() {
      return cancellation.signal;
    },
  };
  cancellations.set(options, cancellation);
  return options;
}

/** What ends the work that was begun with these options, without a signal where none is needed. */
export function abortableIn(options: SignalOptions): Abortable {
  return cancellations.get(options) ?? options.signal;
}
