import { cut } from '../schema/quote.js';
import type { Failure } from '../wire/wire.js';

const REASONS = {
  truncated: 'the reply was cut off at the limit on output tokens, so nothing of it was used.',
  filtered: "the provider's content filter blocked the reply, so nothing of it was used.",
  refused: 'the model refused to answer.',
  malformed: 'the reply was not in the agreed form; the model or its server does not keep to the schema.',
  empty: 'the reply held no text.',
} as const;

/** Why a reply is no answer, for the application. */
export function reasonOf(failure: Failure): string {
  return 'finish' in failure
    ? `the provider stopped for the reason "${cut(failure.finish)}", which is not known here, so nothing of the reply was used.`
    : REASONS[failure.code];
}

/** A typed answer that is JSON, but not of its type. */
export function unfitting(text: string, lines: readonly string[]): Failure {
  return {
    kind: 'failure',
    code: 'malformed',
    text,
    correction: `Your last answer could not be used:\n${lines.join('\n')}\nAnswer again, with one JSON object in the form that was asked for and nothing else.`,
  };
}
