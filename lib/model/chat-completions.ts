import { chatDeltas } from './chat-stream.js';
import { readCompletion } from './open-ai-reply.js';
import { chatCompletionBody } from './open-ai-request.js';
import type { Transport } from './open-ai-model.js';

/** Chat Completions: what every compatible server speaks. */
export function chatCompletions(): Transport {
  return {
    body: chatCompletionBody,
    send: (client, body, options) => client.chat.completions.create(body as never, options as never),
    streaming: { stream: true, stream_options: { include_usage: true } },
    read: readCompletion,
    deltas: chatDeltas,
  };
}
