import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import {
  type AIEvent,
  AIProviderError,
  type ChatModel,
  createAIService,
  type ModelCall,
  type ModelDelta,
  type ModelReply,
  type ModelRequest,
  openAI,
  type OpenAIOptions,
} from 'inversify-ai';
import { ReplyAssembler } from '../../../lib/model/assemble.js';
import { type Played, provider } from '../../conformance/transports.js';
import { settled } from '../../settled.js';

type Api = 'chat' | 'responses';
const APIS = ['chat', 'responses'] as const;

const modelOf = (fetch: typeof globalThis.fetch, options: Partial<OpenAIOptions> = {}): ChatModel =>
  openAI({ model: 'm', apiKey: 'k', baseURL: 'http://provider.invalid/v1', fetch, ...options });

const request: ModelRequest = { wire: 'native', messages: [{ role: 'user', content: 'q' }], tools: [] };
const typed: ModelRequest = { ...request, responseSchema: { name: 'turn', schema: { type: 'object' } } };
const never = new AbortController().signal;

const open = (model: ChatModel, asked = request, signal = never): AsyncIterable<ModelDelta> =>
  model.stream!(asked, { signal });

async function collected(model: ChatModel, asked = request, signal = never): Promise<ModelReply> {
  const reply = new ReplyAssembler();
  for await (const delta of open(model, asked, signal)) reply.take(delta);
  return reply.reply(model.name);
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

/** A body in pieces, and what becomes of it after them. */
function body(pieces: readonly Uint8Array[], then: 'ends' | 'stalls' | Error = 'ends'): ReadableStream<Uint8Array> {
  const left = [...pieces];
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = left.shift();
        if (piece !== undefined) controller.enqueue(piece);
        else if (then === 'ends') controller.close();
        else if (then === 'stalls') await new Promise(() => undefined);
        else controller.error(then);
      },
    },
    { highWaterMark: 0 },
  );
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A `fetch` that answers with one body, and the signals that it was given. */
function answering(
  make: () => string | ReadableStream<Uint8Array>,
  { status = 200, type = 'text/event-stream', headers = {} } = {},
): { readonly fetch: typeof globalThis.fetch; readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  return {
    signals,
    fetch: async (_input, init) => {
      if (init?.signal) signals.push(init.signal);
      return new Response(make(), { status, headers: { 'content-type': type, ...headers } });
    },
  };
}

const event = (data: object | string): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

const chunk = (delta: object, finish_reason: string | null = null, choice: object = {}): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason, ...choice }],
});
const written = (delta: string): object => ({ type: 'response.output_text.delta', output_index: 0, delta });
const message = (text: string): object => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const response = (over: object = {}): object => ({
  id: 'r',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output: [message('In transit.')],
  ...over,
});

/** The begin of a reply, "In tran", on either API. */
const BEGUN: Readonly<Record<Api, string>> = {
  chat: event(chunk({ role: 'assistant', content: 'In ' })) + event(chunk({ content: 'tran' })),
  responses: event(written('In ')) + event(written('tran')),
};
const streamOf = (text: string, then?: 'ends' | 'stalls' | Error) => answering(() => body([bytes(text)], then));

