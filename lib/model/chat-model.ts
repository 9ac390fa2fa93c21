import type { ModelSettings } from '../run-options.js';
import type { WireName } from '../wire-name.js';
import { declareToken } from '../token.js';
import { AIProviderError } from '../errors.js';
import { type FinishReason, readFinish } from './finish-reason.js';
import { member } from './member.js';
import { type ModelUsage, readUsage } from './usage.js';

/** One message, as every chat API has it. */
export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      /** Function calls of that turn, each with an id that no other has. */
      readonly calls?: readonly (ModelCall & { readonly id: string })[];
      /** What the model's own turn brought along to be sent back; see `ModelReply.carried`. */
      readonly carried?: readonly object[];
    }
  /** What a function call returned. */
  | { readonly role: 'tool'; readonly callId: string; readonly content: string };

export type { WireName };

/** A JSON Schema, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as a provider's own function calling takes it. */
export interface ModelFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** Whether `parameters` are of the strict kind, which a provider can enforce. */
  readonly strict: boolean;
}

/** Whether a turn must, may or may not call a function, or which one it must call. */
export type FunctionChoice = 'auto' | 'required' | 'none' | { readonly name: string };

/** One turn, ready to be sent. */
export interface ModelRequest {
  /** How the turn is written. */
  readonly wire: WireName;
  /** The transcript, system text first; the roles after it alternate, but for results of functions. */
  readonly messages: readonly ModelMessage[];
  /** What the reply must match; absent for plain text, and for the provider's own function calling. */
  readonly responseSchema?: ResponseSchema;
  /** The wire names on offer in this turn, in order. */
  readonly tools: readonly string[];
  /** The same as functions, where they travel so. */
  readonly functions?: readonly ModelFunction[];
  /** Absent where nothing is to be said of it. */
  readonly functionChoice?: FunctionChoice;
  /** Whether a turn may call several functions; absent where there are none. */
  readonly parallelCalls?: boolean;
  /** What the application set; nothing where it set nothing. */
  readonly settings?: ModelSettings;
}

/** What a reply must match, as JSON. */
export interface ResponseSchema {
  /** `turn`: a turn of the wire; `answer`: a typed answer. */
  readonly name: 'turn' | 'answer';
  readonly schema: JsonSchema;
  /** `false`: the schema says more than a provider's strict mode takes, so it is only read. Default: true. */
  readonly strict?: boolean;
  /** Where the answer's type is no object: the only key of the object that holds it. */
  readonly within?: string;
}

/** A call in the provider's own function calling, as it came. */
export interface ModelCall {
  /** The provider's; it may be missing, empty or used twice. */
  readonly id?: string;
  readonly name: string;
  /** The text of the arguments, unread. */
  readonly arguments: string;
}

/** One reply, as far as every provider has it. */
export interface ModelReply {
  /** What the model wrote; empty where it wrote nothing. */
  readonly text: string;
  readonly finish: FinishReason;
  /** The model's words where it refused. */
  readonly refusal?: string;
  /** Function calls, where there are any. On a wire that offers none, nothing runs from a reply that has some. */
  readonly calls?: readonly ModelCall[];
  /**
   * Opaque things of the provider's that must come back with this turn: what a model thought, encrypted. They are sent
   * to the model that they came from, and told to nobody.
   */
  readonly carried?: readonly object[];
  readonly usage: ModelUsage;
  /** The provider's id of the request, for its support. */
  readonly requestId?: string;
}

/** A piece of a reply that is still being written. */
export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  /** A piece of a function call: the first of each bears its name. */
  | {
      readonly type: 'call';
      /** Which call of the turn, where the provider counts them. */
      readonly index?: number;
      readonly id?: string;
      readonly name?: string;
      /** More of the arguments' text. */
      readonly arguments?: string;
    }
  /** The end, without which a reply is not whole. */
  | ({ readonly type: 'end' } & Omit<ModelReply, 'text' | 'refusal' | 'calls'>);

/** What a model's server is known to do. */
export interface ModelProfile {
  /**
   * `enforced`: tokens outside the schema cannot be written; `accepted`: the schema is only read, if at all; `none`: one
   * is answered with an error, so none is sent.
   */
  readonly schema: 'enforced' | 'accepted' | 'none';
  /** The wires it speaks. */
  readonly wires: readonly WireName[];
  /** The wire that is taken where nobody says otherwise. Default: the strongest of `union` and `envelope`, else `native`. */
  readonly prefers?: WireName;
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

  /** The same, piece by piece. A model without it is asked for the whole. One that ends without its `end` is not whole. */
  stream?(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelDelta>;
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

/** A model may be anybody's: what it gives back is looked at once, here. Its other fields are taken as they are. */
export function readReply(model: ChatModel, reply: unknown): ModelReply {
  const { text, finish, usage, requestId, calls, carried, ...rest } = (reply ?? {}) as {
    readonly [K in keyof ModelReply]?: unknown;
  };
  // OpenAI's own field is null where nothing was refused.
  const refusal = rest.refusal === null || rest.refusal === '' ? undefined : rest.refusal;
  if (typeof text !== 'string' || (refusal !== undefined && typeof refusal !== 'string') || !areCalls(calls))
    throw new AIProviderError(
      `${model.name}: what complete() gave back is no ModelReply; it needs a text and a finish.`,
    );
  return {
    text,
    finish: readFinish(finish),
    usage: readUsage(usage),
    ...(refusal !== undefined && { refusal }),
    ...(calls !== undefined && calls.length > 0 && { calls }),
    ...(Array.isArray(carried) && carried.length > 0 && { carried: carried as readonly object[] }),
    ...(typeof requestId === 'string' && { requestId }),
  };
}

function areCalls(calls: unknown): calls is readonly ModelCall[] | undefined {
  return (
    calls === undefined ||
    (Array.isArray(calls) &&
      calls.every((call) => typeof member(call, 'name') === 'string' && typeof member(call, 'arguments') === 'string'))
  );
}
