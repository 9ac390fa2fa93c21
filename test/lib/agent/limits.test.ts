import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  AIDefinitionError,
  AILimitError,
  type AILimits,
  type AIServiceOptions,
  AIObserver,
  ArgumentGuard,
  ChatModel,
  createAIService,
  defineTool,
  type ModelReply,
  ReadOnly,
} from 'inversify-ai';
import { call, never, scriptedModel, type ScriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';

class AuditLog extends AIObserver {}

const ran: string[] = [];
beforeEach(() => {
  ran.length = 0;
});

const tool = (name: string, body: () => unknown = () => `${name} done`) =>
  defineTool({
    name,
    description: `Does ${name}`,
    group: ReadOnly,
    parameters: { n: { type: 'integer', description: 'A number' } },
    execute: ({ n }) => {
      ran.push(`${name} ${n.toString()}`);
      return body();
    },
  });

const quiet = { warn: jest.fn(), error: jest.fn() };

function agent(turns: readonly ScriptedTurn[], limits: AILimits, options: Partial<AIServiceOptions> = {}) {
  const model = scriptedModel(turns);
  const service = createAIService({ model, limits, logger: quiet, tools: [tool('find'), tool('pay')], ...options });
  return {
    model,
    service,
    ask: () =>
      service.run('q').then(
        (run) => ({ run, error: undefined }),
        (error: unknown) => ({ run: undefined, error }),
      ),
  };
}

/** A script whose every reply costs ten tokens in and five out. */
class Metered extends ChatModel {
  readonly name = 'metered';
  readonly profile;
  constructor(private readonly script: ScriptedModel) {
    super();
    this.profile = script.profile;
  }
  override async complete(...args: Parameters<ChatModel['complete']>): Promise<ModelReply> {
    const reply = await this.script.complete(...args);
    return { ...reply, usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 1 } };
  }
}

const find = (n = 1) => call('find', { n });

describe('limits.maxTurns', () => {
  it('ends a run that would need one more, after the calls of the last one', async () => {
    const { model, ask } = agent([find(1), find(2), text('late')], { maxTurns: 2 });
    const { error } = await ask();
    expect(error).toBeInstanceOf(AILimitError);
    expect(error).toMatchObject({ code: 'turns', run: { turns: 2, calls: [{ outcome: 'ok' }, { outcome: 'ok' }] } });
    expect(model.requests).toHaveLength(2);
    expect(ran).toEqual(['find 1', 'find 2']);
  });

  it('lets an answer in the last one be the answer', async () => {
    expect((await agent([find(), text('done')], { maxTurns: 2 }).ask()).run?.text).toBe('done');
  });

  it('counts corrective and typed turns', async () => {
    expect((await agent([text(''), text('done')], { maxTurns: 1 }).ask()).error).toMatchObject({ code: 'turns' });
  });
});

describe('limits.maxTokens', () => {
  it('is looked at before a turn’s calls, and before the next turn', async () => {
    const model = scriptedModel([find(1), find(2), find(3), text('late')]);
    const { ask } = agent([], { maxTokens: 30 }, { model: new Metered(model) });
    const { error } = await ask();
    expect(error).toBeInstanceOf(AILimitError);
    // The second reply reaches it: nothing of it runs.
    expect(error).toMatchObject({ code: 'tokens', run: { turns: 2, usage: { inputTokens: 20, outputTokens: 10 } } });
    expect(ran).toEqual(['find 1']);
    expect(model.requests).toHaveLength(2);
  });

  it('lets an answer that is there be the answer', async () => {
    const { ask } = agent([], { maxTokens: 15 }, { model: new Metered(scriptedModel([text('done')])) });
    expect((await ask()).run).toMatchObject({
      text: 'done',
      usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 1 },
    });
  });
});

