import type { ModelCall, ModelReply } from 'inversify-ai';

/*
 * A provider in this process, in place of the network: it answers OpenAI's two APIs with replies to order, whole or
 * streamed. It is no model, and reads nothing of what it is sent.
 */

/** What one request is answered with. */
export type Played = Partial<Pick<ModelReply, 'text' | 'refusal' | 'finish'>> & {
  readonly calls?: readonly ModelCall[];
  /** Encrypted thoughts that come along, on the Responses API. */
  readonly thoughts?: string;
};

export interface Sent {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

/** A `fetch` that plays replies in order, and what was sent to it. `cut` splits what is streamed. */
export function provider(
  replies: readonly Played[],
  cut: (text: string) => readonly string[] = (text) => text.match(/.{1,7}/gsu) ?? [],
): { readonly fetch: typeof globalThis.fetch; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    init?.signal?.throwIfAborted();
    const path = new URL(input instanceof Request ? input.url : input.toString()).pathname;
    const body = JSON.parse(await new Response(init?.body).text()) as Sent['body'];
    const reply = replies[sent.length];
    sent.push({ path, body });
    if (reply === undefined) return Response.json({ error: { message: 'no reply is left' } }, { status: 400 });
    const isStreamed = body['stream'] === true;
    if (path.endsWith('/responses'))
      return isStreamed ? events(responseEvents(reply, cut)) : Response.json(responseOf(reply));
    return isStreamed ? events(chunksOf(reply, cut), '[DONE]') : Response.json(completionOf(reply));
  };
  return { fetch, sent };
}

function events(list: readonly object[], last?: string): Response {
  const written = [...list.map((event) => JSON.stringify(event)), ...(last === undefined ? [] : [last])];
  return new Response(written.map((data) => `data: ${data}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });
}

const toolCall = ({ id = '', name, arguments: args }: ModelCall): object => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

function completionOf({ text = '', refusal = null as never, finish = 'stop', calls = [] }: Played): object {
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    refusal,
    ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
  };
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: finish, logprobs: null, message }],
    usage: USAGE,
  };
}

function chunksOf(
  { text = '', refusal, finish = 'stop', calls = [] }: Played,
  cut: (text: string) => readonly string[],
) {
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    usage: null,
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...cut(text).map((content) => chunk({ content })),
    ...(refusal === undefined ? [] : cut(refusal).map((piece) => chunk({ refusal: piece }))),
    ...calls.flatMap(({ id = '', name, arguments: args }, index) => [
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...cut(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, finish),
    { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: USAGE },
  ];
}

const INCOMPLETE: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' };

function responseOf({ text = '', refusal, finish = 'stop', calls = [], thoughts }: Played): object {
  const content = [
    ...(text === '' ? [] : [{ type: 'output_text', text, annotations: [] }]),
    ...(refusal === undefined ? [] : [{ type: 'refusal', refusal }]),
  ];
  const reason = INCOMPLETE[finish];
  return {
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output: [
      ...(thoughts === undefined ? [] : [{ type: 'reasoning', id: 'rs', summary: [], encrypted_content: thoughts }]),
      ...(content.length === 0
        ? []
        : [{ type: 'message', id: 'msg', role: 'assistant', status: 'completed', content }]),
      ...calls.map(({ id = '', name, arguments: args }, index) => ({
        type: 'function_call',
        id: `fc_${index.toString()}`,
        call_id: id,
        name,
        arguments: args,
        status: 'completed',
      })),
    ],
    usage: {
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 5,
    },
  };
}

function responseEvents(reply: Played, cut: (text: string) => readonly string[]): readonly object[] {
  const response = responseOf(reply) as { readonly status: string; readonly output: readonly object[] };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...cut(reply.text ?? '').map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta })),
    ...(reply.calls ?? []).flatMap((call, index) => [
      { type: 'response.output_item.added', output_index: index, item: { type: 'function_call', name: call.name } },
      ...cut(call.arguments).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        output_index: index,
        delta,
      })),
    ]),
    { type: `response.${response.status}`, response },
  ];
}
