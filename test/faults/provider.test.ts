import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  AIObserver,
  AIProviderError,
  AIResponseError,
  type AIRun,
  type AIServiceOptions,
  type ChatOptions,
  createAIService,
  defineTool,
  type ModelRetried,
  openAI,
  type OpenAIClient,
  type OpenAIProfile,
  ReadOnly,
} from 'inversify-ai';
import {
  answer,
  body,
  completion,
  cut,
  type Fault,
  reset,
  silence,
  stalled,
  status,
  streamed,
  toolCall,
} from './fault-server.js';
import { faultServer, OpenAI, refundTool } from './under-test.js';

/* The faults that real clients met, at a server of our own, through the real openai client. */

const server = faultServer();
const ran: unknown[] = [];
beforeEach(() => {
  ran.length = 0;
});

const refund = refundTool(ran);
const find = defineTool({
  name: 'find',
  description: 'Finds an order',
  group: ReadOnly,
  parameters: { orderId: { type: 'integer', description: 'The order id' } },
  execute: ({ orderId }) => {
    ran.push(orderId);
    return 'in transit';
  },
});

class Retries extends AIObserver {
  readonly seen: ModelRetried[] = [];
  constructor(private readonly then: (event: ModelRetried) => void = () => undefined) {
    super();
  }
  override modelRetried(event: ModelRetried): void {
    this.seen.push(event);
    this.then(event);
  }
}

/** Of OpenAI's own, on the envelope, whose turns these faults are written in. */
const PROFILE: OpenAIProfile = {
  schema: 'enforced',
  wires: ['envelope'],
  maxTokensField: 'max_completion_tokens',
};

interface Asked {
  readonly run?: AIRun;
  readonly error?: unknown;
  readonly hits: number;
  readonly retries: readonly ModelRetried[];
}

async function ask(
  faults: readonly Fault[],
  options: Partial<AIServiceOptions> & {
    readonly timeoutMs?: number;
    readonly chat?: ChatOptions;
    readonly onRetry?: (event: ModelRetried) => void;
    readonly plain?: boolean;
  } = {},
): Promise<Asked> {
  server().play(...faults);
  const { timeoutMs = 2_000, chat, onRetry, plain = false, ...rest } = options;
  const client = new OpenAI({ apiKey: 'SECRET-KEY', baseURL: server().baseURL, logLevel: 'off' });
  const retries = new Retries(onRetry);
  const service = createAIService({
    model: openAI({ model: 'm', client: client as unknown as OpenAIClient, timeoutMs, profile: PROFILE }),
    ...(!plain && { tools: [refund, find] }),
    logger: { warn: jest.fn(), error: jest.fn() },
    observers: [retries],
    ...rest,
    retry: { minDelayMs: 0, maxDelayMs: 0, ...rest.retry },
  });
  const outcome = await service.run('Where is order 42?', chat).then(
    (run) => ({ run }),
    (error: unknown) => ({ error }),
  );
  return { ...outcome, hits: server().received.length, retries: retries.seen };
}

const ok = answer('ok');

/** Everything that an error shows to a log. */
const shown = (error: unknown): string => `${String(error)} ${JSON.stringify(error)}`;

describe('a provider call that fails is sent again where that may help', () => {
  it.each<[string, Fault]>([
    ...[408, 409, 425, 429, 500, 502, 503, 504, 529].map((code): [string, Fault] => [code.toString(), status(code)]),
    ['a connection that is reset', reset],
    ['a body that breaks off', cut],
    ['200 with a body that is no JSON', body('{"id":')],
    ['200 with HTML', body('<html>gateway</html>', 'text/html')],
    ['200 with an error object', body('{"error":{"message":"upstream","code":502}}')],
    ['200 without choices', body('{"id":"x","choices":[]}')],
    ['a stream that nobody asked for, and that ends without its end', streamed('ends')],
    ['one that breaks off', streamed('breaks')],
    ['one that tells of an error', streamed('fails')],
    ['x-should-retry: true', status(400, { headers: { 'x-should-retry': 'true' } })],
  ])('%s', async (_title, fault) => {
    const { run, hits, retries } = await ask([fault, ok]);
    expect(run?.text).toBe('ok');
    expect(hits).toBe(2);
    expect(run?.usage).toMatchObject({ modelCalls: 1, attempts: 2 });
    expect(retries).toHaveLength(1);
    // The very same request, to the byte.
    expect(server().received[1]!.text).toBe(server().received[0]!.text);
  });

  it.each<[string, Fault]>([
    ['a stalled body (openai/openai-node#1825)', stalled],
    ['no response', silence],
    ['a stream that nobody asked for, and that stalls', streamed('stalls')],
  ])('after its own time: %s', async (_title, fault) => {
    const { run, hits } = await ask([fault, ok], { timeoutMs: 60 });
    expect(run?.text).toBe('ok');
    expect(hits).toBe(2);
  });
});

