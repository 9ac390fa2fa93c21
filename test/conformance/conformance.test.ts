import 'reflect-metadata';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IsInt, IsOptional, IsString, Min } from 'class-validator';
import {
  AIError,
  type AIEvent,
  type AIRun,
  type AIServiceOptions,
  type ChatModel,
  createAIService,
  defineTool,
  embeddedModel,
  openAI,
  ReadOnly,
  type WireName,
} from 'inversify-ai';
import { call, refusal, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { answerOn, callsOn } from '../../lib/testing/scripted-reply.js';
import { requestProblems } from '../wire/open-ai-bodies.js';
import { type Played, provider } from './transports.js';

/*
 * The same scenarios on every wire, whole and streamed, over both of OpenAI's APIs, on a script, on a provider in this
 * process and on somebody else's: the same tools run in the same order, with the same answers and the same refusals.
 */

class Line {
  @IsString() sku!: string;
  @IsInt() @Min(1) quantity!: number;
  @IsOptional() @IsString() note?: string;
}

const WIRES = ['envelope', 'union', 'native'] as const;
const PROFILE = { schema: 'enforced', wires: WIRES, maxTokensField: 'max_completion_tokens' } as const;

function toolsOf(ran: unknown[]) {
  const log = (name: string, result: unknown) => (args: object) => {
    ran.push([name, args]);
    return result;
  };
  return [
    defineTool({
      name: 'find',
      description: 'Finds an order',
      group: ReadOnly,
      parameters: { orderId: { type: 'integer', description: 'The order id' } },
      execute: log('find', 'in transit "today" ü😀\n'),
    }),
    defineTool({
      name: 'refund',
      description: 'Refunds an order',
      parameters: {
        orderId: { type: 'integer', description: 'The order id' },
        reason: { type: 'string', description: 'Why', optional: true },
      },
      execute: log('refund', 'refunded'),
    }),
    defineTool({
      name: 'add',
      description: 'Adds a line',
      parameters: { line: { type: Line, description: 'The line' }, ids: { items: BigInt, description: 'Ids' } },
      execute: log('add', undefined),
    }),
    defineTool({
      name: 'open',
      description: 'Lists open orders',
      group: ReadOnly,
      parameters: {},
      execute: log('open', []),
    }),
  ];
}

/** A turn of a scenario: each wire writes it in its own way. */
type Turn =
  | { readonly call: string; readonly args?: object; readonly finish?: string }
  | { readonly answer: string; readonly finish?: string }
  | { readonly refusal: string }
  | 'malformed';

interface Scenario {
  readonly turns: readonly Turn[];
  readonly options?: Partial<AIServiceOptions>;
  /** What must come of it: the text or the error's code, the calls' outcomes, what ran, how much was sent. */
  readonly seen: object;
}

const find = { call: 'find', args: { orderId: 42 } };
const refund = { call: 'refund', args: { orderId: 42 } };
const done = { answer: 'It is "done" ü😀\n\\ok' };

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'an answer': { turns: [done], seen: { end: done.answer, outcomes: [], ran: [], requests: 1 } },
  'calls and an answer': {
    turns: [find, { ...refund, args: { orderId: 42, reason: 'late "x"' } }, { call: 'open' }, done],
    seen: {
      end: done.answer,
      outcomes: ['ok', 'ok', 'ok'],
      ran: [
        ['find', { orderId: 42 }],
        ['refund', { orderId: 42, reason: 'late "x"' }],
        ['open', {}],
      ],
      requests: 4,
    },
  },
  'nested and big arguments': {
    turns: [{ call: 'add', args: { line: { sku: 'A', quantity: 2 }, ids: [2512292042121000001n] } }, done],
    seen: {
      end: done.answer,
      outcomes: ['ok'],
      ran: [['add', { line: { sku: 'A', quantity: 2 }, ids: [2512292042121000001n] }]],
      requests: 2,
    },
  },
  'an argument that does not fit, and one that does': {
    turns: [{ call: 'refund', args: { orderId: 'all' } }, refund, done],
    seen: { end: done.answer, outcomes: ['invalid-arguments', 'ok'], ran: [['refund', { orderId: 42 }]], requests: 3 },
  },
  'a hidden or unknown argument': {
    turns: [{ call: 'find', args: { orderId: 1, caller: 'bob' } }, done],
    seen: { end: done.answer, outcomes: ['invalid-arguments'], ran: [], requests: 2 },
  },
  'a tool outside the set': {
    turns: [{ call: 'drop' }, { call: '' }, done],
    options: { toolGroup: ReadOnly },
    seen: { end: done.answer, outcomes: ['unknown-tool', 'unknown-tool'], ran: [], requests: 3 },
  },
  'a tool that the group leaves out': {
    turns: [refund, done],
    options: { toolGroup: ReadOnly },
    seen: { end: done.answer, outcomes: ['unknown-tool'], ran: [], requests: 2 },
  },
  'the same mutating call twice': {
    turns: [refund, refund, done],
    seen: { end: done.answer, outcomes: ['ok', 'repeated'], ran: [['refund', { orderId: 42 }]], requests: 3 },
  },
  'an answer at the cap': {
    turns: [find, done],
    options: { maxToolCalls: 1 },
    seen: { end: done.answer, outcomes: ['ok'], ran: [['find', { orderId: 42 }]], requests: 2, stop: 'cap' },
  },
  'a call beyond the cap': {
    turns: [find, refund],
    options: { maxToolCalls: 1 },
    seen: { end: 'tool-iteration', outcomes: ['ok'], ran: [['find', { orderId: 42 }]], requests: 2 },
  },
  'a tool at its bound': {
    turns: [find, find, done],
    options: { limits: { perTool: { find: 1 } } },
    seen: { end: done.answer, outcomes: ['ok', 'refused'], ran: [['find', { orderId: 42 }]], requests: 3 },
  },
  'a refusal': { turns: [{ refusal: 'No.' }], seen: { end: 'refused', outcomes: [], ran: [], requests: 1 } },
  'a call that is cut off': {
    turns: [{ ...refund, finish: 'length' }],
    seen: { end: 'truncated', outcomes: [], ran: [], requests: 1 },
  },
  'a call that is filtered': {
    turns: [{ ...refund, finish: 'content_filter' }],
    seen: { end: 'filtered', outcomes: [], ran: [], requests: 1 },
  },
  'nothing at all, and then an answer': {
    turns: [{ answer: '' }, done],
    seen: { end: done.answer, outcomes: [], ran: [], requests: 2 },
  },
  'nothing at all, twice': {
    turns: [{ answer: '' }, { answer: '' }],
    seen: { end: 'empty', outcomes: [], ran: [], requests: 2 },
  },
  'a choice of none': {
    turns: [done],
    options: { toolChoice: 'none' },
    seen: { end: done.answer, outcomes: [], ran: [], requests: 1 },
  },
  'a choice that must be made': {
    turns: [{ answer: 'No need.' }, find, done],
    options: { toolChoice: 'required' },
    seen: { end: done.answer, outcomes: ['ok'], ran: [['find', { orderId: 42 }]], requests: 3 },
  },
  'a choice of one': {
    turns: [refund, find, done],
    options: { toolChoice: 'find' },
    seen: { end: done.answer, outcomes: ['refused', 'ok'], ran: [['find', { orderId: 42 }]], requests: 3 },
  },
};