describe('limits.perTool', () => {
  it('takes a tool off the offer once it was executed so often, and the others stay', async () => {
    const { model, ask } = agent([find(1), call('pay', { n: 1 }), text('done')], { perTool: { find: 1 } });
    expect((await ask()).run?.stop).toBe('answer');
    expect(model.requests.map(({ tools }) => tools)).toEqual([['find', 'pay'], ['pay'], ['pay']]);
  });

  it('answers a call that comes all the same with "refused", and the schema did not hold it', async () => {
    const { model, ask } = agent([find(1), find(2), text('done')], { perTool: { find: 1 } });
    const { run } = await ask();
    expect(run?.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'refused']);
    expect(ran).toEqual(['find 1']);
    expect(model.requests[2]!.body).toContain('it may not be called any more for this question');
  });

  it('counts what was executed: wrong arguments and unknown names are none', async () => {
    const { ask } = agent([call('find', { n: 'x' }), find(1), text('done')], { perTool: { find: 1 } });
    expect((await ask()).run?.calls.map(({ outcome }) => outcome)).toEqual(['invalid-arguments', 'ok']);
  });

  it('with no tool left, the model must answer', async () => {
    const limits = { perTool: { find: 1, pay: 1 } };
    const turns = [find(1), call('pay', { n: 1 })];
    const { model, ask } = agent([...turns, text('done')], limits);
    expect((await ask()).run?.stop).toBe('cap');
    expect(model.requests[2]!.tools).toEqual([]);
    // There are calls left, so one that comes all the same is refused, and no error.
    const { run } = await agent([...turns, find(2), text('done')], limits).ask();
    expect(run?.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'refused']);
    expect(run?.text).toBe('done');
  });

  it('counts each run for itself', async () => {
    const { service } = agent([find(1), text('a'), find(2), text('b')], { perTool: { find: 1 } });
    await service.chat('q');
    await service.chat('q');
    expect(ran).toEqual(['find 1', 'find 2']);
  });
});

describe('limits.deadlineMs', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    const left = jest.getTimerCount();
    jest.useRealTimers();
    if (left > 0) throw new Error(`${left.toString()} timers are left`);
  });

  async function after(ms: number, ask: () => Promise<{ readonly error: unknown }>): Promise<unknown> {
    const asked = ask();
    await jest.advanceTimersByTimeAsync(ms);
    return (await asked).error;
  }

  it('ends a provider call', async () => {
    const { ask } = agent([find(1), never()], { deadlineMs: 500 });
    const error = await after(500, ask);
    expect(error).toBeInstanceOf(AILimitError);
    expect(error).toMatchObject({ code: 'deadline', run: { turns: 1, calls: [{ outcome: 'ok' }] } });
    expect((error as Error).message).toContain('500 ms of limits.deadlineMs');
  });

  it('ends a tool, whose signal says so', async () => {
    let reason: unknown;
    const stuck = defineTool({
      name: 'stuck',
      description: 'Never ends',
      parameters: {},
      execute: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            reason = signal.reason as unknown;
          });
        }),
    });
    const { ask } = agent([call('stuck')], { deadlineMs: 500 }, { tools: [stuck] });
    const error = await after(500, ask);
    expect(error).toMatchObject({ code: 'deadline', run: { calls: [{ tool: 'stuck', outcome: 'aborted' }] } });
    expect(reason).toMatchObject({ code: 'deadline', message: (error as Error).message });
  });

  it('counts by the clock, where somebody holds the thread and the timer comes late', async () => {
    let now = 1_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const blocks = (script: ScriptedModel) => {
      const complete = script.complete.bind(script);
      script.complete = async (...args) => {
        const reply = await complete(...args);
        now += 400;
        return reply;
      };
      return script;
    };
    const limits = { deadlineMs: 300 };
    for (const turns of [[find(1), text('done')], [text('done')]]) {
      const model = blocks(scriptedModel(turns));
      const { error } = await agent([], limits, { model }).ask();
      expect(error).toMatchObject({ code: 'deadline' });
    }
    expect(ran).toEqual([]);
    // A tool that holds it: neither is another one begun, nor is its own result an answer.
    const holds = defineTool({
      name: 'holds',
      description: 'Holds',
      returnDirect: true,
      parameters: {},
      execute: () => {
        now += 400;
        return 'held';
      },
    });
    const { error } = await agent([call('holds'), text('done')], limits, { tools: [holds] }).ask();
    expect(error).toMatchObject({ code: 'deadline', run: { calls: [{ outcome: 'ok', executed: true }] } });
    jest.restoreAllMocks();
  });

  it('leaves no timer behind after an answer', async () => {
    expect(await after(0, agent([text('done')], { deadlineMs: 500 }).ask)).toBeUndefined();
  });
});

