import { AIProviderError } from '../errors.js';
import type { ModelCall, ModelReply } from './chat-model.js';
import { type FinishReason, readFinish } from './finish-reason.js';
import { member, text } from './member.js';
import { isFinal, readRequestId } from './provider-error.js';
import { readUsage } from './usage.js';

/*
 * What came back, read by its shape: the client may be of another copy or version of `openai`, whose classes are not
 * ours to compare with, and compatible servers answer 200 with things that are no completion.
 */

/** Reads a completion; throws a retryable `AIProviderError` where the body is none, or tells of an error. */
export function readCompletion(model: string, body: unknown): ModelReply {
  const requestId = readRequestId(member(body, '_request_id'));
  const choices = member(body, 'choices');
  const choice = Array.isArray(choices) ? (choices as unknown[])[0] : undefined;
  const failure = told(member(body, 'error')) ?? told(member(choice, 'error'));
  if (failure !== undefined)
    throw new AIProviderError(
      `${model}: the provider answered with an error in place of a reply.`,
      { requestId, retryable: !isFinal({ error: failure }) },
      { cause: failure },
    );
  const finish = readFinishOf(choice);
  const message = member(choice, 'message');
  // A filter may leave nothing at all.
  if ((typeof message !== 'object' || message === null) && finish !== 'content_filter')
    throw new AIProviderError(`${model}: what came is no chat completion; check the base URL.`, {
      requestId,
      retryable: true,
    });
  const content = member(message, 'content');
  const refusal = readRefusal(member(message, 'refusal')) ?? refusalIn(content);
  const calls = readCalls(message);
  return {
    text: readContent(content),
    finish,
    ...(refusal !== undefined && { refusal }),
    ...(calls.length > 0 && { calls }),
    usage: readChatUsage(member(body, 'usage')),
    ...(requestId !== undefined && { requestId }),
  };
}

/** What a server said in a field of its own; some write an empty one where there is nothing to say. */
export function told(error: unknown): unknown {
  return error === null || error === undefined || error === '' || error === false ? undefined : error;
}

/**
 * Why it stopped. A router may say `stop` where the server behind it said otherwise, and a filter may say so in a field
 * of its own: the worst of these counts.
 */
export function readFinishOf(choice: unknown): FinishReason {
  return stopIn(choice) ?? readFinish(member(choice, 'finish_reason'));
}

/** A reason that makes what came no reply, wherever it is said. */
export function stopIn(choice: unknown): 'length' | 'content_filter' | undefined {
  const filters = Object.values(member(choice, 'content_filter_results') ?? {});
  if (filters.some((filter) => member(filter, 'filtered') === true)) return 'content_filter';
  return [member(choice, 'finish_reason'), member(choice, 'native_finish_reason')]
    .map(readFinish)
    .find((finish) => finish === 'length' || finish === 'content_filter') as 'length' | 'content_filter' | undefined;
}

/** The tokens that Chat Completions count. */
export function readChatUsage(usage: unknown): ModelReply['usage'] {
  return readUsage({
    inputTokens: member(usage, 'prompt_tokens'),
    outputTokens: member(usage, 'completion_tokens'),
    cachedInputTokens: member(member(usage, 'prompt_tokens_details'), 'cached_tokens'),
    reasoningTokens: member(member(usage, 'completion_tokens_details'), 'reasoning_tokens'),
  });
}

/** A text, or the text parts of a list: what is thought beside the answer is no part of it. */
export function readContent(content: unknown): string {
  if (!Array.isArray(content)) return text(content) ?? '';
  return (content as unknown[])
    .filter((part) => member(part, 'type') === 'text')
    .map((part) => text(member(part, 'text')) ?? '')
    .join('');
}

/** The text of a call's arguments. What is there and no text is told as such: it must not look like no arguments. */
export function argumentsOf(called: unknown): string {
  const written = told(member(called, 'arguments')) ?? told(member(called, 'input'));
  return written === undefined ? '' : (text(written) ?? 'no text');
}

/** A part of the content may be the words of a refusal. */
export function refusalIn(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const refusals = (content as unknown[]).filter((part) => member(part, 'type') === 'refusal');
  return refusals.length === 0
    ? undefined
    : refusals.map((part) => text(member(part, 'refusal')) ?? '').join('') || 'refused without words';
}

/** Functions and custom tools, and the one function of older servers. What cannot be read as calls is one without a name. */
function readCalls(message: unknown): readonly ModelCall[] {
  const list = told(member(message, 'tool_calls'));
  const calls: readonly unknown[] = Array.isArray(list) ? list : list === undefined ? [] : [list];
  const legacy = told(member(message, 'function_call'));
  return [...calls, ...(legacy === undefined ? [] : [{ function: legacy }])].map((call) => {
    const id = text(member(call, 'id'));
    const called = member(call, 'function') ?? member(call, 'custom');
    return {
      ...(id !== undefined && { id }),
      name: text(member(called, 'name')) ?? '',
      arguments: argumentsOf(called),
    };
  });
}

/** Anything but nothing is a refusal, also where it is no text. */
export function readRefusal(value: unknown): string | undefined {
  const said = told(value);
  return said === undefined ? undefined : (text(said) ?? 'refused without words');
}
