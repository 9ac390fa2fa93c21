import { describe, expect, it, jest } from '@jest/globals';
import {
  AIDefinitionError,
  AIProviderError,
  AIResponseError,
  type AIRun,
  type AIService,
  type AIServiceOptions,
  type ChatModel,
  createAIService,
  defineTool,
  openAI,
  type OpenAIOptions,
  ReadOnly,
} from 'inversify-ai';
import { z } from 'zod';

type Body = Readonly<Record<string, unknown>>;

/** A response's own body, or an HTTP status with one. */
type Answer = object | { readonly status: number; readonly body: object };

/** A provider that answers in order, and the bodies that it was sent. */
function answering(...answers: readonly Answer[]): { readonly fetch: typeof globalThis.fetch; readonly sent: Body[] } {
  const sent: Body[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    expect(new URL(input instanceof Request ? input.url : input.toString()).pathname).toBe('/v1/responses');
    const asked = JSON.parse(await new Response(init?.body).text()) as Body;
    const answer = answers[sent.length];
    sent.push(asked);
    if (answer === undefined) return Response.json({ error: { message: 'no answer is left' } }, { status: 400 });
    const headers = { 'x-request-id': `req-${sent.length}` };
    if ('body' in answer) return Response.json(answer.body, { status: answer.status, headers });
    if (asked['stream'] !== true) return Response.json(answer, { headers });
    return new Response(`data: ${JSON.stringify({ type: 'response.completed', response: answer })}\n\n`, { headers });
  };
  return { fetch, sent };
}

const response = (output: readonly object[], over: object = {}): object => ({
  id: 'r',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 15,
  },
  ...over,
});

const part = (text: string): object => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const message = (...content: readonly object[]): object => ({
  type: 'message',
  id: 'msg',
  role: 'assistant',
  status: 'completed',
  content,
});
const said = (text: string): object => message(part(text));
const called = (call_id: unknown, name: string, args: string): object => ({
  type: 'function_call',
  id: `fc_${name}`,
  call_id,
  name,
  arguments: args,
  status: 'completed',
});
const thought = (id: string, encrypted_content: unknown = `sealed-${id}`): object => ({
  type: 'reasoning',
  id,
  summary: [],
  encrypted_content,
});

const ran: unknown[] = [];
const find = defineTool({
  name: 'find',
  description: 'Finds an order',
  group: ReadOnly,
  parameters: { orderId: { type: 'integer', description: 'The order id' } },
  execute: ({ orderId }) => {
    ran.push(['find', orderId]);
    return `order ${orderId.toString()}`;
  },
});
/** Its argument is of a kind that a strict schema cannot say. */
const note = defineTool({
  name: 'note',
  description: 'Notes a pair',
  parameters: { pair: { schema: z.tuple([z.string(), z.number()]), description: 'A name and its number' } },
  execute: ({ pair }) => {
    ran.push(['note', pair]);
    return 'noted';
  },
});

const state = z.object({ state: z.string() });

const modelOf = (fetch: typeof globalThis.fetch, options: Partial<OpenAIOptions> = {}): ChatModel =>
  openAI({ model: 'm', apiKey: 'k', api: 'responses', fetch, ...options });

function serviceOf(fetch: typeof globalThis.fetch, options: Partial<AIServiceOptions> = {}): AIService {
  ran.length = 0;
  return createAIService({
    model: modelOf(fetch),
    tools: [find, note],
    wire: 'native',
    maxAttempts: 1,
    retry: { minDelayMs: 0, maxDelayMs: 0 },
    logger: { warn: jest.fn(), error: jest.fn() },
    ...options,
  });
}

async function failure(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}

const inputOf = (body: Body | undefined): readonly Body[] => body?.['input'] as readonly Body[];
const typesOf = (body: Body | undefined): readonly unknown[] =>
  inputOf(body).map(({ type, role }) => (type === 'message' ? role : type));

const INCLUDE = ['reasoning.encrypted_content'];