describe('a stream that is cut into bytes anywhere', () => {
  const texts = fc.string({
    unit: fc.oneof(
      fc.constantFrom('😀', 'ü', '€', '"', '\\', '\n', '\r\n', '\n\n', '\u2028', 'data: [DONE]', '\ud83d', '\ude00'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
    maxLength: 12,
  });
  const places = fc.array(fc.nat(999), { minLength: 1, maxLength: 30 });
  const replies: fc.Arbitrary<Played> = fc.record(
    {
      text: texts,
      refusal: texts,
      finish: fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls', 'end_turn', 'something_new'),
      thoughts: fc.string({ minLength: 1 }),
      calls: fc.array(
        fc.record({
          id: fc.constantFrom('', 'call_1', 'call_2', 'x'),
          name: fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/),
          arguments: texts,
        }),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: [] },
  );

  /** Both ways to end a line, and a comment as a proxy sends one, anywhere between two events. */
  const dress = (text: string, isWindows: boolean): string =>
    `: ping\n\n${text.replaceAll('\n\n', '\n\n: ping\n\n')}`.replaceAll('\n', isWindows ? '\r\n' : '\n');

  /** The same answers in pieces: of the texts, and then of the bytes. */
  function inPieces(reply: Played, at: readonly number[], isWindows: boolean): typeof globalThis.fetch {
    const { fetch } = provider([reply], (text) => slices(text, at, (from, to) => text.slice(from, to)));
    return async (...args) => {
      const whole = bytes(dress(await (await fetch(...args)).text(), isWindows));
      const pieces = slices(whole, at, (from, to) => whole.slice(from, to));
      return new Response(body(pieces), { headers: { 'content-type': 'text/event-stream' } });
    };
  }

  function slices<T>(
    { length }: { readonly length: number },
    places: readonly number[],
    slice: (from: number, to: number) => T,
  ): readonly T[] {
    const at = [...new Set([0, ...places.map((place) => place % (length + 1)), length])].sort((a, b) => a - b);
    return at.slice(1).map((to, index) => slice(at[index]!, to));
  }

  it.each(APIS)('gives the same reply as the whole does, over %s', async (api) => {
    await fc.assert(
      fc.asyncProperty(replies, places, fc.boolean(), async (reply, at, isWindows) => {
        const whole = await modelOf(provider([reply]).fetch, { api }).complete(request, { signal: never });
        expect(await collected(modelOf(inPieces(reply, at, isWindows), { api }))).toStrictEqual(whole);
      }),
    );
  });

  it.each(APIS)('gives that reply or a failure to be retried where it ends at any byte, over %s', async (api) => {
    await fc.assert(
      fc.asyncProperty(replies, fc.nat(), async (reply, place) => {
        const { text, refusal, finish, calls, carried } = await modelOf(provider([reply]).fetch, { api }).complete(
          request,
          { signal: never },
        );
        const { fetch } = provider([reply]);
        const whole = bytes(await (await fetch('http://p.invalid/v1/' + PATHS[api], STREAMED)).text());
        const { fetch: broken } = answering(() => body([whole.slice(0, place % whole.length)]));
        const ended = await collected(modelOf(broken, { api })).catch((error: unknown) => error);
        // The tokens come last, and may be lost.
        expect(
          ended instanceof AIProviderError
            ? { retryable: ended.retryable }
            : { ...(ended as ModelReply), usage: undefined },
        ).toEqual(ended instanceof AIProviderError ? { retryable: true } : { text, refusal, finish, calls, carried });
      }),
    );
  });

  const PATHS = { chat: 'chat/completions', responses: 'responses' };
  const STREAMED = { method: 'POST', body: JSON.stringify({ stream: true }) };
});

describe('a stream has what the whole reply has', () => {
  it('of its tokens, which come after the last choice', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3 },
    };
    const counted = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 3 };
    const chat = [chunk({ content: 'ok' }), chunk({}, 'stop'), { choices: [], usage }].map(event).join('');
    expect((await collected(modelOf(streamOf(chat).fetch))).usage).toEqual(counted);
    const end = response({
      output: [message('ok')],
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens_details: { reasoning_tokens: 3 },
      },
    });
    const { fetch } = streamOf(event({ type: 'response.completed', response: end }));
    expect((await collected(modelOf(fetch, { api: 'responses' }))).usage).toEqual(counted);
  });

  it('and asks for the tokens, over Chat Completions alone', async () => {
    for (const api of APIS) {
      const { fetch, sent } = provider([{ text: 'ok' }]);
      await collected(modelOf(fetch, { api }));
      expect(sent[0]!.body).toMatchObject({ stream: true });
      expect(sent[0]!.body['stream_options']).toEqual(api === 'chat' ? { include_usage: true } : undefined);
    }
  });

  const withHeader = (id: string): typeof globalThis.fetch => {
    const { fetch } = provider([{ text: 'ok' }]);
    return async (...args) => {
      const answer = await fetch(...args);
      answer.headers.set('x-request-id', id);
      return answer;
    };
  };

  const withId = (api: Api): Promise<ModelReply> => collected(modelOf(withHeader('req-1'), { api }));

  it('of the provider’s id of the request, over Chat Completions', async () => {
    expect(await withId('chat')).toMatchObject({ text: 'ok', requestId: 'req-1' });
  });

  it('of the provider’s id of the request, over Responses', async () => {
    expect(await withId('responses')).toMatchObject({ text: 'ok', requestId: 'req-1' });
  });

  it('but of no id that is none, streamed or whole: it would stand in messages and events', async () => {
    const none = `a text ${'x'.repeat(4_000)}`;
    for (const api of APIS) {
      expect(await collected(modelOf(withHeader(none), { api }))).not.toHaveProperty('requestId');
      const { signal } = new AbortController();
      const whole = await modelOf(withHeader(none), { api }).complete(
        { wire: 'native', messages: [{ role: 'user', content: 'q' }], tools: [] },
        { signal },
      );
      expect(whole).not.toHaveProperty('requestId');
    }
  });

  interface Odd {
    readonly message: object;
    readonly choice?: object;
  }

  /** What comes of it, whole and streamed. */
  async function bothWays({ message, choice = {} }: Odd): Promise<readonly [unknown, unknown]> {
    const outcome = (work: Promise<ModelReply>): Promise<unknown> =>
      work.then(
        ({ text, refusal, finish, calls }) => ({ text, refusal, finish, calls: calls?.map(({ name }) => name) }),
        (error: unknown) => ({ failed: error instanceof AIProviderError && error.retryable }),
      );
    const whole = { choices: [{ index: 0, finish_reason: 'stop', message, ...choice }] };
    const { fetch } = answering(() => JSON.stringify(whole), { type: 'application/json' });
    const { fetch: streamed } = streamOf(event(chunk(message)) + event(chunk({}, 'stop', choice)) + event('[DONE]'));
    return [
      await outcome(modelOf(fetch).complete(request, { signal: never })),
      await outcome(collected(modelOf(streamed))),
    ];
  }

  it.each<[string, Odd]>([
    ['a text', { message: { content: 'ok' } }],
    ['a refusal', { message: { content: null, refusal: 'No.' } }],
    ['a call of a custom tool', { message: { tool_calls: [{ id: 'a', custom: { name: 'pay', input: 'x' } }] } }],
    ['a call without a function', { message: { tool_calls: [{ id: 'a', function: 'pay' }] } }],
    ['thoughts of which nobody asked', { message: { content: 'ok', reasoning_content: 'hm' } }],
  ])('where it is %s', async (_title, odd) => {
    const [whole, streamed] = await bothWays(odd);
    expect(streamed).toEqual(whole);
  });

  it.each<[string, Odd]>([
    [
      'content in parts',
      {
        message: {
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
            { type: 'text', text: 'ok' },
          ],
        },
      },
    ],
    ['a part of a refusal', { message: { content: [{ type: 'refusal', refusal: 'No.' }] } }],
    ['a refusal that is no text', { message: { content: 'paid', refusal: true } }],
    [
      'a call as older servers have it',
      { message: { content: 'paid', function_call: { name: 'pay', arguments: '{}' } } },
    ],
    ['calls that are no list', { message: { content: 'paid', tool_calls: { name: 'pay' } } }],
    ['the limit that a router hides', { message: { content: 'half' }, choice: { native_finish_reason: 'length' } }],
    [
      'a filter’s own field',
      { message: { content: 'half' }, choice: { content_filter_results: { violence: { filtered: true } } } },
    ],
    ['an error beside the choice', { message: { content: 'half' }, choice: { error: { code: 502 } } }],
  ])('where it has %s', async (_title, odd) => {
    const [whole, streamed] = await bothWays(odd);
    expect(streamed).toEqual(whole);
  });
});

