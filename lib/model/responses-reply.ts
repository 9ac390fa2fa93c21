import { AIProviderError } from '../errors.js';
import type { ModelCall, ModelDelta, ModelReply } from './chat-model.js';
import { readFinish } from './finish-reason.js';
import { member, text } from './member.js';
import { readUsage } from './usage.js';

/* What came back from the Responses API, read by its shape. */

/** Reads a response; throws an `AIProviderError` where it is none, or one that failed. */
export function readResponse(where: string, body: unknown): ModelReply {
  const requestId = text(member(body, '_request_id'));
  const output = member(body, 'output');
  const error = member(body, 'error');
  if (error !== undefined && error !== null)
    throw new AIProviderError(
      `${where}: the provider could not make a response.`,
      { requestId, retryable: RETRYABLE.has(member(error, 'code')) },
      { cause: error },
    );
  if (!Array.isArray(output))
    throw new AIProviderError(`${where}: what came is no response; check the base URL.`, {
      requestId,
      retryable: true,
    });
  const items: readonly unknown[] = output;
  const parts = items
    .filter((item) => member(item, 'type') === 'message')
    .flatMap((item) => {
      const content = member(item, 'content');
      return Array.isArray(content) ? (content as unknown[]) : [];
    });
  const refusals = parts.filter((part) => member(part, 'type') === 'refusal');
  const calls = items.filter((item) => member(item, 'type') === 'function_call').map(readCall);
  const carried = items.filter(isCarried);
  return {
    text: parts
      .filter((part) => member(part, 'type') === 'output_text')
      .map((part) => text(member(part, 'text')) ?? '')
      .join(''),
    finish: readStatus(body),
    ...(refusals.length > 0 && {
      refusal: refusals.map((part) => text(member(part, 'refusal')) ?? '').join('') || 'refused without words',
    }),
    ...(calls.length > 0 && { calls }),
    ...(carried.length > 0 && { carried }),
    usage: readResponseUsage(member(body, 'usage')),
    ...(requestId !== undefined && { requestId }),
  };
}

const RETRYABLE: ReadonlySet<unknown> = new Set(['server_error', 'rate_limit_exceeded', 'vector_store_timeout']);

function readStatus(body: unknown): string {
  const status = member(body, 'status');
  if (status !== 'incomplete') return readFinish(status);
  return readFinish(member(member(body, 'incomplete_details'), 'reason') ?? 'incomplete');
}

function readCall(item: unknown): ModelCall {
  const id = text(member(item, 'call_id'));
  return {
    ...(id !== undefined && { id }),
    name: text(member(item, 'name')) ?? '',
    arguments: text(member(item, 'arguments')) ?? '',
  };
}

/** What a model thought can be sent back only where it came encrypted: nothing is stored that an id could point to. */
function isCarried(item: unknown): item is object {
  return member(item, 'type') === 'reasoning' && typeof member(item, 'encrypted_content') === 'string';
}

function readResponseUsage(usage: unknown): ModelReply['usage'] {
  return readUsage({
    inputTokens: member(usage, 'input_tokens'),
    outputTokens: member(usage, 'output_tokens'),
    cachedInputTokens: member(member(usage, 'input_tokens_details'), 'cached_tokens'),
    reasoningTokens: member(member(usage, 'output_tokens_details'), 'reasoning_tokens'),
  });
}

/**
 * The pieces of a response. Text is passed on as it comes; all else is read from the response as it stands at the end.
 * Without that end nothing is whole, and no end is told.
 */
export async function* responseDeltas(where: string, events: AsyncIterable<unknown>): AsyncIterable<ModelDelta> {
  let passedOn = '';
  for await (const event of events) {
    const type = member(event, 'type');
    if (type === 'response.output_text.delta') {
      const delta = text(member(event, 'delta')) ?? '';
      passedOn += delta;
      yield { type: 'text', text: delta };
    } else if (type === 'error' || type === 'response.error') throw failedStream(where, event);
    else if (ENDS.has(type)) {
      yield* endOf(where, readResponse(where, member(event, 'response')), passedOn);
      return;
    }
  }
}

const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function* endOf(where: string, reply: ModelReply, passedOn: string): Generator<ModelDelta> {
  const { text: whole, refusal, calls = [], ...end } = reply;
  if (!whole.startsWith(passedOn))
    throw new AIProviderError(`${where}: the stream and the response at its end are not the same.`, {
      retryable: true,
    });
  if (whole.length > passedOn.length) yield { type: 'text', text: whole.slice(passedOn.length) };
  if (refusal !== undefined) yield { type: 'refusal', text: refusal };
  for (const [index, call] of calls.entries()) yield { type: 'call', index, ...call };
  yield { type: 'end', ...end };
}

function failedStream(where: string, event: unknown): AIProviderError {
  return new AIProviderError(
    `${where}: the provider broke off the stream with an error.`,
    { retryable: RETRYABLE.has(member(event, 'code')) || member(event, 'code') == null },
    { cause: event },
  );
}
