import { childController, untilAborted } from '../abort.js';
import { type Abortable, type Cancellation, signalOptions } from '../cancellation.js';
import { counted } from '../declaration.js';
import { type AIError, AIProviderError, isErrorOf } from '../errors.js';
import type { RetryOptions } from '../run-options.js';
import { ReplyAssembler } from './assemble.js';
import { type ChatModel, type ModelDelta, type ModelReply, type ModelRequest, readReply } from './chat-model.js';
import { earliest, postpone } from './not-before.js';
import { providerError } from './provider-error.js';

/*
 * Why our own: the openai client's retry waits out an abort and changed twice inside our peer range, and cockatiel and
 * p-retry know neither what a provider's status means nor that an abort's reason is rethrown unchanged.
 */

/** A provider call failed, and is sent again after a delay. */
export interface Retrying {
  /** How often it was sent so far. */
  readonly attempt: number;
  readonly error: AIProviderError;
  readonly delayMs: number;
}

export interface RetryContext {
  readonly signal: Abortable;
  /** How often one provider call may be sent: 1 is no retry. */
  readonly maxAttempts: number;
  readonly retry: Required<RetryOptions>;
  /** Called each time that the request is sent. */
  readonly sending: () => void;
  /** Called before each delay. */
  readonly retrying: (retrying: Retrying) => void;
  /** Where the reply is to be shown while it is written. */
  readonly shown?: ShownReply;
}

/** Shows a reply while it is written. */
export interface ShownReply {
  /** A request is sent: what comes is the begin of a reply. */
  readonly begin: () => void;
  readonly take: (delta: ModelDelta) => void;
  /** Something was shown: the same request cannot be sent again without showing it twice. */
  readonly hasShown: () => boolean;
}

/**
 * One provider call, repeated alone while that may help: a lost connection, 429, a 5xx. Never a tool, never the loop.
 * Throws an `AIProviderError` with the number of attempts, or the signal's reason unchanged.
 */
export async function completeWithRetry(
  model: ChatModel,
  request: ModelRequest,
  context: RetryContext,
): Promise<ModelReply> {
  const { signal, retry } = context;
  signal.throwIfAborted();
  // A child of the signal, with the deadline in it: what a model leaves on it goes with it.
  const { controller, stop } = childController(signal);
  const timer = setTimeout(() => {
    controller.abort(new Error(`the deadline of ${retry.deadlineMs.toString()} ms`));
  }, retry.deadlineMs);
  const call = new RetriedCall(model, request, context, controller);
  try {
    return await call.reply();
  } catch (error) {
    signal.throwIfAborted();
    throw controller.aborted ? call.pastDeadline() : error;
  } finally {
    clearTimeout(timer);
    stop();
  }
}

/** The attempts of one provider call. */
class RetriedCall {
  readonly #model: ChatModel;
  readonly #request: ModelRequest;
  readonly #context: RetryContext;
  readonly #signal: Cancellation;
  readonly #begun = performance.now();
  #attempts = 0;
  #waitedFor = 0;
  #last: AIProviderError | undefined;

  constructor(model: ChatModel, request: ModelRequest, context: RetryContext, signal: Cancellation) {
    this.#model = model;
    this.#request = request;
    this.#context = context;
    this.#signal = signal;
  }

