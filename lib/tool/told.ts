import { cut } from '../schema/quote.js';
import type { ToolCallOutcome } from '../run.js';

/*
 * Every fixed line that a model is told about a call, in one place. Only its own words come back to it (the name and the
 * arguments it sent), never an exception's.
 */

export const NOTHING = 'Done. There is no result to show.';

export const told = {
  unknownTool: (name: string, offered: readonly string[]): string =>
    `There is no tool ${name === '' ? 'without a name' : `named "${cut(name)}"`}. The tools are: ${offered.join(', ')}.`,

  invalidArguments: (tool: string, lines: readonly string[]): string =>
    `${tool} was not called, its arguments are wrong:\n${lines.join('\n')}`,

  unchecked: (tool: string): string =>
    `${tool} was not called: its arguments could not be checked in time. Nothing was run.`,

  misedited: (tool: string): string =>
    `${tool} was not called: its arguments were changed on the way, and do not fit any more. The reason is not known to you.`,

  exhausted: (tool: string): string =>
    `${tool} was not run: it may not be called any more for this question. Go on without it.`,

  notNow: (tool: string, offered: readonly string[]): string =>
    `${tool} was not run: it may not be called now. The tools are: ${offered.join(', ')}.`,

  beyondCap: (tool: string): string => `${tool} was not run: no more calls are allowed for this question.`,

  failed: (tool: string): string => `${tool} failed. The reason is not known to you, so do not guess it.`,

  timedOut: (tool: string): string => `${tool} did not finish in time. It is not known whether it took effect.`,

  repeated: (tool: string, earlier: { readonly outcome: ToolCallOutcome; readonly result: string }): string => {
    const already = `${tool} was already called with these arguments`;
    switch (earlier.outcome) {
      case 'ok':
        return `${already}, so it was not run again. The earlier result was:\n${earlier.result}`;
      case 'failed':
      case 'timed-out':
      case 'aborted':
        return `${already} and ${earlier.outcome === 'timed-out' ? 'did not finish in time' : 'failed'}. It is not known whether it took effect, so it was not run again.`;
      default:
        return `${already}, so it was not run again. You were told:\n${earlier.result}`;
    }
  },
} as const;