describe('a stream that does not end well is an AIProviderError to be retried', () => {
  const broken = new TypeError('terminated', { cause: Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' }) });

  const FAULTS: readonly (readonly [title: string, api: Api, body: string, then: 'ends' | Error, message: RegExp])[] = [
    ['no finish reason and no end (pydantic/pydantic-ai#6610)', 'chat', BEGUN.chat, 'ends', /ended before the reply/],
    [
      'no finish reason before its end (openai/openai-node#1292)',
      'chat',
      BEGUN.chat + event('[DONE]'),
      'ends',
      /ended before the reply/,
    ],
    ['half a line at its end', 'chat', BEGUN.chat + event(chunk({}, 'stop')).slice(0, 60), 'ends', /ended before/],
    ['nothing in it', 'chat', '', 'ends', /ended before the reply/],
    ['no end', 'responses', BEGUN.responses, 'ends', /ended before the reply/],
    ['nothing in it', 'responses', '', 'ends', /ended before the reply/],
    ['an error inside', 'chat', BEGUN.chat + event({ error: { message: 'SECRET' } }), 'ends', /no usable response/],
    [
      'an error inside',
      'responses',
      BEGUN.responses + event({ type: 'error', code: 'server_error', message: 'SECRET', param: null }),
      'ends',
      /broke off the stream with an error/,
    ],
    [
      'an error without a code inside',
      'responses',
      BEGUN.responses + event({ type: 'error', code: null, message: 'SECRET', param: null }),
      'ends',
      /broke off the stream with an error/,
    ],
    [
      'an error in an object inside',
      'responses',
      BEGUN.responses + event({ type: 'error', error: { code: 'server_error', message: 'SECRET' } }),
      'ends',
      /no usable response/,
    ],
    ['no JSON inside', 'chat', `${BEGUN.chat}data: {"SECRET\n\n`, 'ends', /no usable response/],
    ['no JSON inside', 'responses', `${BEGUN.responses}data: {"SECRET\n\n`, 'ends', /no usable response/],
    ['a socket that breaks', 'chat', BEGUN.chat, broken, /no usable response came \(UND_ERR_SOCKET\)/],
    ['a socket that breaks', 'responses', BEGUN.responses, broken, /no usable response came \(UND_ERR_SOCKET\)/],
    ['a socket that breaks before anything came', 'chat', '', broken, /no usable response came \(UND_ERR_SOCKET\)/],
  ];

  it.each(FAULTS)('with %s, over %s', async (_title, api, text, then, words) => {
    const { fetch, signals } = streamOf(text, then);
    const error = await failure(collected(modelOf(fetch, { api })));
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ retryable: true, status: undefined, message: expect.stringMatching(words) });
    expect(`${String(error)}${JSON.stringify(error)}`).not.toContain('SECRET');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await settled();
  });

  it('but not with an error that waiting does not end', async () => {
    const error = { type: 'error', code: 'insufficient_quota', message: 'SECRET', param: null };
    const { fetch } = streamOf(BEGUN.responses + event(error));
    expect(await failure(collected(modelOf(fetch, { api: 'responses' })))).toMatchObject({ retryable: false });
  });

  it.each(APIS)(
    'but not with an account that is empty, told in an object, over %s (langchain-ai/langchainjs#1929)',
    async (api) => {
      const { fetch } = streamOf(BEGUN[api] + event({ type: 'error', error: { code: 'insufficient_quota' } }));
      expect(await failure(collected(modelOf(fetch, { api })))).toMatchObject({ retryable: false });
    },
  );

  it.each<[string, string, string, RegExp]>([
    ['something of another kind', '{"models":[]}', 'application/json', /what came is no/],
    [
      'an error',
      JSON.stringify({ error: { message: 'SECRET' } }),
      'application/json',
      /with an error in place|could not make a response/,
    ],
    ['what is cut off', '{"choices":[{"mess', 'application/json', /no usable response/],
    ['a page', '<html>SECRET</html>', 'text/html', /ended before the reply/],
  ])('with %s in place of a stream', async (_title, text, type, words) => {
    for (const api of APIS) {
      const error = await failure(collected(modelOf(answering(() => text, { type }).fetch, { api })));
      expect(error).toBeInstanceOf(AIProviderError);
      expect(error).toMatchObject({ message: expect.stringMatching(words) });
      expect(String(error)).not.toContain('SECRET');
    }
  });

  it('with what a client of somebody’s own gives in place of one', async () => {
    const create = () => Promise.resolve({ choices: [] });
    const client = { chat: { completions: { create } }, responses: { create } };
    for (const api of APIS)
      expect(await failure(collected(openAI({ model: 'm', client, api })))).toMatchObject({
        code: 'provider',
        retryable: true,
        message: expect.stringMatching(/what came is no stream/),
      });
  });

  it.each<[number, boolean]>([
    [400, false],
    [401, false],
    [429, true],
    [500, true],
  ])('with the status %p it is as retryable as the whole is: %p', async (status, retryable) => {
    const options = { status, type: 'application/json', headers: { 'x-request-id': 'req-9', 'retry-after': '2' } };
    const { fetch } = answering(() => JSON.stringify({ error: { message: 'SECRET' } }), options);
    for (const api of APIS) {
      const error = await failure(collected(modelOf(fetch, { api })));
      expect(error).toMatchObject({ status, retryable, requestId: 'req-9', retryAfterMs: 2_000 });
      expect(String(error)).not.toContain('SECRET');
    }
  });
});

