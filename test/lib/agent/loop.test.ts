import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  AIDefinitionError,
  AIObserver,
  AIProviderError,
  AIResponseError,
  type AIRun,
  type AIService,
  type AIServiceOptions,
  AIToolError,
  AIToolIterationError,
  ChatModel,
  createAIService,
  defineTool,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
  type ToolEnded,
} from 'inversify-ai';
import {
  call,
  filtered,
  httpError,
  never,
  refusal,
  scriptedModel,
  type ScriptedModel,
  type ScriptedTurn,
  text,
  truncated,
} from 'inversify-ai/testing';
import { settled } from '../../settled.js';

const quiet = { warn: jest.fn(), error: jest.fn() };

const find = (ran: unknown[] = []) =>
  defineTool({
    name: 'find_order',
    description: 'Looks up a single order by id',
    group: ReadOnly,
    parameters: { orderId: { type: 'integer', description: 'The order id' } },
    execute: ({ orderId }) => {
      ran.push(orderId);
      return `Order ${orderId.toString()}, in transit`;
    },
  });

const pay = (
  ran: unknown[],
  body: (amount: number) => unknown = () => 'paid',
  options: { repeatable?: true; idempotent?: true } = {},
) =>
  defineTool({
    name: 'pay',
    description: 'Pays',
    parameters: { amount: { type: 'number', description: 'How much' } },
    ...options,
    execute: ({ amount }) => {
      ran.push(amount);
      return body(amount);
    },
  });

function agent(
  turns: readonly ScriptedTurn[],
  options: Partial<AIServiceOptions> = {},
): { model: ScriptedModel; service: AIService } {
  const model = scriptedModel(turns);
  return { model, service: createAIService({ model, logger: quiet, tools: [find()], ...options }) };
}

function plain(turns: readonly ScriptedTurn[], system: string): { model: ScriptedModel; service: AIService } {
  const model = scriptedModel(turns);
  return { model, service: createAIService({ model, system }) };
}

const messages = (model: ScriptedModel, n: number): { role: string; content: string }[] =>
  (JSON.parse(model.requests[n]!.body) as { messages: { role: string; content: string }[] }).messages;

async function failure(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );
}

