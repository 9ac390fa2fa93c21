import type { ModelReply } from '../model/chat-model.js';
import { isJsonObject, JsonTextError, parseJson, type ParseOptions } from '../schema/json.js';
import type { Failure } from './wire.js';

/* What is the same of a reply on every wire. */

/** The finish reasons of a reply that is whole. */
const WHOLE: ReadonlySet<string> = new Set(['stop', 'tool_calls']);

/** Why a reply is not whole, or refused: nothing of it is used, whatever it says. `shown` picks what there is to show of it. */
export function stoppedEarly(
  { text, refusal, finish }: ModelReply,
  shown: (text: string) => string = (text) => text,
): Failure | undefined {
  if (refusal !== undefined) return { kind: 'failure', code: 'refused', text: refusal };
  if (finish === 'length') return { kind: 'failure', code: 'truncated', text: shown(text) };
  if (finish === 'content_filter') return { kind: 'failure', code: 'filtered', text: shown(text) };
  return WHOLE.has(finish) ? undefined : { kind: 'failure', code: 'truncated', text: shown(text), finish };
}

/** The same where a turn is one text: function calls were not asked for, and no text is nothing. */
export function failureOf(reply: ModelReply, shown?: (text: string) => string): Failure | undefined {
  const stopped = stoppedEarly(reply, shown);
  if (stopped !== undefined) return stopped;
  const { text, calls } = reply;
  if (calls !== undefined && calls.length > 0) return unasked(text);
  return text.trim() === '' ? empty(text) : undefined;
}

/** The value of a JSON text, or what is wrong with the text, to be put after what it is the text of. */
export function readJson(
  text: string,
  options?: ParseOptions,
): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: parseJson(text, options) };
  } catch (error) {
    if (error instanceof JsonTextError) return { problem: error.message };
    throw error;
  }
}

/** The JSON of a typed turn, unchecked: what it must be is the type's to say. */
export function decodeTyped(
  reply: ModelReply,
  within: string | undefined,
): { readonly kind: 'value'; readonly value: unknown } | Failure {
  const failure = failureOf(reply);
  if (failure !== undefined) return failure;
  const read = readJson(reply.text);
  if ('problem' in read) return malformed(reply.text, `it ${read.problem}`);
  const { value } = read;
  if (within === undefined) return { kind: 'value', value };
  return isJsonObject(value) && Object.hasOwn(value, within)
    ? { kind: 'value', value }
    : malformed(reply.text, `it is no JSON object with the key "${within}"`);
}

export const malformed = (text: string, reason: string): Failure => ({
  kind: 'failure',
  code: 'malformed',
  text,
  problems: [reason],
  correction: `Your last reply could not be used: ${reason}. Nothing was run. Reply with one JSON object in the agreed form and nothing else.`,
});

/** Function calls where none were offered: neither they nor what stands beside them is what the model meant. */
const unasked = (text: string): Failure => ({
  kind: 'failure',
  code: 'malformed',
  text,
  problems: ['it calls functions, and none was offered'],
  correction:
    'Your last reply called a function, and there is none to call in that way. Nothing was run. Reply in the form that was asked for.',
});

export const empty = (text: string): Failure => ({
  kind: 'failure',
  code: 'empty',
  text,
  problems: [],
  correction: 'Your last reply was empty. Nothing was run. Reply in the form that was asked for.',
});
