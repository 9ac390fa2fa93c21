import { throwProblems, unknownOptions } from '../declaration.js';
import { AIProviderError } from '../errors.js';
import { ChatModel, type ModelReply, type ModelRequest } from '../model/chat-model.js';
import { readFinish } from '../model/finish-reason.js';
import { chatCompletionBody } from '../model/open-ai-request.js';
import { providerError } from '../model/provider-error.js';
import { type ModelUsage, NO_USAGE } from '../model/usage.js';
import { envelopeCall, envelopeText } from './scripted-envelope.js';

/** One turn of a script: what the stand-in replies to one request. */
export type ScriptedTurn =
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly raw: string;
      readonly text: string;
      readonly finish: string;
      readonly usage?: Partial<ModelUsage>;
    }
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly finish: string;
      readonly usage?: Partial<ModelUsage>;
    }
  | { readonly kind: 'refusal'; readonly text: string }
  | {
      readonly kind: 'http';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: unknown;
    }
  | { readonly kind: 'never' };

/** A request as it was recorded. */
export interface ScriptedRequest {
  /** The wire names on offer, in order. */
  readonly tools: readonly string[];
  /** All that was sent, schema included, as JSON text. It holds no random ids. */
  readonly body: string;
}

/** A stand-in for a language model that plays a script. It is none: it reads nothing of what it is sent. */
export interface ScriptedModel extends ChatModel {
  /** Every request so far, those included that failed. */
  readonly requests: readonly ScriptedRequest[];
}

/**
 * A model that plays `turns` in order, across runs, on the wire that a request has. A request that finds none left is
 * rejected with an error that says so. `attemptTimeoutMs` ends a `never()` as a provider's timeout would.
 */
export function scriptedModel(
  turns: readonly ScriptedTurn[],
  options: { readonly attemptTimeoutMs?: number } = {},
): ScriptedModel {
  const problems = unknownOptions('scriptedModel', options, ['attemptTimeoutMs']);
  const list: unknown = turns;
  if (!Array.isArray(list) || list.some((turn) => typeof turn !== 'object' || turn === null || !('kind' in turn)))
    problems.push(
      "scriptedModel: the script must be a list of turns, [call('OrderTools_findOrder', { orderId: 42 }), text('Done.')]",
    );
  throwProblems(problems);
  return new Script([...turns], options.attemptTimeoutMs);
}

class Script extends ChatModel implements ScriptedModel {
  readonly name = 'scripted';
  readonly profile = Object.freeze({ schema: 'accepted', wires: ['envelope'] } as const);
  readonly requests: ScriptedRequest[] = [];
  readonly #turns: readonly ScriptedTurn[];
  readonly #attemptTimeoutMs: number | undefined;

  constructor(turns: readonly ScriptedTurn[], attemptTimeoutMs: number | undefined) {
    super();
    this.#turns = turns;
    this.#attemptTimeoutMs = attemptTimeoutMs;
  }

  override async complete(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): Promise<ModelReply> {
    const turn = this.#turns[this.requests.length];
    this.requests.push({ tools: [...request.tools], body: JSON.stringify(chatCompletionBody(this.name, request)) });
    await Promise.resolve();
    signal.throwIfAborted();
    if (turn === undefined)
      throw new AIProviderError(
        `scriptedModel: request ${this.requests.length.toString()} finds no turn left; the script has ${this.#turns.length.toString()}.`,
      );
    switch (turn.kind) {
      case 'call':
        return reply(envelopeCall(turn.tool, turn.raw, turn.text), turn.finish, turn.usage);
      case 'text':
        return reply(answerText(request, turn.text), turn.finish, turn.usage);
      case 'refusal':
        return { ...reply('', 'stop'), refusal: turn.text };
      case 'http':
        throw providerError(this.name, {
          status: turn.status,
          headers: new Headers(turn.headers),
          error: turn.body,
          ...errorCode(turn.body),
        });
      case 'never':
        return never(signal, this.#attemptTimeoutMs);
    }
  }
}

/** A typed turn is played as it stands; where its value travels within an object, the script need not say so. */
function answerText({ responseSchema }: ModelRequest, text: string): string {
  if (responseSchema === undefined) return text;
  if (responseSchema.name === 'turn') return envelopeText(text);
  const { within } = responseSchema;
  return within === undefined || text === '' ? text : `{${JSON.stringify(within)}:${text}}`;
}

function reply(text: string, finish: string, usage: Partial<ModelUsage> = {}): ModelReply {
  return { text, finish: readFinish(finish), usage: { ...NO_USAGE, ...usage } };
}

function errorCode(body: unknown): { readonly code?: unknown } {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  return typeof error === 'object' && error !== null && 'code' in error ? { code: error.code } : {};
}

function never(signal: AbortSignal, attemptTimeoutMs: number | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (error: Error): void => {
      signal.removeEventListener('abort', abort);
      clearTimeout(timer);
      reject(error);
    };
    const abort = (): void => {
      end(signal.reason as Error);
    };
    const timer =
      attemptTimeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            const message = `scripted: no complete reply within ${attemptTimeoutMs.toString()} ms.`;
            end(new AIProviderError(message, { retryable: true }));
          }, attemptTimeoutMs);
    signal.addEventListener('abort', abort, { once: true });
  });
}
