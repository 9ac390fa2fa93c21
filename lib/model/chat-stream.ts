import { AIProviderError } from '../errors.js';
import { JsonTextError, parseJson } from '../schema/json.js';
import type { ModelDelta, ModelRequest } from './chat-model.js';
import { readFinish } from './finish-reason.js';
import { member, text } from './member.js';
import { argumentsOf, readChatUsage, readContent, readRefusal, refusalIn, stopIn, told } from './open-ai-reply.js';
import { isFinal } from './provider-error.js';

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
  let stop: string | undefined;
  let usage: unknown;
  let written = '';
  for await (const chunk of chunks) {
    usage = member(chunk, 'usage') ?? usage;
    const choices = member(chunk, 'choices');
    // Each choice comes in chunks of its own, and the first one alone is the reply.
    const choice = Array.isArray(choices)
      ? (choices as unknown[]).find((one) => (member(one, 'index') ?? 0) === 0)
      : undefined;
    const failure = told(member(chunk, 'error')) ?? told(member(choice, 'error'));
    if (failure !== undefined)
      throw new AIProviderError(
        `${where}: the provider broke off the stream with an error.`,
        { requestId, retryable: !isFinal({ error: failure }) },
        { cause: failure },
      );
    const delta = member(choice, 'delta');
    const content = readContent(member(delta, 'content'));
    if (content !== '') {
      if (request.responseSchema !== undefined) written += content;
      yield { type: 'text', text: content };
    }
    const refusal = readRefusal(member(delta, 'refusal')) ?? refusalIn(member(delta, 'content'));
    if (refusal !== undefined) yield { type: 'refusal', text: refusal };
    const calls = [...callDeltas(delta)];
    if (finish !== undefined && (content !== '' || calls.length > 0))
      throw new AIProviderError(`${where}: the stream went on after its end.`, { requestId, retryable: true });
    yield* calls;
    // Some servers send an empty one with every piece.
    finish = told(member(choice, 'finish_reason')) ?? finish;
    stop ??= stopIn(choice);
  }
  if (finish === undefined && !isWhole(written))
    throw new AIProviderError(`${where}: the stream ended before the reply was whole.`, { requestId, retryable: true });
  yield {
    type: 'end',
    finish: stop ?? readFinish(finish),
    usage: readChatUsage(usage),
    ...(requestId !== undefined && { requestId }),
  };
}

function* callDeltas(delta: unknown): Generator<ModelDelta> {
  const list = told(member(delta, 'tool_calls'));
  const legacy = told(member(delta, 'function_call'));
  const calls: readonly unknown[] = Array.isArray(list) ? list : list === undefined ? [] : [list];
  // The one function of older servers has no index.
  for (const call of [...calls, ...(legacy === undefined ? [] : [{ index: -1, function: legacy }])]) {
    const index = member(call, 'index');
    const id = text(member(call, 'id'));
    const called = member(call, 'function') ?? member(call, 'custom');
    // What cannot be read as a function is a call without a name.
    const name = typeof called === 'object' && called !== null ? text(member(called, 'name')) : '';
    yield {
      type: 'call',
      ...(index !== undefined && index !== null && { index: Number(index) }),
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      arguments: argumentsOf(called),
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