describe('a server that has no streams', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"id":42}' } };
  const completion = { choices: [{ message: { content: 'ok', tool_calls: [call] }, finish_reason: 'tool_calls' }] };
  const called = { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{"id":42}' };

  it.each<[Api, object]>([
    ['chat', completion],
    ['responses', response({ output: [message('ok'), called] })],
  ])('and answers with the whole as JSON, over %s, is read as it is without streams', async (api, whole) => {
    for (const [text, type] of [
      [JSON.stringify(whole), 'application/json'],
      [JSON.stringify(whole, null, 2), 'application/json; charset=utf-8'],
    ] as const) {
      const headers = { 'x-request-id': 'req-9' };
      const model = modelOf(answering(() => text, { type, headers }).fetch, { api });
      const streamed = await collected(model);
      expect(streamed).toMatchObject({ text: 'ok', calls: [{ id: 'c1', name: 'find', arguments: '{"id":42}' }] });
      expect(streamed).toEqual(await model.complete(request, { signal: never }));
    }
  });

  it('whose answer is shown all the same', async () => {
    const { fetch } = answering(() => JSON.stringify({ choices: [{ message: { content: 'In transit.' } }] }), {
      type: 'application/json',
    });
    const texts: string[] = [];
    for await (const event of createAIService({ model: modelOf(fetch) }).stream('q'))
      if (event.type === 'text') texts.push(event.delta);
    expect(texts.join('')).toBe('In transit.');
  });

  it('or does not know stream_options: a profile’s extra body leaves them out, and cannot turn the stream off', async () => {
    const bodies: unknown[] = [];
    const stream = streamOf(BEGUN.chat + event(chunk({}, 'stop')));
    const profile = {
      schema: 'accepted',
      wires: ['native'],
      extraBody: { stream_options: undefined, stream: false },
    } as const;
    const fetch: typeof globalThis.fetch = (input, init) => {
      bodies.push(JSON.parse(init!.body as string));
      return stream.fetch(input, init);
    };
    await collected(modelOf(fetch, { profile }));
    expect(bodies).toEqual([{ model: 'm', messages: [{ role: 'user', content: 'q' }], stream: true }]);
  });
});

