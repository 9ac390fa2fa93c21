import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { IsDate, IsInt } from 'class-validator';
import {
  AIDefinitionError,
  AIMiddleware,
  AIProviderError,
  AIResponseError,
  type AIRun,
  type AIServiceOptions,
  createAIService,
  defineTool,
  type ModelReply,
  type NextTool,
  ReadOnly,
  refuse,
  type ToolInvocation,
} from 'inversify-ai';
import {
  call,
  httpError,
  never,
  scriptedModel,
  type ScriptedModel,
  type ScriptedTurn,
  text,
} from 'inversify-ai/testing';
import { Events } from '../../events.js';
import { settled } from '../../settled.js';
import { tool, turn } from './around.js';

class Order {
  @IsInt() amount!: number;
  @IsDate() due!: Date;
}

interface Asked {
  readonly run?: AIRun;
  readonly error?: unknown;
  readonly ran: readonly unknown[];
  readonly events: Events;
  readonly model: ScriptedModel;
  readonly logger: { readonly warn: jest.Mock; readonly error: jest.Mock };
}

async function ask(
  middleware: readonly AIMiddleware[],
  turns: readonly ScriptedTurn[],
  options: Partial<AIServiceOptions> & {
    readonly body?: (ran: unknown) => unknown;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Asked> {
  const { body = () => 'paid', signal, ...rest } = options;
  const ran: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    parameters: {
      amount: { type: 'integer', description: 'How much', maximum: 500 },
      note: { type: 'string', description: 'A note', optional: true },
    },
    execute: (args) => {
      ran.push(args);
      return body(args);
    },
  });
  const find = defineTool({
    name: 'find',
    description: 'Finds',
    group: ReadOnly,
    parameters: { order: { type: Order, description: 'The order' } },
    execute: (args) => {
      ran.push(args);
      return 'found';
    },
  });
  const model = scriptedModel(turns);
  const events = new Events();
  const logger = { warn: jest.fn(), error: jest.fn() };
  const service = createAIService({ model, tools: [pay, find], middleware, observers: [events], logger, ...rest });
  const outcome = await service.run('q', signal && { signal }).then(
    (run) => ({ run }),
    (error: unknown) => ({ error }),
  );
  return { ...outcome, ran, events, model, logger };
}

const pay = (amount: unknown = 5) => call('pay', { amount });
const done = text('done');