describe('a provider call that cannot succeed is sent once', () => {
  it.each<[string, Fault, number]>([
    ...[400, 401, 403, 404, 422].map((code): [string, Fault, number] => [code.toString(), status(code), code]),
    ['an empty account (langchainjs#1929)', status(429, { error: { code: 'insufficient_quota' } }), 429],
    ['a closed account', status(429, { error: { type: 'access_terminated' } }), 429],
    ['x-should-retry: false', status(503, { headers: { 'x-should-retry': 'false' } }), 503],
    ['Retry-After beyond the cap (pi#6911)', status(429, { headers: { 'retry-after': '277403' } }), 429],
  ])('%s', async (_title, fault, code) => {
    const { error, hits } = await ask([fault, ok]);
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ status: code, requestId: 'req-1', attempts: 1 });
    expect(hits).toBe(1);
    expect(shown(error)).not.toContain('SECRET');
    expect((error as AIProviderError).run).toMatchObject({ turns: 0, usage: { attempts: 1 } });
  });

  it('as often as maxAttempts says and no oftener, the client’s own retries included (nanobot#2760)', async () => {
    const { error, hits } = await ask([status(500)], { maxAttempts: 3 });
    expect(error).toMatchObject({ status: 500, attempts: 3 });
    expect(hits).toBe(3);
    expect((await ask([status(500)], { maxAttempts: 1 })).hits).toBe(1);
  });
});

