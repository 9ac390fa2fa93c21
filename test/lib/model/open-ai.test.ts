import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  AIDefinitionError,
  AIObserver,
  AIProviderError,
  AIResponseError,
  type AIService,
  type ChatModel,
  createAIService,
  defineTool,
  type ModelReplied,
  openAI,
  type OpenAIOptions,
  ReadOnly,
} from 'inversify-ai';
import OpenAI from 'openai';
import { requestProblems } from '../../wire/open-ai-bodies.js';

interface Hit {
  readonly headers: IncomingMessage['headers'];
  readonly url: string | undefined;
  readonly body: Record<string, unknown>;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

let server: Server;
let hits: Hit[];
let answers: Answer[];
let baseURL: string;

beforeEach(async () => {
  hits = [];
  answers = [];
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      hits.push({ headers: request.headers, url: request.url, body: JSON.parse(text) as Record<string, unknown> });
      (answers.shift() ?? ((r) => r.destroy()))(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}/v1`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

const completion = (
  content: unknown,
  rest: Record<string, unknown> = {},
  message: Record<string, unknown> = {},
  body: Record<string, unknown> = {},
): Answer =>
  json(
    200,
    {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          logprobs: null,
          message: { role: 'assistant', content, refusal: null, ...message },
          ...rest,
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      ...body,
    },
    { 'x-request-id': 'req-1' },
  );

const cut: Answer = (response) => {
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    .write('{"ch', () => response.destroy());
};

const turn = (tool: string, pairs: [string, string][] = [], answer = ''): Answer =>
  completion(JSON.stringify({ tool, arguments: pairs.map(([name, value]) => ({ name, value })), answer }));

const find = defineTool({
  name: 'find_order',
  description: 'Looks up a single order by id',
  group: ReadOnly,
  parameters: { orderId: { type: 'integer', description: 'The order id' } },
  execute: ({ orderId }) => `Order ${orderId.toString()}`,
});

const quiet = { warn: jest.fn(), error: jest.fn() };
const model = (options: Partial<OpenAIOptions> = {}): ChatModel =>
  openAI({ model: 'gpt-test', apiKey: 'k-1', baseURL, ...options });
const agent = (options: Partial<OpenAIOptions> = {}, maxAttempts = 1): AIService =>
  createAIService({ model: model(options), tools: [find], maxAttempts, logger: quiet });

const failure = (service: AIService, signal?: AbortSignal): Promise<unknown> =>
  service.run('q', signal && { signal }).then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );

describe('a run over HTTP', () => {
  it('sends well-formed requests, with the key and nothing that was not set', async () => {
    answers = [turn('find_order', [['orderId', '42']]), turn('ANSWER', [], 'In transit.')];
    const run = await agent({ headers: { 'x-team': 'desk' } }).run('Where is order 42?');
    expect(run.text).toBe('In transit.');
    expect(run.usage).toEqual({
      inputTokens: 20,
      outputTokens: 10,
      cachedInputTokens: 8,
      reasoningTokens: 6,
      modelCalls: 2,
      attempts: 2,
    });
    expect(hits.map(({ url }) => url)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
    expect(hits[0]!.headers).toMatchObject({ authorization: 'Bearer k-1', 'x-team': 'desk' });
    for (const { body } of hits) {
      expect(Object.keys(body)).toEqual(['model', 'messages', 'response_format']);
      expect(requestProblems(body)).toBe('');
    }
  });

  it('says nothing of our account with OpenAI to other servers', async () => {
    const before = { ...process.env };
    Object.assign(process.env, { OPENAI_ORG_ID: 'org-secret', OPENAI_PROJECT_ID: 'proj-secret' });
    try {
      answers = [turn('ANSWER', [], 'ok')];
      await agent().chat('q');
    } finally {
      for (const name of ['OPENAI_ORG_ID', 'OPENAI_PROJECT_ID'])
        if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = before[name];
    }
    expect(JSON.stringify(hits[0]!.headers)).not.toContain('secret');
  });

  it('takes the longest timeout that there is', async () => {
    answers = [turn('ANSWER', [], 'ok')];
    expect(await agent({ timeoutMs: 2 ** 31 - 1 }).chat('q')).toBe('ok');
  });

  it('goes through a client of the application’s own, without its retries', async () => {
    answers = [json(503, {}), turn('ANSWER', [], 'ok')];
    const client = new OpenAI({ apiKey: 'own', baseURL, maxRetries: 5 });
    const error = await failure(
      createAIService({ model: openAI({ model: 'm', client }), tools: [find], maxAttempts: 1 }),
    );
    expect(error).toMatchObject({ status: 503, attempts: 1 });
    expect(hits).toHaveLength(1);
    expect(hits[0]!.headers.authorization).toBe('Bearer own');
  });

  it('needs no key where there is a base URL', async () => {
    answers = [turn('ANSWER', [], 'ok')];
    const before = process.env.OPENAI_API_KEY;
    delete process.env.OPENAI_API_KEY;
    try {
      const service = createAIService({ model: openAI({ model: 'm', baseURL }), tools: [find] });
      expect(await service.chat('q')).toBe('ok');
      expect(hits[0]!.headers).not.toHaveProperty('authorization');
    } finally {
      if (before !== undefined) process.env.OPENAI_API_KEY = before;
    }
  });
});

describe('a provider that fails', () => {
  it.each<[string, Answer, Partial<AIProviderError>]>([
    [
      '400',
      json(400, { error: { message: 'secret-body' } }, { 'x-request-id': 'req-9' }),
      { status: 400, retryable: false, requestId: 'req-9' },
    ],
    ['401', json(401, { error: { message: 'secret-body' } }), { status: 401, retryable: false }],
    ['422', json(422, { error: { message: 'secret-body' } }), { status: 422, retryable: false }],
    ['429', json(429, { error: { message: 'secret-body' } }), { status: 429, retryable: true }],
    [
      '429 for an empty account',
      json(429, { error: { code: 'insufficient_quota', message: 'secret-body' } }),
      { status: 429, retryable: false },
    ],
    ['503 that advises against it', json(503, {}, { 'x-should-retry': 'false' }), { status: 503, retryable: false }],
    ['529', json(529, {}), { status: 529, retryable: true }],
    ['a connection that is cut', (response) => response.destroy(), { status: undefined, retryable: true }],
    ['a body that is cut', cut, { status: undefined, retryable: true }],
    [
      'a body that is no JSON',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":['),
      { status: undefined, retryable: true },
    ],
    [
      'a page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>secret-body</html>'),
      { status: undefined, retryable: true },
    ],
    ['200 with an error', json(200, { error: { message: 'secret-body' } }), { status: undefined, retryable: true }],
    ['200 without a choice', json(200, { choices: [] }), { status: undefined, retryable: true }],
  ])('%s is an AIProviderError in our own words', async (_title, answer, expected) => {
    answers = [answer];
    const error = (await failure(agent())) as AIProviderError;
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject(expected);
    expect(`${error.message}${JSON.stringify(error)}`).not.toMatch(/secret-body|k-1/);
    expect(hits).toHaveLength(1);
  });

  it('that is not there is named, with the system’s word for it', async () => {
    await new Promise((resolve) => server.close(resolve));
    const error = (await failure(agent())) as Error;
    server = createServer().listen(0, '127.0.0.1');
    expect(error.message).toBe(
      `createAIService, gpt-test at ${new URL(baseURL).host}: no usable response came (ECONNREFUSED).`,
    );
  });

  it('is asked again, alone, and the answer then counts', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    answers = [(response) => response.destroy(), json(500, {}), turn('ANSWER', [], 'ok')];
    const run = await agent({}, 3).run('q');
    expect(run.text).toBe('ok');
    expect(run.usage).toMatchObject({ modelCalls: 1, attempts: 3 });
    expect(new Set(hits.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('a body that stalls after its headers ends with the attempt’s own timer', async () => {
    answers = [(response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices"')];
    const error = await failure(agent({ timeoutMs: 60 }));
    expect(error).toBeInstanceOf(AIProviderError);
    expect((error as Error).message).toBe(
      `createAIService, gpt-test at ${new URL(baseURL).host}: no complete reply within 60 ms.`,
    );
  });

  it('a fetch that heeds no signal is given up all the same', async () => {
    const fetch = (): Promise<Response> => new Promise(() => undefined);
    expect(((await failure(agent({ fetch, timeoutMs: 50 }))) as Error).message).toMatch(
      /no complete reply within 50 ms/,
    );
    const controller = new AbortController();
    const reason = new Error('left');
    const asked = failure(agent({ fetch }), controller.signal);
    setImmediate(() => controller.abort(reason));
    expect(await asked).toBe(reason);
  });

  it('an abort while the body stalls rethrows the reason unchanged', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    answers = [
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices"');
        setImmediate(() => controller.abort(reason));
      },
    ];
    expect(await failure(agent(), controller.signal)).toBe(reason);
  });
});

describe('a reply', () => {
  it.each<[string, Answer, string]>([
    ['cut at the limit', completion('{"tool":"find_order","arguments":[]', { finish_reason: 'length' }), 'truncated'],
    ['filtered', completion(null, { finish_reason: 'content_filter' }), 'filtered'],
    ['refused', completion(null, {}, { refusal: 'No.' }), 'refused'],
  ])('that is %s ends the run', async (_title, answer, code) => {
    answers = [answer];
    expect(await failure(agent())).toMatchObject({ code });
  });

  it.each([
    'max_tokens',
    'MAX_TOKENS',
    'model_length',
    'SAFETY',
    'content-filter',
    'error',
    'abort',
    'insufficient_system_resource',
    'refusal',
    7,
  ])('that is marked %p runs nothing, however whole it looks', async (finish_reason) => {
    const ran: unknown[] = [];
    const pay = defineTool({ name: 'pay', description: 'Pays', parameters: {}, execute: () => ran.push('paid') });
    answers = [completion('{"tool":"pay","arguments":[],"answer":""}', { finish_reason })];
    const error = await failure(createAIService({ model: model(), tools: [pay], maxAttempts: 1 }));
    expect(error).toBeInstanceOf(AIResponseError);
    expect(ran).toEqual([]);
  });

  it.each([true, { text: 'no' }, 'No.'])('with the refusal %p runs nothing', async (refusal) => {
    answers = [
      completion('{"tool":"find_order","arguments":[{"name":"orderId","value":"1"}],"answer":""}', {}, { refusal }),
    ];
    expect(await failure(agent())).toMatchObject({ code: 'refused' });
  });

  it('of a reason that is not known here is refused with the word', async () => {
    answers = [completion('{"tool":"ANSWER","arguments":[],"answer":"x"}', { finish_reason: 'something_new' })];
    expect(((await failure(agent())) as Error).message).toMatch(
      /the provider stopped for the reason "something_new", which is not known here/,
    );
  });

  it.each([null, '', 'eos', 'end_of_turn', 'STOP'])(
    'with the finish reason %p is one, where it is whole',
    async (finish_reason) => {
      answers = [completion('{"tool":"ANSWER","arguments":[],"answer":"ok"}', { finish_reason })];
      expect(await agent().chat('q')).toBe('ok');
    },
  );

  const unasked = { id: 'call_1', type: 'function', function: { name: 'pay', arguments: '{}' } };
  const whole = '{"tool":"pay","arguments":[],"answer":""}';

  it.each<[string, unknown, Record<string, unknown>]>([
    ['alone', null, { tool_calls: [unasked] }],
    ['beside an answer', '{"tool":"ANSWER","arguments":[],"answer":"paid"}', { tool_calls: [unasked] }],
    ['beside a call', whole, { tool_calls: [unasked, { ...unasked, id: 'call_2' }] }],
    ['as a custom tool', whole, { tool_calls: [{ id: '', type: 'custom', custom: { name: 'pay', input: '' } }] }],
    ['as older servers have it', whole, { function_call: { name: 'pay', arguments: '{}' } }],
  ])('that calls functions, %s, runs nothing: none was offered', async (_title, content, message) => {
    const ran: unknown[] = [];
    const pay = defineTool({ name: 'pay', description: 'Pays', parameters: {}, execute: () => ran.push('paid') });
    answers = [
      completion(content, { finish_reason: 'tool_calls' }, message),
      completion('{"tool":"ANSWER","arguments":[],"answer":"ok"}'),
    ];
    const replies: unknown[] = [];
    class Replies extends AIObserver {
      override modelReplied({ calls }: ModelReplied): void {
        replies.push(calls?.map(({ name }) => name));
      }
    }
    const service = createAIService({ model: model(), tools: [pay], observers: [new Replies()] });
    expect(await service.chat('q')).toBe('ok');
    expect(ran).toEqual([]);
    expect(JSON.stringify(hits[1]!.body['messages'])).toContain('called a function');
    expect(replies[0]).toContain('pay');
    // Nor is what stands beside them an answer, where there are no tools at all.
    answers = [completion('Paid.', {}, message), completion('I cannot pay.')];
    expect(await createAIService({ model: model() }).chat('q')).toBe('I cannot pay.');
  });

  it.each<[string, unknown, Record<string, unknown>, Record<string, unknown>, string]>([
    [
      'a part of a refusal',
      [
        { type: 'text', text: whole },
        { type: 'refusal', refusal: 'No.' },
      ],
      {},
      {},
      'refused',
    ],
    ['a filter’s own field', whole, { content_filter_results: { violence: { filtered: true } } }, {}, 'filtered'],
    ['the limit that a router hides', whole, { native_finish_reason: 'length' }, {}, 'truncated'],
    ['no message, since a filter took it', whole, { finish_reason: 'content_filter', message: null }, {}, 'filtered'],
    ['calls that are no list', whole, {}, { tool_calls: { name: 'pay' } }, 'malformed'],
    ['calls that are a text', whole, {}, { tool_calls: 'pay' }, 'malformed'],
    ['a function that is a text', whole, {}, { function_call: 'pay' }, 'malformed'],
    ['an error beside the message', whole, { error: { code: 502 } }, {}, 'provider'],
  ])('with %s runs nothing, however whole the rest looks', async (_title, content, choice, message, code) => {
    const ran: unknown[] = [];
    const pay = defineTool({ name: 'pay', description: 'Pays', parameters: {}, execute: () => ran.push('paid') });
    const came = completion(content, choice, message);
    answers = [came, came];
    const service = createAIService({ model: model(), tools: [pay], maxAttempts: 1, maxToolCalls: 2 });
    expect(await failure(service)).toMatchObject({ code });
    expect(ran).toEqual([]);
  });

  it('with an error at its root is none, whatever stands beside it', async () => {
    const ran: unknown[] = [];
    const pay = defineTool({ name: 'pay', description: 'Pays', parameters: {}, execute: () => ran.push('paid') });
    answers = [
      json(200, {
        error: { message: 'SECRET upstream', code: 502 },
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: whole } }],
      }),
    ];
    const error = await failure(createAIService({ model: model(), tools: [pay], maxAttempts: 1 }));
    expect(error).toMatchObject({ code: 'provider', retryable: true });
    expect(String(error)).not.toContain('SECRET');
    expect(ran).toEqual([]);
  });

  it.each<[unknown, number]>([
    [1e308, 1e12],
    ['1000', 1_000],
    [-5, 0],
    [1.5, 2],
    [Number.NaN, 0],
  ])('whose tokens are counted as %p costs something finite', async (tokens, counted) => {
    const usage = { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 1 };
    answers = [completion('{"tool":"ANSWER","arguments":[],"answer":"ok"}', {}, {}, { usage })];
    const prices = { inputPerMillion: 1, outputPerMillion: 1 };
    const run = await createAIService({ model: model(), prices }).run('q');
    expect(run.usage.inputTokens).toBe(counted);
    expect(run.usage.cost).toBeCloseTo((2 * counted) / 1_000_000);
  });

  it('in parts is read, without what was thought beside it', async () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: '{"tool":"ANSWER","arguments":[],' },
      { type: 'text', text: '"answer":"ok"}' },
    ];
    answers = [completion(parts)];
    expect(await agent().chat('q')).toBe('ok');
  });
});

describe('openAI refuses', () => {
  const environment = { key: process.env.OPENAI_API_KEY, url: process.env.OPENAI_BASE_URL };
  beforeEach(() => {
    delete process.env.OPENAI_API_KEY;
    process.env.OPENAI_BASE_URL = '';
  });
  afterEach(() => {
    delete process.env.OPENAI_BASE_URL;
    if (environment.key !== undefined) process.env.OPENAI_API_KEY = environment.key;
    if (environment.url !== undefined) process.env.OPENAI_BASE_URL = environment.url;
  });

  it.each<[string, OpenAIOptions, RegExp]>([
    [
      'no key',
      { model: 'm' },
      /openAI: no key. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, or pass apiKey, baseURL or client/,
    ],
    ['an empty key', { model: 'm', apiKey: '' }, /openAI: no key/],
    ['no model', {} as OpenAIOptions, /openAI: name the model, openAI\(\{ model: 'gpt-5-mini' \}\)/],
    [
      'an unknown option',
      { model: 'm', apiKey: 'k', baseUrl: 'x' } as OpenAIOptions,
      /there is no option "baseUrl"; the options are model, apiKey, baseURL/,
    ],
    [
      'a base URL that is none',
      { model: 'm', apiKey: 'k', baseURL: '127.0.0.1/v1' },
      /the base URL is no address; write it whole/,
    ],
    [
      'a base URL without a scheme',
      { model: 'm', apiKey: 'k', baseURL: 'localhost:11434/v1' },
      /the base URL is no address; write it whole, with its scheme/,
    ],
    ['a client that is none', { model: 'm', client: {} as never }, /client must be an openai client/],
    [
      'a timeout of 0',
      { model: 'm', apiKey: 'k', timeoutMs: 0 },
      /openAI: timeoutMs must be a whole number from 1 to 2147483647, found 0/,
    ],
  ])('%s, at start', (_title, options, message) => {
    expect(() => openAI(options)).toThrow(AIDefinitionError);
    expect(() => openAI(options)).toThrow(message);
  });
});