describe('a middleware around a tool call', () => {
  it('sees the call as it will run, and passes it on', async () => {
    const seen: ToolInvocation[] = [];
    const { ran, run } = await ask(
      [
        tool((invocation, next) => {
          seen.push(invocation);
          return next();
        }),
      ],
      [call('pay', { amount: '5' }), done],
    );
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      site: 'createAIService',
      callId: 'call_1',
      turn: 1,
      tool: 'pay',
      effect: 'mutating',
      groups: [],
      sent: { amount: '5' },
      arguments: { amount: 5 },
      question: 'q',
      metadata: {},
      transcript: [{ role: 'user' }, { role: 'assistant' }],
    });
    expect(seen[0]!.runId).toBe(run!.runId);
    expect(Object.isFrozen(seen[0])).toBe(true);
    expect(ran).toEqual([{ amount: 5 }]);
  });

  it('refuses with a text for the model, and nothing runs', async () => {
    const { ran, run, events, model } = await ask(
      [tool(() => Promise.resolve(refuse('The desk is closed.')))],
      [pay(), done],
    );
    expect(ran).toEqual([]);
    expect(run!.calls).toMatchObject([{ outcome: 'refused', result: 'The desk is closed.' }]);
    expect(model.requests[1]!.body).toContain('The desk is closed.');
    expect(events.ended).toHaveLength(1);
  });

  it('may be asked again after a refusal: nothing happened', async () => {
    let open = false;
    const { ran } = await ask(
      [tool((_, next) => (open ? next() : ((open = true), Promise.resolve(refuse('Not yet.')))))],
      [pay(), pay(), done],
    );
    expect(ran).toHaveLength(1);
  });

  it('edits the arguments, which are converted and checked anew', async () => {
    const cheaper = tool((invocation, next) => next({ arguments: { ...invocation.arguments, amount: '3' } }));
    const { ran, events } = await ask([cheaper], [pay(), done]);
    expect(ran).toEqual([{ amount: 3 }]);
    expect(events.started[0]).toMatchObject({ sent: { amount: '5' }, arguments: { amount: 5 } });
    expect(events.ended[0]).toMatchObject({ sent: { amount: '5' }, arguments: { amount: 3 }, outcome: 'ok' });
  });

  it('keeps what it does not edit as it was: instances, dates', async () => {
    const later = tool((invocation, next) => {
      const { amount, due } = invocation.arguments['order'] as Order;
      return next({ arguments: { order: { amount: amount + 1, due } } });
    });
    const turn = call('find', { order: { amount: 1, due: '2026-03-01T00:00:00Z' } });
    const { ran } = await ask([later], [turn, done]);
    const { order } = ran[0] as { order: Order };
    expect(order).toBeInstanceOf(Order);
    expect(order).toEqual({ amount: 2, due: new Date('2026-03-01T00:00:00Z') });
  });

  it('cannot edit in passing: what it is shown is a copy', async () => {
    const meddles = tool((invocation, next) => {
      (invocation.arguments as Record<string, unknown>)['amount'] = 400;
      return next();
    });
    const { error, ran } = await ask([meddles], [pay(), done]);
    expect(error).toBeInstanceOf(TypeError);
    expect(ran).toEqual([]);
    const deep = tool((invocation, next) => {
      (invocation.arguments['order'] as { due: Date }).due.setFullYear(1970);
      return next();
    });
    const turn = call('find', { order: { amount: 1, due: '2026-03-01T00:00:00Z' } });
    const { ran: found } = await ask([deep], [turn, done]);
    expect((found[0] as { order: Order }).order.due.getUTCFullYear()).toBe(2026);
  });

  it('whose edit does not fit runs nothing; the model reads nothing of it, the application all', async () => {
    const wrong = tool((invocation, next) => next({ arguments: { ...invocation.arguments, amount: 901 } }));
    const { ran, run, model, events, logger } = await ask([wrong], [pay(), done]);
    expect(ran).toEqual([]);
    expect(run!.calls).toMatchObject([{ outcome: 'invalid-arguments' }]);
    expect(model.requests[1]!.body).not.toContain('901');
    expect(events.ended[0]!.error).toBeInstanceOf(AIDefinitionError);
    expect((events.ended[0]!.error as Error).message).toBe(
      'Around.tool: the edited arguments do not fit pay: amount: expected an integer of at most 500, got 901',
    );
    expect(logger.warn).toHaveBeenCalledTimes(1);
  });

  it('whose edit adds or takes away is checked like any call', async () => {
    const adds = tool((invocation, next) => next({ arguments: { ...invocation.arguments, admin: true } }));
    expect((await ask([adds], [pay(), done])).run!.calls[0]!.outcome).toBe('invalid-arguments');
    const takes = tool((_, next) => next({ arguments: { note: 'x' } }));
    expect((await ask([takes], [pay(), done])).run!.calls[0]!.outcome).toBe('invalid-arguments');
    const odd = tool((_, next) => next({ arguments: 5 as never }));
    expect((await ask([odd], [pay(), done])).error).toBeInstanceOf(AIDefinitionError);
  });

  it('replaces a result', async () => {
    const masks = tool(async (_, next) => {
      const outcome = await next();
      return { ...outcome, result: outcome.result.replace('paid', '****') };
    });
    const { run, ran } = await ask([masks], [pay(), done]);
    expect(ran).toHaveLength(1);
    expect(run!.calls).toMatchObject([{ outcome: 'ok', result: '****' }]);
  });

  it('answers in the tool’s place, with no empty text and none too long', async () => {
    const answers = (result: string) => tool(() => Promise.resolve({ outcome: 'ok' as const, result }));
    expect((await ask([answers('cached')], [pay(), done])).run!.calls[0]!.result).toBe('cached');
    expect((await ask([answers('')], [pay(), done])).run!.calls[0]!.result).not.toBe('');
    const { result } = (await ask([answers('x'.repeat(30_000))], [pay(), done])).run!.calls[0]!;
    expect(result.length).toBeLessThan(20_200);
    expect(result).toContain('10000');
  });

  it('leaves a result that was cut as it is, copied or not', async () => {
    const body = (): string => 'x'.repeat(30_000);
    const plain = (await ask([], [pay(), done], { body })).run!.calls[0]!.result;
    const copied = await ask([tool(async (_, next) => ({ ...(await next()) }))], [pay(), done], { body });
    expect(copied.run!.calls[0]!.result).toBe(plain);
  });

  it('does not make a denial look like anything else', async () => {
    const options: Partial<AIServiceOptions> = { isDenial: () => true };
    const throws = (): never => {
      throw new Error('Forbidden');
    };
    const copies = tool(async (_, next) => ({ ...(await next()) }));
    const again = [pay(), pay(), done];
    const plain = await ask([], again, { ...options, body: throws });
    const copied = await ask([copies], again, { ...options, body: throws });
    const told = ({ run }: Asked) => run!.calls.map(({ result }) => result);
    expect(told(copied)).toEqual(told(plain));
  });

  it('ends the run with its own error, and nothing is run or sent any more', async () => {
    const own = new Error('mine');
    const { error, ran, events, model } = await ask([tool(() => Promise.reject(own))], [pay(), done]);
    expect(error).toBe(own);
    expect(ran).toEqual([]);
    expect(events.ended).toMatchObject([{ outcome: 'failed', error: own }]);
    expect(model.requests).toHaveLength(1);
    const throws = tool(() => {
      throw own;
    });
    expect((await ask([throws], [pay(), done])).error).toBe(own);
  });

  it('that forgets to return is an error that says so', async () => {
    const forgets = tool((async (_: ToolInvocation, next: NextTool) => {
      await next();
    }) as never);
    const { error, ran } = await ask([forgets], [pay(), done]);
    expect((error as Error).message).toMatch(
      /^Around.tool returned undefined, which is no outcome; return what next\(\) gave/,
    );
    expect(ran).toHaveLength(1);
  });

  it('cannot run a tool twice, nor after the call is over', async () => {
    const twice = tool(async (_, next) => {
      await next();
      return next();
    });
    const { error, ran } = await ask([twice], [pay(), done]);
    expect((error as Error).message).toMatch(/^Around.tool: next\(\) was called twice for one call of pay/);
    expect(ran).toHaveLength(1);
    let late: NextTool | undefined;
    const keeps = tool((_, next) => {
      late = next;
      return Promise.resolve(refuse('Later.'));
    });
    const kept = await ask([keeps], [pay(), done]);
    await expect(late!()).rejects.toThrow(/next\(\) was called after the end/);
    expect(kept.ran).toEqual([]);
  });

  it('that answers before the tool does gives the tool up; the same call is not made again', async () => {
    let aborted = false;
    const hurries = tool(async (_, next) => {
      void next();
      await settled();
      return { outcome: 'failed' as const, result: 'It takes too long.' };
    });
    const slow = defineTool({
      name: 'pay',
      description: 'Pays',
      parameters: { amount: { type: 'integer', description: 'How much' } },
      execute: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve('late');
          });
        }),
    });
    const { run, events } = await ask([hurries], [pay(), done], { tools: [slow] });
    expect(run!.calls).toMatchObject([{ outcome: 'failed', result: 'It takes too long.' }]);
    expect(aborted).toBe(true);
    expect(events.ended).toHaveLength(1);
    await settled();
  });

  it('that never answers ends with the run', async () => {
    const controller = new AbortController();
    const hangs = tool(() => new Promise(() => undefined));
    const asked = ask([hangs], [pay(), done], { signal: controller.signal });
    await settled();
    controller.abort(new Error('enough'));
    const { error, events } = await asked;
    expect(error).toEqual(new Error('enough'));
    expect(events.ended).toMatchObject([{ outcome: 'aborted' }]);
  });

  it('cannot swallow what ends the run', async () => {
    const controller = new AbortController();
    const swallows = tool(async (_, next) => {
      try {
        return await next();
      } catch {
        return { outcome: 'ok' as const, result: 'all is well' };
      }
    });
    const { error } = await ask([swallows], [pay(), done], {
      signal: controller.signal,
      body: () => {
        controller.abort(new Error('enough'));
        return 'paid';
      },
    });
    expect(error).toEqual(new Error('enough'));
  });

  it('sees neither unknown tools nor wrong arguments', async () => {
    const seen = jest.fn();
    const { run } = await ask(
      [tool((_, next) => (seen(), next()))],
      [call('drop', {}), call('pay', { amount: 'x' }), done],
    );
    expect(run!.calls.map(({ outcome }) => outcome)).toEqual(['unknown-tool', 'invalid-arguments']);
    expect(seen).not.toHaveBeenCalled();
  });

  it('nests in the order of the list, the first outermost', async () => {
    const order: string[] = [];
    const named = (name: string) =>
      tool(async (_, next) => {
        order.push(`${name} in`);
        const outcome = await next();
        order.push(`${name} out`);
        return outcome;
      });
    await ask([named('a'), named('b')], [pay(), done], { body: () => void order.push('tool') });
    expect(order).toEqual(['a in', 'b in', 'tool', 'b out', 'a out']);
  });

  it('further in sees what one further out edited', async () => {
    const edits = tool((invocation, next) => next({ arguments: { ...invocation.arguments, amount: 3 } }));
    const seen: unknown[] = [];
    const looks = tool((invocation, next) => {
      seen.push(invocation.arguments['amount']);
      return next();
    });
    const more = tool((invocation, next) => next({ arguments: { ...invocation.arguments, note: 'n' } }));
    const { ran } = await ask([edits, looks, more], [pay(), done]);
    expect(seen).toEqual([3]);
    expect(ran).toEqual([{ amount: 3, note: 'n' }]);
  });
});

