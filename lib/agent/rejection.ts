import { AIDefinitionError, type AIError, AIScopeError, AIToolSourceError, carryRun, isErrorOf } from '../errors.js';
import { member } from '../model/member.js';
import { sameFailure } from '../model/provider-error.js';
import type { PartialRun } from '../run.js';

/** What is known of how a run ended. */
interface RunEnding {
  /** For messages. */
  readonly site: string;
  readonly run: PartialRun;
  /** The reason of the caller's signal, or what a middleware threw itself: theirs, whatever it is. */
  readonly isForeign: boolean;
  /** The loop made it for this run. */
  readonly isOwn: boolean;
  /** The error to end with, where the run's time is over. */
  readonly pastDeadline: AIError | undefined;
}

/**
 * What a run is rejected with. An error that a model, a scope or a middleware has had in hand may be thrown into another
 * run as well, so the one that carries a run is made anew. The caller's reason and what a middleware threw itself stay
 * as they are, and carry none.
 */
export function rejection(error: unknown, { site, run, isForeign, isOwn, pastDeadline }: RunEnding): unknown {
  if (pastDeadline !== undefined) return carryRun(pastDeadline, run);
  if (isOwn) return carryRun(error as AIError, run);
  if (isForeign) return error;
  const anew = madeAnew(site, error);
  return anew === undefined ? error : carryRun(anew, run);
}

/** The same error for one run; nothing for an error that is not ours. */
function madeAnew(site: string, error: unknown): AIError | undefined {
  if (isErrorOf(error, 'provider')) return sameFailure(error, `${site}, ${messageOf(error)}`);
  if (isErrorOf(error, 'scope')) return new AIScopeError(messageOf(error), { cause: member(error, 'cause') ?? error });
  if (isErrorOf(error, 'tool-source'))
    return new AIToolSourceError(String(member(error, 'source')), String(member(error, 'problem')), {
      cause: member(error, 'cause') ?? error,
    });
  if (!isErrorOf(error, 'definition')) return undefined;
  const problems = error instanceof AIDefinitionError ? error.problems : messageOf(error);
  return new AIDefinitionError(problems, { cause: error });
}

const NO_MESSAGE = 'an error without a message; see cause';

/** A message may be a getter of somebody's that throws. */
function messageOf(error: AIError): string {
  try {
    const { message } = error as { readonly message: unknown };
    return typeof message === 'string' ? message : NO_MESSAGE;
  } catch {
    return NO_MESSAGE;
  }
}