describe('a stream over Chat Completions without a finish reason', () => {
  const json = '{"tool":"ANSWER","arguments":[],"answer":"ü"}';
  const said = (content: string, finish: string | null): string =>
    event(chunk({ content: content.slice(0, 9) })) + event(chunk({ content: content.slice(9) }, finish));

  it.each([null, ''])(
    'is whole where a schema was sent and its JSON is whole (%p, pydantic/pydantic-ai#6610)',
    async (finish) => {
      const { fetch } = streamOf(said(json, finish));
      expect(await collected(modelOf(fetch), typed)).toMatchObject({ text: json, finish: 'stop' });
    },
  );

  it.each([null, ''])('in any piece but the last is no end yet (%p)', async (none) => {
    const { fetch } = streamOf(
      ['In ', 'tran', 'sit'].map((content) => event(chunk({ content }, none))).join('') + event(chunk({}, 'stop')),
    );
    expect(await collected(modelOf(fetch))).toMatchObject({ text: 'In transit', finish: 'stop' });
  });

  it.each<[string, string, ModelRequest]>([
    ['its JSON is not whole', json.slice(0, -1), typed],
    ['something comes after its JSON', `${json}}`, typed],
    ['it is a number, of which more could come', '42', typed],
    ['no schema was sent', json, request],
  ])('is cut where %s (pydantic/pydantic-ai#6610)', async (_title, text, asked) => {
    const { fetch } = streamOf(said(text, null) + event('[DONE]'));
    expect(await failure(collected(modelOf(fetch), asked))).toMatchObject({ code: 'provider', retryable: true });
  });

  it('is cut where it is a call (openai/openai-node#1292)', async () => {
    const call = { tool_calls: [{ index: 0, id: 'a', function: { name: 'pay', arguments: '{}' } }] };
    const { fetch } = streamOf(event(chunk(call)) + event('[DONE]'));
    for (const asked of [request, typed])
      expect(await failure(collected(modelOf(fetch), asked))).toMatchObject({ code: 'provider', retryable: true });
  });
});

