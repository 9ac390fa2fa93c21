import { randomUUID } from 'node:crypto';
import { ChatChunks, chatCompletion, eventStream, now, type ServedReply } from './chat-server.js';
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
    return isStreamed ? eventStream(responseEvents(response), 'responses') : Response.json(response);
  }
  const reply = servedOf(replyTo(readChatTurn(body)));
  return isStreamed ? eventStream(chatChunks(reply), 'chat') : Response.json(chatCompletion(reply));
};

function replyTo(turn: EmbeddedTurn): EmbeddedReply {
  return writeReply(turn, decide(turn));
}

const MODEL = 'embedded-rules';

function servedOf(reply: EmbeddedReply): ServedReply {
  return { ...reply, model: MODEL, finish: reply.call === undefined ? 'stop' : 'tool_calls' };
}

function* chatChunks({ text, refusal, call, finish }: ServedReply): Generator<object> {
  const chunks = new ChatChunks(MODEL);
  yield chunks.piece({ role: 'assistant', content: '' });
  for (const piece of pieces(text)) yield chunks.piece({ content: piece });
  if (refusal !== undefined) yield chunks.piece({ refusal });
  if (call !== undefined) {
    const first = {
      index: 0,
      id: `call_${randomUUID()}`,
      type: 'function',
      function: { name: call.name, arguments: '' },
    };
    yield chunks.piece({ tool_calls: [first] });
    for (const piece of pieces(call.arguments))
      yield chunks.piece({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
  }
  yield chunks.piece({}, finish);
  yield chunks.end();
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