function scripted(turns: readonly Turn[]): readonly ScriptedTurn[] {
  return turns.map((turn) => {
    if (turn === 'malformed') return text('');
    if ('refusal' in turn) return refusal(turn.refusal);
    const options = turn.finish === undefined ? {} : { finish: turn.finish };
    return 'call' in turn ? call(turn.call, { ...turn.args }, options) : text(turn.answer, options);
  });
}

function played(wire: WireName, turns: readonly Turn[]): readonly Played[] {
  return turns.map((turn) => {
    if (turn === 'malformed') return { text: '' };
    if ('refusal' in turn) return { refusal: turn.refusal };
    const { finish } = turn;
    const raw = 'call' in turn ? callText(turn.args ?? {}) : '';
    const reply =
      'call' in turn ? callsOn(wire, [{ name: turn.call, raw, id: 'id' }], '') : answerOn(wire, turn.answer);
    return { ...reply, finish: finish ?? (reply.calls === undefined ? 'stop' : 'tool_calls') };
  });
}

/** JSON in which a big integer keeps its digits. */
function callText(args: object): string {
  return JSON.stringify(args, (_key, value: unknown) => (typeof value === 'bigint' ? `#${value.toString()}#` : value))
    .replaceAll('"#', '')
    .replaceAll('#"', '');
}

let mock: LLMock;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', strict: true });
  await mock.start();
});
afterAll(async () => {
  await mock.stop();
});

interface Made {
  readonly model: ChatModel;
  readonly requests: () => number;
}

type Make = (wire: WireName, turns: readonly Turn[]) => Made;

const overProvider =
  (api: 'chat' | 'responses'): Make =>
  (wire, turns) => {
    const { fetch, sent } = provider(played(wire, turns));
    return {
      model: openAI({ model: 'm', apiKey: 'k', baseURL: 'http://provider.invalid/v1', fetch, api, profile: PROFILE }),
      requests: () => {
        if (api === 'chat') for (const { body } of sent) expect(requestProblems(body)).toBe('');
        return sent.length;
      },
    };
  };

