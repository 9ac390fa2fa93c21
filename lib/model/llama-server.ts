import { PassThrough } from 'node:stream';
import { childController } from '../abort.js';
import type { JsonSchema } from './chat-model.js';
import { ChatChunks, chatCompletion, eventStream, type ServedUsage } from './chat-server.js';
import type { LlamaDecoder, Prompt, Writing, Written } from './llama-decoder.js';
import { GrammarError } from './llama-grammar.js';
import type { ChatItem } from './llama-library.js';
import { member, text } from './member.js';

/** Answers Chat Completions in this process by a model in memory, in place of the network. */
export function llamaFetch(name: string, decoder: () => Promise<LlamaDecoder>): typeof globalThis.fetch {
  return async (_input, init) => {
    const body: unknown = JSON.parse(await new Response(init?.body).text());
    const loaded = await decoder();
    let prompt: Prompt;
    try {
      prompt = await loaded.prompt(historyOf(body), schemaOf(body));
    } catch (error) {
      if (error instanceof GrammarError) return refused(`no grammar can be made of the schema: ${error.message}`);
      throw error;
    }
    if (!loaded.fits(prompt))
      return refused(
        `the request has ${prompt.tokens.length.toString()} tokens, and the context ${loaded.contextSize.toString()} with the reply; give llamaModel a larger contextSize, or the agent fewer tools`,
      );
    const writing = { ...samplingOf(body), signal: init?.signal ?? new AbortController().signal };
    if (member(body, 'stream') === true) return eventStream(chunks(name, loaded, prompt, writing), 'chat');
    const written = await loaded.write(prompt, writing);
    const { text: said, finish } = written;
    return Response.json(chatCompletion({ model: name, text: said, finish, usage: usageOf(prompt, written) }));
  };
}

/** As a server says that it will not do this, however often it is asked. */
function refused(message: string): Response {
  return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 400 });
}

function historyOf(body: unknown): readonly ChatItem[] {
  const messages = member(body, 'messages');
  return (Array.isArray(messages) ? (messages as unknown[]) : []).map((message) => {
    const content = text(member(message, 'content')) ?? '';
    const role = member(message, 'role');
    if (role === 'assistant') return { type: 'model', response: [content] };
    return { type: role === 'system' ? 'system' : 'user', text: content };
  });
}

function schemaOf(body: unknown): JsonSchema | undefined {
  const schema = member(member(member(body, 'response_format'), 'json_schema'), 'schema');
  return schema as JsonSchema | undefined;
}

function samplingOf(body: unknown): Partial<Pick<Writing, 'maxTokens' | 'temperature' | 'topP' | 'seed'>> {
  const number = (key: string, name: string): object => {
    const value = member(body, name);
    return typeof value === 'number' ? { [key]: value } : {};
  };
  return {
    ...number('maxTokens', 'max_tokens'),
    ...number('temperature', 'temperature'),
    ...number('topP', 'top_p'),
    ...number('seed', 'seed'),
  };
}

function usageOf(prompt: Prompt, written: Written): ServedUsage {
  return { input: prompt.tokens.length, output: written.tokens };
}

/** Each piece as it is written; whoever stops reading stops the writing. */
async function* chunks(name: string, decoder: LlamaDecoder, prompt: Prompt, writing: Writing): AsyncGenerator<object> {
  const { controller, stop } = childController(writing.signal);
  const pieces = new PassThrough({ objectMode: true });
  const onText = (piece: string): void => {
    pieces.write(piece);
  };
  const work = decoder.write(prompt, { ...writing, signal: controller.signal, onText });
  const over = work.then(
    () => pieces.end(),
    (error: unknown) => pieces.destroy(error as Error),
  );
  const written = new ChatChunks(name);
  try {
    yield written.piece({ role: 'assistant', content: '' });
    for await (const piece of pieces) if (piece !== '') yield written.piece({ content: piece as string });
    const reply = await work;
    yield written.piece({}, reply.finish);
    yield written.end(usageOf(prompt, reply));
  } finally {
    controller.abort(new Error('nobody reads on'));
    await over;
    stop();
  }
}