describe('limits that are none', () => {
  it.each<[string, unknown, RegExp]>([
    ['an unknown one', { maxTurn: 1 }, /limits: there is no option "maxTurn"; the options are deadlineMs/],
    ['no turns', { maxTurns: 0 }, /limits: maxTurns must be a whole number of at least 1, found 0/],
    ['half a token', { maxTokens: 0.5 }, /maxTokens must be a whole number/],
    ['a deadline beyond all timers', { deadlineMs: 2 ** 31 }, /deadlineMs must be a whole number from 1 to 2147483647/],
    ['no call of a tool', { perTool: { find: 0 } }, /perTool: find must be a whole number of at least 1/],
    ['a list', { perTool: ['find'] }, /perTool must be an object, \{ OrderTools_refundOrder: 1 \}/],
    [
      'a misspelt tool',
      { perTool: { fnid: 1 } },
      /perTool names "fnid", which is no tool of this agent; its tools are find, pay/,
    ],
    ['no object', 5, /limits: expected an options object, found a number/],
  ])('%s', (_title, limits, message) => {
    let error: unknown;
    try {
      agent([], limits as AILimits);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as Error).message).toMatch(message);
  });

  it.each<[string, object, RegExp]>([
    ['settings', { settings: { temprature: 1 } }, /settings: there is no option "temprature"/],
    ['settings', { settings: { maxOutputTokens: 0 } }, /maxOutputTokens must be a whole number of at least 1/],
    ['settings', { settings: { temperature: '1' } }, /temperature must be a number from 0 on, found "1"/],
    ['settings', { settings: { seed: 0.5 } }, /seed must be a whole number/],
    ['settings', { settings: { reasoningEffort: 1 } }, /reasoningEffort must be the provider's word/],
    ['retry', { retry: { minDelay: 1 } }, /retry: there is no option "minDelay"/],
    ['retry', { retry: { minDelayMs: -1 } }, /minDelayMs must be a whole number from 0/],
    ['retry', { retry: { deadlineMs: 0 } }, /deadlineMs must be a whole number from 1/],
    ['retry', { retry: { minDelayMs: 30_000 } }, /minDelayMs 30000 is above maxDelayMs 20000/],
    ['retry', { retry: { random: 0.5 } }, /random must be a function/],
    ['prices', { prices: { inputPerMillion: 1 } }, /prices: outputPerMillion is missing/],
    ['prices', { prices: { inputPerMillion: -1, outputPerMillion: 1 } }, /inputPerMillion must be a number from 0 on/],
    ['middleware', { middleware: [5] }, /middleware\[0\] must be an instance, new BusinessHours\(\); found a number/],
    ['middleware', { middleware: 5 }, /middleware must be a list of instances/],
    ['middleware', { middleware: [new AuditLog()] }, /found an instance of AuditLog, which has none of its methods/],
    ['middleware', { middleware: Array(1) }, /middleware\[0\] must be an instance/],
    [
      'middleware',
      { middleware: [new ArgumentGuard({ deny: [/x/], tools: ['pya'] })] },
      /an ArgumentGuard names "pya", which is no tool of this agent; its tools are/,
    ],
  ])('%s', (_title, options, message) => {
    expect(() => agent([], {}, options)).toThrow(message);
  });
});