const overAimock =
  (api: 'chat' | 'responses'): Make =>
  (wire, turns) => {
    const replies = played(wire, turns);
    let next = 0;
    mock.clearFixtures();
    mock.on({}, () => {
      const { text = '', calls = [], finish } = replies[next++] ?? {};
      const finishReason =
        finish === undefined || finish === 'stop' || finish === 'tool_calls' ? {} : { finishReason: finish };
      return calls.length === 0
        ? { content: text, ...finishReason }
        : {
            toolCalls: calls.map(({ id, name, arguments: args }) => ({ name, arguments: args, ...(id && { id }) })),
            ...finishReason,
          };
    });
    return {
      model: openAI({ model: 'm', apiKey: 'k', baseURL: `${mock.url}/v1`, api, profile: PROFILE }),
      requests: () => next,
    };
  };

const MODELS: Readonly<Record<string, Make>> = {
  'a script': (_wire, turns) => {
    const model = scriptedModel(scripted(turns));
    return { model, requests: () => model.requests.length };
  },
  'Chat Completions': overProvider('chat'),
  Responses: overProvider('responses'),
  'aimock, Chat Completions': overAimock('chat'),
  'aimock, Responses': overAimock('responses'),
};

async function followed(stream: AsyncIterable<AIEvent>): Promise<AIRun> {
  let run: AIRun | undefined;
  const texts: string[] = [];
  let lastTurn = 0;
  for await (const event of stream) {
    if (event.type === 'text') {
      if (event.turn !== lastTurn) texts.length = 0;
      lastTurn = event.turn;
      texts.push(event.delta);
    }
    if (event.type === 'run-ended') run = event.run;
  }
  // What was shown of the last turn is the answer, to the byte.
  expect(texts.join('')).toBe(run?.text);
  return run!;
}

async function seen(
  wire: WireName,
  isStreamed: boolean,
  make: Make,
  { turns, options = {} }: Scenario,
): Promise<object> {
  const ran: unknown[] = [];
  const { model, requests } = make(wire, turns);
  const service = createAIService({
    model,
    tools: toolsOf(ran),
    wire,
    maxAttempts: 1,
    logger: { warn: jest.fn(), error: jest.fn() },
    ...options,
  });
  const ended = await (isStreamed ? followed(service.stream('q')) : service.run('q')).then(
    (run) => ({ run, end: run.text, stop: run.stop }),
    (error: unknown) => {
      if (!(error instanceof AIError)) throw error;
      return { run: error.run, end: error.code as string, stop: undefined };
    },
  );
  return {
    end: ended.end,
    outcomes: ended.run?.calls.map(({ outcome }) => outcome),
    ran,
    requests: requests(),
    stop: ended.stop,
  };
}

/** aimock drops a refusal, and says "failed" of a filtered response where OpenAI says "incomplete". */
const LEFT_OUT = (model: string, title: string): boolean =>
  (model.startsWith('aimock') && title === 'a refusal') ||
  (model === 'aimock, Responses' && title === 'a call that is filtered');

describe.each(Object.keys(MODELS))('%s', (name) => {
  describe.each(WIRES)('on the wire %s', (wire) => {
    describe.each([
      ['whole', false],
      ['streamed', true],
    ])('%s', (_how, isStreamed) => {
      it.each(Object.keys(SCENARIOS).filter((title) => !LEFT_OUT(name, title)))('%s', async (title) => {
        const scenario = SCENARIOS[title]!;
        expect(await seen(wire, isStreamed, MODELS[name]!, scenario)).toMatchObject(scenario.seen);
      });
    });
  });
});

describe('the offline stand-in', () => {
  it.each(
    WIRES.flatMap((wire) =>
      (['chat', 'responses'] as const).flatMap((api) =>
        [false, true].map((streamed) => [wire, api, streamed] as const),
      ),
    ),
  )('says the same on the wire %s, over %s, streamed: %s', async (wire, api, isStreamed) => {
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const ran: unknown[] = [];
    const service = createAIService({ model: embeddedModel({ api }), tools: toolsOf(ran), wire });
    const ask = (question: string) => (isStreamed ? followed(service.stream(question)) : service.run(question));
    expect((await ask('Where can I find order 42?')).text).toMatch(/^find says: in transit "today" ü😀/);
    expect((await ask('Please refund order 42')).text).toBe('refund says: refunded');
    expect((await ask('What is the meaning of life?')).text).toMatch(/no tool on offer fits/);
    expect(ran).toEqual([
      ['find', { orderId: 42 }],
      ['refund', { orderId: 42 }],
    ]);
  });
});
