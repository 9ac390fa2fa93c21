import type { AIProviderError } from '../errors.js';
import type { ModelCall } from '../model/chat-model.js';
import type { FinishReason } from '../model/finish-reason.js';
import type { ModelUsage } from '../model/usage.js';
import type { SourceChange } from '../tool/late-tools.js';
import type { AIRun, PartialRun, ToolCallOutcome } from '../run.js';

/** What every event says. Events are frozen copies: nothing done to one reaches the run. */
export interface AIRunEvent {
  /** Unique for each question. */
  readonly runId: string;
  /** Which agent: `SupportController#0`, `SupportController.reader`, or `createAIService`; or a server, `mcpServer crm`. */
  readonly site: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The run in one of whose calls this one was begun, as an agent that is another's tool; absent where there is none. */
  readonly parentRunId?: string;
  /** That call. */
  readonly parentCallId?: string;
}

/** A question was taken; nothing has been sent yet. */
export interface RunStarted extends AIRunEvent {
  /** Empty where nothing was asked: a call of its own, as a client of `mcpServer` makes it. */
  readonly question: string;
  /** What the caller passed as `metadata`; `{}` where nothing was. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The wire names that the run may call, in order. */
  readonly tools: readonly string[];
}

/** A request is about to be sent. */
export interface TurnStarted extends AIRunEvent {
  /** Counted from 1. */
  readonly turn: number;
  /** The wire names on offer in this turn; none after the last permitted call, and in a typed turn. */
  readonly tools: readonly string[];
}

/** The model's reply is there, and was not looked at yet. */
export interface ModelReplied extends AIRunEvent {
  readonly turn: number;
  /** The model's name. */
  readonly model: string;
  /** As the model wrote it, wire and all. */
  readonly text: string;
  /** The model's words where it refused. */
  readonly refusal?: string;
  /** Function calls, where there are any. */
  readonly calls?: readonly ModelCall[];
  readonly finish: FinishReason;
  readonly usage: ModelUsage;
  /** How often the request was sent; 0 where a middleware replied in the model's place. */
  readonly attempts: number;
  /** The provider's id of the request, for its support. */
  readonly requestId?: string;
  /** In milliseconds, failed attempts and delays included. */
  readonly durationMs: number;
}

/** A provider call failed and is sent again. */
export interface ModelRetried extends AIRunEvent {
  readonly turn: number;
  /** How often it was sent so far. */
  readonly attempt: number;
  readonly error: AIProviderError;
  /** How long it is waited before it is sent again, in milliseconds. */
  readonly delayMs: number;
}

/** The model made a call; it may yet turn out to be unknown, wrong, repeated or refused. */
export interface ToolStarted extends AIRunEvent {
  /** Unique within the run. */
  readonly callId: string;
  /** The provider call, counted from 1, whose reply made this call. */
  readonly turn: number;
  /** The wire name, as the model wrote it. */
  readonly tool: string;
  /** The arguments as the model sent them. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** The arguments as converted, the same that the method gets; absent where they could not be. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** The call is over: exactly one for each `ToolStarted`. Where a middleware edited the arguments, these are the edited ones. */
export interface ToolEnded extends ToolStarted {
  /** How it ended. */
  readonly outcome: ToolCallOutcome;
  /** Whether the tool itself was begun, whatever the outcome says. */
  readonly executed: boolean;
  /** What the model was told. */
  readonly result: string;
  /** The real error, the very object that was thrown. It may hold what the model must not see. */
  readonly error?: unknown;
  /** In milliseconds, conversion and resolution included. */
  readonly durationMs: number;
}

/**
 * Something happened to tools that come from elsewhere: a server is down or came back, a tool of it is not what was
 * accepted. Told at the begin of the run that met it.
 */
export interface ToolSourceChanged extends AIRunEvent, SourceChange {}

/** The run is over: exactly one for each `RunStarted`. */
export interface RunEnded extends AIRunEvent {
  /** The run, finished or as far as it came. */
  readonly run: AIRun | PartialRun;
  /** Why it ended with an answer; absent where it failed, or where nothing was asked. */
  readonly stop?: AIRun['stop'];
  /** What it was rejected with; absent where it was not. */
  readonly error?: unknown;
  /** In milliseconds. */
  readonly durationMs: number;
}

/** The methods of an observer, and what each is told. */
export interface AIEvents {
  readonly runStarted: RunStarted;
  readonly turnStarted: TurnStarted;
  readonly modelReplied: ModelReplied;
  readonly modelRetried: ModelRetried;
  readonly toolStarted: ToolStarted;
  readonly toolEnded: ToolEnded;
  readonly toolSourceChanged: ToolSourceChanged;
  readonly runEnded: RunEnded;
}