describe('the loop', () => {
  it('asks, calls, tells the result and answers', async () => {
    const ran: unknown[] = [];
    const { model, service } = agent([call('find_order', { orderId: 42 }), text('In transit.')], {
      tools: [find(ran)],
    });
    const run: AIRun = await service.run('Where is order 42?');
    expect(run.text).toBe('In transit.');
    expect(run.stop).toBe('answer');
    expect(ran).toEqual([42]);
    expect(run.calls).toMatchObject([
      {
        tool: 'find_order',
        sent: { orderId: '42' },
        arguments: { orderId: 42 },
        outcome: 'ok',
        result: 'Order 42, in transit',
        turn: 1,
      },
    ]);
    expect(run.turns).toBe(2);
    expect(run.usage).toMatchObject({ modelCalls: 2, attempts: 2 });
    expect(messages(model, 1).slice(1)).toEqual([
      { role: 'user', content: 'Where is order 42?' },
      { role: 'assistant', content: '{"tool":"find_order","arguments":[{"name":"orderId","value":"42"}],"answer":""}' },
      { role: 'user', content: '{"tool":"find_order","result":"Order 42, in transit"}' },
    ]);
  });

  it('keeps no history: the next question starts anew', async () => {
    const { model, service } = agent([text('one'), text('two')]);
    await service.chat('first');
    await service.chat('second');
    expect(model.requests[1]!.body).not.toContain('first');
  });

  it('is a plain model without tools', async () => {
    const { model, service } = plain([text('Hello.')], 'Be brief.');
    expect(await service.chat('Hi')).toBe('Hello.');
    expect(JSON.parse(model.requests[0]!.body)).toEqual({
      model: 'scripted',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    });
  });

  it('sends the same system text and the same schema on every turn but the last permitted one', async () => {
    const { model, service } = agent(
      [call('find_order', { orderId: 1 }), call('find_order', { orderId: 2 }), text('ok')],
      { maxToolCalls: 2 },
    );
    expect((await service.run('q')).stop).toBe('cap');
    const [first, second, third] = model.requests.map(
      ({ body }) => JSON.parse(body) as { messages: unknown[]; response_format: unknown },
    );
    expect(second!.response_format).toEqual(first!.response_format);
    expect([second!.messages[0], third!.messages[0]]).toEqual([first!.messages[0], first!.messages[0]]);
    expect(third!.response_format).toMatchObject({
      json_schema: {
        strict: true,
        schema: {
          type: 'object',
          properties: { tool: { type: 'string', enum: ['ANSWER'] }, answer: { type: 'string' } },
          required: ['tool', 'answer'],
          additionalProperties: false,
        },
      },
    });
    expect(model.requests.map(({ tools }) => tools)).toEqual([['find_order'], ['find_order'], []]);
  });

  it('does not let a model name a tool once none is on offer', async () => {
    const ran: unknown[] = [];
    const { service } = agent([call('find_order', { orderId: 1 }), call('find_order', { orderId: 2 })], {
      tools: [find(ran)],
      maxToolCalls: 1,
    });
    const error = await failure(service.chat('q'));
    expect(error).toBeInstanceOf(AIToolIterationError);
    expect((error as Error).message).toMatch(/"find_order" when no tool was on offer, after 1 call: find_order \(ok\)/);
    expect((error as AIToolIterationError).run?.calls).toHaveLength(1);
    expect(ran).toEqual([1]);
  });

  it('counts unknown names and wrong arguments, and tells the model what was wrong', async () => {
    const ran: unknown[] = [];
    const { model, service } = agent(
      [call('refund', { orderId: 1 }), call('find_order', { orderId: '12abc' }), text('ok')],
      {
        tools: [find(ran)],
        maxToolCalls: 2,
      },
    );
    const run = await service.run('q');
    expect(run.calls.map(({ outcome, result }) => [outcome, result])).toEqual([
      ['unknown-tool', 'There is no tool named "refund". The tools are: find_order.'],
      [
        'invalid-arguments',
        'find_order was not called, its arguments are wrong:\norderId: expected an integer, got "12abc"',
      ],
    ]);
    expect(ran).toEqual([]);
    expect(model.requests[2]!.tools).toEqual([]);
  });

  it.each([
    ['an empty name', '', 'There is no tool without a name. The tools are: find_order.'],
    ['a name with line breaks', 'a\nb', 'There is no tool named "a b". The tools are: find_order.'],
    ['a key of Object', 'constructor', 'There is no tool named "constructor". The tools are: find_order.'],
  ])('tells of %s', async (_title, name, line) => {
    const { service } = agent([call(name, {}), text('ok')]);
    expect((await service.run('q')).calls[0]!.result).toBe(line);
  });
});

