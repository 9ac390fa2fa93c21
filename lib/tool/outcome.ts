import type { Ending } from './execution.js';
import type { ToolOutcome } from './middleware.js';
import { nothingText, shorten } from './result.js';
import type { CompiledTool } from './tool.js';

/*
 * An ending, as middleware holds it, and back. What must survive a copy that a middleware makes is under a symbol, which
 * a spread copies too: a denial must look like "there is none" also after somebody edited its text.
 */

const MADE = Symbol('inversify-ai/outcome');

type Made = Pick<Ending, 'result' | 'denied'>;

export function outcomeOf({ outcome, result, error, denied }: Ending): ToolOutcome {
  const made: Made = Object.freeze({ result, ...(denied === true && { denied }) });
  return Object.freeze({ outcome, result, ...(error !== undefined && { error }), [MADE]: made });
}

/** Whether an outcome, or a copy of one, was a denial. */
export function isDenied(outcome: ToolOutcome): boolean {
  return (outcome as { readonly [MADE]?: Made })[MADE]?.denied === true;
}

/** A middleware's own text is told like a result: never empty, and cut where it is long. */
export function endingOf(outcome: ToolOutcome, tool: CompiledTool): Ending {
  const made = (outcome as { readonly [MADE]?: Made })[MADE];
  const { result, error } = outcome;
  const isOwn = made !== undefined && made.result === result;
  return {
    outcome: outcome.outcome,
    result: isOwn ? result : result === '' ? nothingText(tool) : shorten(result, tool.maxResultChars),
    ...(error !== undefined && { error }),
    ...(isDenied(outcome) && { denied: true }),
  };
}