describe('a request over Responses', () => {
  it('without tools holds the messages, and that nothing is stored', async () => {
    const { fetch, sent } = answering(response([said('Hi.')]));
    const service = createAIService({ model: modelOf(fetch), system: 'Be kind.' });
    expect(await service.chat('Hello?')).toBe('Hi.');
    expect(sent).toEqual([
      {
        model: 'm',
        input: [
          { type: 'message', role: 'system', content: 'Be kind.' },
          { type: 'message', role: 'user', content: 'Hello?' },
        ],
        store: false,
        include: INCLUDE,
      },
    ]);
  });

  it('on native has functions, each with strict said, and calls and results as items', async () => {
    const { fetch, sent } = answering(
      response([said('A moment.'), called('call_1', 'find', '{"orderId":42}')]),
      response([called('call_2', 'note', '{"pair":["a",1]}')]),
      response([said('In transit.')]),
    );
    const run = await serviceOf(fetch).run('Where is order 42?');
    expect(run.text).toBe('In transit.');
    expect(ran).toEqual([
      ['find', 42],
      ['note', ['a', 1]],
    ]);
    const [first, second, third] = sent;
    expect(Object.keys(first!).sort()).toEqual(
      ['model', 'input', 'tools', 'parallel_tool_calls', 'store', 'include'].sort(),
    );
    expect(first).toMatchObject({ store: false, include: INCLUDE, parallel_tool_calls: false });
    const object = { type: 'object', properties: expect.any(Object) };
    expect(first!['tools']).toEqual([
      {
        type: 'function',
        name: 'find',
        description: 'Finds an order',
        strict: true,
        parameters: expect.objectContaining({ ...object, required: ['orderId'], additionalProperties: false }),
      },
      // Left out, it would be read as true.
      { type: 'function', name: 'note', description: 'Notes a pair', strict: false, parameters: expect.anything() },
    ]);
    expect(typesOf(first)).toEqual(['system', 'user']);
    expect(inputOf(second).slice(2)).toEqual([
      { type: 'message', role: 'assistant', content: 'A moment.' },
      { type: 'function_call', call_id: 'call_1', name: 'find', arguments: '{"orderId":42}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'order 42' },
    ]);
    expect(inputOf(third).slice(0, 5)).toEqual(inputOf(second));
    expect(inputOf(third).slice(5)).toEqual([
      { type: 'function_call', call_id: 'call_2', name: 'note', arguments: '{"pair":["a",1]}' },
      { type: 'function_call_output', call_id: 'call_2', output: 'noted' },
    ]);
  });

  it.each([
    ['envelope', '{"tool":"find","arguments":[{"name":"orderId","value":"42"}],"answer":""}', 'tool'],
    ['union', '{"next":{"tool":"find","arguments":{"orderId":42}}}', 'next'],
  ] as const)('on the %s has a schema of its text, and messages alone', async (wire, call, key) => {
    const answer = wire === 'union' ? '{"next":{"tool":"ANSWER","answer":"ok"}}' : '{"tool":"ANSWER","answer":"ok"}';
    const { fetch, sent } = answering(response([said(call)]), response([said(answer)]));
    expect(await serviceOf(fetch, { wire, tools: [find] }).chat('q')).toBe('ok');
    expect(ran).toEqual([['find', 42]]);
    for (const body of sent) {
      expect(Object.keys(body).sort()).toEqual(['include', 'input', 'model', 'store', 'text']);
      expect(body['text']).toEqual({
        format: {
          type: 'json_schema',
          name: 'turn',
          strict: true,
          schema: expect.objectContaining({ properties: expect.objectContaining({ [key]: expect.any(Object) }) }),
        },
      });
    }
    expect(sent.map(typesOf)).toEqual([
      ['system', 'user'],
      ['system', 'user', 'assistant', 'user'],
    ]);
    expect(inputOf(sent[1])[2]!['content']).toBe(call);
  });

  it('has settings under this API’s names, and none that was not set', async () => {
    const { fetch, sent } = answering(response([said('ok')]));
    const settings = { maxOutputTokens: 9, temperature: 0, topP: 0.5, reasoningEffort: 'low' };
    await createAIService({ model: modelOf(fetch, { profile: 'mistral' }), settings }).chat('q');
    expect(sent).toEqual([
      {
        model: 'm',
        input: expect.any(Array),
        max_output_tokens: 9,
        temperature: 0,
        top_p: 0.5,
        reasoning: { effort: 'low' },
        store: false,
        include: INCLUDE,
      },
    ]);
  });

  it('with a seed is refused with an AIDefinitionError that says what to write, and nothing is sent', async () => {
    const { fetch, sent } = answering(response([said('ok')]));
    const service = createAIService({ model: modelOf(fetch), settings: { seed: 0 } });
    for (const ask of [() => service.chat('q'), () => drained(service)]) {
      const error = await failure(ask());
      expect(error).toBeInstanceOf(AIDefinitionError);
      expect(error.message).toContain(
        "the Responses API has no seed; leave settings.seed out, or take openAI({ api: 'chat' })",
      );
    }
    expect(sent).toEqual([]);
  });

  it.each<[string, Partial<AIServiceOptions>, unknown]>([
    ['is left to the model', {}, undefined],
    ['must be made', { toolChoice: 'required' }, 'required'],
    ['must be made of one tool', { toolChoice: 'find' }, { type: 'function', name: 'find' }],
    ['must be made, of the only tool', { toolChoice: 'required', tools: [find] }, { type: 'function', name: 'find' }],
  ])('says of a call that it %s', async (_title, options, choice) => {
    const { fetch, sent } = answering(response([called('a', 'find', '{"orderId":1}')]), response([said('ok')]));
    await serviceOf(fetch, options)
      .run('q')
      .catch(() => undefined);
    expect(sent[0]!['tool_choice']).toEqual(choice);
    expect(sent[1]).not.toHaveProperty('tool_choice');
  });

  it('says whether a turn may hold several calls, and answers each of them in order', async () => {
    const { fetch, sent } = answering(
      response([called('b', 'find', '{"orderId":1}'), called('a', 'find', '{"orderId":2}')]),
      response([said('ok')]),
    );
    await serviceOf(fetch, { parallelToolCalls: true }).run('q');
    expect(sent.map((body) => body['parallel_tool_calls'])).toEqual([true, true]);
    expect(inputOf(sent[1]).slice(2)).toEqual([
      { type: 'function_call', call_id: 'b', name: 'find', arguments: '{"orderId":1}' },
      { type: 'function_call', call_id: 'a', name: 'find', arguments: '{"orderId":2}' },
      { type: 'function_call_output', call_id: 'b', output: 'order 1' },
      { type: 'function_call_output', call_id: 'a', output: 'order 2' },
    ]);
  });

  it.each([
    ['the same', 'a', 'a'],
    ['empty', '', ''],
    ['missing', undefined, null],
  ])(
    'answers several calls each, also where their ids are %s (HKUDS/nanobot#4059, anomalyco/opencode#44852)',
    async (_title, one, other) => {
      const { fetch, sent } = answering(
        response([called(one, 'find', '{"orderId":1}'), called(other, 'find', '{"orderId":2}')]),
        response([said('ok')]),
      );
      await serviceOf(fetch).run('q');
      const items = inputOf(sent[1]).slice(2);
      const calls = items.filter(({ type }) => type === 'function_call').map((item) => item['call_id']);
      const results = items.filter(({ type }) => type === 'function_call_output');
      expect(new Set(calls).size).toBe(2);
      expect(calls.every((id) => typeof id === 'string' && id !== '')).toBe(true);
      expect(results.map((item) => item['call_id'])).toEqual(calls);
      expect(results.map((item) => item['output'])).toEqual(['order 1', 'order 2']);
    },
  );

  it('has what the profile adds, over what is sent anyway', async () => {
    const { fetch, sent } = answering(response([said('ok')]));
    const extraBody = { store: true, provider: { require_parameters: true } };
    const profile = { schema: 'enforced', wires: ['native'], extraBody } as const;
    await createAIService({ model: modelOf(fetch, { profile }) }).chat('q');
    expect(sent[0]).toMatchObject(extraBody);
  });

  it('has the type of an answer as the schema of its text', async () => {
    const { fetch, sent } = answering(
      response([called('a', 'find', '{"orderId":1}')]),
      response([said('Found.')]),
      response([said('{"state":"sent"}')]),
    );
    expect(await serviceOf(fetch).chat('q', state)).toEqual({ state: 'sent' });
    expect(sent.map((body) => 'text' in body)).toEqual([false, false, true]);
    const schema = expect.objectContaining({ required: ['state'], additionalProperties: false });
    expect(sent[2]!['text']).toEqual({ format: { type: 'json_schema', name: 'answer', strict: true, schema } });
    expect(sent[2]).not.toHaveProperty('tools');
  });
});

async function drained(service: AIService): Promise<void> {
  const events = service.stream('q')[Symbol.asyncIterator]();
  while ((await events.next()).done !== true);
}

/** Asks whole or streamed. */
async function runOf(service: AIService, isStreamed: boolean): Promise<AIRun> {
  if (!isStreamed) return service.run('q');
  for await (const event of service.stream('q')) if (event.type === 'run-ended') return event.run;
  throw new Error('it did not end');
}

describe('what a model thought', () => {
  it.each([
    ['whole', false],
    ['streamed', true],
  ])(
    'is carried from turn to turn with the turn it came with, as it came and in its order, %s',
    async (_how, isStreamed) => {
      const odd = { ...thought('rs_1'), status: null, future: { any: 'thing' } };
      const { fetch, sent } = answering(
        response([odd, thought('rs_2'), said('A moment.'), called('a', 'find', '{"orderId":1}')]),
        response([thought('rs_3'), called('b', 'find', '{"orderId":2}')]),
        response([thought('rs_4'), said('ok')]),
      );
      expect((await runOf(serviceOf(fetch), isStreamed)).text).toBe('ok');
      const turn = [odd, thought('rs_2')];
      expect(inputOf(sent[1]).slice(2, 4)).toEqual(turn);
      expect(typesOf(sent[1]).slice(2)).toEqual([
        ...['reasoning', 'reasoning', 'assistant', 'function_call', 'function_call_output'],
      ]);
      expect(inputOf(sent[2]).slice(0, 7)).toEqual(inputOf(sent[1]));
      expect(inputOf(sent[2])[7]).toEqual(thought('rs_3'));
      expect(typesOf(sent[2]).slice(7)).toEqual(['reasoning', 'function_call', 'function_call_output']);
    },
  );

  it('stays before the item that it came before (QwenLM/qwen-code#8169)', async () => {
    const { fetch, sent } = answering(
      response([
        thought('rs_1'),
        called('a', 'find', '{"orderId":1}'),
        thought('rs_2'),
        called('b', 'find', '{"orderId":2}'),
      ]),
      response([said('ok')]),
    );
    await serviceOf(fetch).run('q');
    expect(inputOf(sent[1]).slice(2, 6)).toEqual([
      thought('rs_1'),
      expect.objectContaining({ type: 'function_call', call_id: 'a' }),
      thought('rs_2'),
      expect.objectContaining({ type: 'function_call', call_id: 'b' }),
    ]);
  });

  it('is carried into the turn of a typed answer, too', async () => {
    const { fetch, sent } = answering(
      response([thought('rs_1'), called('a', 'find', '{"orderId":1}')]),
      response([thought('rs_2'), said('Found.')]),
      response([said('{"state":"sent"}')]),
    );
    await serviceOf(fetch).chat('q', state);
    expect(typesOf(sent[2])).toEqual([
      ...['system', 'user', 'reasoning', 'function_call', 'function_call_output', 'reasoning', 'assistant', 'user'],
    ]);
  });

  it.each([
    ['not encrypted', thought('rs_1', null)],
    ['without a word on it', { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] }],
    ['encrypted as something else', thought('rs_1', { key: 'x' })],
  ])('is left out where it is %s: nothing is stored that its id could point to', async (_title, item) => {
    const { fetch, sent } = answering(
      response([item, thought('rs_2'), called('a', 'find', '{"orderId":1}')]),
      response([said('ok')]),
    );
    await serviceOf(fetch).run('q');
    expect(inputOf(sent[1]).filter(({ type }) => type === 'reasoning')).toEqual([thought('rs_2')]);
  });

  it('is told to nobody: not in the run, not in an event', async () => {
    const { fetch } = answering(
      response([thought('rs_1', 'SEALED'), called('a', 'find', '{"orderId":1}')]),
      response([thought('rs_2', 'SEALED'), said('ok')]),
    );
    const events: unknown[] = [];
    for await (const event of serviceOf(fetch).stream('q')) events.push(event);
    expect(events.length).toBeGreaterThan(4);
    expect(JSON.stringify(events)).not.toContain('SEALED');
  });

  it.each([
    ['envelope', '{"tool":"find","arguments":[{"name":"orderId","value":"42"}],"answer":""}'],
    ['union', '{"next":{"tool":"find","arguments":{"orderId":42}}}'],
  ] as const)('is carried on the %s, too', async (wire, call) => {
    const { fetch, sent } = answering(
      response([thought('rs_1'), thought('rs_2'), said(call)]),
      response([thought('rs_3'), said('{}')]),
    );
    await failure(serviceOf(fetch, { wire, tools: [find], maxToolCalls: 2 }).run('q'));
    expect(typesOf(sent[1])).toEqual(['system', 'user', 'reasoning', 'reasoning', 'assistant', 'user']);
    expect(inputOf(sent[1]).slice(2, 4)).toEqual([thought('rs_1'), thought('rs_2')]);
  });

  it('of a reply that could not be used is left out with it', async () => {
    const { fetch, sent } = answering(response([thought('rs_1'), said(' ')]), response([said('ok')]));
    expect(await serviceOf(fetch).chat('q')).toBe('ok');
    expect(typesOf(sent[1])).toEqual(['system', 'user']);
  });
});

