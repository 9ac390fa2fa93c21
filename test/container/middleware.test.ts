import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  AIError,
  AIMiddleware,
  AIObserver,
  type AIScope,
  AIScopeError,
  AIService,
  ArgumentGuard,
  installAI,
  type NextTool,
  ReadOnly,
  refuse,
  type ToolInvocation,
  type ToolOutcome,
} from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { application, as, Caller, Desk, OrderService, OrderTools, quietLogger, rejection } from './orders.js';

const script = () => scriptedModel([call('OrderTools_refundOrder', { orderId: 42 }), text('done')]);
const ask = (container: Container) => container.get(Desk).agent.run('q');

class Named extends AIMiddleware {
  constructor(
    private readonly name: string,
    private readonly order: string[],
  ) {
    super();
  }
  override tool(_call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
    this.order.push(this.name);
    return next();
  }
}

describe('a middleware that is bound', () => {
  it('nests in the order of its binding, the application’s outside the scope’s', async () => {
    const order: string[] = [];
    const { ai } = application(script(), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(AIMiddleware).toConstantValue(new Named('first', order));
      container.bind(AIMiddleware).toConstantValue(new Named('second', order));
    });
    await ai.runInScope(
      (container) => {
        as('alice')(container);
        container.bind(AIMiddleware).toConstantValue(new Named('of the scope', order));
      },
      (scope) => ask(scope.container),
    );
    expect(order).toEqual(['first', 'second', 'of the scope']);
  });

  it('under a condition that does not hold is not there, and moves nobody', async () => {
    const order: string[] = [];
    const named = (name: string): Named => new Named(name, order);
    const { ai } = application(script(), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(AIMiddleware).toConstantValue(named('first'));
      container.bind(AIMiddleware).toConstantValue(named('second'));
    });
    await ai.runInScope(
      (container) => {
        as('alice')(container);
        container.bind(AIMiddleware).toConstantValue(named('never')).whenNamed('another');
        container
          .bind(AIMiddleware)
          .toConstantValue(named('below something'))
          .when((request) => request.getAncestor() !== undefined);
        container.bind(AIMiddleware).toConstantValue(named('of the scope'));
      },
      (scope) => ask(scope.container),
    );
    expect(order).toEqual(['first', 'second', 'of the scope']);
  });

  it('is built in the scope, and sees its caller', async () => {
    @injectable()
    class OwnOrders extends AIMiddleware {
      constructor(@inject(Caller) private readonly caller: Caller) {
        super();
      }
      override async tool({ effect }: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
        return effect === 'mutating' && this.caller.id !== 'alice' ? refuse('Not yours.') : next();
      }
    }
    const { ai } = application(
      scriptedModel([
        ...Array.from({ length: 2 }, () => [call('OrderTools_refundOrder', { orderId: 42 }), text('done')]).flat(),
      ]),
      (container) => {
        container.bind(OrderService).toSelf();
        container.bind(AIMiddleware).to(OwnOrders);
      },
    );
    const outcomes: unknown[] = [];
    for (const id of ['alice', 'bob'])
      outcomes.push((await ai.runInScope(as(id), (scope) => ask(scope.container))).calls[0]!.outcome);
    expect(outcomes).toEqual(['ok', 'refused']);
  });

  it('that is a singleton and would keep a caller is refused, also at start-up', async () => {
    @injectable()
    class Keeper extends AIMiddleware {
      constructor(@inject(Caller) readonly caller: Caller) {
        super();
      }
    }
    const model = script();
    const { ai } = application(model, (container) => {
      container.bind(OrderService).toSelf();
      container.bind(AIMiddleware).to(Keeper).inSingletonScope();
    });
    const error = await rejection(() => ai.runInScope(as('alice'), (scope) => ask(scope.container)));
    expect(error).toBeInstanceOf(AIScopeError);
    expect(error.message).toMatch(/^AIMiddleware \(Keeper\) is a singleton of the application and would keep Caller/);
    expect(model.requests).toHaveLength(0);
    expect(() => ai.verify()).toThrow(/AIMiddleware/);
  });

  it.each<[string, (container: Container) => void]>([
    ['a dynamic value', (container) => container.bind(AIMiddleware).toDynamicValue(() => undefined as never)],
    [
      'an asynchronous one',
      (container) => container.bind(AIMiddleware).toDynamicValue(() => Promise.resolve(undefined) as never),
    ],
    ['a constant', (container) => container.bind(AIMiddleware).toConstantValue(undefined as never)],
    ['null', (container) => container.bind(AIMiddleware).toConstantValue(null as never)],
    ['an object of another kind', (container) => container.bind(AIMiddleware).toConstantValue({} as never)],
    ['an observer that is none', (container) => container.bind(AIObserver).toConstantValue({} as never)],
  ])('that gives none is refused, and switches off nobody: %s', async (_title, bind) => {
    for (const where of ['application', 'scope']) {
      const model = script();
      const guard = new ArgumentGuard({ deny: [/./] });
      const { ai } = application(model, (container) => {
        container.bind(OrderService).toSelf();
        if (where === 'application') bind(container);
        container.bind(AIMiddleware).toConstantValue(guard);
      });
      const error = await rejection(() =>
        ai.runInScope(
          (container) => {
            as('alice')(container);
            if (where === 'scope') bind(container);
          },
          (scope) => ask(scope.container),
        ),
      );
      expect(error.message).toMatch(/AI(Middleware|Observer)/);
      expect(error).toBeInstanceOf(AIError);
      expect(model.requests).toHaveLength(0);
    }
  });

  it('that names a tool of no site, or that no run asks for, is warned of at start-up', () => {
    const { ai, logger } = application(script(), (container) => {
      container.bind(OrderService).toSelf();
      container
        .bind(AIMiddleware)
        .toConstantValue(
          new ArgumentGuard({ deny: [/x/], tools: ['OrderTools_refnudOrder', 'OrderTools_refundOrder'] }),
        );
      container.bind(AIMiddleware).toConstantValue(new Named('never', [])).whenNamed('guard');
    });
    ai.verify();
    const warned = logger.warn.mock.calls.flat().join('\n');
    expect(warned).toContain('an ArgumentGuard names "OrderTools_refnudOrder", which is no tool');
    expect(warned).not.toContain('"OrderTools_refundOrder"');
    expect(warned).toContain('a binding of AIMiddleware has a name, a tag or a condition, so no run asks for it');
  });

  it('guards every site of the application', async () => {
    const { ai } = application(script(), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(AIMiddleware).toConstantValue(new ArgumentGuard({ deny: [/^42$/] }));
    });
    const run = await ai.runInScope(as('alice'), (scope) => ask(scope.container));
    expect(run.calls).toMatchObject([{ outcome: 'refused' }]);
  });
});

