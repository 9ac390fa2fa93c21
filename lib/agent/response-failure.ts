import { cut } from '../schema/quote.js';
import { counted } from '../declaration.js';
import { AIResponseError, AIToolIterationError } from '../errors.js';
import type { ToolCallRecord } from '../run.js';
import type { Failure, WireCall } from '../wire/wire.js';

/** The error that a run ends with where a reply is no answer. */
export function responseError(where: string, failure: Failure): AIResponseError {
  const problems = 'problems' in failure ? failure.problems : [];
  return new AIResponseError(failure.code, `${where}: ${reasonOf(failure)}`, failure.text, problems);
}

/** A rule of the answer's type failed itself: what the model wrote may be right, and writing it anew mends nothing. */
export function uncheckedAnswer(
  where: string,
  text: string,
  lines: readonly string[],
  cause: unknown,
): AIResponseError {
  const message = `${where}: the typed answer could not be checked, a rule of its type failed with an error of its own; see cause.`;
  return new AIResponseError('malformed', message, text, lines, { cause });
}

const REASONS = {
  truncated: 'the reply was cut off at the limit on output tokens, so nothing of it was used.',
  filtered: "the provider's content filter blocked the reply, so nothing of it was used.",
  refused: 'the model refused to answer.',
  malformed:
    'the reply was not in the agreed form; error.problems says what was wrong with it, and error.text is the reply.',
  empty: 'the reply held no text.',
} as const;

function reasonOf(failure: Failure): string {
  return 'finish' in failure
    ? `the provider stopped for the reason "${cut(failure.finish)}", which is not known here, so nothing of the reply was used.`
    : (('reason' in failure ? failure.reason : undefined) ?? REASONS[failure.code]);
}

/** A typed answer that is JSON, but not of its type. */
export function unfitting(text: string, lines: readonly string[]): Failure {
  return {
    kind: 'failure',
    code: 'malformed',
    text,
    problems: lines,
    correction: `Your last answer could not be used:\n${lines.join('\n')}\nAnswer again, with one JSON object in the form that was asked for and nothing else.`,
  };
}

/** An answer where a tool had to be called first. */
export function uncalled(text: string, offered: readonly string[]): Failure {
  const tools = offered.join(', ');
  const problem = `it answers, and had to call one of ${tools} first`;
  return {
    kind: 'failure',
    code: 'malformed',
    text,
    problems: [problem],
    reason: `the reply was not used: ${problem}, by the toolChoice.`,
    correction: `Your last reply could not be used: call one of these tools before you answer: ${tools}.`,
  };
}

/** No more calls are allowed, and the tool that had to be called was not: an answer now would be one without it. */
export function unchosen(where: string, choice: string, made: readonly ToolCallRecord[]): AIResponseError {
  const wanted = choice === 'required' ? 'a tool had to be called' : `${choice} had to be called`;
  const problem = `${wanted}, by the toolChoice, and was not within maxToolCalls${listed(made)}`;
  return new AIResponseError('malformed', `${where}: no answer was asked for: ${problem}.`, '', [problem]);
}

/** A model that names tools where none is on offer. */
export function unoffered(
  site: string,
  run: {
    readonly calls: readonly WireCall[];
    readonly made: readonly ToolCallRecord[];
    readonly used: number;
    readonly atCap: boolean;
    /** There are tools, and the tool choice is `none`. */
    readonly isForbidden: boolean;
  },
): AIToolIterationError {
  const named = run.calls.map(({ tool }) => `"${cut(tool)}"`).join(', ');
  if (run.isForbidden && !run.atCap)
    return new AIToolIterationError(
      `${site}: the model named ${named}, and the toolChoice is 'none', so no tool was on offer. Nothing was run. Its server does not enforce the choice; where the model may call a tool, leave toolChoice out.`,
    );
  const after = `after ${counted(run.used, 'call')}${listed(run.made)}`;
  const remedy = run.atCap ? ', or the question needs a higher maxToolCalls' : '';
  return new AIToolIterationError(
    `${site}: the model still named ${named} when no tool was on offer, ${after}. Nothing was run. Its server does not enforce the schema${remedy}.`,
  );
}

function listed(made: readonly ToolCallRecord[]): string {
  return made.length === 0 ? '' : `: ${made.map(({ tool, outcome }) => `${cut(tool)} (${outcome})`).join(', ')}`;
}
