import { AIProviderError } from '../errors.js';
import type { ModelCall, ModelReply } from './chat-model.js';
import { readFinish } from './finish-reason.js';
import { member, text } from './member.js';
import { readUsage } from './usage.js';

/*
 * What came back, read by its shape: the client may be of another copy or version of `openai`, whose classes are not
 * ours to compare with, and compatible servers answer 200 with things that are no completion.
 */

/** Reads a completion; throws a retryable `AIProviderError` where the body is none. */
export function readCompletion(model: string, body: unknown): ModelReply {
  const requestId = text(member(body, '_request_id')) ?? undefined;
  const choices = member(body, 'choices');
  const message = Array.isArray(choices) ? member(choices[0], 'message') : undefined;
  if (typeof message !== 'object' || message === null)
    throw new AIProviderError(`${model}: what came is no chat completion; check the base URL.`, {
      requestId,
      retryable: true,
    });
  const finish = member((choices as unknown[])[0], 'finish_reason');
  const refusal = readRefusal(member(message, 'refusal'));
  const calls = readCalls(message);
  const usage = member(body, 'usage');
  return {
    text: readContent(member(message, 'content')),
    finish: readFinish(finish),
    ...(refusal !== undefined && { refusal }),
    ...(calls.length > 0 && { calls }),
    usage: readUsage({
      inputTokens: member(usage, 'prompt_tokens'),
      outputTokens: member(usage, 'completion_tokens'),
      cachedInputTokens: member(member(usage, 'prompt_tokens_details'), 'cached_tokens'),
      reasoningTokens: member(member(usage, 'completion_tokens_details'), 'reasoning_tokens'),
    }),
    ...(requestId !== undefined && { requestId }),
  };
}

/** A text, or the text parts of a list: what is thought beside the answer is no part of it. */
function readContent(content: unknown): string {
  if (!Array.isArray(content)) return text(content) ?? '';
  return (content as unknown[])
    .filter((part) => member(part, 'type') === 'text')
    .map((part) => text(member(part, 'text')) ?? '')
    .join('');
}

/** Functions and custom tools, and the one function of older servers. */
function readCalls(message: object): readonly ModelCall[] {
  const list = member(message, 'tool_calls');
  const calls: readonly unknown[] = Array.isArray(list) ? list : [];
  const legacy = member(message, 'function_call');
  return [...calls, ...(typeof legacy === 'object' && legacy !== null ? [{ function: legacy }] : [])].map((call) => {
    const id = text(member(call, 'id'));
    const called = member(call, 'function') ?? member(call, 'custom');
    return {
      ...(id !== undefined && { id }),
      name: text(member(called, 'name')) ?? '',
      arguments: text(member(called, 'arguments')) ?? text(member(called, 'input')) ?? '',
    };
  });
}

/** Anything but nothing is a refusal, also where it is no text. */
function readRefusal(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '' || value === false) return undefined;
  return text(value) ?? 'refused without words';
}
