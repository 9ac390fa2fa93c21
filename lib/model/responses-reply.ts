import { AIProviderError } from '../errors.js';
import type { ModelCall, ModelDelta, ModelReply } from './chat-model.js';
import { readFinish } from './finish-reason.js';
import { member, text } from './member.js';
import { argumentsOf, refusalIn } from './open-ai-reply.js';
import { readRequestId } from './provider-error.js';
import { readUsage } from './usage.js';

/* What came back from the Responses API, read by its shape. */

/** Reads a response; throws an `AIProviderError` where it is none, or one that failed. */
export function readResponse(where: string, body: unknown): ModelReply {
  const requestId = readRequestId(member(body, '_request_id'));
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
  const refusal = refusalIn(parts);
  const calls = items.filter((item) => member(item, 'type') === 'function_call').map(readCall);
  const carried = carriedIn(items);
  return {
    text: parts
      .filter((part) => member(part, 'type') === 'output_text')
      .map((part) => text(member(part, 'text')) ?? '')
      .join(''),
    finish: readStatus(body, items),
    ...(refusal !== undefined && { refusal }),
    ...(calls.length > 0 && { calls }),
    ...(carried.length > 0 && { carried }),
    usage: readResponseUsage(member(body, 'usage')),
    ...(requestId !== undefined && { requestId }),
  };
}

const RETRYABLE: ReadonlySet<unknown> = new Set(['server_error', 'rate_limit_exceeded', 'vector_store_timeout']);

/** Whole is what is completed, details and calls included; the worst of what is said counts. */
function readStatus(body: unknown, items: readonly unknown[]): string {
  const reason = member(member(body, 'incomplete_details'), 'reason');
  if (typeof reason === 'string') return readFinish(reason);
  const status = member(body, 'status');
  if (status !== 'completed') return typeof status === 'string' ? status : 'incomplete';
  const isWhole = items.every((item) => [undefined, null, 'completed'].includes(member(item, 'status') as never));
  return isWhole ? 'stop' : 'incomplete';
}

function readCall(item: unknown): ModelCall {
  const id = text(member(item, 'call_id'));
  return {
    ...(id !== undefined && { id }),
    name: text(member(item, 'name')) ?? '',
    arguments: argumentsOf(item),
  };
}

/** What a model thought, each with the call that it came before: the provider wants them in that order. */
export interface CarriedItem {
  readonly before: number;
  readonly item: object;
}

function carriedIn(items: readonly unknown[]): readonly CarriedItem[] {
  let before = 0;
  return items.flatMap((item) => {
    if (member(item, 'type') === 'function_call') before++;
    return isCarried(item) ? [{ before, item }] : [];
  });
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
export async function* responseDeltas(
  where: string,
  events: AsyncIterable<unknown>,
  requestId: string | undefined,
): AsyncIterable<ModelDelta> {
  let passedOn = '';
  let refused = '';
  for await (const event of events) {
    const type = member(event, 'type');
    if (type === 'response.output_text.delta') {
      const delta = text(member(event, 'delta')) ?? '';
      passedOn += delta;
      yield { type: 'text', text: delta };
    } else if (type === 'response.refusal.delta') {
      refused += text(member(event, 'delta')) ?? '';
    } else if (type === 'error' || type === 'response.error') throw failedStream(where, event);
    else if (ENDS.has(type)) {
      const reply = readResponse(where, member(event, 'response'));
      const said = refused === '' ? {} : { refusal: refused };
      const finish = type === 'response.completed' || reply.finish !== 'stop' ? reply.finish : 'incomplete';
      yield* endOf(where, { ...(requestId !== undefined && { requestId }), ...said, ...reply, finish }, passedOn);
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
