import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { IsDate, IsInt } from 'class-validator';
import {
  AIDefinitionError,
  AIMiddleware,
  AIObserver,
  AIProviderError,
  type AIRun,
  AIScopeError,
  type AIServiceOptions,
  ChatModel,
  createAIService,
  defineTool,
  type ModelReply,
  type NextTool,
  refuse,
  type RunEnded,
  type RunStarted,
  type ToolEnded,
  type ToolInvocation,
  type ToolOptions,
  type ToolOutcome,
} from 'inversify-ai';
import { call, httpError, scriptedModel, type ScriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { z } from 'zod';
import { Events } from '../../events.js';
import { settled } from '../../settled.js';
import { Around, tool, turn } from './around.js';

/* What a middleware, or an observer in passing, does wrong: nothing runs for it, nothing is hidden by it. */

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
}

async function ask(
  middleware: readonly AIMiddleware[],
  turns: readonly ScriptedTurn[],
  options: Partial<AIServiceOptions> & { readonly body?: (args: unknown) => unknown; readonly tool?: ToolOptions } = {},
): Promise<Asked> {
  const { body = () => 'paid', tool: own = {}, observers = [], ...rest } = options;
  const ran: unknown[] = [];
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    parameters: {
      amount: { type: 'integer', description: 'How much', optional: true },
      order: { type: Order, description: 'The order', optional: true },
      items: { items: 'integer', description: 'Items', optional: true },
    },
    ...own,
    execute: (args) => {
      ran.push(args);
      return body(args);
    },
  });
  const model = scriptedModel(turns);
  const events = new Events();
  const logger = { warn: jest.fn(), error: jest.fn() };
  const service = createAIService({
    model,
    tools: [pay],
    middleware,
    observers: [...observers, events],
    logger,
    retry: { minDelayMs: 0, maxDelayMs: 0 },
    ...rest,
  });
  const outcome = await service.run('q').then(
    (run) => ({ run }),
    (error: unknown) => ({ error }),
  );
  return { ...outcome, ran, events, model };
}

const pay = call('pay', { amount: 5 });
const done = text('done');
const nothing = (): Promise<never> => Promise.reject(undefined as unknown as Error);
const names = ({ all }: Events): readonly string[] => all.map(([name]) => name);

describe('a tool that was executed', () => {
  it.each<[string, (call: ToolInvocation, next: NextTool) => Promise<ToolOutcome>]>([
    ['throws', (_call, next) => next().then(() => Promise.reject(new Error('audit db down')))],
    ['forgets to return', (_call, next) => next().then(() => undefined as never)],
    ['calls next() twice', (_call, next) => next().then(() => next())],
  ])('is told of as it ended, though a middleware %s afterwards', async (_title, around) => {
    const { error, events, ran } = await ask([tool(around)], [pay, done]);
    expect(ran).toHaveLength(1);
    expect(error).toBeInstanceOf(Error);
    expect(events.ended).toMatchObject([{ outcome: 'ok', executed: true, result: 'paid', error }]);
    const [, ended] = events.all.at(-1)!;
    expect((ended as RunEnded).run.calls).toMatchObject([{ outcome: 'ok', executed: true, result: 'paid' }]);
  });

  it('says so also where a middleware refuses it afterwards', async () => {
    const { run } = await ask([tool((_call, next) => next().then(() => refuse('Not for you.')))], [pay, done]);
    expect(run!.calls).toMatchObject([{ outcome: 'refused', executed: true, result: 'Not for you.' }]);
    const { run: other } = await ask([tool(() => Promise.resolve(refuse('Closed.')))], [pay, done]);
    expect(other!.calls).toMatchObject([{ outcome: 'refused', executed: false }]);
  });

  it('is not begun after a middleware answered in the same breath', async () => {
    const around = [
      tool((_call, next) => {
        void next();
        return Promise.resolve(refuse('No.'));
      }),
      tool((_call, next) => next({ arguments: { amount: 6 } })),
      tool((_call, next) => next()),
    ];
    for (const list of [around.slice(0, 1), around, [around[2]!, around[0]!, around[1]!]]) {
      const { run, ran } = await ask(list, [pay, done]);
      expect(run!.calls).toMatchObject([{ outcome: 'refused', executed: false }]);
      expect(ran).toEqual([]);
    }
  });

  it('may be given up by an inner middleware, and the outer ones see what that one says', async () => {
    const passes = tool((_call, next) => next());
    const hangs = { body: () => new Promise(() => undefined) };
    const patience = tool((_call, next) => Promise.race([next(), settled().then(() => refuse('Too slow.'))]));
    for (const list of [[patience], [passes, patience], [passes, passes, patience, passes]]) {
      const { run } = await ask(list, [pay, done], hangs);
      expect(run!.calls).toMatchObject([{ outcome: 'refused', executed: true, result: 'Too slow.' }]);
    }
    const own = new Error('mine');
    const fails = tool(async (_call, next) => {
      void next();
      await settled();
      throw own;
    });
    expect((await ask([passes, fails], [pay, done], hangs)).error).toBe(own);
  });

  it('was not, where what it needs could not be made', async () => {
    const later = tool(async (_call, next) => {
      void next();
      await Promise.resolve();
      return refuse('No.');
    });
    const { run, ran } = await ask([later], [pay, done]);
    expect([run!.calls[0]!.executed, ran]).toEqual([false, []]);
  });

  it('shows the arguments that it was called with, whatever it made of them', async () => {
    const edits = tool((_call, next) => next({ arguments: { items: [7, 8, 9] } }));
    const { run, events } = await ask([edits], [call('pay', { items: [1] }), done], {
      body: (args) => {
        (args as { items: number[] }).items.length = 0;
      },
    });
    expect(run!.calls[0]!.arguments).toEqual({ items: [7, 8, 9] });
    expect(events.ended[0]!.arguments).toEqual({ items: [7, 8, 9] });
  });
});

