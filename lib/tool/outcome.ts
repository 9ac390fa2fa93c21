import type { Ending } from './execution.js';
import type { ToolOutcome } from './middleware.js';
import { nothingText, shorten } from './result.js';
import type { CompiledTool } from './tool.js';

/*
 * An ending, as middleware holds it, and back. What a copy must not lose is under a symbol, which a spread copies too.
 */

const MADE = Symbol('inversify-ai/outcome');

interface Made extends Partial<Pick<Ending, 'result' | 'denied'>> {
  /** Played in place of a call that had executed its tool: it counts as one. */
  readonly counts?: true;
}

/** What a recording says of an outcome besides its words. */
export interface OutcomeMarks {
  /** It stands for an execution that was made when it was recorded. */
  readonly counts?: boolean;
  /** Its text is told as it is, since it was made to be told. */
  readonly asItIs?: boolean;
}

export function outcomeOf(
  { outcome, result, error, denied }: Ending,
  { counts = false, asItIs = true }: OutcomeMarks = {},
): ToolOutcome {
  const made: Made = Object.freeze({
    ...(asItIs && { result }),
    ...(denied === true && { denied }),
    ...(counts && { counts }),
  });
  return Object.freeze({ outcome, result, ...(error !== undefined && { error }), [MADE]: made });
}

const madeOf = (outcome: ToolOutcome): Made | undefined => (outcome as { readonly [MADE]?: Made })[MADE];

/** Whether the text of an outcome is told as it is. */
export function isToldAsItIs(outcome: ToolOutcome): boolean {
  return madeOf(outcome)?.result === outcome.result;
}

/** Whether an outcome, or a copy of one, was a denial. */
export function isDenied(outcome: ToolOutcome): boolean {
  return madeOf(outcome)?.denied === true;
}

/** Whether an outcome that no execution stands behind counts as one: something was answered in the tool's place. */
export function countsAsExecuted(outcome: ToolOutcome): boolean {
  return madeOf(outcome)?.counts === true || IN_ITS_PLACE.has(outcome.outcome);
}

const IN_ITS_PLACE: ReadonlySet<string> = new Set(['ok', 'failed', 'timed-out', 'aborted']);

/**
 * How a call ends that a middleware gave an outcome to. Its own text is told like a result: never empty, and cut where it
 * is long. A denial must look like "there is none" also where the outcome was made anew around its text.
 * @param inner how the tool itself ended, if it was executed
 */
export function endingOf(outcome: ToolOutcome, tool: CompiledTool, inner: Ending | undefined): Ending {
  const { result, error } = outcome;
  const isOwn = madeOf(outcome)?.result === result || inner?.result === result;
  const denied = isDenied(outcome) || (inner?.denied === true && inner.result === result);
  return {
    outcome: outcome.outcome,
    result: isOwn ? result : result === '' ? nothingText(tool) : shorten(result, tool.maxResultChars),
    ...(error !== undefined && { error }),
    ...(denied && { denied }),
  };
}
