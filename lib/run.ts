/**
 * What a run tells about itself: plain frozen data, the same in a finished run, in an error and in an event.
 */

/** Whether a tool only looks (`read-only`) or may change something (`mutating`, also where nothing is said). */
export type ToolEffect = 'read-only' | 'mutating';

/**
 * How one tool call ended: `ok`; `invalid-arguments` and `unknown-tool`, the model's own mistakes; `failed`, the tool
 * threw; `refused`, not allowed to run; `repeated`, not run a second time; `timed-out`; `aborted`.
 */
export type ToolCallOutcome =
  'ok' | 'invalid-arguments' | 'unknown-tool' | 'failed' | 'refused' | 'repeated' | 'timed-out' | 'aborted';

/** One tool call of a run, as it ended. */
export interface ToolCallRecord {
  /** Unique within its run. */
  readonly callId: string;
  /** The provider call, counted from 1, whose reply made this call. */
  readonly turn: number;
  /** The wire name, as the model wrote it. */
  readonly tool: string;
  /** The arguments as the model sent them. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** The arguments as converted for the tool; absent where they could not be. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly outcome: ToolCallOutcome;
  /**
   * Whether the tool itself was begun, whatever the outcome says: a middleware may refuse a call after it, or fail. What
   * is recorded or answered in its place was not.
   */
  readonly executed: boolean;
  /** What the model was told; where the call ended the run, what it would have been. */
  readonly result: string;
  /** In milliseconds, conversion and resolution included. */
  readonly durationMs: number;
}

/** Tokens and provider calls of a run, summed. A provider that does not count tokens leaves them at 0. */
export interface AIUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens`. */
  readonly cachedInputTokens: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number;
  /** Replies received. */
  readonly modelCalls: number;
  /** Requests sent, those included that failed and were repeated. */
  readonly attempts: number;
  /** In the currency of `prices`; absent where there are none. */
  readonly cost?: number;
}

/** One entry of a run's transcript, oldest first. */
export type TranscriptEntry =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly TranscriptCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly tool: string; readonly text: string };

/** A tool call as an assistant's entry holds it. */
export interface TranscriptCall {
  readonly callId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A run as far as it came: what an error that ended it carries as `error.run`. */
export interface PartialRun {
  readonly runId: string;
  readonly calls: readonly ToolCallRecord[];
  readonly usage: AIUsage;
  /** Provider calls whose reply was received. */
  readonly turns: number;
  readonly transcript: readonly TranscriptEntry[];
}

/** A finished run. */
export interface AIRun extends PartialRun {
  /** The answer. */
  readonly text: string;
  /** `answer`: the model answered; `cap`: it answered because no more calls were allowed. */
  readonly stop: 'answer' | 'cap';
}