describe('what a middleware withholds', () => {
  it.each<[string, (outcome: ToolOutcome) => ToolOutcome, string]>([
    ['a refusal', () => refuse('hidden'), 'You were told:\nhidden'],
    [
      'another result',
      (outcome) => ({ ...outcome, result: 'paid something' }),
      'The earlier result was:\npaid something',
    ],
  ])('is not told when the call is made again: %s in place of the result', async (_title, withhold, told) => {
    const hides = tool(async (_call, next) => {
      const outcome = await next();
      return outcome.outcome === 'ok' ? withhold(outcome) : outcome;
    });
    const { run, ran, model } = await ask([hides], [pay, pay, done], { body: () => 'SECRET' });
    expect(ran).toHaveLength(1);
    expect(run!.calls[1]).toMatchObject({ outcome: 'repeated', executed: false });
    expect(run!.calls[1]!.result).toContain(told);
    for (const { body } of model.requests) expect(body).not.toContain('SECRET');
  });

  it.each<[string, (outcome: ToolOutcome) => ToolOutcome]>([
    ['made anew', ({ outcome, result }) => ({ outcome, result })],
    ['cloned', ({ outcome, result }) => structuredClone({ outcome, result })],
  ])('a denial is told like a thing that is not there, with an outcome that was %s', async (_title, remake) => {
    const asIs = tool(async (_call, next) => remake(await next()));
    const seen = await Promise.all(
      [() => undefined, () => Promise.reject(new Error('forbidden'))].map(async (body) => {
        const { run, model } = await ask([asIs], [pay, done], {
          body,
          isDenial: () => true,
          tool: { returnDirect: true, notFound: 'No order.' },
        });
        return { text: run!.text, turns: run!.turns, requests: model.requests.map(({ body }) => body) };
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject({ text: 'No order.', turns: 1 });
  });
});

describe('what ends a run', () => {
  it.each([
    ['around a turn', turn(nothing)],
    ['around a call', tool(nothing)],
    ['after a call', tool((_call, next) => next().then(nothing))],
  ])('may be nothing at all, thrown %s: it ends, and is told of', async (_title, middleware) => {
    const { run, events, model } = await ask([middleware], [pay, done]);
    expect(run).toBeUndefined();
    expect(names(events).filter((name) => name === 'runEnded')).toHaveLength(1);
    expect(names(events).filter((name) => name === 'toolStarted')).toHaveLength(
      names(events).filter((name) => name === 'toolEnded').length,
    );
    expect(model.requests.length).toBeLessThan(2);
  });

  it('is the very error that a middleware threw, of whatever class', async () => {
    class Denied extends AIScopeError {
      readonly tenant = 't';
    }
    for (const own of [new Denied('no'), new AIDefinitionError('wrong'), new AIProviderError('busy')]) {
      expect((await ask([turn(() => Promise.reject(own))], [pay, done])).error).toBe(own);
      expect((await ask([tool(() => Promise.reject(own))], [pay, done])).error).toBe(own);
      expect(own.run).toBeUndefined();
    }
  });

  it('has the run, where the mistake is one that we say: next() was called twice', async () => {
    for (const twice of [
      tool((_call, next) => next().then(() => next())),
      turn((_context, next) => next().then(() => next())),
    ]) {
      const { error } = await ask([twice], [pay, done]);
      expect(error).toBeInstanceOf(AIDefinitionError);
      expect((error as AIDefinitionError).run?.transcript[0]).toMatchObject({ text: 'q' });
    }
  });

  it('is known of one run alone: what a middleware threw once, a model may throw later', async () => {
    const shared = new AIDefinitionError('shared');
    expect((await ask([turn(() => Promise.reject(shared))], [done])).error).toBe(shared);
    class Fails extends ChatModel {
      readonly name = 'fails';
      readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;
      override complete(): Promise<ModelReply> {
        return Promise.reject(shared);
      }
    }
    const { error } = await ask([], [], { model: new Fails() });
    expect(error).not.toBe(shared);
    expect(error).toMatchObject({ message: 'shared', run: { turns: 0 } });
  });

  it('may be an error that cannot be read', async () => {
    class Hostile extends AIScopeError {
      override get cause(): unknown {
        throw new Error('no');
      }
      override set cause(_cause: unknown) {
        // Nobody keeps it.
      }
    }
    const fails = defineTool({
      name: 'pay',
      description: 'Pays',
      parameters: {},
      execute: () => {
        throw new Hostile('gone');
      },
    });
    const { error, events } = await ask([], [call('pay')], { tools: [fails] });
    expect(error).toMatchObject({ code: 'scope', message: 'gone', run: { turns: 1 } });
    expect(names(events).at(-1)).toBe('runEnded');
  });

  it('does not show one caller’s run to another, whose middleware throws what it once caught', async () => {
    let last: unknown;
    const breaker = turn(async (_context, next) => {
      if (last !== undefined) throw last as Error;
      try {
        return await next();
      } catch (error) {
        last = error;
        throw error;
      }
    });
    const { error } = await ask([breaker], [httpError(400)]);
    expect(error).toMatchObject({ status: 400, run: { transcript: [{ text: 'q' }] } });
    const other = (await ask([breaker], [done])).error;
    expect(other).toBe(last);
    expect((other as AIProviderError).run).toBeUndefined();
  });

  it('is told in full, though an observer or a middleware froze the error on its way', async () => {
    class Freezes extends AIObserver {
      override toolEnded(event: ToolEnded): void {
        Object.freeze(event.error);
      }
    }
    const { error, events } = await ask([], [pay], {
      observers: [new Freezes()],
      limits: { deadlineMs: 100 },
      body: () => new Promise(() => undefined),
    });
    expect(error).toMatchObject({ code: 'deadline', run: { calls: [{ outcome: 'aborted', executed: true }] } });
    expect(names(events).at(-1)).toBe('runEnded');
    const freezes = turn((_context, next) =>
      next().catch((thrown: unknown) => Promise.reject(Object.freeze(thrown) as Error)),
    );
    expect((await ask([freezes], [httpError(400)])).error).toMatchObject({ status: 400, run: { turns: 0 } });
  });
});

describe('an edit', () => {
  it('of a date in place counts, within an instance too', async () => {
    const clamps = tool(({ arguments: args }, next) => {
      const { order } = args as { readonly order: Order };
      order.due.setUTCFullYear(2_000);
      return next({ arguments: { order } });
    });
    const { ran } = await ask([clamps], [call('pay', { order: { amount: 1, due: '2026-03-01T00:00:00Z' } }), done]);
    const [{ order }] = ran as [{ readonly order: Order }];
    expect(order).toBeInstanceOf(Order);
    expect(order.due.getUTCFullYear()).toBe(2_000);
  });

  it('that holds itself is an error that says so', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const { error, ran } = await ask([tool((_call, next) => next({ arguments: { order: circle } }))], [pay, done]);
    expect((error as Error).message).toMatch(/^Around.tool: the edited arguments hold themselves/);
    expect(ran).toEqual([]);
  });
});

describe('an outcome that is none', () => {
  it.each<[string, unknown, RegExp]>([
    ['another word', { outcome: 'nope', result: 'x' }, /whose outcome is "nope", and not one of ok, /],
    ['no text', { outcome: 'ok', result: { a: 1 } }, /whose result is an object, and no text/],
    ['nothing', undefined, /returned undefined, which is no outcome/],
  ])('is an error that says what is wrong: %s', async (_title, outcome, message) => {
    const { error } = await ask([tool(() => Promise.resolve(outcome as ToolOutcome))], [pay, done]);
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as Error).message).toMatch(message);
  });

  it('is read once', async () => {
    let reads = 0;
    const flips = tool(() =>
      Promise.resolve({
        outcome: 'ok',
        get result() {
          return reads++ === 0 ? 'first' : (5 as never);
        },
      }),
    );
    expect((await ask([flips], [pay, done])).run!.calls).toMatchObject([{ result: 'first' }]);
  });
});