describe('a model that does not think', () => {
  const refused: Answer = {
    status: 400,
    body: {
      error: {
        message: 'Encrypted content is not supported with this model.',
        type: 'invalid_request_error',
        param: 'include',
        code: null,
      },
    },
  };
  const ok = response([said('ok')]);
  const includes = (sent: readonly Body[]): readonly boolean[] => sent.map((body) => 'include' in body);

  it.each([
    ['whole', false],
    ['streamed', true],
  ])(
    'is asked again without its thoughts, and never again with them (OpenHands/OpenHands#11406), %s',
    async (_how, isStreamed) => {
      const { fetch, sent } = answering(refused, ok, ok, ok);
      const service = serviceOf(fetch, { maxAttempts: 2 });
      const run = await runOf(service, isStreamed);
      expect([run.text, run.usage.attempts]).toEqual(['ok', 2]);
      await runOf(service, isStreamed);
      await runOf(service, !isStreamed);
      expect(includes(sent)).toEqual([true, false, false, false]);
      // The rest of the request is the same.
      expect({ ...sent[0], include: undefined }).toEqual({ ...sent[1], include: undefined });
    },
  );

  it('is learnt by each model for itself', async () => {
    const { fetch, sent } = answering(refused, ok, refused, ok);
    for (let n = 0; n < 2; n++) expect(await serviceOf(fetch, { maxAttempts: 2 }).chat('q')).toBe('ok');
    expect(includes(sent)).toEqual([true, false, true, false]);
  });

  it('fails the first question where there is one attempt, and answers the next', async () => {
    const { fetch, sent } = answering(refused, ok);
    const service = serviceOf(fetch);
    expect(await failure(service.chat('q'))).toMatchObject({ status: 400, retryable: true, requestId: 'req-1' });
    expect(await service.chat('q')).toBe('ok');
    expect(includes(sent)).toEqual([true, false]);
  });

  it('that refuses all the same is not asked for ever', async () => {
    const { fetch, sent } = answering(refused, refused, refused);
    expect(await failure(serviceOf(fetch, { maxAttempts: 9 }).chat('q'))).toMatchObject({
      status: 400,
      retryable: false,
    });
    expect(includes(sent)).toEqual([true, false]);
  });

  it.each<[string, Answer]>([
    ['another 400', { status: 400, body: { error: { message: 'Unsupported value: input', param: 'input' } } }],
    ['another status', { status: 403, body: (refused as { readonly body: object }).body }],
  ])('is not learnt from %s', async (_title, answer) => {
    const { fetch, sent } = answering(answer, ok);
    const service = serviceOf(fetch, { maxAttempts: 3 });
    expect(await failure(service.chat('q'))).toMatchObject({ retryable: false });
    expect(await service.chat('q')).toBe('ok');
    expect(includes(sent)).toEqual([true, true]);
  });

  it('is asked again also where two questions are the first at once', async () => {
    const sent: Body[] = [];
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      const body = JSON.parse(await new Response(init?.body).text()) as Body;
      sent.push(body);
      if (!('include' in body)) return Response.json(ok);
      const { status, body: error } = refused as { readonly status: number; readonly body: object };
      return Response.json(error, { status });
    };
    const service = serviceOf(fetch, { maxAttempts: 2 });
    expect(await Promise.all([service.chat('q'), service.chat('q')])).toEqual(['ok', 'ok']);
  });
});