describe('a call that is made again', () => {
  it('is run again where the tool only looks', async () => {
    const ran: unknown[] = [];
    const { service } = agent([call('find_order', { orderId: 1 }), call('find_order', { orderId: 1 }), text('ok')], {
      tools: [find(ran)],
    });
    await service.chat('q');
    expect(ran).toEqual([1, 1]);
  });

  it('is not run again where it may change something; the model gets the earlier result', async () => {
    const ran: unknown[] = [];
    const { service } = agent(
      [call('pay', { amount: 5 }), call('pay', '{"amount":5.0}'), call('pay', { amount: 6 }), text('ok')],
      { tools: [pay(ran)] },
    );
    const run = await service.run('q');
    expect(ran).toEqual([5, 6]);
    expect(run.calls[1]).toMatchObject({
      outcome: 'repeated',
      result: 'pay was already called with these arguments, so it was not run again. The earlier result was:\npaid',
    });
  });

  it('is not run again after an exception, since nobody knows whether it happened', async () => {
    const ran: unknown[] = [];
    const boom = () => {
      throw new Error('connection lost');
    };
    const { service } = agent([call('pay', { amount: 5 }), call('pay', { amount: 5 }), text('ok')], {
      tools: [pay(ran, boom)],
    });
    const run = await service.run('q');
    expect(ran).toEqual([5]);
    expect(run.calls[1]).toMatchObject({
      outcome: 'repeated',
      result:
        'pay was already called with these arguments and failed. It is not known whether it took effect, so it was not run again.',
    });
  });

  it('is the same also where its value cannot be read: it counts by what was sent', async () => {
    const ran: unknown[] = [];
    const closed = z.object({ n: z.number() }).transform(
      (value) =>
        new Proxy(value, {
          ownKeys: () => {
            throw new Error('nobody looks in here');
          },
        }),
    );
    const keep = defineTool({
      name: 'keep',
      description: 'Keeps',
      parameters: { value: { schema: closed, description: 'What' } },
      execute: () => {
        ran.push('kept');
        return 'kept';
      },
    });
    const made = (n: number) => call('keep', { value: { n } });
    const { service } = agent([made(1), made(1), made(2), text('ok')], { tools: [keep] });
    const run = await service.run('q');
    expect(run.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'repeated', 'ok']);
    expect(ran).toEqual(['kept', 'kept']);
  });

  it('is the same by each of its arguments, one by what it holds and another by what it was made from', async () => {
    const ran: unknown[] = [];
    let made = 0;
    class Id {
      constructor(readonly id: string) {}
    }
    class Stamp {
      readonly at = made++;
      constructor(readonly n: number) {}
    }
    const keep = defineTool({
      name: 'keep',
      description: 'Keeps',
      parameters: {
        id: { schema: z.string().transform((id) => new Id(id.trim())), description: 'Id' },
        stamp: { schema: z.number().transform((n) => new Stamp(n)), description: 'Stamp' },
      },
      execute: () => ran.push('kept'),
    });
    const turns = [call('keep', { id: '42', stamp: 1 }), call('keep', { id: ' 42', stamp: 1 }), text('ok')];
    await agent(turns, { tools: [keep] }).service.run('q');
    expect(ran).toEqual(['kept']);
  });

  it('may be made again after an AIToolError', async () => {
    const ran: unknown[] = [];
    const closed = () => {
      if (ran.length === 1) throw new AIToolError('The desk opens in a second.');
      return 'paid';
    };
    const { service } = agent([call('pay', { amount: 5 }), call('pay', { amount: 5 }), text('ok')], {
      tools: [pay(ran, closed)],
    });
    const run = await service.run('q');
    expect(run.calls.map(({ outcome, result }) => [outcome, result])).toEqual([
      ['failed', 'The desk opens in a second.'],
      ['ok', 'paid'],
    ]);
  });

  it.each([
    ['repeatable', 'ok', { repeatable: true } as const, [5, 5]],
    ['repeatable', 'an exception', { repeatable: true } as const, [5]],
    ['idempotent', 'an exception', { idempotent: true } as const, [5, 5]],
  ])('%s, after %s', async (_option, after, options, expected) => {
    const ran: unknown[] = [];
    const body = () => {
      if (after !== 'ok') throw new Error('x');
      return 'paid';
    };
    const { service } = agent([call('pay', { amount: 5 }), call('pay', { amount: 5 }), text('ok')], {
      tools: [pay(ran, body, options)],
    });
    await service.chat('q');
    expect(ran).toEqual(expected);
  });

  it('starts anew with the next question', async () => {
    const ran: unknown[] = [];
    const { service } = agent([call('pay', { amount: 5 }), text('ok'), call('pay', { amount: 5 }), text('ok')], {
      tools: [pay(ran)],
    });
    await service.chat('q');
    await service.chat('q');
    expect(ran).toEqual([5, 5]);
  });
});

describe('returnDirect', () => {
  const direct = (body: () => unknown) =>
    defineTool({
      name: 'report',
      description: 'The report',
      group: ReadOnly,
      parameters: {},
      returnDirect: true,
      execute: body,
    });

  it('makes the result the answer, without another turn', async () => {
    const { model, service } = agent([call('report')], { tools: [direct(() => 'All well.')] });
    expect(await service.chat('q')).toBe('All well.');
    expect(model.requests).toHaveLength(1);
  });

  it('never answers with a failure', async () => {
    const { service } = agent([call('report'), text('It failed.')], {
      tools: [
        direct(() => {
          throw new AIToolError('Closed.');
        }),
      ],
    });
    expect(await service.chat('q')).toBe('It failed.');
  });
});