describe('a middleware around a turn', () => {
  it('sees the request and the reply, retries included', async () => {
    const seen: unknown[] = [];
    const watches = turn(async (context, next) => {
      const reply = await next();
      seen.push([context.turn, context.request.tools, reply.text]);
      return reply;
    });
    const { run } = await ask([watches], [httpError(503), pay(), done], { retry: { minDelayMs: 0, maxDelayMs: 0 } });
    expect(seen).toEqual([
      [1, ['find', 'pay'], expect.stringContaining('"pay"')],
      [2, ['find', 'pay'], expect.stringContaining('"done"')],
    ]);
    expect(run!.usage).toMatchObject({ modelCalls: 2, attempts: 3 });
  });

  it('replies in the model’s place, and the reply is checked like any other', async () => {
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
    const says = (reply: unknown) => turn(() => Promise.resolve(reply as ModelReply));
    const answer = JSON.stringify({ tool: 'ANSWER', arguments: [], answer: 'cached' });
    const { run, model } = await ask([says({ text: answer, finish: 'stop', usage })], []);
    expect(run).toMatchObject({ text: 'cached', usage: { inputTokens: 1, modelCalls: 1, attempts: 0 } });
    expect(model.requests).toHaveLength(0);
    expect((await ask([says({ text: 5 })], [])).error).toHaveProperty('code', 'provider');
    expect((await ask([says(undefined)], [])).error).toMatchObject({
      message: expect.stringContaining('Around.turn returned undefined') as unknown,
    });
  });

  it('ends the run by throwing, and by calling next() twice', async () => {
    const own = new Error('mine');
    expect((await ask([turn(() => Promise.reject(own))], [done])).error).toBe(own);
    const twice = turn(async (_, next) => {
      await next();
      return next();
    });
    const { error, model } = await ask([twice], [done, done]);
    expect((error as Error).message).toMatch(/^Around.turn: next\(\) was called twice/);
    expect(model.requests).toHaveLength(1);
  });

  it('throws one error into several runs, and none of them shows on it', async () => {
    const shared = new AIProviderError('busy');
    Object.freeze(shared);
    const busy = turn(async (context, next) => {
      if (context.turn > 1) throw shared;
      return next();
    });
    expect((await ask([busy], [pay(), done])).error).toBe(shared);
    expect(shared.run).toBeUndefined();
    const open = new AIResponseError('empty', 'nothing');
    const { error } = await ask([tool(() => Promise.reject(open))], [pay(), done]);
    expect(error).toBe(open);
    expect(open.run).toBeUndefined();
  });

  it('cannot change a request in passing', async () => {
    const meddles = turn((context, next) => {
      (context.request.messages as unknown as { content: string }[])[0]!.content = 'another';
      return next();
    });
    expect((await ask([meddles], [done])).error).toBeInstanceOf(TypeError);
    const adds = turn((context, next) => {
      (context.request.messages as object[]).push({ role: 'user', content: 'more' });
      return next();
    });
    expect((await ask([adds], [done])).error).toBeInstanceOf(TypeError);
  });

  it('that replies before the model does gives the provider call up', async () => {
    const answer = JSON.stringify({ tool: 'ANSWER', arguments: [], answer: 'first' });
    const hurries = turn((_, next) => {
      void next();
      return Promise.resolve({ text: answer, finish: 'stop' } as ModelReply);
    });
    const { run } = await ask([hurries], [never()]);
    expect(run!.text).toBe('first');
    await settled();
  });
});

describe('refuse', () => {
  it.each([[''], [' '], [undefined]])('wants a text: %p', (words) => {
    expect(() => refuse(words as string)).toThrow(/refuse: say to the model why/);
  });
});