describe('a stream over Responses', () => {
  const ended = (type: string, over: object): string => BEGUN.responses + event({ type, response: response(over) });
  const reply = (text: string): Promise<ModelReply> => collected(modelOf(streamOf(text).fetch, { api: 'responses' }));

  it.each([
    ['server_error', true],
    ['rate_limit_exceeded', true],
    ['invalid_prompt', false],
  ])('that failed with %s is an AIProviderError, to be retried: %p', async (code, retryable) => {
    const failed = ended('response.failed', { status: 'failed', error: { code, message: 'SECRET' }, output: [] });
    const error = await failure(reply(failed));
    expect(error).toMatchObject({ code: 'provider', retryable });
    expect(`${String(error)}${JSON.stringify(error)}`).not.toContain('SECRET');
  });

  it.each([
    [{ reason: 'max_output_tokens' }, 'length'],
    [{ reason: 'content_filter' }, 'content_filter'],
    [{ reason: 'something_new' }, 'something_new'],
    [null, 'incomplete'],
  ])('that is incomplete, %p, has the finish reason %s', async (incomplete_details, finish) => {
    const over = { status: 'incomplete', incomplete_details, output: [message('In tran')] };
    expect(await reply(ended('response.incomplete', over))).toMatchObject({ text: 'In tran', finish });
  });

  it('has the rest of its text from its end, where less was streamed', async () => {
    expect((await reply(ended('response.completed', {}))).text).toBe('In transit.');
    expect((await reply(event({ type: 'response.completed', response: response() }))).text).toBe('In transit.');
  });

  it.each([
    ['another text', [message('In Paris.')]],
    ['a shorter one', [message('In')]],
    ['none', []],
  ])('whose end has %s is an AIProviderError to be retried', async (_title, output) => {
    expect(await failure(reply(ended('response.completed', { output })))).toMatchObject({
      code: 'provider',
      retryable: true,
      message: expect.stringMatching(/the stream and the response at its end are not the same/),
    });
  });

  it('is over with its end, whatever comes after', async () => {
    expect((await reply(ended('response.completed', {}) + event(written('more')))).text).toBe('In transit.');
  });

  it.each(['response.completed', 'response.incomplete', 'response.failed'])(
    'whose %s has no response is an AIProviderError to be retried',
    async (type) => {
      expect(await failure(reply(BEGUN.responses + event({ type })))).toMatchObject({
        code: 'provider',
        retryable: true,
      });
    },
  );
});

