import { childController, untilAborted } from '../abort.js';
import { type Abortable, abortableIn, type Cancellation } from '../cancellation.js';
import { MAX_TIMER_MS } from '../declaration.js';
import { AIProviderError, isErrorOf } from '../errors.js';
import { deltasOf } from './assemble.js';
import { ChatModel, type ModelDelta, type ModelReply, type ModelRequest } from './chat-model.js';
import type { OpenAIProfile } from './profiles.js';
import { member } from './member.js';
import { providerError, readRequestId, sameFailure } from './provider-error.js';

/** The part of the `openai` client that is used: version 6 or 7, or anything of the same shape. */
export interface OpenAIClient {
  readonly chat: {
    readonly completions: {
      // A method, so that the client's overloads fit.
      create(body: never, options?: never): PromiseLike<unknown>;
    };
  };
  /** For `api: 'responses'` alone. */
  readonly responses?: {
    create(body: never, options?: never): PromiseLike<unknown>;
  };
}

/** One of OpenAI's two APIs: it translates, and sends nothing itself. */
export interface Transport {
  body(model: string, request: ModelRequest, profile: OpenAIProfile): Readonly<Record<string, unknown>>;
  send(client: OpenAIClient, body: object, options: object): PromiseLike<unknown>;
  /** What a body needs for the reply to be streamed. */
  readonly streaming: Readonly<Record<string, unknown>>;
  read(where: string, body: unknown): ModelReply;
  deltas(
    where: string,
    request: ModelRequest,
    stream: AsyncIterable<unknown>,
    requestId: string | undefined,
  ): AsyncIterable<ModelDelta>;
  /** Learns from what the provider refused; whether the same request, written anew, may now succeed. */
  learns?(error: unknown, body: object): boolean;
}

interface OpenAIModelOptions {
  /** For one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** For messages. */
  readonly where: string;
  readonly profile: OpenAIProfile;
  readonly transport: Transport;
  readonly client: () => Promise<OpenAIClient>;
}

/** A model behind an openai client. */
export class OpenAIModel extends ChatModel {
  readonly profile: OpenAIProfile;
  readonly #options: OpenAIModelOptions;

  constructor(
    readonly name: string,
    options: OpenAIModelOptions,
  ) {
    super();
    this.profile = options.profile;
    this.#options = options;
  }

  override async complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply> {
    const { transport, where, client } = this.#options;
    const attempt = new Attempt(this.#options, abortableIn(options));
    let isWhole = false;
    try {
      const sent = this.#send(await client(), request, attempt, {});
      // The fetch or the client of an application may not heed the signal.
      const reply = transport.read(where, await untilAborted(attempt.cancellation, Promise.resolve(sent)));
      isWhole = true;
      return reply;
    } catch (error) {
      throw attempt.failure(error);
    } finally {
      attempt.end(isWhole);
    }
  }

  override async *stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelDelta> {
    const { transport, where, client } = this.#options;
    const attempt = new Attempt(this.#options, abortableIn(options));
    let deltas: AsyncIterator<ModelDelta> | undefined;
    try {
      const sent = this.#send(await client(), request, attempt, transport.streaming);
      const { data, requestId } = await untilAborted(attempt.cancellation, opened(sent));
      if ('whole' in data) {
        yield* deltasOf({ ...transport.read(where, data.whole), ...(requestId !== undefined && { requestId }) });
        return;
      }
      deltas = transport.deltas(where, request, data, requestId)[Symbol.asyncIterator]();
      for (;;) {
        // An abort ends the client's loop as if the stream had ended: it is looked at here, at each piece.
        const next = await untilAborted(attempt.cancellation, deltas.next());
        attempt.cancellation.throwIfAborted();
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      throw attempt.failure(error);
    } finally {
      attempt.end();
      // Not awaited: where nothing more comes, it would wait for that.
      deltas?.return?.().catch(() => undefined);
    }
  }

  #send(client: OpenAIClient, request: ModelRequest, attempt: Attempt, streaming: object): PromiseLike<unknown> {
    const { transport, profile, timeoutMs } = this.#options;
    attempt.cancellation.throwIfAborted();
    // A profile may take back what not every server knows, but not whether there is a stream.
    const body = {
      ...streaming,
      ...transport.body(this.name, request, profile),
      ...('stream' in streaming && { stream: streaming.stream }),
    };
    attempt.body = body;
    return transport.send(client, body, {
      signal: attempt.cancellation.signal,
      maxRetries: 0,
      timeout: Math.min(timeoutMs + 1_000, MAX_TIMER_MS),
    });
  }
}

/**
 * One attempt, with a timer of our own over headers and body: openai 6 stops its own once the headers are there. A child
 * of the signal, so that nothing stays on a signal that lives longer.
 */
class Attempt {
  readonly #options: OpenAIModelOptions;
  readonly #signal: Abortable;
  readonly #controller: Cancellation;
  readonly #stopListening: () => void;
  readonly #timer: NodeJS.Timeout;
  #isLate = false;
  /** What was sent. */
  body: object = {};

  constructor(options: OpenAIModelOptions, signal: Abortable) {
    this.#options = options;
    this.#signal = signal;
    const { controller, stop } = childController(signal);
    this.#controller = controller;
    this.#stopListening = stop;
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#controller.abort(new Error('timeout'));
    }, options.timeoutMs);
  }

