import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  AIDefinitionError,
  ChatModel,
  createAIService,
  defineTool,
  embeddedModel,
  modelFromEnv,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
} from 'inversify-ai';
import { chatCompletionBody } from '../../../lib/model/open-ai-request.js';
import { requestProblems, schemaProblems } from '../../wire/open-ai-bodies.js';

const tool = (name: string, description: string, parameters: Parameters<typeof defineTool>[0]['parameters'] = {}) =>
  defineTool({ name, description, parameters, group: ReadOnly, execute: (args) => `${name} ${JSON.stringify(args)}` });

const orders = [
  tool('Orders_findOrder', 'Looks up a single order by id', {
    orderId: { type: 'integer', description: 'The order id' },
  }),
  tool('Orders_listOrders', 'Lists the orders placed by a customer', {
    email: { type: 'string', description: 'The customer email' },
  }),
  tool('Orders_setState', 'Sets the state; see docs -> states', {
    state: { enum: ['OPEN', 'CLOSED'], description: 'The state; one of two' },
    note: { type: 'string', description: 'A remark, in quotes', optional: true },
    urgent: { type: 'boolean', description: 'Whether at once', optional: true },
  }),
];

/** Hands on to the stand-in, and keeps what went over the wire. */
class Recording extends ChatModel {
  readonly inner = embeddedModel();
  readonly name = this.inner.name;
  readonly profile = this.inner.profile;
  readonly log: { request: ModelRequest; reply: ModelReply }[] = [];

  override async complete(request: ModelRequest, options: { signal: AbortSignal }): Promise<ModelReply> {
    const reply = await this.inner.complete(request, options);
    this.log.push({ request, reply });
    return reply;
  }
}

const ask = async (question: string, tools: readonly object[] = orders, maxToolCalls = 5) => {
  const model = new Recording();
  const run = await createAIService({ model, tools, maxToolCalls }).run(question);
  return { run, log: model.log };
};

describe('the offline stand-in', () => {
  it.each([
    ['Where is order 42?', 'Orders_findOrder', { orderId: 42 }],
    ['Which orders has alice@example.test placed?', 'Orders_listOrders', { email: 'alice@example.test' }],
    [
      'Please set the state to closed with the note "paid twice", urgent: true',
      'Orders_setState',
      { state: 'CLOSED', note: 'paid twice', urgent: true },
    ],
  ])('%s', async (question, name, args) => {
    const { run } = await ask(question);
    expect(run.calls.map((call) => [call.tool, call.arguments])).toEqual([[name, args]]);
    expect(run.text).toContain(`${name} says: ${name}`);
  });

  it('says what it is where nothing fits, and calls nothing', async () => {
    const { run } = await ask('What is the meaning of life?');
    expect(run.calls).toEqual([]);
    expect(run.text).toBe('I am the offline stand-in, not a language model, and no tool on offer fits this question.');
  });

  it('says so without tools as well', async () => {
    expect(await createAIService({ model: embeddedModel() }).chat('Hi')).toMatch(
      /^I am the offline stand-in, not a language model/,
    );
  });

  it('calls no tool whose arguments the question does not hold', async () => {
    expect((await ask('Where is my order?')).run.calls).toEqual([]);
  });

  it.each(['envelope', 'union', 'native'] as const)(
    'reads parameters with bounds, patterns, lists and objects, on %s',
    async (wire) => {
      const rich = tool('Bells_setBell', 'Sets the bell of a phone', {
        phone: { type: 'string', pattern: '^[0-9, {}"]{3,20}$', description: 'The number, "in full"' },
        days: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 7, optional: true, description: 'On' },
        volume: { type: 'integer', minimum: 1, maximum: 9, description: 'How loud' },
        tone: { type: 'string', enum: ['low, soft', 'high'], nullable: true, description: 'Which' },
      });
      const run = await createAIService({ model: embeddedModel(), tools: [rich], wire }).run(
        'Set to 7, high, the bell of phone "555, 0199"',
      );
      expect(run.calls).toMatchObject([{ outcome: 'ok', arguments: { phone: '555, 0199', tone: 'high' } }]);
    },
  );

  it('names nothing outside the schema it got, and keeps to it', async () => {
    const { log } = await ask('Please refund order 42', orders.slice(0, 1), 1);
    expect(log).toHaveLength(2);
    for (const { request, reply } of log) {
      expect(requestProblems(chatCompletionBody('m', request, { schema: 'enforced' }))).toBe('');
      expect(schemaProblems(request.responseSchema!.schema, JSON.parse(reply.text))).toBe('');
    }
    expect(log[1]!.request.tools).toEqual([]);
  });
});

describe('modelFromEnv', () => {
  const before = { ...process.env };
  afterEach(() => {
    for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL'])
      if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = before[name];
    jest.restoreAllMocks();
  });
  const set = (environment: Record<string, string>): jest.SpiedFunction<typeof process.stderr.write> => {
    for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL']) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, environment);
    return jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  };

  it('is the stand-in without key and base URL, empty ones included', () => {
    set({ OPENAI_API_KEY: '', OPENAI_BASE_URL: '' });
    expect(modelFromEnv().name).toBe('embedded-rules');
  });

  it.each([
    [{ OPENAI_API_KEY: 'k-1', OPENAI_MODEL: 'gpt-5-mini' }, 'inversify-ai: using gpt-5-mini.\n'],
    [
      { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1', OPENAI_MODEL: 'qwen' },
      'inversify-ai: using qwen at 127.0.0.1:11434.\n',
    ],
  ])('is the real one with %j, and says so', (environment, line) => {
    const write = set(environment);
    expect(modelFromEnv().name).toBe(environment.OPENAI_MODEL);
    expect(write.mock.calls.map(([text]) => text)).toEqual([line]);
  });

  it('wants to know which model', () => {
    set({ OPENAI_API_KEY: 'k-1' });
    expect(() => modelFromEnv()).toThrow(AIDefinitionError);
    expect(() => modelFromEnv()).toThrow(/OPENAI_API_KEY is set but OPENAI_MODEL is not/);
  });
});