describe('a middleware in passing', () => {
  it('cannot change the schema of a typed turn', async () => {
    const meddles = turn((context, next) => {
      const { responseSchema } = context.request;
      if (responseSchema?.name === 'answer') (responseSchema as { schema: object }).schema = { evil: true };
      return next();
    });
    const model = scriptedModel([done, text('{"n":1}')]);
    const asked = createAIService({ model, middleware: [meddles] }).chat('q', z.object({ n: z.number() }));
    await expect(asked).rejects.toBeInstanceOf(TypeError);
  });

  it('and an observer, cannot change what was handed along with the question', async () => {
    class Caller {
      name = 'alice';
    }
    const metadata = { tenant: { id: 't1' }, since: new Date('2026-01-01'), caller: new Caller() };
    const faults: string[] = [];
    const meddle = (handed: unknown): void => {
      const { tenant, since } = handed as typeof metadata;
      since.setUTCFullYear(1_970);
      try {
        tenant.id = 'evil';
      } catch (error) {
        faults.push((error as Error).name);
      }
    };
    class Meddles extends AIObserver {
      override runStarted(event: { readonly metadata: object }): void {
        meddle(event.metadata);
      }
    }
    let got: unknown;
    const look = defineTool({
      name: 'pay',
      description: 'Pays',
      parameters: {},
      execute: (_args, context) => {
        got = context.metadata;
      },
    });
    await createAIService({
      model: scriptedModel([call('pay'), done]),
      tools: [look],
      observers: [new Meddles()],
      middleware: [
        new Around(
          (invocation, next) => {
            meddle(invocation.metadata);
            return next();
          },
          (context, next) => {
            meddle(context.metadata);
            return next();
          },
        ),
      ],
    }).run('q', { metadata });
    expect(faults).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError']);
    expect(got).toEqual({ tenant: { id: 't1' }, since: new Date('2026-01-01'), caller: metadata.caller });
    // Objects of the application's own stay what they are, and its own data as it was.
    expect((got as typeof metadata).caller).toBe(metadata.caller);
    expect(metadata).toMatchObject({ tenant: { id: 't1' }, since: new Date('2026-01-01') });
  });

  it('leaves what is not data alone, and copies no more than it must', async () => {
    class Permissions extends Set<string> {
      allows(what: string): boolean {
        return this.has(what);
      }
    }
    const key = Symbol('tenant');
    let deep: unknown[] = [];
    for (let level = 0; level < 5_000; level++) deep = [deep];
    const bare: Record<string, unknown> = Object.assign(Object.create(null) as object, { a: 1 });
    const permissions = new Permissions(['pay']);
    const seen: unknown[] = [];
    class Sees extends AIObserver {
      override runStarted({ metadata }: RunStarted): void {
        seen.push(metadata);
      }
    }
    const ask = (metadata: Readonly<Record<string, unknown>>) =>
      createAIService({ model: scriptedModel([done]), observers: [new Sees(), new Sees()] }).chat('q', { metadata });
    await ask({ permissions, deep, bare, [key]: 't' });
    const [first] = seen.splice(0) as [Record<string | symbol, unknown>];
    expect(first['permissions']).toBe(permissions);
    expect(first[key]).toBe('t');
    expect(Object.getPrototypeOf(first['bare'])).toBeNull();
    await ask({ rows: [{ a: 1 }] });
    expect(seen[0]).toBe(seen[1]);
    seen.length = 0;
    await ask({ since: new Date() });
    expect(seen[0]).not.toBe(seen[1]);
  });

  it('costs no more where what is handed along holds the same many times', async () => {
    let shared: object = {};
    for (let level = 0; level < 40; level++) shared = { one: shared, other: shared };
    const asked = createAIService({ model: scriptedModel([done]), observers: [new Events()] });
    expect(await asked.chat('q', { metadata: { shared } })).toBe('done');
  });
});