describe('a reply that is no answer', () => {
  it.each([
    ['truncated', truncated('{"tool":"pay","argum'), '{"tool":"pay","argum'],
    ['truncated', call('pay', { amount: 5 }, { finish: 'length' }), 'pay'],
    ['filtered', filtered('Partly'), 'Partly'],
    ['filtered', filtered(), ''],
    ['refused', refusal('I cannot help with that.'), 'I cannot help with that.'],
  ])('%s ends the run at once and runs nothing', async (code, turn, partly) => {
    const ran: unknown[] = [];
    const { model, service } = agent([turn], { tools: [pay(ran)] });
    const error = await failure(service.chat('q'));
    expect(error).toBeInstanceOf(AIResponseError);
    expect((error as AIResponseError).code).toBe(code);
    expect((error as AIResponseError).text).toContain(partly);
    expect(ran).toEqual([]);
    expect(model.requests).toHaveLength(1);
  });

  const raw = (content: string): ScriptedTurn => call('find_order', content);

  it.each([
    ['broken text', raw('[{"name":"orderId","val'), /not valid JSON/],
    ['a key given twice', { ...raw('[],"tool":"pay","arguments":[]') }, /gives a key twice/],
    ['pairs that are none', raw('{"orderId":{}}garbage'), /not valid JSON/],
    ['an empty answer', text(''), /empty/],
  ])('%s gets one corrective turn, which counts', async (_title, turn, correction) => {
    const ran: unknown[] = [];
    const { model, service } = agent([turn, call('find_order', { orderId: 1 }), text('ok')], {
      tools: [find(ran), pay(ran)],
      maxToolCalls: 2,
    });
    expect(await service.chat('q')).toBe('ok');
    expect(messages(model, 1).at(-1)!.content).toMatch(correction);
    expect(model.requests[2]!.tools).toEqual([]);
    expect(ran).toEqual([1]);
  });

  it('ends the run the second time', async () => {
    const { service } = agent([raw('[{'), raw('[{')]);
    expect(await failure(service.chat('q'))).toMatchObject({ code: 'malformed' });
  });

  it('gets no corrective turn at the cap', async () => {
    const { model, service } = agent([call('find_order', { orderId: 1 }), text('')], { maxToolCalls: 1 });
    expect(await failure(service.chat('q'))).toMatchObject({ code: 'empty' });
    expect(model.requests).toHaveLength(2);
  });

  it('is one where a script has no turn left', async () => {
    const { service } = agent([]);
    const error = await failure(service.chat('q'));
    expect(error).toBeInstanceOf(AIProviderError);
    expect((error as Error).message).toMatch(/request 1 finds no turn left; the script has 0/);
  });
});

