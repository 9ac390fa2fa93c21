import { randomUUID } from 'node:crypto';
import { member } from './member.js';

/* What a server of OpenAI's writes, for the models that answer in this process in place of the network. */

/** A chat completion, before it is written. */
export interface ServedReply {
  readonly model: string;
  readonly text: string;
  readonly refusal?: string | undefined;
  readonly call?: { readonly name: string; readonly arguments: string } | undefined;
  readonly finish: 'stop' | 'length' | 'tool_calls';
  readonly usage?: ServedUsage;
}

/** Tokens; what nobody counts is 0. */
export interface ServedUsage {
  readonly input: number;
  readonly output: number;
}

/** In seconds. */
export const now = (): number => Math.floor(Date.now() / 1000);

/** The body of a reply that is whole. */
export function chatCompletion({ model, text, refusal, call, finish, usage }: ServedReply): object {
  const calls = call && { tool_calls: [{ id: `call_${randomUUID()}`, type: 'function', function: call }] };
  const message = { role: 'assistant', content: text === '' ? null : text, refusal: refusal ?? null, ...calls };
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: now(),
    model,
    choices: [{ index: 0, finish_reason: finish, logprobs: null, message }],
    usage: chatUsage(usage),
  };
}

/** The pieces of one reply. */
export class ChatChunks {
  readonly #common: object;

  constructor(model: string) {
    this.#common = { id: `chatcmpl-${randomUUID()}`, object: 'chat.completion.chunk', created: now(), model };
  }

  piece(delta: object, finish: ServedReply['finish'] | null = null): object {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return { ...this.#common, choices, usage: null };
  }

  /** After the last piece. */
  end(usage?: ServedUsage): object {
    return { ...this.#common, choices: [], usage: chatUsage(usage) };
  }
}

function chatUsage({ input, output }: ServedUsage = { input: 0, output: 0 }): object {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/**
 * A body of server-sent events, each written when it is there; whoever stops reading ends what makes them. Chat
 * Completions closes with a word of its own, Responses names each event.
 */
export function eventStream(events: Iterable<object> | AsyncIterable<object>, api: 'chat' | 'responses'): Response {
  const body = ReadableStream.from(written(events, api));
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function* written(
  events: Iterable<object> | AsyncIterable<object>,
  api: 'chat' | 'responses',
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const event of events) {
    const name = api === 'responses' ? `event: ${String(member(event, 'type'))}\n` : '';
    yield encoder.encode(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  if (api === 'chat') yield encoder.encode('data: [DONE]\n\n');
}