describe('what a provider asks for', () => {
  it('is waited for, and never shortened (openai-node#1108)', async () => {
    const { run, retries } = await ask([status(429, { headers: { 'retry-after-ms': '30' } }), ok], {
      retry: { minDelayMs: 8, maxDelayMs: 8, random: () => 0.5 },
    });
    expect(run?.text).toBe('ok');
    // What is asked for, and a quarter of the jitter on top.
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([31]);
  });

  it.each([
    ['seconds', '0.05', 50],
    ['a date gone by', 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['a negative number', '-5', 0],
    ['no number', 'soon', 0],
  ])('as %s', async (_title, value, delay) => {
    const { run, retries } = await ask([status(429, { headers: { 'retry-after': value } }), ok]);
    expect(run?.text).toBe('ok');
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([delay]);
  });

  it('as a date to come', async () => {
    const controller = new AbortController();
    const date = new Date(Date.now() + 30_000).toUTCString();
    const { retries } = await ask([status(429, { headers: { 'retry-after': date } }), ok], {
      chat: { signal: controller.signal },
      onRetry: () => {
        controller.abort(new Error('seen enough'));
      },
    });
    expect(retries[0]!.delayMs).toBeGreaterThan(0);
    expect(retries[0]!.delayMs).toBeLessThanOrEqual(30_000);
  });

  it('is not waited for where the deadline comes first: the failure is told at once', async () => {
    const { error, hits } = await ask([status(429, { headers: { 'retry-after': '5' } }), ok], {
      retry: { deadlineMs: 2_000 },
    });
    expect(error).toMatchObject({ status: 429, attempts: 1, retryAfterMs: 5_000 });
    expect(hits).toBe(1);
  });
});

describe('an abort', () => {
  const reason = new Error('mine');

  it.each<[string, readonly Fault[]]>([
    ['before a response', [silence]],
    ['while a body stalls', [stalled]],
    ['while a stream stalls that nobody asked for (vercel/ai#15430)', [streamed('stalls')]],
  ])('%s: rejects with the caller’s reason, and nothing is sent again', async (_title, faults) => {
    const controller = new AbortController();
    const asked = ask(faults, { chat: { signal: controller.signal } });
    while (server().received.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    controller.abort(reason);
    const { error, hits } = await asked;
    expect(error).toBe(reason);
    expect(hits).toBe(1);
  });

  it('while it waits to send again: at once (openai-node#2580, vercel/ai#7656)', async () => {
    const controller = new AbortController();
    const { error, hits } = await ask([status(429, { headers: { 'retry-after': '50' } }), ok], {
      chat: { signal: controller.signal },
      onRetry: () => {
        controller.abort(reason);
      },
    });
    expect(error).toBe(reason);
    expect(hits).toBe(1);
  });

  it('beforehand: nothing is sent', async () => {
    const { error, hits } = await ask([ok], { chat: { signal: AbortSignal.abort(reason) } });
    expect(error).toBe(reason);
    expect(hits).toBe(0);
  });

  it('one signal over forty questions keeps no listener (qwen-code#4810)', async () => {
    const { signal } = new AbortController();
    for (let question = 0; question < 40; question++)
      await ask([question % 2 === 0 ? status(500) : ok, ok], { chat: { signal } });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('the deadlines', () => {
  it('retry.deadlineMs covers attempts and delays; the error says how many and what came last', async () => {
    const { error, hits } = await ask([status(503), silence], { retry: { deadlineMs: 150 }, maxAttempts: 9 });
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ status: 503, attempts: 2 });
    expect((error as Error).message).toMatch(/within the 150 ms of retry.deadlineMs, after 2 attempts/);
    expect(hits).toBe(2);
  });

  it('limits.deadlineMs ends the run wherever it is', async () => {
    const { error } = await ask([toolCall('refund', { orderId: '42' }), stalled], { limits: { deadlineMs: 200 } });
    expect(error).toMatchObject({ code: 'deadline', run: { calls: [{ tool: 'refund', outcome: 'ok' }] } });
    expect(ran).toEqual([42]);
  });
});

describe('a retry repeats one provider call and no tool (agno#10366, crewAI#5802)', () => {
  it('the refund is made once', async () => {
    const { run, hits } = await ask([toolCall('refund', { orderId: '42' }), status(503), cut, ok]);
    expect(run?.text).toBe('ok');
    expect(ran).toEqual([42]);
    expect(hits).toBe(4);
    const [, ...later] = server().received;
    expect(new Set(later.map(({ text }) => text)).size).toBe(1);
  });

  it('nor does it repeat one that failed (PraisonAI#4256)', async () => {
    const loses = defineTool({
      name: 'refund',
      description: 'Refunds an order',
      parameters: { orderId: { type: 'integer', description: 'The order id' } },
      execute: ({ orderId }) => {
        ran.push(orderId);
        throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET', status: 503 });
      },
    });
    const { run } = await ask([toolCall('refund', { orderId: '42' }), ok], { tools: [loses] });
    expect(run?.calls.map(({ outcome }) => outcome)).toEqual(['failed']);
    expect(ran).toEqual([42]);
  });

  it('and an error afterwards carries it', async () => {
    const { error } = await ask([toolCall('refund', { orderId: '42' }), status(500)]);
    expect(error).toMatchObject({ status: 500, attempts: 3, run: { calls: [{ outcome: 'ok', result: 'refunded' }] } });
    expect(ran).toEqual([42]);
  });
});

describe('a reply that is no answer is not sent again, and nothing runs from it', () => {
  const whole = JSON.stringify({ tool: 'refund', arguments: [{ name: 'orderId', value: '42' }], answer: '' });

  it.each<[string, Fault, AIResponseError['code']]>([
    ['cut off at the limit (mastra#15717)', completion({ content: whole, finish: 'length' }), 'truncated'],
    ['blocked, empty (openai-agents-js#1580)', completion({ content: null, finish: 'content_filter' }), 'filtered'],
    ['blocked, though whole', completion({ content: whole, finish: 'content_filter' }), 'filtered'],
    ['refused (openai-ruby#174)', completion({ content: null, refusal: 'I cannot help.' }), 'refused'],
    ['refused, beside a call', completion({ content: whole, refusal: 'I cannot help.' }), 'refused'],
    [
      'stopped for an unknown reason',
      completion({ content: whole, finish: 'insufficient_system_resource' }),
      'truncated',
    ],
  ])('%s', async (_title, fault, code) => {
    const { error, hits } = await ask([fault, ok]);
    expect(error).toBeInstanceOf(AIResponseError);
    expect(error).toMatchObject({ code });
    expect(hits).toBe(1);
    expect(ran).toEqual([]);
  });

  it('half a call behind "tool_calls" is malformed, whatever the reason says (hermes-agent#7693)', async () => {
    const half = completion({ content: whole.slice(0, 40), finish: 'tool_calls' });
    const { run, hits } = await ask([half, ok]);
    expect(run?.text).toBe('ok');
    expect(hits).toBe(2);
    expect(ran).toEqual([]);
    expect((await ask([half, half, ok])).error).toMatchObject({ code: 'malformed' });
  });

  const native = (id: string, orderId: number): object => ({
    id,
    type: 'function',
    function: { name: 'refund', arguments: JSON.stringify({ orderId }) },
  });

  it.each<[string, readonly object[]]>([
    ['several, though one a turn is asked for (LiveBench#485)', [native('call_a', 1), native('call_b', 2)]],
    ['under one id (nanobot#4059)', [native('x', 1), native('x', 2)]],
    ['without ids (smolagents#2684)', [native('', 1), native('', 2)]],
  ])('function calls that nobody offered, %s: none is run, none is answered', async (_title, calls) => {
    const { run, hits } = await ask([completion({ calls, finish: 'tool_calls' }), ok]);
    expect(run?.text).toBe('ok');
    expect(run?.calls).toEqual([]);
    expect(hits).toBe(2);
    expect(ran).toEqual([]);
    expect(server().received[1]!.text).not.toContain('tool_call_id');
  });

  it('a whole reply with finish_reason null is one (Ollama; pydantic-ai#6610)', async () => {
    const { run } = await ask([completion({ content: whole, finish: null }), ok]);
    expect(run?.text).toBe('ok');
    expect(ran).toEqual([42]);
  });

  it('a schema that was accepted and not enforced: what is outside it is refused here (ollama#12362)', async () => {
    const { run } = await ask([
      toolCall('drop_tables'),
      toolCall('refund', { orderId: '42', amount: '1' }),
      toolCall('refund', { orderId: 'all' }),
      ok,
    ]);
    expect(run?.calls.map(({ outcome }) => outcome)).toEqual([
      'unknown-tool',
      'invalid-arguments',
      'invalid-arguments',
    ]);
    expect(ran).toEqual([]);
  });
});

describe('what is sent', () => {
  it('is only what was set (Mistral answers 422 to more; eca#231)', async () => {
    await ask([completion({ content: 'Hello.' })], { plain: true });
    expect(Object.keys(server().received[0]!.body).sort()).toEqual(['messages', 'model']);
    await ask([completion({ content: 'Hello.' })], {
      plain: true,
      settings: { maxOutputTokens: 500, temperature: 0, topP: 0.5, seed: 7, reasoningEffort: 'low' },
    });
    expect(server().received[0]!.body).toMatchObject({
      max_completion_tokens: 500,
      temperature: 0,
      top_p: 0.5,
      seed: 7,
      reasoning_effort: 'low',
    });
  });

  it('is rebuilt by us: nothing of a reply is echoed (copilot-sdk#2061)', async () => {
    await ask([toolCall('find', { orderId: '42' }), ok]);
    const { messages } = server().received[1]!.body as { messages: object[] };
    for (const message of messages) expect(Object.keys(message).sort()).toEqual(['content', 'role']);
  });

  it('tells the tokens that the provider counted, over all turns', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    const call = completion({
      content: JSON.stringify({ tool: 'find', arguments: [{ name: 'orderId', value: '1' }], answer: '' }),
      usage,
    });
    const last = completion({ content: JSON.stringify({ tool: 'ANSWER', arguments: [], answer: 'ok' }), usage });
    const { run } = await ask([call, status(500), last], {
      prices: { inputPerMillion: 1, cachedInputPerMillion: 0.1, outputPerMillion: 4 },
    });
    expect(run?.usage).toEqual({
      inputTokens: 200,
      outputTokens: 40,
      cachedInputTokens: 80,
      reasoningTokens: 10,
      modelCalls: 2,
      attempts: 3,
      cost: (120 * 1 + 80 * 0.1 + 40 * 4) / 1_000_000,
    });
  });
});

describe('many runs on one model', () => {
  it('one is told to wait, and none of the others asks before', async () => {
    server().play(status(429, { headers: { 'retry-after-ms': '60' } }), ok);
    const client = new OpenAI({ apiKey: 'k', baseURL: server().baseURL, logLevel: 'off' });
    const model = openAI({ model: 'm', client: client as unknown as OpenAIClient });
    const options = { model, tools: [find], retry: { minDelayMs: 0, maxDelayMs: 0 } };
    const retries = new Retries();
    const told = createAIService({ ...options, observers: [retries] }).run('q');
    while (retries.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    const others = Array.from({ length: 9 }, () => createAIService(options).run('q'));
    // While the first waits nobody sends.
    expect(server().received).toHaveLength(1);
    for (const { text } of await Promise.all([told, ...others])) expect(text).toBe('ok');
    expect(server().received).toHaveLength(11);
  });
});
