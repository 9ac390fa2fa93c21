import { describeKind, isClass } from '../declaration.js';
import type { AILogger } from '../logger.js';

/** Whether an exception of the application's means "this is not yours". */
export type DenialTest = (error: unknown) => boolean;

/** What is wrong with the `isDenial` that somebody passes. */
export function denialProblems(where: string, isDenial: unknown): string[] {
  return isDenial === undefined || (typeof isDenial === 'function' && !isClass(isDenial))
    ? []
    : [`${where}: isDenial must be a function, (error) => error instanceof Forbidden; found ${describeKind(isDenial)}`];
}

/** The same test, but one that cannot end what it is asked about. Only `true` is a denial: a promise would always be one. */
export function guardedDenial(isDenial: DenialTest | undefined, logger: AILogger): DenialTest {
  if (isDenial === undefined) return () => false;
  return (error) => {
    try {
      const answer: unknown = isDenial(error);
      if (typeof answer === 'boolean') return answer;
      Promise.resolve(answer).catch(() => undefined);
      logger.error(
        `[inversify-ai] isDenial must return true or false, and returned ${describeKind(answer)}; the error counts as no denial`,
      );
    } catch (thrown) {
      logger.error('[inversify-ai] isDenial failed; the error that it was asked about counts as no denial', thrown);
    }
    return false;
  };
}
