import { getEventListeners } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import {
  type AIEvent,
  AIProviderError,
  type ChatOptions,
  createAIService,
  openAI,
  type OpenAIClient,
  type WireName,
} from 'inversify-ai';
import { settled } from '../settled.js';
import { type Fault, status, written } from './fault-server.js';
import { faultServer, OpenAI, refundTool } from './under-test.js';

/* Streams that break, at a server of our own, through the real openai client. */

const server = faultServer();
const ran: unknown[] = [];
const refund = refundTool(ran);

interface Followed {
  readonly shown: string;
  readonly types: readonly string[];
  readonly error?: unknown;
  readonly hits: number;
}

async function follow(
  faults: readonly Fault[],
  {
    wire = 'native',
    timeoutMs = 2_000,
    chat = {},
    each = () => false,
  }: {
    readonly wire?: WireName;
    readonly timeoutMs?: number;
    readonly chat?: ChatOptions;
    /** Whether to leave. */
    readonly each?: (event: AIEvent) => boolean;
  } = {},
): Promise<Followed> {
  ran.length = 0;
  server().play(...faults);
  const client = new OpenAI({ apiKey: 'SECRET-KEY', baseURL: server().baseURL, logLevel: 'off' });
  const service = createAIService({
    model: openAI({ model: 'm', client: client as unknown as OpenAIClient, timeoutMs, profile: 'openai' }),
    tools: [refund],
    wire,
    retry: { minDelayMs: 0, maxDelayMs: 0 },
    logger: { warn: jest.fn(), error: jest.fn() },
  });
  const types: string[] = [];
  let shown = '';
  let error: unknown;
  try {
    for await (const event of service.stream('Refund order 42', chat)) {
      types.push(event.type);
      if (event.type === 'text') shown += event.delta;
      if (each(event)) break;
    }
  } catch (thrown) {
    error = thrown;
  }
  await settled();
  return { shown, types, ...(error !== undefined && { error }), hits: server().received.length };
}

const ok = written(['It is ', 'done.'], 'whole');
const envelope = JSON.stringify({ tool: 'refund', arguments: [{ name: 'orderId', value: '42' }], answer: '' });
const answered = JSON.stringify({ tool: 'ANSWER', arguments: [], answer: 'done' });

describe('a stream that breaks', () => {
  it.each(['without an end', 'breaks', 'fails'] as const)(
    'before anything was shown is asked for again: it %s (pydantic-ai#6610)',
    async (then) => {
      const { shown, error, hits, types } = await follow([written([], then), ok]);
      expect(error).toBeUndefined();
      expect([shown, hits]).toEqual(['It is done.', 2]);
      expect(types).toContain('model-retried');
    },
  );

  it.each(['without an end', 'breaks', 'fails'] as const)(
    'after a text was shown is an error, and not asked for again: it %s',
    async (then) => {
      const { shown, error, hits } = await follow([written(['It is '], then), ok]);
      expect(error).toBeInstanceOf(AIProviderError);
      expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('SECRET');
      expect([shown, hits]).toEqual(['It is ', 1]);
    },
  );

  it.each(['without an end', 'breaks', 'fails', 'stalls'] as const)(
    'in the middle of a call runs nothing: it %s',
    async (then) => {
      const half = written([envelope.slice(0, 60)], then);
      const { shown, hits } = await follow([half, written([answered], 'whole')], { wire: 'envelope', timeoutMs: 150 });
      expect(ran).toEqual([]);
      expect([shown, hits]).toEqual(['done', 2]);
    },
  );

  it('with whole JSON and no finish reason is whole (Ollama)', async () => {
    const faults = [written([envelope], 'without an end'), written([answered], 'without an end')];
    const { shown, error } = await follow(faults, { wire: 'envelope' });
    expect(error).toBeUndefined();
    expect(ran).toEqual([42]);
    expect(shown).toBe('done');
  });

  it('by stalling ends with the attempt’s own time, over the whole stream (openai-node#1825)', async () => {
    const { error, hits } = await follow([written(['It '], 'stalls')], { timeoutMs: 100 });
    expect(error).toBeInstanceOf(AIProviderError);
    expect((error as Error).message).toMatch(/no complete reply within 100 ms/);
    expect(hits).toBe(1);
  });

  it('by its status is asked for again', async () => {
    const { shown, hits } = await follow([status(503), ok]);
    expect([shown, hits]).toEqual(['It is done.', 2]);
  });
});

describe('a stream that is given up', () => {
  it('by the caller’s signal, in its middle: rejects with the reason (vercel/ai#15430)', async () => {
    const controller = new AbortController();
    const reason = new Error('mine');
    const { error, hits } = await follow([written(['It '], 'stalls'), ok], {
      chat: { signal: controller.signal },
      each: ({ type }) => {
        if (type === 'text') controller.abort(reason);
        return false;
      },
    });
    expect(error).toBe(reason);
    expect(hits).toBe(1);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('by its reader closes the connection', async () => {
    const closed: boolean[] = [];
    const stalls: Fault = (response) => {
      response.on('close', () => closed.push(response.writableEnded));
      written(['It '], 'stalls')(response);
    };
    const { error } = await follow([stalls], { each: ({ type }) => type === 'text' });
    expect(error).toBeUndefined();
    while (closed.length === 0) await settled();
    expect(closed).toEqual([false]);
  });
});

describe('a stream request', () => {
  it('asks for the tokens, which come after the last choice', async () => {
    const counted: Fault = (response) => {
      const chunk = (rest: object): string =>
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...rest })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ choices: [{ index: 0, delta: { content: 'done' }, finish_reason: 'stop' }] }));
      response.write(chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }));
      response.end('data: [DONE]\n\n');
    };
    let usage: unknown;
    await follow([counted], {
      each: (event) => {
        if (event.type === 'run-ended') ({ usage } = event.run);
        return false;
      },
    });
    expect(usage).toMatchObject({ inputTokens: 7, outputTokens: 3, attempts: 1 });
    expect(server().received[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });
});
