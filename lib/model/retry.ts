import { untilAborted } from '../abort.js';
import { type AIError, AIProviderError, isErrorOf } from '../errors.js';
import { type ChatModel, type ModelReply, type ModelRequest, readFinish, readUsage } from './chat-model.js';

/*
 * Why our own: the openai client's retry waits out an abort and changed twice inside our peer range, and cockatiel and
 * p-retry know neither what a provider's status means nor that an abort's reason is rethrown unchanged.
 */

export interface RetryOptions {
  readonly signal: AbortSignal;
  /** How often one provider call may be sent: 1 is no retry. */
  readonly maxAttempts: number;
  /** Called each time that the request is sent. */
  readonly sending: () => void;
}

const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 20_000;

/**
 * One provider call, repeated alone while that may help: a lost connection, 429, a 5xx. Never a tool, never the loop.
 * Throws an `AIProviderError` with the number of attempts, or the signal's reason unchanged.
 */
export async function completeWithRetry(
  model: ChatModel,
  request: ModelRequest,
  options: RetryOptions,
): Promise<ModelReply> {
  const { signal, maxAttempts, sending } = options;
  const begun = Date.now();
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    sending();
    try {
      return checkReply(model, await untilAborted(signal, call(model, request, signal)));
    } catch (error) {
      signal.throwIfAborted();
      const failure = asProviderError(model, error, { attempts: attempt, elapsedMs: Date.now() - begun });
      if (!(failure instanceof AIProviderError) || !failure.retryable || attempt >= maxAttempts) throw failure;
    }
    // Full jitter: many agents that fail together must not come back together.
    await sleep(Math.random() * Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** (attempt - 1)), signal);
  }
}

/** A model that throws before it waits is one that rejects. */
async function call(model: ChatModel, request: ModelRequest, signal: AbortSignal): Promise<unknown> {
  return model.complete(request, { signal });
}

/** A model may be anybody's: what it gives back is looked at once, here. Its other fields are taken as they are. */
function checkReply(model: ChatModel, reply: unknown): ModelReply {
  const { text, finish, usage, requestId, ...rest } = (reply ?? {}) as { readonly [K in keyof ModelReply]?: unknown };
  // OpenAI's own field is null where nothing was refused.
  const refusal = rest.refusal === null || rest.refusal === '' ? undefined : rest.refusal;
  if (typeof text !== 'string' || (refusal !== undefined && typeof refusal !== 'string'))
    throw new AIProviderError(
      `${model.name}: what complete() gave back is no ModelReply; it needs a text and a finish.`,
    );
  return {
    text,
    finish: readFinish(finish),
    usage: readUsage(usage),
    ...(refusal !== undefined && { refusal }),
    ...(typeof requestId === 'string' && { requestId }),
  };
}

function asProviderError(
  model: ChatModel,
  error: unknown,
  spent: { readonly attempts: number; readonly elapsedMs: number },
): AIError {
  if (error instanceof AIProviderError) {
    const { message, status, requestId, retryable, cause } = error;
    return new AIProviderError(message, { status, requestId, retryable, ...spent }, { cause });
  }
  if (isErrorOf(error, 'scope') || isErrorOf(error, 'definition')) return error;
  return new AIProviderError(`${model.name}: the model failed with an error of its own; see cause.`, spent, {
    cause: error,
  });
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
