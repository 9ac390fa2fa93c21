import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsIn, IsInt, Min } from 'class-validator';
import {
  AIProviderError,
  type AIService,
  type AIServiceOptions,
  AITool,
  AIToolParam,
  createAIService,
  openAI,
  ReadOnly,
} from 'inversify-ai';
import { requestProblems } from '../wire/open-ai-bodies.js';

/*
 * OpenAI's wire as somebody else wrote it down: @copilotkit/aimock, through the real client, over the loopback. It plays
 * fixtures and is no language model. It drops a refusal and accepts any schema; those are at the fault server.
 */

let mock: LLMock;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', strict: true });
  await mock.start();
});
afterAll(async () => {
  await mock.stop();
});

const ran: unknown[] = [];
beforeEach(() => {
  ran.length = 0;
  mock.clearFixtures();
  mock.clearRequests();
});

class OrderTools {
  @ReadOnly
  @AITool('Looks up a single order by id')
  findOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): string {
    ran.push(['findOrder', orderId]);
    return 'in transit "today"\n';
  }

  @AITool('Refunds an order')
  refundOrder(
    @AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number,
    @AIToolParam('reason', 'Why', { optional: true }) reason?: string,
  ): string {
    ran.push(['refundOrder', orderId, reason]);
    return 'refunded';
  }
}

class Delivery {
  @IsInt() @Min(1) orderId!: number;
  @IsIn(['in transit', 'delivered']) state!: string;
}

function plain(options: Partial<AIServiceOptions> = {}): AIService {
  const client = new OpenAI({ apiKey: 'mock', baseURL: `${mock.url}/v1`, logLevel: 'off' });
  return createAIService({
    model: openAI({
      model: 'gpt-5-mini',
      client,
      profile: { schema: 'enforced', wires: ['envelope'], maxTokensField: 'max_completion_tokens' },
    }),
    logger: { warn: jest.fn(), error: jest.fn() },
    retry: { minDelayMs: 0, maxDelayMs: 0 },
    ...options,
  });
}

const agent = (options: Partial<AIServiceOptions> = {}): AIService => plain({ tools: [new OrderTools()], ...options });

/** What was sent, each by OpenAI's own definition of a request. */
function sent(): readonly Readonly<Record<string, unknown>>[] {
  // What begins with _ is the journal's own.
  const bodies = mock
    .getRequests()
    .map(({ body }) => Object.fromEntries(Object.entries(body ?? {}).filter(([key]) => !key.startsWith('_'))));
  for (const body of bodies) expect(requestProblems(body)).toBe('');
  return bodies;
}

const call = (tool: string, args: Readonly<Record<string, string>>): string =>
  JSON.stringify({ tool, arguments: Object.entries(args).map(([name, value]) => ({ name, value })), answer: '' });
const answer = (text: string): string => JSON.stringify({ tool: 'ANSWER', arguments: [], answer: text });

/** Scripts a conversation: the n-th reply to whoever shows n assistant turns. */
function conversation(...turns: readonly string[]): void {
  turns.forEach((content, turnIndex) => {
    mock.on({ endpoint: 'chat', turnIndex, responseFormat: 'json_schema' }, { content });
  });
}