describe('a provider call', () => {
  it('is repeated alone where that may help, with the same bytes', async () => {
    jest.useFakeTimers();
    try {
      const ran: unknown[] = [];
      const { model, service } = agent([call('pay', { amount: 5 }), httpError(503), httpError(429), text('ok')], {
        tools: [pay(ran)],
      });
      const chat = service.run('q');
      await jest.advanceTimersByTimeAsync(60_000);
      const run = await chat;
      expect(run.text).toBe('ok');
      expect(run.usage).toMatchObject({ modelCalls: 2, attempts: 4 });
      expect(ran).toEqual([5]);
      expect(new Set(model.requests.slice(1).map(({ body }) => body)).size).toBe(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it.each([
    [400, 1],
    [401, 1],
    [429, 3],
    [500, 3],
  ])('that answers %i is sent %i times', async (status, attempts) => {
    jest.useFakeTimers();
    try {
      const { model, service } = agent([httpError(status), httpError(status), httpError(status)]);
      const chat = failure(service.chat('q'));
      await jest.advanceTimersByTimeAsync(60_000);
      expect(await chat).toMatchObject({ code: 'provider', status, attempts });
      expect(model.requests).toHaveLength(attempts);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is not repeated where the account is empty', async () => {
    const { model, service } = agent([httpError(429, { body: { error: { code: 'insufficient_quota' } } })]);
    expect(await failure(service.chat('q'))).toMatchObject({ status: 429, attempts: 1 });
    expect(model.requests).toHaveLength(1);
  });
});

describe('a model of the application’s own', () => {
  class Odd extends ChatModel {
    readonly name = 'odd';
    readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;
    constructor(readonly reply: () => unknown) {
      super();
    }
    override complete(): Promise<ModelReply> {
      return this.reply() as Promise<ModelReply>;
    }
  }
  const ask = (reply: () => unknown) => failure(createAIService({ model: new Odd(reply), logger: quiet }).run('q'));

  it.each([
    [null],
    [undefined],
    ['text'],
    [{ finish: 'stop' }],
    [{ text: 1, finish: 'stop' }],
    [{ text: '', calls: {} }],
    [{ text: '', calls: [{ name: 'pay' }] }],
  ])('that gives back %p fails with an AIProviderError', async (reply) => {
    const error = await ask(() => Promise.resolve(reply));
    expect(error).toBeInstanceOf(AIProviderError);
    expect((error as Error).message).toMatch(/^createAIService, odd: what complete\(\) gave back is no ModelReply/);
  });

  it('may leave out what it does not count', async () => {
    const run = await createAIService({ model: new Odd(() => Promise.resolve({ text: 'ok' })) }).run('q');
    expect(run).toMatchObject({ text: 'ok', usage: { inputTokens: 0, outputTokens: 0 } });
  });

  it('that heeds no signal is given up all the same', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const service = createAIService({ model: new Odd(() => new Promise(() => undefined)) });
    const asked = failure(service.chat('q', { signal: controller.signal }));
    controller.abort(reason);
    expect(await asked).toBe(reason);
  });

  it('cannot change what others are offered', async () => {
    const changed: string[] = [];
    class Meddling extends Odd {
      override complete(request?: ModelRequest): Promise<ModelReply> {
        const schema = request!.responseSchema!.schema as {
          additionalProperties: boolean;
          properties: { tool: { enum: string[] } };
        };
        for (const change of [
          () => (schema.additionalProperties = true),
          () => schema.properties.tool.enum.push('evil'),
          () => (schema.properties.tool = { enum: ['evil'] }),
        ])
          try {
            change();
            changed.push('changed');
          } catch (error) {
            changed.push((error as Error).name);
          }
        return Promise.resolve({
          text: '{"tool":"ANSWER","arguments":[],"answer":"ok"}',
          finish: 'stop',
        } as ModelReply);
      }
    }
    await createAIService({ model: new Meddling(() => undefined), tools: [find()] }).chat('q');
    expect(changed).toEqual(['TypeError', 'TypeError', 'TypeError']);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
  ])('that %s fails once, in our own words, with its error as the cause', async (_title, reply) => {
    const error = (await ask(reply)) as AIProviderError;
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({
      attempts: 1,
      message: 'createAIService, odd: the model failed with an error of its own; see cause.',
    });
    expect(error.cause).toEqual(new Error('secret'));
    expect(JSON.stringify(error)).not.toContain('secret');
  });
});

describe('an abort', () => {
  it('rethrows the reason unchanged, while the model thinks', async () => {
    const { service } = agent([never()]);
    const controller = new AbortController();
    const reason = new Error('the user left');
    const chat = failure(service.chat('q', { signal: controller.signal }));
    controller.abort(reason);
    expect(await chat).toBe(reason);
    expect(Object.getOwnPropertyNames(reason)).not.toContain('run');
  });

  it('sends nothing where it came first', async () => {
    const { model, service } = agent([text('ok')]);
    const reason = new Error('late');
    expect(await failure(service.chat('q', { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(model.requests).toHaveLength(0);
  });

  it('reaches the tool at work, and ends it as aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    let seen: unknown;
    const slow = defineTool({
      name: 'slow',
      description: 'Slow',
      parameters: {},
      execute: (_args, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            seen = signal.reason;
          });
          controller.abort(reason);
        }),
    });
    const ended: ToolEnded[] = [];
    class Audit extends AIObserver {
      override toolEnded(event: ToolEnded): void {
        ended.push(event);
      }
    }
    const { service } = agent([call('slow')], { tools: [slow], observers: [new Audit()] });
    expect(await failure(service.chat('q', { signal: controller.signal }))).toBe(reason);
    expect(seen).toBe(reason);
    expect(ended.map(({ outcome, error }) => [outcome, error])).toEqual([['aborted', reason]]);
  });

  it('leaves no listener on the signal', async () => {
    const controller = new AbortController();
    const added = jest.spyOn(controller.signal, 'addEventListener');
    const removed = jest.spyOn(controller.signal, 'removeEventListener');
    const { service } = agent([call('find_order', { orderId: 1 }), text('ok')]);
    await service.chat('q', { signal: controller.signal });
    expect(removed.mock.calls).toHaveLength(added.mock.calls.length);
  });
});

describe('the options of a question', () => {
  it('narrow by group, and the tools outside do not exist', async () => {
    const ran: unknown[] = [];
    const { model, service } = agent([call('pay', { amount: 5 }), text('ok')], { tools: [find(), pay(ran)] });
    const run = await service.run('q', { toolGroup: ReadOnly });
    expect(model.requests[0]!.tools).toEqual(['find_order']);
    expect(model.requests[0]!.body).not.toContain('pay');
    expect(run.calls[0]!.outcome).toBe('unknown-tool');
    expect(ran).toEqual([]);
  });

  it.each([
    ['a higher bound', { maxToolCalls: 6 }, /maxToolCalls 6 is above the agent's own 5; options of a call only narrow/],
    ['a count below 1', { maxToolCalls: 0 }, /maxToolCalls must be a whole number of at least 1, found 0/],
    [
      'an unknown option',
      { toolgroup: ReadOnly },
      /there is no option "toolgroup"; the options are signal, metadata, toolGroup, maxToolCalls/,
    ],
  ])('%s is refused before anything is sent', async (_title, options, message) => {
    const { model, service } = agent([text('ok')]);
    const error = await failure(service.chat('q', options as never));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as Error).message).toMatch(message);
    expect(model.requests).toHaveLength(0);
  });

  it('refuses a group that leaves nothing', async () => {
    const { service } = agent([text('ok')], { tools: [pay([])] });
    await expect(service.chat('q', { toolGroup: ReadOnly })).rejects.toThrow(
      /no tool is in toolGroup ReadOnly; of pay, they bear no group/,
    );
  });

  it.each([[''], ['  '], [undefined]])('refuses the question %p', async (question) => {
    const { service } = agent([text('ok')]);
    await expect(service.chat(question as string)).rejects.toThrow(/the question must be a text that is not blank/);
  });
});

describe('an agent inside another', () => {
  it('that the model asks nothing is a failed tool, not the end', async () => {
    const inner = createAIService({ model: scriptedModel([]) });
    const expert = defineTool({
      name: 'expert',
      description: 'Asks an expert',
      parameters: { q: { type: 'string', description: 'What' } },
      execute: ({ q }) => inner.chat(q),
    });
    const { service } = agent([call('expert', { q: '' }), text('ok')], { tools: [expert] });
    const run = await service.run('q');
    expect([run.text, run.calls[0]!.outcome]).toEqual(['ok', 'failed']);
  });

  it('that refuses is an error of the model that asks it, with the run that it ended', async () => {
    class Nested extends ChatModel {
      readonly name = 'nested';
      readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;
      readonly inner = createAIService({ model: scriptedModel([refusal('No.'), refusal('No.')]) });
      override async complete(): Promise<ModelReply> {
        throw await failure(this.inner.chat('inner'));
      }
    }
    const model = new Nested();
    for (const question of ['first', 'second']) {
      const error = (await failure(createAIService({ model }).chat(question))) as AIProviderError;
      expect(error).toBeInstanceOf(AIProviderError);
      expect(error.run?.transcript).toEqual([{ role: 'user', text: question }]);
      expect(error.cause).toBeInstanceOf(AIResponseError);
    }
  });
});

describe('many questions on one signal', () => {
  it('leave Node without a warning', async () => {
    const warned = jest.fn();
    process.on('warning', warned);
    const { signal } = new AbortController();
    const asked = Array.from({ length: 20 }, () =>
      createAIService({ model: scriptedModel([text('ok')]) }).chat('q', { signal }),
    );
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['ok']));
    await new Promise(setImmediate);
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });
});

describe('what a tool can reach', () => {
  it('is a transcript that it cannot write', async () => {
    const forged: string[] = [];
    const forge = defineTool({
      name: 'forge',
      description: 'Forges',
      parameters: {},
      execute: (_args, { transcript }) => {
        const last = transcript.at(-1) as unknown as { calls: unknown[]; text: string };
        for (const change of [
          () => last.calls.push({ tool: 'never' }),
          () => (last.text = 'x'),
          () => (transcript as unknown[]).push(1),
        ])
          try {
            change();
            forged.push('forged');
          } catch (error) {
            forged.push((error as Error).name);
          }
        return 'tried';
      },
    });
    const { service } = agent([call('forge'), text('ok')], { tools: [forge] });
    await service.chat('q');
    expect(forged).toEqual(['TypeError', 'TypeError', 'TypeError']);
  });

  it('is not what runs in another tool’s place', async () => {
    const tool = { name: 'a', description: 'd', parameters: {}, groups: [ReadOnly], execute: () => 'first' };
    const { service } = agent([call('a'), text('ok')], { tools: [tool] });
    tool.execute = () => 'second';
    expect((await service.run('q')).calls[0]!.result).toBe('first');
  });
});

describe('a logger', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('that %s ends nothing', async (_title, log) => {
    const boom = pay([], () => {
      throw new Error('x');
    });
    const { service } = agent([call('pay', { amount: 5 }), text('ok')], {
      tools: [boom],
      logger: { warn: log, error: log } as never,
    });
    expect(await service.chat('q')).toBe('ok');
    await settled();
  });
});

describe('withTools', () => {
  it('gives a new service and leaves the old one as it was', async () => {
    const { model, service } = agent([text('a'), text('b')]);
    const other = service.withTools([pay([])]);
    await other.chat('q');
    await service.chat('q');
    expect(model.requests.map(({ tools }) => tools)).toEqual([['pay'], ['find_order']]);
  });
});
