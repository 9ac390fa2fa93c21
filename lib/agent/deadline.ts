import type { Cancellation } from '../cancellation.js';
import { AILimitError } from '../errors.js';

/**
 * The end of a run's time: a timer that cuts short whatever is at work, and a look at the clock at each step, since a
 * timer comes late where somebody holds the thread. The clock is the monotonic one.
 */
export class Deadline {
  readonly #site: string;
  readonly #ms: number | undefined;
  readonly #controller: Cancellation;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #error: AILimitError | undefined;

  /** @param ms none where there is no end */
  constructor(site: string, ms: number | undefined, controller: Cancellation) {
    this.#site = site;
    this.#ms = ms;
    this.#controller = controller;
    if (ms !== undefined)
      this.#timer = setTimeout(() => {
        this.#reached();
      }, ms);
  }

  /** Throws the reason of whoever ended the run, the time included. */
  check(): void {
    if (this.#ms !== undefined && performance.now() - this.#begun >= this.#ms) this.#reached();
    this.#controller.throwIfAborted();
  }

  /** Whether the run was ended by this, and by nobody before. */
  isReason(error: unknown): boolean {
    return this.#error !== undefined && error === this.#error && this.#controller.reason === error;
  }

  /** Made for whoever is told: the one on the signal may have been seen by others. */
  error(): AILimitError {
    return new AILimitError(
      'deadline',
      `${this.#site}: there is no answer within the ${String(this.#ms)} ms of limits.deadlineMs; error.run has what was done`,
    );
  }

  /** The run ends with an error of its own: what is at work for it is aborted. */
  giveUp(): void {
    this.#controller.abort(new Error('the run has ended'));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #reached(): void {
    this.#error ??= this.error();
    this.#controller.abort(this.#error);
  }
}