describe('what a run takes from its scope', () => {
  const slow = (wait: Promise<unknown>) => (container: Container) => {
    container.bind(OrderService).toSelf();
    container.bind(AIObserver).toDynamicValue(async () => {
      await wait;
      return new Silent();
    });
  };
  class Silent extends AIObserver {}
  @injectable()
  class Hurried {
    constructor(@AI({ tools: [OrderTools], limits: { deadlineMs: 20 } }) readonly agent: AIService) {}
  }

  it('counts as its own time, and may be given up', async () => {
    const never = new Promise(() => undefined);
    const { ai, container } = application(script(), slow(never));
    container.bind(Hurried).toSelf();
    const reason = new Error('left');
    await ai.runInScope(as('alice'), async ({ container: own }) => {
      const { agent } = own.get(Hurried);
      await expect(agent.run('q')).rejects.toMatchObject({ code: 'deadline', run: { turns: 0 } });
      await expect(agent.run('q', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      const controller = new AbortController();
      const asked = own.get(Desk).agent.run('q', { signal: controller.signal });
      controller.abort(reason);
      await expect(asked).rejects.toBe(reason);
    });
    const scope = ai.openScope(as('bob'));
    const asked = scope.container.get(Desk).agent.run('q');
    await scope.close();
    await expect(asked).rejects.toMatchObject({ code: 'scope', run: { turns: 0 } });
  });

  it('is not what a tool needs: where that cannot be made, the tool was not begun', async () => {
    @injectable()
    class Broken extends OrderService {
      constructor(@inject(Caller) caller: Caller) {
        super(caller);
        throw new Error('no database');
      }
    }
    const { ai } = application(script(), (container) => {
      container.bind(OrderService).to(Broken);
    });
    const run = await ai.runInScope(as('alice'), (scope) => ask(scope.container));
    expect(run.calls).toMatchObject([{ outcome: 'failed', executed: false }]);
  });

  it('is nothing where the scope closes with the last reply: there is no answer', async () => {
    const opened: AIScope[] = [];
    class Closes extends AIObserver {
      override modelReplied(): void {
        void opened[0]!.close();
      }
    }
    const { ai } = application(scriptedModel([text('done')]), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(AIObserver).toConstantValue(new Closes());
    });
    const scope = ai.openScope(as('alice'));
    opened.push(scope);
    await expect(scope.container.get(Desk).agent.run('q')).rejects.toBeInstanceOf(AIScopeError);
  });
});

describe('the options of a site', () => {
  it('take no bound of the application’s away by saying nothing of it', async () => {
    @injectable()
    class Silent {
      constructor(
        @AI({ tools: [OrderTools], limits: { perTool: { OrderTools_refundOrder: undefined } as never } })
        readonly agent: AIService,
      ) {}
    }
    const container = new Container();
    container.bind(Silent).toSelf();
    container.bind(OrderTools).toSelf();
    container.bind(OrderService).toSelf();
    const refund = (orderId: number) => call('OrderTools_refundOrder', { orderId });
    const ai = installAI(container, {
      model: scriptedModel([refund(1), refund(2), text('done')]),
      logger: quietLogger(),
      limits: { perTool: { OrderTools_refundOrder: 1 } },
    });
    const run = await ai.runInScope(as('alice'), (scope) => scope.container.get(Silent).agent.run('q'));
    expect(run.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'refused']);
  });

  it('stand in place of the application’s, one by one', async () => {
    @injectable()
    class Limited {
      constructor(
        @AI({ tools: [OrderTools], limits: { maxTurns: 1 }, settings: { temperature: 1 } }) readonly agent: AIService,
        @AI({ tools: [OrderTools], toolGroup: ReadOnly }) readonly other: AIService,
      ) {}
    }
    const container = new Container();
    container.bind(Limited).toSelf();
    container.bind(OrderTools).toSelf();
    container.bind(OrderService).toSelf();
    const model = scriptedModel([call('OrderTools_refundOrder', { orderId: 1 }), text('done')]);
    const logger = quietLogger();
    const ai = installAI(container, {
      model,
      logger,
      limits: { maxTurns: 9, perTool: { OrderTools_refundOrder: 1, OrderTools_refnudOrder: 1 } },
      settings: { temperature: 0, maxOutputTokens: 500 },
      prices: { inputPerMillion: 1, outputPerMillion: 4 },
    });
    ai.verify();
    expect(logger.warn.mock.calls.flat().join('\n')).toContain('perTool names "OrderTools_refnudOrder"');
    await ai.runInScope(as('alice'), async ({ container: scoped }) => {
      const { agent, other } = scoped.get(Limited);
      await expect(agent.chat('q')).rejects.toMatchObject({ code: 'turns' });
      expect((await other.run('q')).usage.cost).toBe(0);
    });
    const [first, second] = model.requests.map(({ body }) => JSON.parse(body) as object);
    expect(first).toMatchObject({ temperature: 1, max_completion_tokens: 500 });
    expect(second).toMatchObject({ temperature: 0, max_completion_tokens: 500 });
  });

  it('that are none are refused where they stand', () => {
    expect(() => AI({ tools: [OrderTools], limits: { maxTurn: 1 } as never })(class Desk {}, undefined, 0)).toThrow(
      /@AI on Desk#0, limits: there is no option "maxTurn"/,
    );
    class Desk {
      constructor(@AI({ tools: [OrderTools], limits: { perTool: { find: 1 } } }) readonly agent: AIService) {}
    }
    const container = new Container();
    container.bind(Desk).toSelf();
    container.bind(OrderTools).toSelf();
    const ai = installAI(container, { model: script(), logger: quietLogger() });
    expect(() => ai.verify()).toThrow(
      /perTool names "find", which is no tool of this agent; its tools are OrderTools_/,
    );
    for (const options of [{ retry: { tries: 1 } }, { prices: {} }, { settings: 5 }])
      expect(() => installAI(new Container(), { model: script(), ...(options as object) })).toThrow(/installAI, /);
  });
});