  /** What ends it. */
  get cancellation(): Cancellation {
    return this.#controller;
  }

  /** What an error of this attempt is thrown as: the signal's reason where that ended it. */
  failure(error: unknown): unknown {
    const { where, timeoutMs, transport } = this.#options;
    if (this.#signal.aborted) return this.#signal.reason;
    if (this.#isLate)
      return new AIProviderError(
        `${where}: no complete reply within ${timeoutMs.toString()} ms.`,
        { retryable: true },
        { cause: error },
      );
    // A package that is not installed, a setting that the API does not have.
    if (isErrorOf(error, 'definition')) return error;
    // The client trips over what is no response at all.
    const isTripped = member(error, 'name') === 'TypeError';
    const failure = isTripped ? sameFailure(providerError(where, error), undefined, true) : providerError(where, error);
    if (transport.learns?.(error, this.body) !== true) return failure;
    const { message, status, requestId } = failure;
    return new AIProviderError(message, { status, requestId, retryable: true }, { cause: failure.cause });
  }

  /** Closes what is still open: a stream that was left before its end. A reply that was read whole leaves nothing open. */
  end(isWhole = false): void {
    clearTimeout(this.#timer);
    this.#stopListening();
    if (!isWhole) this.#controller.abort(new Error('the attempt is over'));
  }
}

/** What was answered to a request for a stream: pieces, or all of it as JSON, by a server that has no streams. */
type Opened = AsyncIterable<unknown> | { readonly whole: unknown };

/** A stream that the client opened, with the provider's id of the request where the client tells it. */
async function opened(
  sent: PromiseLike<unknown>,
): Promise<{ readonly data: Opened; readonly requestId: string | undefined }> {
  const { withResponse } = sent as { readonly withResponse?: unknown };
  if (typeof withResponse !== 'function') return { data: iterable(await sent), requestId: undefined };
  const answered = (await (withResponse as () => PromiseLike<unknown>).call(sent)) as {
    readonly data?: unknown;
    readonly request_id?: unknown;
    readonly response?: Response;
  };
  const requestId = readRequestId(answered.request_id);
  const { response } = answered;
  // The client would look in it for events, and find none.
  return /^application\/([\w.-]+\+)?json\b/i.test(response?.headers.get('content-type') ?? '')
    ? { data: { whole: await response?.json() }, requestId }
    : { data: iterable(answered.data), requestId };
}

/** A server may answer with something else than a stream. */
function iterable(data: unknown): AsyncIterable<unknown> {
  if (typeof data === 'object' && data !== null && Symbol.asyncIterator in data) return data as AsyncIterable<unknown>;
  throw new AIProviderError('what came is no stream', { retryable: true });
}