describe('a response', () => {
  it('is read by its parts: texts joined, what is no text or call left aside', async () => {
    const { fetch } = answering(
      response([
        { type: 'web_search_call', id: 'ws', status: 'completed' },
        message(part('In '), { type: 'annotation', text: 'no' }, part('tran')),
        said('sit.'),
      ]),
    );
    const reply = await modelOf(fetch).complete(
      { wire: 'native', messages: [{ role: 'user', content: 'q' }], tools: [] },
      { signal: new AbortController().signal },
    );
    expect(reply).toStrictEqual({
      text: 'In transit.',
      finish: 'stop',
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 3 },
      requestId: 'req-1',
    });
  });

  it.each([
    ['server_error', true],
    ['rate_limit_exceeded', true],
    ['invalid_prompt', false],
    ['insufficient_quota', false],
    [undefined, false],
  ])('that failed with %p is an AIProviderError, to be retried: %p', async (code, retryable) => {
    const failed = response([], { status: 'failed', error: { code, message: 'SECRET' } });
    const { fetch, sent } = answering(failed, response([said('ok')]));
    const service = serviceOf(fetch, { maxAttempts: 2 });
    const [run] = await Promise.allSettled([service.run('q')]);
    expect(sent).toHaveLength(retryable ? 2 : 1);
    expect(run.status).toBe(retryable ? 'fulfilled' : 'rejected');
    const error = await failure(serviceOf(answering(failed).fetch).run('q'));
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ retryable, requestId: 'req-1' });
    expect(`${String(error)}${JSON.stringify(error)}`).not.toContain('SECRET');
  });

  const half = [said('In tran'), called('a', 'find', '{"orderId":42}')];

  it.each<[string, object, string, RegExp]>([
    [
      'is incomplete for its length',
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'truncated',
      /./,
    ],
    [
      'is incomplete for a filter',
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'filtered',
      /./,
    ],
    [
      'is incomplete for a reason that is not known here',
      { status: 'incomplete', incomplete_details: { reason: 'something_new' } },
      'truncated',
      /"something_new"/,
    ],
    ['is incomplete for no reason', { status: 'incomplete' }, 'truncated', /"incomplete"/],
    ['failed without an error', { status: 'failed' }, 'truncated', /"failed"/],
    ['was cancelled', { status: 'cancelled' }, 'truncated', /"cancelled"/],
    ['is in progress', { status: 'in_progress' }, 'truncated', /"in_progress"/],
  ])('that %s is an AIResponseError, and nothing runs from it', async (_title, over, code, words) => {
    const { fetch, sent } = answering(response(half, over), response([said('ok')]));
    const error = await failure(serviceOf(fetch, { maxAttempts: 2 }).run('q'));
    expect(error).toBeInstanceOf(AIResponseError);
    expect(error).toMatchObject({ code, text: 'In tran', message: expect.stringMatching(words) });
    expect(ran).toEqual([]);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['with words', 'No.', 'No.'],
    ['without words', '', 'refused without words'],
  ])(
    'that is refused %s is an AIResponseError, and nothing runs from it (openai/openai-ruby#174)',
    async (_title, refusal, text) => {
      const { fetch } = answering(
        response([message(part('Well. '), { type: 'refusal', refusal }), called('a', 'find', '{"orderId":42}')]),
      );
      const error = await failure(serviceOf(fetch).run('q'));
      expect(error).toBeInstanceOf(AIResponseError);
      expect(error).toMatchObject({ code: 'refused', text });
      expect(ran).toEqual([]);
    },
  );

  it.each<[string, object]>([
    ['a completion', { choices: [{ message: { content: 'ok' } }] }],
    ['an output that is a text', { object: 'response', status: 'completed', output: 'ok' }],
    ['nothing', {}],
  ])('that is %s is an AIProviderError to be retried', async (_title, body) => {
    const error = await failure(serviceOf(answering(body).fetch).run('q'));
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ retryable: true, message: expect.stringMatching(/no response; check the base URL/) });
  });

  it.each<[string, () => Response]>([
    ['a page', () => new Response('<html>SECRET</html>', { headers: { 'content-type': 'text/html' } })],
    ['a response without an output', () => Response.json({ object: 'response', status: 'completed' })],
    ['a message without content', () => Response.json(response([{ type: 'message', role: 'assistant' }]))],
    ['null among its items', () => Response.json({ ...response([]), output: [null] })],
  ])('that is %s is an AIProviderError to be retried', async (_title, answer) => {
    const error = await failure(serviceOf(async () => answer()).run('q'));
    expect(error).toBeInstanceOf(AIProviderError);
    expect(String(error)).not.toContain('SECRET');
    expect(error).toMatchObject({ retryable: true });
  });

  it('that failed and has no output is as retryable as it says', async () => {
    const failed = { object: 'response', status: 'failed', error: { code: 'server_error', message: 'SECRET' } };
    expect(await failure(serviceOf(answering(failed).fetch).run('q'))).toMatchObject({
      retryable: true,
    });
  });

  it('that calls a function where none was offered runs nothing', async () => {
    const { fetch, sent } = answering(
      response([said('{"tool":"ANSWER","answer":"done"}'), called('a', 'find', '{"orderId":42}')]),
      response([said('{"tool":"ANSWER","answer":"ok"}')]),
    );
    expect(await serviceOf(fetch, { wire: 'envelope' }).chat('q')).toBe('ok');
    expect(ran).toEqual([]);
    expect(JSON.stringify(inputOf(sent[1]))).toContain('called a function');
  });

  it('with half the arguments of a call is a bad argument, and nothing is salvaged (2389-research/tracker#507)', async () => {
    const { fetch, sent } = answering(response([called('a', 'find', '{"orderId":42')]), response([said('ok')]));
    const run = await serviceOf(fetch).run('q');
    expect(run.calls.map(({ outcome }) => outcome)).toEqual(['invalid-arguments']);
    expect(ran).toEqual([]);
    expect(typesOf(sent[1])).toEqual(['system', 'user', 'function_call', 'function_call_output']);
  });
});

describe('openAI refuses', () => {
  it('a client that has Chat Completions alone', () => {
    const client = { chat: { completions: { create: () => Promise.resolve({}) } } };
    expect(() => openAI({ model: 'm', client, api: 'responses' })).toThrow(
      new AIDefinitionError('openAI: client must be an openai client, new OpenAI({ … })'),
    );
    expect(() => openAI({ model: 'm', client })).not.toThrow();
  });
});
