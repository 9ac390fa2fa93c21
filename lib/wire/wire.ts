import type { ModelReply, ModelRequest, ResponseSchema, WireName } from '../model/chat-model.js';
import type { TranscriptEntry } from '../run.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import type { AnswerText } from './answer-text.js';

/** One turn, as the loop sees it. */
export interface WireTurn {
  /** What the application says to the model; empty where it says nothing. */
  readonly system: string;
  /** The agent's tools: what the model has read of since the first turn. */
  readonly toolset: CompiledToolset;
  /** What this turn offers: the toolset, or nothing once no more calls are allowed. */
  readonly offered: CompiledToolset;
  readonly transcript: readonly TranscriptEntry[];
  /** The turn must call one of the tools on offer. */
  readonly mustCall?: boolean;
  /** Several calls in one turn, where the wire has them. */
  readonly parallelCalls?: boolean;
  /** What the model's turns brought along to be sent back, by their entry of the transcript. */
  readonly carried?: (entry: TranscriptEntry) => readonly object[] | undefined;
  /** A typed turn: what the answer must match, and whether the server must be told so in words. */
  readonly answer?: ResponseSchema & { readonly spellOut: boolean };
}

/** A call as a reply holds it, before it has an id of ours. */
export interface WireCall {
  readonly tool: string;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly problem?: string;
  /** Nothing was sent in the place of arguments, which a tool takes that has none. */
  readonly nothing?: true;
  /** The provider's id, where it has one; it may be empty, or another call's too. */
  readonly id?: string;
}

/** A reply that is no answer and from which nothing may run. */
export type Failure =
  | {
      readonly kind: 'failure';
      readonly code: 'truncated' | 'filtered' | 'refused';
      readonly text: string;
    }
  /** Stopped for a reason that is not known here. */
  | { readonly kind: 'failure'; readonly code: 'truncated'; readonly text: string; readonly finish: string }
  | {
      readonly kind: 'failure';
      readonly code: 'malformed' | 'empty';
      readonly text: string;
      readonly correction: string;
      /** What was wrong, a line each; they may quote the reply. */
      readonly problems: readonly string[];
      /** The same for the error's message, where it quotes nothing of the reply. */
      readonly reason?: string;
    };

/** What a reply says. */
export type Decoded =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'calls'; readonly calls: readonly WireCall[]; readonly text: string }
  | Failure;

/** How a turn travels to a model and back. A wire only translates: it knows no loop, runs nothing and keeps nothing. */
export interface Wire {
  readonly name: WireName;
  encode(turn: WireTurn): ModelRequest;
  decode(reply: ModelReply, turn: Pick<WireTurn, 'toolset' | 'offered'>): Decoded;
  /** What may be shown of a turn's reply while it is being written. */
  answerText(turn: Pick<WireTurn, 'toolset'>): AnswerText;
  /** What of these tools is more than providers take in one request, `1203 values …`; nothing where they all fit. */
  excess(toolset: CompiledToolset): readonly string[];
}
