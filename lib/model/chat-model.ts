import { declareToken } from '../token.js';

/** One message, as every chat API has it. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A JSON Schema, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How turns travel: see the wire of that name. */
export type WireName = 'envelope';

/** One turn, ready to be sent. */
export interface ModelRequest {
  /** How the turn is written. */
  readonly wire: WireName;
  /** The transcript, system text first; the roles after it alternate. */
  readonly messages: readonly ModelMessage[];
  /** What the reply must match; absent for a service without tools, which answers in plain text. */
  readonly responseSchema?: { readonly name: string; readonly schema: JsonSchema };
  /** The wire names on offer in this turn, in order. */
  readonly tools: readonly string[];
}

/**
 * Why a provider stopped writing. Another word than these is one that is not known here: nothing runs from such a
 * reply, since it may not be whole.
 */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | (string & {});

/** Tokens of one reply; what a provider does not count is 0. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
}

export const NO_USAGE: ModelUsage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
});

/** The words of OpenAI, and those of others behind servers that pass them on. */
const FINISH_REASONS: Readonly<Record<string, readonly string[]>> = {
  stop: [
    'stop',
    'end_turn',
    'stop_sequence',
    'eos',
    'eos_token',
    'end_of_turn',
    'stop_token',
    'completed',
    'complete',
    'done',
    'normal',
  ],
  tool_calls: ['tool_calls', 'function_call', 'tool_use'],
  length: ['length', 'max_tokens', 'model_length', 'max_output_tokens'],
  content_filter: [
    'content_filter',
    'content-filter',
    'safety',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
  ],
};

/** A provider's word for why it stopped. `null`, nothing at all and an empty
 * text are what some servers send with a complete reply. */
export function readFinish(word: unknown): FinishReason {
  if (word === undefined || word === null || word === '') return 'stop';
  if (typeof word !== 'string') return 'unknown';
  const known = Object.entries(FINISH_REASONS).find(([, words]) => words.includes(word.toLowerCase()));
  return known?.[0] ?? word;
}

/** Counts as they came; what is no count is 0. */
export function readUsage(usage: unknown): ModelUsage {
  const counts = (usage ?? {}) as { readonly [K in keyof ModelUsage]?: unknown };
  const count = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
  return {
    inputTokens: count(counts.inputTokens),
    outputTokens: count(counts.outputTokens),
    cachedInputTokens: count(counts.cachedInputTokens),
    reasoningTokens: count(counts.reasoningTokens),
  };
}

/** One reply, as far as every provider has it. */
export interface ModelReply {
  /** What the model wrote; empty where it wrote nothing. */
  readonly text: string;
  readonly finish: FinishReason;
  /** The model's words where it refused. */
  readonly refusal?: string;
  readonly usage: ModelUsage;
  /** The provider's id of the request, for its support. */
  readonly requestId?: string;
}

/** What a model's server is known to do. */
export interface ModelProfile {
  /** `enforced`: tokens outside the schema cannot be written; `accepted`: the schema is only read. */
  readonly schema: 'enforced' | 'accepted';
  /** The wires it speaks. */
  readonly wires: readonly WireName[];
}

/**
 * A language model: one provider call, no retry, no loop. It is a token too: bound in a container it serves all agents
 * there, bound in a scope it serves that scope.
 *
 * A failure is thrown as an `AIProviderError` whose `retryable` says whether the same request may be sent again. An
 * abort of `signal` rejects with its reason.
 */
export abstract class ChatModel {
  static {
    declareToken('ChatModel', this);
  }

  /** For people: which model this is. */
  abstract readonly name: string;
  abstract readonly profile: ModelProfile;
  abstract complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply>;
}

/** Whether a value can be used as a model, whichever copy of the package its class came from. */
export function isChatModel(value: unknown): value is ChatModel {
  return (
    typeof value === 'object' &&
    value !== null &&
    'complete' in value &&
    typeof value.complete === 'function' &&
    'profile' in value
  );
}
