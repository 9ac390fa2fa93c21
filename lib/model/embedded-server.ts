import { randomUUID } from 'node:crypto';
import { type EmbeddedReply, writeReply } from './embedded-reply.js';
import { type EmbeddedTurn, readChatTurn, readResponsesTurn } from './embedded-request.js';
import { decide } from './embedded-rules.js';
import { member } from './member.js';

/** Answers OpenAI's two APIs in this process, streamed or whole, in place of the network. */
export const embeddedFetch: typeof globalThis.fetch = async (input, init) => {
  init?.signal?.throwIfAborted();
  const body: unknown = JSON.parse(await new Response(init?.body).text());
  const isStreamed = member(body, 'stream') === true;
  const address = input instanceof Request ? input.url : input.toString();
  if (address.endsWith('/responses')) {
    const response = responseOf(replyTo(readResponsesTurn(body)));
    return isStreamed ? eventStream(responseEvents(response), true) : Response.json(response);
  }
  const reply = replyTo(readChatTurn(body));
  return isStreamed ? eventStream(chatChunks(reply), false) : Response.json(completionOf(reply));
};

function replyTo(turn: EmbeddedTurn): EmbeddedReply {
  return writeReply(turn, decide(turn));
}

const MODEL = 'embedded-rules';
const now = (): number => Math.floor(Date.now() / 1000);

function completionOf({ text, refusal, call }: EmbeddedReply): object {
  const calls = call && { tool_calls: [{ id: `call_${randomUUID()}`, type: 'function', function: call }] };
  const message = { role: 'assistant', content: text === '' ? null : text, refusal: refusal ?? null, ...calls };
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: now(),
    model: MODEL,
    choices: [{ index: 0, finish_reason: call === undefined ? 'stop' : 'tool_calls', logprobs: null, message }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}

function* chatChunks({ text, refusal, call }: EmbeddedReply): Generator<object> {
  const common = { id: `chatcmpl-${randomUUID()}`, object: 'chat.completion.chunk', created: now(), model: MODEL };
  const chunk = (delta: object, finish: string | null = null): object => ({
    ...common,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
  });
  yield chunk({ role: 'assistant', content: '' });
  for (const piece of pieces(text)) yield chunk({ content: piece });
  if (refusal !== undefined) yield chunk({ refusal });
  if (call !== undefined) {
    const first = {
      index: 0,
      id: `call_${randomUUID()}`,
      type: 'function',
      function: { name: call.name, arguments: '' },
    };
    yield chunk({ tool_calls: [first] });
    for (const piece of pieces(call.arguments))
      yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
  }
  yield chunk({}, call === undefined ? 'stop' : 'tool_calls');
  yield { ...common, choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } };
}

interface EmbeddedResponse {
  readonly output: readonly { readonly type: string; readonly content?: readonly { readonly text?: string }[] }[];
  readonly [key: string]: unknown;
}

function responseOf({ text, refusal, call }: EmbeddedReply): EmbeddedResponse {
  const part = refusal === undefined ? { type: 'output_text', text, annotations: [] } : { type: 'refusal', refusal };
  const output =
    call === undefined
      ? { type: 'message', id: `msg_${randomUUID()}`, role: 'assistant', status: 'completed', content: [part] }
      : {
          type: 'function_call',
          id: `fc_${randomUUID()}`,
          call_id: `call_${randomUUID()}`,
          status: 'completed',
          ...call,
        };
  return {
    id: `resp_${randomUUID()}`,
    object: 'response',
    created_at: now(),
    model: MODEL,
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [output],
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    },
  };
}

function* responseEvents(response: EmbeddedResponse): Generator<object> {
  let sequence = 0;
  const event = (type: string, data: object): object => ({ type, sequence_number: sequence++, ...data });
  yield event('response.created', { response: { ...response, status: 'in_progress', output: [] } });
  for (const [index, item] of response.output.entries()) {
    yield event('response.output_item.added', { output_index: index, item });
    for (const piece of pieces(item.content?.[0]?.text ?? ''))
      yield event('response.output_text.delta', { output_index: index, content_index: 0, delta: piece });
    yield event('response.output_item.done', { output_index: index, item });
  }
  yield event('response.completed', { response });
}

function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 8) yield text.slice(at, at + 8);
}

function eventStream(events: Iterable<object>, isNamed: boolean): Response {
  let written = '';
  for (const event of events) {
    if (isNamed) written += `event: ${String(member(event, 'type'))}\n`;
    written += `data: ${JSON.stringify(event)}\n\n`;
  }
  if (!isNamed) written += 'data: [DONE]\n\n';
  return new Response(written, { headers: { 'content-type': 'text/event-stream' } });
}
