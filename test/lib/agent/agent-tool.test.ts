import { describe, expect, it } from '@jest/globals';
import {
  type AIRun,
  type AIService,
  type AIServiceOptions,
  ChatModel,
  createAIService,
  defineTool,
  type ModelProfile,
  type ModelReply,
  Mutating,
  ReadOnly,
  type Tool,
  type ToolOptions,
} from 'inversify-ai';
import { call, calls, scriptedModel, type ScriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { Events } from '../../events.js';

/* An agent as another's tool: within the other's bounds, and a part of its run. */

const QUIET = { warn: () => undefined, error: () => undefined };
const HELPER = { name: 'helper', description: 'Helps' };
const look = defineTool({ name: 'look', description: 'Looks', group: ReadOnly, parameters: {}, execute: () => 'seen' });

const agent = (turns: readonly ScriptedTurn[], options: Partial<AIServiceOptions> = {}): AIService =>
  createAIService({ model: scriptedModel(turns), logger: QUIET, ...options });
const tool = (name: string, execute: () => unknown = () => 'done', options: Partial<ToolOptions> = {}): Tool =>
  defineTool({ name, description: `Does ${name}`, parameters: {}, execute, ...options });
const task = (what: string) => call('helper', { task: what });
const failure = async (run: Promise<AIRun>): Promise<unknown> =>
  run.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('an agent as a tool', () => {
  it('is given a task, and its answer is the result', async () => {
    const model = scriptedModel([text('It is 7.')]);
    const helper = createAIService({ model }).asTool(HELPER);
    const run = await agent([task('count'), text('ok')], { tools: [helper] }).run('q');
    expect(run.calls).toMatchObject([{ tool: 'helper', outcome: 'ok', result: 'It is 7.' }]);
    expect(JSON.parse(model.requests[0]!.body)).toMatchObject({ messages: [{ role: 'user', content: 'count' }] });
  });

  it.each([
    ['no task', {}, /task: expected a string/],
    ['an empty one', { task: '' }, /task/],
    ['more than a task', { task: 'x', user: 'admin' }, /user: no such argument/],
  ])('is not asked with %s', async (_title, sent, line) => {
    const model = scriptedModel([text('no')]);
    const helper = createAIService({ model }).asTool(HELPER);
    const run = await agent([call('helper', sent), text('ok')], { tools: [helper] }).run('q');
    expect(run.calls[0]).toMatchObject({ outcome: 'invalid-arguments', executed: false });
    expect(run.calls[0]!.result).toMatch(line);
    expect(model.requests).toHaveLength(0);
  });

  it('only looks where all its tools do', () => {
    expect(agent([]).asTool(HELPER).groups).toEqual([{ groupName: 'ReadOnly' }]);
    expect(agent([], { tools: [look] }).asTool(HELPER).groups).toEqual([{ groupName: 'ReadOnly' }]);
    expect(agent([], { tools: [look, tool('pay')] }).asTool(HELPER).groups).toEqual([]);
    expect(() =>
      agent([], { tools: [agent([], { tools: [tool('pay')] }).asTool(HELPER)], toolGroup: ReadOnly }),
    ).toThrow(/no tool is in toolGroup ReadOnly/);
    expect(() => agent([], { tools: [agent([]).asTool(HELPER)], toolGroup: Mutating })).toThrow(/Mutating/);
  });

  it('that fails is a failed tool: nothing of why is told, and the other goes on', async () => {
    const helper = agent([text('{"secret":1}', { finish: 'length' })]).asTool(HELPER);
    const events = new Events();
    const run = await agent([task('x'), text('ok')], { tools: [helper], observers: [events] }).run('q');
    expect(run).toMatchObject({ text: 'ok', calls: [{ outcome: 'failed' }] });
    expect(run.calls[0]!.result).not.toContain('secret');
    expect(events.ended[0]!.error).toMatchObject({ code: 'truncated' });
  });

  it('is asked again for the same task only where it only looks', async () => {
    const looks = agent([text('1'), text('2')]).asTool(HELPER);
    const changes = agent([text('1'), text('2')], { tools: [tool('pay')] }).asTool(HELPER);
    const outcomes = async (helper: Tool) =>
      (await agent([task('x'), task('x'), text('ok')], { tools: [helper] }).run('q')).calls.map(
        ({ outcome }) => outcome,
      );
    expect(await outcomes(looks)).toEqual(['ok', 'ok']);
    expect(await outcomes(changes)).toEqual(['ok', 'repeated']);
  });

  it('is aborted with the other', async () => {
    let seen: AbortSignal | undefined;
    const controller = new AbortController();
    const waits = defineTool({
      name: 'wait',
      description: 'Waits',
      parameters: {},
      execute: (_args, { signal }) => {
        seen = signal;
        controller.abort(new Error('enough'));
        return new Promise(() => undefined);
      },
    });
    const helper = agent([call('wait'), text('no')], { tools: [waits] }).asTool(HELPER);
    const outer = agent([task('x'), text('no')], { tools: [helper] });
    expect(await failure(outer.run('q', { signal: controller.signal }))).toEqual(new Error('enough'));
    expect(seen!.aborted).toBe(true);
  });
});

describe('what an agent inside spends', () => {
  /** Each reply is counted as ten tokens and one. */
  class Counted extends ChatModel {
    readonly name = 'counted';
    readonly profile: ModelProfile;
    constructor(private readonly script: ScriptedModel) {
      super();
      this.profile = script.profile;
    }
    override async complete(...args: Parameters<ChatModel['complete']>): Promise<ModelReply> {
      const usage = { inputTokens: 10, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
      return { ...(await this.script.complete(...args)), usage };
    }
  }
  const counted = (turns: readonly ScriptedTurn[], options: Partial<AIServiceOptions> = {}): AIService =>
    createAIService({ model: new Counted(scriptedModel(turns)), logger: QUIET, ...options });
  const MILLION = { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000 };

  it('is a part of what the run costs, at its own prices', async () => {
    const inside = [call('look'), text('done')];
    const outside = [task('x'), text('ok')];
    const cheap = counted(inside, { tools: [look], prices: { inputPerMillion: 0, outputPerMillion: 1_000_000 } });
    const run = await counted(outside, { tools: [cheap.asTool(HELPER)], prices: MILLION }).run('q');
    expect(run.turns).toBe(2);
    expect(run.usage).toMatchObject({ modelCalls: 4, attempts: 4, inputTokens: 40, outputTokens: 4, cost: 22 + 2 });
    const unpriced = counted(inside, { tools: [look] }).asTool(HELPER);
    expect((await counted(outside, { tools: [unpriced], prices: MILLION }).run('q')).usage.cost).toBe(44);
  });

  it('counts against the tokens that the run may take, however deep', async () => {
    const inside = new Counted(scriptedModel([call('look'), call('look'), text('done')]));
    const deep = createAIService({ model: inside, tools: [look], logger: QUIET }).asTool({ ...HELPER, name: 'deep' });
    const middle = counted([call('deep', { task: 'x' }), text('no')], { tools: [deep] }).asTool(HELPER);
    const outer = counted([task('x'), text('no')], { tools: [middle], limits: { maxTokens: 40 } });
    const error = await failure(outer.run('q'));
    expect(error).toMatchObject({ code: 'tokens', run: { usage: { modelCalls: 4, inputTokens: 40 } } });
  });

  it('counts against the turns that the run may take', async () => {
    const inside = scriptedModel([call('look'), call('look'), text('done')]);
    const helper = createAIService({ model: inside, tools: [look], logger: QUIET }).asTool(HELPER);
    const outer = agent([task('x'), text('ok')], { tools: [helper], limits: { maxTurns: 3 } });
    const error = await failure(outer.run('q'));
    expect(error).toMatchObject({ code: 'turns', run: { usage: { modelCalls: 3 } } });
    expect(inside.requests).toHaveLength(2);
  });

  it('is bounded by its own bounds too', async () => {
    const inside = scriptedModel([call('look'), call('look'), text('done')]);
    const helper = createAIService({ model: inside, tools: [look], limits: { maxTurns: 1 }, logger: QUIET });
    const run = await agent([task('x'), text('ok')], { tools: [helper.asTool(HELPER)] }).run('q');
    expect(run).toMatchObject({ text: 'ok', calls: [{ outcome: 'failed' }] });
    expect(inside.requests).toHaveLength(1);
  });
});

describe('agents within each other', () => {
  /** As deep as it goes: each asks the next. */
  const chain = (depth: number, maxDepth?: number): { readonly outer: AIService; readonly asked: string[] } => {
    const asked: string[] = [];
    const options = { ...HELPER, ...(maxDepth !== undefined && { maxDepth }) };
    let inner = agent([text('the deepest')]);
    for (let level = depth; level > 1; level--) {
      const helper = inner.asTool(options);
      const noted: Tool = Object.freeze({
        ...helper,
        execute: (...args: Parameters<Tool['execute']>) => {
          asked.push(level.toString());
          return helper.execute(...args);
        },
      });
      inner = agent([task(`level ${level.toString()}`), text(`from ${level.toString()}`)], { tools: [noted] });
    }
    return { outer: inner, asked };
  };

  it('may be three, where nothing else is said', async () => {
    const three = await chain(3).outer.run('q');
    expect(three.calls[0]).toMatchObject({ outcome: 'ok', result: 'from 3' });
    expect(three.usage.modelCalls).toBe(5);
  });

  it('are refused deeper than that: the model is told', async () => {
    const { outer } = chain(4);
    const run = await outer.run('q');
    expect(run.text).toBe('from 2');
    // Two each of three agents; the fourth was not asked.
    expect(run.usage.modelCalls).toBe(6);
    expect((await chain(2, 1).outer.run('q')).calls[0]).toMatchObject({
      outcome: 'failed',
      result:
        'helper cannot be asked here: 1 agents are at work within each other, and that is the most; do it without.',
    });
  });

  it('are refused where one would be asked within itself', async () => {
    const model = scriptedModel([task('x'), task('y'), text('inner'), text('outer')]);
    const services: AIService[] = [];
    // A tool of its own that leads back to it, as one from a container may.
    const back = defineTool({
      name: 'helper',
      description: 'Leads back',
      parameters: { task: { type: 'string', description: 'The task' } },
      execute: (args, context) => services[0]!.asTool({ ...HELPER, maxDepth: 9 }).execute(args, context),
    });
    services.push(createAIService({ model, tools: [back], logger: QUIET }));
    const run = await services[0]!.run('q');
    expect(run.calls[0]).toMatchObject({
      outcome: 'failed',
      result: 'helper is at work on this already and cannot be asked within itself; do it without.',
    });
    expect(run.calls).toHaveLength(2);
  });
});

describe('events of an agent inside', () => {
  it('say which call they are in, and reach whoever watches the run', async () => {
    const own = new Events();
    const outer = new Events();
    const helper = agent([text('done')], { observers: [own] }).asTool(HELPER);
    const run = await agent([task('x'), text('ok')], { tools: [helper], observers: [outer] }).run('q');
    const [inside] = own.all.map(
      ([, event]) => event as { runId: string; parentRunId?: string; parentCallId?: string },
    );
    expect(inside).toMatchObject({ parentRunId: run.runId, parentCallId: run.calls[0]!.callId });
    expect(inside!.runId).not.toBe(run.runId);
    expect(outer.all.map(([name, event]) => [name, (event as { runId: string }).runId === run.runId])).toEqual([
      ['runStarted', true],
      ['turnStarted', true],
      ['modelReplied', true],
      ['toolStarted', true],
      ['runStarted', false],
      ['turnStarted', false],
      ['modelReplied', false],
      ['runEnded', false],
      ['toolEnded', true],
      ['turnStarted', true],
      ['modelReplied', true],
      ['runEnded', true],
    ]);
    expect(outer.all[0]![1]).not.toHaveProperty('parentRunId');
  });

  it('are no events of the stream of the run', async () => {
    const helper = agent([text('inside')]).asTool(HELPER);
    const runs = new Set<string>();
    const types: string[] = [];
    for await (const event of agent([task('x'), text('ok')], { tools: [helper] }).stream('q')) {
      runs.add(event.runId);
      types.push(event.type);
    }
    expect(runs.size).toBe(1);
    expect(types.filter((type) => type === 'run-started')).toHaveLength(1);
  });

  it('are told once where several are asked together', async () => {
    const events = new Events();
    const helper = agent([text('1'), text('2')], { observers: [events] }).asTool(HELPER);
    const two = calls([
      { name: 'helper', arguments: { task: 'a' } },
      { name: 'helper', arguments: { task: 'b' } },
    ]);
    const outer = agent([two, text('ok')], {
      tools: [helper],
      observers: [events],
      wire: 'native',
      parallelToolCalls: true,
    });
    const run = await outer.run('q');
    expect(run.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    expect(events.all.filter(([name]) => name === 'runStarted')).toHaveLength(3);
  });
});

describe('asTool refuses', () => {
  it.each<[string, object, RegExp]>([
    ['no name', { description: 'd' }, /the tool has no name/],
    ['a blank description', { name: 'a', description: '' }, /the description is blank/],
    [
      'an unknown option',
      { ...HELPER, depth: 3 },
      /asTool: there is no option "depth"; the options are name, description, maxDepth/,
    ],
    [
      'a depth of nothing',
      { ...HELPER, maxDepth: 0 },
      /asTool: maxDepth must be a whole number of at least 1, found 0/,
    ],
  ])('%s', (_title, options, message) => {
    expect(() => agent([]).asTool(options as never)).toThrow(message);
  });
});