  async reply(): Promise<ModelReply> {
    for (;;) {
      await this.#turnToSend();
      this.#signal.throwIfAborted();
      this.#attempts++;
      this.#context.sending();
      try {
        const { shown } = this.#context;
        const completed = shown === undefined ? this.#complete() : this.#streamed(shown);
        const reply = readReply(this.#model, await untilAborted(this.#signal, completed));
        // The timer comes late where somebody holds the thread.
        if (this.#leftMs() <= 0) throw this.pastDeadline();
        return reply;
      } catch (error) {
        this.#signal.throwIfAborted();
        await this.#failed(this.#asFailure(error));
      }
    }
  }

  /** A model that throws before it waits is one that rejects. */
  #complete(): Promise<unknown> {
    try {
      return Promise.resolve(this.#model.complete(this.#request, signalOptions(this.#signal)));
    } catch (error) {
      const thrown = error as Error;
      return Promise.reject(thrown);
    }
  }

  async #streamed(shown: ShownReply): Promise<unknown> {
    if (typeof this.#model.stream !== 'function') return this.#complete();
    shown.begin();
    const reply = new ReplyAssembler();
    const deltas = this.#model.stream(this.#request, signalOptions(this.#signal))[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await untilAborted(this.#signal, deltas.next());
        if (next.done === true) return reply.reply(this.#model.name);
        reply.take(next.value);
        shown.take(next.value);
      }
    } finally {
      // Not awaited: where nothing more comes, it would wait for that. One that ended hears nothing of it.
      void Promise.resolve()
        .then(() => deltas.return?.())
        .catch(() => undefined);
    }
  }

  /** Sleeps where the same request may yet succeed; throws otherwise. */
  async #failed(failure: AIError): Promise<void> {
    const { maxAttempts, retry, retrying } = this.#context;
    const { shown } = this.#context;
    if (!(failure instanceof AIProviderError) || !failure.retryable || shown?.hasShown() === true) throw failure;
    this.#last = failure;
    const { retryAfterMs } = failure;
    const backoff = this.#backoff();
    // What the provider asks for is waited in full; full jitter otherwise, so that many that fail together do not come
    // back together.
    const delayMs = retryAfterMs === undefined ? backoff : retryAfterMs + backoff / 4;
    const asksTooMuch = retryAfterMs !== undefined && retryAfterMs > retry.maxRetryAfterMs;
    if (!asksTooMuch && (retryAfterMs !== undefined || failure.status === 429))
      postpone(this.#model, performance.now() + (retryAfterMs ?? delayMs));
    if (this.#attempts >= maxAttempts || asksTooMuch || delayMs >= this.#leftMs()) throw failure;
    retrying({ attempt: this.#attempts, error: failure, delayMs });
    const instant = earliest(this.#model);
    await sleep(delayMs, this.#signal);
    if (retryAfterMs !== undefined) this.#waitedFor = instant;
  }

  /** Somebody else may have been told to wait: then this call waits too, before it adds to the load. */
  async #turnToSend(): Promise<void> {
    for (;;) {
      const instant = earliest(this.#model);
      const wait = instant - performance.now();
      // Once waited for it is over, whatever a clock says that somebody holds still.
      if (wait <= 0 || instant === this.#waitedFor) return;
      if (wait > this.#context.retry.maxRetryAfterMs || wait >= this.#leftMs()) throw this.#toldToWait(wait);
      await sleep(wait + this.#backoff() / 4, this.#signal);
      this.#waitedFor = instant;
    }
  }

  #backoff(): number {
    const { minDelayMs, maxDelayMs, random } = this.#context.retry;
    return between0And1(random) * Math.min(maxDelayMs, minDelayMs * 2 ** Math.max(0, this.#attempts - 1));
  }

  #leftMs(): number {
    return this.#context.retry.deadlineMs - (performance.now() - this.#begun);
  }

  /** The failure when no more time is allowed; the last one, if there was one, is its cause. */
  pastDeadline(): AIProviderError {
    const { deadlineMs } = this.#context.retry;
    return new AIProviderError(
      `${this.#model.name}: no usable reply within the ${deadlineMs.toString()} ms of retry.deadlineMs, after ${counted(this.#attempts, 'attempt')}.`,
      { status: this.#last?.status, requestId: this.#last?.requestId, retryable: true, ...this.#spent() },
      { cause: this.#last },
    );
  }

  /** Another run was told to wait, and this one may not wait so long. */
  #toldToWait(wait: number): AIProviderError {
    const { maxRetryAfterMs, deadlineMs } = this.#context.retry;
    const ms = Math.ceil(wait).toString();
    const bound =
      wait > maxRetryAfterMs
        ? `retry.maxRetryAfterMs is ${maxRetryAfterMs.toString()}`
        : `less is left of the ${deadlineMs.toString()} ms of retry.deadlineMs`;
    return new AIProviderError(
      `${this.#model.name}: the provider asked all that use this model to wait for ${ms} ms more, and ${bound}.`,
      { status: this.#last?.status ?? 429, retryable: true, retryAfterMs: wait, ...this.#spent() },
      { cause: this.#last },
    );
  }

  #spent(): { readonly attempts: number; readonly elapsedMs: number } {
    return { attempts: this.#attempts, elapsedMs: Math.round(performance.now() - this.#begun) };
  }

  #asFailure(error: unknown): AIError {
    if (isErrorOf(error, 'scope') || isErrorOf(error, 'definition')) return error;
    const failure = providerError(this.#model.name, error);
    const { status, requestId, retryable, retryAfterMs, cause } = failure;
    const { maxRetryAfterMs } = this.#context.retry;
    const asked =
      retryAfterMs !== undefined && retryAfterMs > maxRetryAfterMs
        ? ` It asked for ${Math.ceil(retryAfterMs).toString()} ms, and retry.maxRetryAfterMs is ${maxRetryAfterMs.toString()}.`
        : '';
    const sent = this.#attempts > 1 ? ` It was sent ${this.#attempts.toString()} times.` : '';
    const message = `${failure.message}${asked}${sent}`;
    return new AIProviderError(message, { status, requestId, retryable, retryAfterMs, ...this.#spent() }, { cause });
  }
}

/** A function of the application's own may give anything; what is no part of a delay is a whole one. */
function between0And1(random: () => number): number {
  try {
    const value = random();
    return value >= 0 && value <= 1 ? value : 1;
  } catch {
    return 1;
  }
}

function sleep(ms: number, signal: Abortable): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.ceil(ms));
  });
  return untilAborted(signal, slept).finally(() => {
    clearTimeout(timer);
  });
}
