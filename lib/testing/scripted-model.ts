import { untilAborted } from '../abort.js';
import { throwProblems, unknownOptions } from '../declaration.js';
import { AIProviderError } from '../errors.js';
import { ChatModel, type ModelDelta, type ModelReply, type ModelRequest } from '../model/chat-model.js';
import { readFinish } from '../model/finish-reason.js';
import { chatCompletionBody } from '../model/open-ai-request.js';
import { providerError } from '../model/provider-error.js';
import { type ModelUsage, NO_USAGE } from '../model/usage.js';
import { answerOn, callsOn, type ScriptedCall, type ScriptedReply } from './scripted-reply.js';

/** One turn of a script: what the stand-in replies to one request. */
export type ScriptedTurn =
  | {
      readonly kind: 'calls';
      readonly calls: readonly ScriptedCall[];
      readonly text: string;
      /** In the provider's words; absent for what it says of such a reply. */
      readonly finish: string | undefined;
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

const PROFILE = Object.freeze({
  schema: 'accepted',
  wires: ['envelope', 'union', 'native'],
  prefers: 'envelope',
  maxTokensField: 'max_completion_tokens',
} as const);

class Script extends ChatModel implements ScriptedModel {
  readonly name = 'scripted';
  readonly profile = PROFILE;
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
    this.requests.push({
      tools: [...request.tools],
      body: JSON.stringify(chatCompletionBody(this.name, request, PROFILE)),
    });
    await Promise.resolve();
    signal.throwIfAborted();
    if (turn === undefined)
      throw new AIProviderError(
        `scriptedModel: request ${this.requests.length.toString()} finds no turn left; the script has ${this.#turns.length.toString()}.`,
      );
    return this.#play(turn, request, signal);
  }

  override async *stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelDelta> {
    const { text, refusal, calls = [], ...end } = await this.complete(request, options);
    for (const piece of pieces(text)) {
      await Promise.resolve();
      options.signal.throwIfAborted();
      yield { type: 'text', text: piece };
    }
    if (refusal !== undefined) yield { type: 'refusal', text: refusal };
    for (const [index, { id, name, arguments: args }] of calls.entries()) {
      yield { type: 'call', index, name, ...(id !== undefined && { id }) };
      for (const piece of pieces(args)) yield { type: 'call', index, arguments: piece };
    }
    yield { type: 'end', ...end };
  }

  #play(turn: ScriptedTurn, request: ModelRequest, signal: AbortSignal): ModelReply | Promise<ModelReply> {
    switch (turn.kind) {
      case 'calls':
        return reply(
          callsOn(request.wire, turn.calls, turn.text),
          turn.finish ?? (request.wire === 'native' ? 'tool_calls' : 'stop'),
          turn.usage,
        );
      case 'text':
        return reply(answer(request, turn.text), turn.finish, turn.usage);
      case 'refusal':
        return { ...reply({ text: '' }, 'stop'), refusal: turn.text };
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
function answer({ wire, responseSchema, tools, functions }: ModelRequest, text: string): ScriptedReply {
  if (responseSchema?.name === 'answer') {
    const { within } = responseSchema;
    return { text: within === undefined || text === '' ? text : `{${JSON.stringify(within)}:${text}}` };
  }
  const isPlain = responseSchema === undefined && tools.length === 0 && functions === undefined;
  return isPlain ? { text } : answerOn(wire, text);
}

function reply(said: ScriptedReply, finish: string, usage: Partial<ModelUsage> = {}): ModelReply {
  return { ...said, finish: readFinish(finish), usage: { ...NO_USAGE, ...usage } };
}

function errorCode(body: unknown): { readonly code?: unknown } {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  return typeof error === 'object' && error !== null && 'code' in error ? { code: error.code } : {};
}

/** Splits a text into pieces of a few characters, as a stream would. */
function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 5) yield text.slice(at, at + 5);
}

function never(signal: AbortSignal, attemptTimeoutMs: number | undefined): Promise<never> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    if (attemptTimeoutMs === undefined) return;
    timer = setTimeout(() => {
      const message = `scripted: no complete reply within ${attemptTimeoutMs.toString()} ms.`;
      reject(new AIProviderError(message, { retryable: true }));
    }, attemptTimeoutMs);
  });
  return untilAborted(signal, late).finally(() => {
    clearTimeout(timer);
  });
}