describe.each(APIS)('whoever reads a stream over %s', (api) => {
  it('and aborts is told the reason, and the connection is closed (vercel/ai#15430, openai/openai-node#959)', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const { fetch, signals } = streamOf(BEGUN[api], 'stalls');
    const texts: string[] = [];
    const read = async (): Promise<void> => {
      for await (const delta of open(modelOf(fetch, { api }), request, controller.signal)) {
        texts.push(delta.type === 'text' ? delta.text : delta.type);
        if (texts.length === 2) setImmediate(() => controller.abort(reason));
      }
    };
    expect(await failure(read())).toBe(reason);
    expect(texts).toEqual(['In ', 'tran']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await settled();
  });

  it('and aborts between two pieces gets no other piece (earendil-works/pi#8586)', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const { fetch, signals } = streamOf(BEGUN[api]);
    const deltas = open(modelOf(fetch, { api }), request, controller.signal)[Symbol.asyncIterator]();
    expect(await deltas.next()).toMatchObject({ value: { text: 'In ' } });
    controller.abort(reason);
    expect(await failure(deltas.next())).toBe(reason);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await deltas.next()).toEqual({ done: true, value: undefined });
    await settled();
  });

  it('and aborts while it is being opened is told the reason (OpenRouterTeam/typescript-agent#113)', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const fetch = (): Promise<Response> => new Promise(() => setImmediate(() => controller.abort(reason)));
    expect(await failure(collected(modelOf(fetch, { api }), request, controller.signal))).toBe(reason);
    await settled();
  });

  it('after an abort sends nothing', async () => {
    const { fetch, signals } = streamOf(BEGUN[api]);
    const reason = new Error('left');
    expect(await failure(collected(modelOf(fetch, { api }), request, AbortSignal.abort(reason)))).toBe(reason);
    expect(signals).toEqual([]);
  });

  it('and breaks while it is broken off leaves no rejection to nobody (openai/openai-node#959)', async () => {
    const controller = new AbortController();
    const { fetch } = streamOf(BEGUN[api], new TypeError('terminated'));
    const deltas = open(modelOf(fetch, { api }), request, controller.signal)[Symbol.asyncIterator]();
    await deltas.next();
    const last = Promise.allSettled([deltas.next(), deltas.next(), deltas.return?.()]);
    const reason = new Error('left');
    controller.abort(reason);
    // The first is told; the generator is over then.
    expect(await last).toMatchObject([{ status: 'rejected', reason }, { value: { done: true } }, {}]);
    await settled();
  });

  it('and leaves early closes the connection', async () => {
    const { fetch, signals } = streamOf(BEGUN[api], 'stalls');
    for await (const delta of open(modelOf(fetch, { api }))) {
      expect(delta).toEqual({ type: 'text', text: 'In ' });
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
      break;
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await settled();
  });

  it('and reads to the end leaves nothing on a signal that lives on (QwenLM/qwen-code#4810)', async () => {
    const controller = new AbortController();
    const added = jest.spyOn(controller.signal, 'addEventListener');
    const removed = jest.spyOn(controller.signal, 'removeEventListener');
    const { fetch } = provider([{ text: 'ok' }]);
    await collected(modelOf(fetch, { api }), request, controller.signal);
    expect(added.mock.calls.map(([, listener]) => listener)).toEqual(
      removed.mock.calls.map(([, listener]) => listener),
    );
    expect(added).toHaveBeenCalled();
  });

  const late = { code: 'provider', retryable: true, message: expect.stringMatching(/no complete reply within 50 ms/) };

  it('that stalls is told so after timeoutMs, and the connection is closed (openai/openai-node#1825)', async () => {
    const { fetch, signals } = streamOf(BEGUN[api], 'stalls');
    expect(await failure(collected(modelOf(fetch, { api, timeoutMs: 50 })))).toMatchObject(late);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await settled();
  });

  /** The same piece again and again, until the signal ends it, as a real connection does. */
  function dripping(piece: string): typeof globalThis.fetch {
    return async (_input, init) => {
      const signal = init!.signal!;
      const drops = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          if (signal.aborted) controller.error(signal.reason);
          else controller.enqueue(bytes(piece));
        },
      });
      return new Response(drops, { headers: { 'content-type': 'text/event-stream' } });
    };
  }

  it.each([
    ['comes in drops', api === 'chat' ? event(chunk({ content: '.' })) : event(written('.'))],
    ['holds nothing but comments', ': ping\n\n'],
  ])('that %s is told the same: timeoutMs is for all of it (openai/openai-node#1825)', async (_title, piece) => {
    const model = modelOf(dripping(piece), { api, timeoutMs: 50 });
    expect(await failure(collected(model))).toMatchObject(late);
    await settled();
  });
});

