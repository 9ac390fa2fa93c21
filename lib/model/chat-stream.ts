import { AIProviderError } from '../errors.js';
import { JsonTextError, parseJson } from '../schema/json.js';
import type { ModelDelta, ModelRequest } from './chat-model.js';
import { readFinish } from './finish-reason.js';
import { member, text } from './member.js';
import { readChatUsage } from './open-ai-reply.js';

/**
 * The pieces of a chat completion. The end is told when the stream is over, since usage comes after the last choice. A
 * stream without a finish reason broke off; but some servers send none with a reply that is whole, and JSON that is
 * whole shows that it is.
 */
export async function* chatDeltas(
  where: string,
  request: ModelRequest,
  chunks: AsyncIterable<unknown>,
  requestId: string | undefined,
): AsyncIterable<ModelDelta> {
  let finish: unknown;
  let usage: unknown;
  let written = '';
  for await (const chunk of chunks) {
    usage = member(chunk, 'usage') ?? usage;
    const choices = member(chunk, 'choices');
    const choice = Array.isArray(choices) ? (choices as unknown[])[0] : undefined;
    const delta = member(choice, 'delta');
    const content = text(member(delta, 'content')) ?? '';
    if (content !== '') {
      if (request.responseSchema !== undefined) written += content;
      yield { type: 'text', text: content };
    }
    const refusal = text(member(delta, 'refusal')) ?? '';
    if (refusal !== '') yield { type: 'refusal', text: refusal };
    yield* callDeltas(delta);
    finish = member(choice, 'finish_reason') ?? finish;
  }
  if ((finish === undefined || finish === '') && !isWhole(written))
    throw new AIProviderError(`${where}: the stream ended before the reply was whole.`, { requestId, retryable: true });
  yield {
    type: 'end',
    finish: readFinish(finish),
    usage: readChatUsage(usage),
    ...(requestId !== undefined && { requestId }),
  };
}

function* callDeltas(delta: unknown): Generator<ModelDelta> {
  const calls = member(delta, 'tool_calls');
  for (const call of Array.isArray(calls) ? (calls as unknown[]) : []) {
    const index = member(call, 'index');
    const id = text(member(call, 'id'));
    const called = member(call, 'function') ?? member(call, 'custom');
    const name = text(member(called, 'name'));
    yield {
      type: 'call',
      ...(typeof index === 'number' && { index }),
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      arguments: text(member(called, 'arguments')) ?? text(member(called, 'input')) ?? '',
    };
  }
}

function isWhole(written: string): boolean {
  try {
    return typeof parseJson(written) === 'object';
  } catch (error) {
    if (error instanceof JsonTextError) return false;
    throw error;
  }
}