describe('somebody else’s wire of OpenAI', () => {
  it('a plain question and its answer', async () => {
    mock.onMessage('Say hello', { content: 'Hello.' });
    const run = await plain().run('Say hello');
    expect(run).toMatchObject({ text: 'Hello.', stop: 'answer', turns: 1 });
    expect(run.usage.inputTokens).toBeGreaterThan(0);
    expect(run.usage.outputTokens).toBeGreaterThan(0);
    expect(sent()).toHaveLength(1);
  });

  it('calls and an answer, on the envelope', async () => {
    conversation(
      call('OrderTools_findOrder', { orderId: '42' }),
      call('OrderTools_refundOrder', { orderId: '42', reason: 'Späte Lieferung 😀' }),
      answer('Order 42 is refunded.'),
    );
    const run = await agent().run('Please refund order 42');
    expect(run.text).toBe('Order 42 is refunded.');
    expect(ran).toEqual([
      ['findOrder', 42],
      ['refundOrder', 42, 'Späte Lieferung 😀'],
    ]);
    expect(run.usage).toMatchObject({ modelCalls: 3, attempts: 3 });
    expect(sent()).toHaveLength(3);
  });

  it('at the cap: the schema of the last turn holds the answer alone', async () => {
    conversation(call('OrderTools_findOrder', { orderId: '1' }), answer('That is all.'));
    const run = await agent({ maxToolCalls: 1 }).run('Where is order 1?');
    expect(run).toMatchObject({ text: 'That is all.', stop: 'cap' });
    const names = sent().map(
      (body) =>
        (
          body['response_format'] as {
            json_schema: { schema: { properties: { tool: { enum: readonly string[] } } } };
          }
        ).json_schema.schema.properties.tool.enum,
    );
    expect(names).toEqual([['OrderTools_findOrder', 'OrderTools_refundOrder', 'ANSWER'], ['ANSWER']]);
  });

  it('a typed answer takes a turn of its own', async () => {
    conversation(
      call('OrderTools_findOrder', { orderId: '42' }),
      answer('It is in transit.'),
      JSON.stringify({ orderId: 42, state: 'in transit' }),
    );
    const delivery = await agent().chat('Where is order 42?', Delivery);
    expect(delivery).toBeInstanceOf(Delivery);
    expect(delivery).toEqual({ orderId: 42, state: 'in transit' });
    expect(sent()[2]!['response_format']).toMatchObject({ type: 'json_schema', json_schema: { name: 'answer' } });
  });

  it('settings travel under OpenAI’s names', async () => {
    mock.onMessage('Say hello', { content: 'Hello.' });
    await plain({
      settings: { maxOutputTokens: 100, temperature: 0.2, topP: 0.9, seed: 7, reasoningEffort: 'low' },
    }).chat('Say hello');
    expect(sent()[0]).toMatchObject({
      max_completion_tokens: 100,
      temperature: 0.2,
      top_p: 0.9,
      seed: 7,
      reasoning_effort: 'low',
    });
  });

  it.each([
    ['length', 'truncated'],
    ['content_filter', 'filtered'],
  ] as const)('finish_reason %s runs nothing', async (finishReason, code) => {
    mock.on({ endpoint: 'chat' }, { content: call('OrderTools_refundOrder', { orderId: '42' }), finishReason });
    await expect(agent().run('q')).rejects.toMatchObject({ code });
    expect(ran).toEqual([]);
    expect(sent()).toHaveLength(1);
  });

  it('a tool that is not on offer is told so, though the server let it through', async () => {
    conversation(call('OrderTools_dropAll', {}), answer('There is none.'));
    const run = await agent().run('q');
    expect(run.calls.map(({ outcome }) => outcome)).toEqual(['unknown-tool']);
  });

  it('native calls that nobody asked for are not run', async () => {
    mock.on(
      { endpoint: 'chat', turnIndex: 0, sequenceIndex: 0 },
      { toolCalls: [{ name: 'OrderTools_refundOrder', arguments: '{"orderId":42}', id: 'call_a' }] },
    );
    mock.on({ endpoint: 'chat' }, { content: answer('Nothing was done.') });
    expect((await agent().run('q')).text).toBe('Nothing was done.');
    expect(ran).toEqual([]);
    expect(sent()).toHaveLength(2);
  });

  it('a 429 that asks for a wait, a 503 once, and then an answer', async () => {
    mock.onMessage('Say hello', { content: 'Hello.' });
    mock.nextRequestError(429, { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' });
    expect(await plain().run('Say hello')).toMatchObject({ text: 'Hello.', usage: { modelCalls: 1, attempts: 2 } });
    mock.nextRequestError(503, { message: 'once' });
    expect(await plain().run('Say hello')).toMatchObject({ text: 'Hello.', usage: { modelCalls: 1, attempts: 2 } });
    expect(sent()).toHaveLength(4);
  });

  it.each([
    [400, 1],
    [401, 1],
    [404, 1],
    [500, 3],
  ])('%s is told with its request id, after so many requests: %s', async (status, requests) => {
    mock.on({ endpoint: 'chat' }, { error: { message: 'SECRET', type: 't' }, status });
    const error: unknown = await agent()
      .run('q')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ status, attempts: requests, requestId: expect.stringMatching(/^req-/) });
    expect(String(error)).not.toContain('SECRET');
    expect(sent()).toHaveLength(requests);
  });

  it('a reset connection, and a body that is no JSON', async () => {
    mock.on({ endpoint: 'chat' }, { content: 'Hello.' });
    for (const chaos of [{ disconnectRate: 1 }, { malformedRate: 1 }]) {
      mock.clearRequests();
      mock.setChaos(chaos);
      await expect(plain().run('q')).rejects.toMatchObject({ code: 'provider', attempts: 3 });
      mock.clearChaos();
      expect(mock.getRequests()).toHaveLength(3);
    }
  });
});