describe.each(APIS)('a run that is streamed over %s', (api) => {
  const end: Readonly<Record<Api, string>> = {
    chat: event(chunk({ content: 'sit.' })) + event(chunk({}, 'stop')) + event('[DONE]'),
    responses: event(written('sit.')) + event({ type: 'response.completed', response: response() }),
  };

  /** A service whose requests are answered with these bodies, one after the other. */
  function service(...bodies: readonly string[]) {
    const { fetch, signals } = answering(() => body([bytes(bodies[signals.length - 1] ?? '')]));
    const retry = { minDelayMs: 0, maxDelayMs: 0 };
    return { signals, service: createAIService({ model: modelOf(fetch, { api }), retry, maxAttempts: 2 }) };
  }

  async function texts(events: AsyncIterable<AIEvent>, into: string[]): Promise<void> {
    for await (const one of events) if (one.type === 'text') into.push(one.delta);
  }

  it('is sent again where it was cut before its first text', async () => {
    const { service: agent, signals } = service('', BEGUN[api] + end[api]);
    const seen: string[] = [];
    await texts(agent.stream('q'), seen);
    expect(seen.join('')).toBe('In transit.');
    expect(signals).toHaveLength(2);
  });

  it('is not sent again where a text was shown: it is an AIProviderError', async () => {
    const { service: agent, signals } = service(BEGUN[api], BEGUN[api] + end[api]);
    const seen: string[] = [];
    expect(await failure(texts(agent.stream('q'), seen))).toMatchObject({ code: 'provider', retryable: true });
    expect(seen.join('')).toBe('In tran');
    expect(signals).toHaveLength(1);
  });
});

describe('calls in a stream over Chat Completions', () => {
  const piece = (call: object): string => event(chunk({ tool_calls: [call] }));
  const calls = async (...pieces: readonly object[]): Promise<readonly ModelCall[] | undefined> => {
    const text = pieces.map(piece).join('') + event(chunk({}, 'tool_calls'));
    return (await collected(modelOf(streamOf(text).fetch))).calls;
  };

  it('without an id go by their index (continuedev/continue#13223, openai/codex#7517)', async () => {
    const pieces = [
      { index: 0, id: 'a', type: 'function', function: { name: 'find', arguments: '' } },
      { index: 1, id: 'b', type: 'function', function: { name: 'list', arguments: '' } },
      { index: 0, id: null, function: { name: null, arguments: '{"id":1}' } },
      { index: 1, function: { arguments: '{}' } },
    ];
    expect(await calls(...pieces)).toEqual([
      { id: 'a', name: 'find', arguments: '{"id":1}' },
      { id: 'b', name: 'list', arguments: '{}' },
    ]);
  });

  it('that share index 0 go by their ids (earendil-works/pi#8861, vercel/ai#14277)', async () => {
    const find = (id: string) => ({ index: 0, id, function: { name: 'find', arguments: `{"id":"${id}"}` } });
    expect(await calls(find('a'), find('b'))).toEqual([
      { id: 'a', name: 'find', arguments: '{"id":"a"}' },
      { id: 'b', name: 'find', arguments: '{"id":"b"}' },
    ]);
  });

  it('with arguments that are an object in place of a text are calls with broken ones, not with none', async () => {
    expect(await calls({ index: 0, id: 'a', function: { name: 'find', arguments: { id: 1 } } })).toEqual([
      { id: 'a', name: 'find', arguments: 'no text' },
    ]);
  });
});
