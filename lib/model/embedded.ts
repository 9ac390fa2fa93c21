import { randomUUID } from 'node:crypto';
import type { ChatModel } from './chat-model.js';
import { type EmbeddedRequest, embeddedReply } from './embedded-rules.js';
import { openAI } from './open-ai.js';

let announced = false;

/**
 * An offline stand-in for samples and tests: a few rules that match words, behind the real openai client. It is not a
 * language model, and says so in one line on the standard error stream. An application never falls back to it.
 */
export function embeddedModel(): ChatModel {
  return standIn('');
}

/** @param instead what to do to have a real model, where the application did not ask for the stand-in itself */
export function standIn(instead: string): ChatModel {
  if (!announced)
    process.stderr.write(`inversify-ai: using the offline stand-in, a few rules and not a language model${instead}.\n`);
  announced = true;
  return openAI({
    model: 'embedded-rules',
    apiKey: 'embedded',
    baseURL: 'http://embedded.invalid/v1',
    fetch: embeddedFetch,
  });
}

/** Answers a Chat Completions request in this process. */
const embeddedFetch: typeof globalThis.fetch = async (_input, init) => {
  init?.signal?.throwIfAborted();
  const request = JSON.parse(await new Response(init?.body).text()) as EmbeddedRequest;
  return Response.json({
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: 'embedded-rules',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        logprobs: null,
        message: { role: 'assistant', ...embeddedReply(request) },
      },
    ],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  });
};
