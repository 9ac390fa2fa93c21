import { describe, expect, it, jest } from '@jest/globals';
import { type Container, inject, injectable, type ResolutionContext } from 'inversify';
import { AIObserver, AIScopeError, AITool, FromScope } from 'inversify-ai';
import { call, never, scriptedModel, text } from 'inversify-ai/testing';
import { application, as, Caller, Desk, OrderService, rejection } from './orders.js';

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A tool that pays, built from something that takes 60 ms. */
function bank(prepare: (container: Container) => void = () => undefined, timeoutMs = 60_000) {
  const log: string[] = [];
  @injectable()
  class Connection {
    constructor(readonly caller: Caller) {}
  }
  @injectable()
  class Bank {
    constructor(@inject(Connection) private readonly connection: Connection) {}
    @AITool({ description: 'Pays', timeoutMs })
    pay(@FromScope(Caller, async (caller) => wait(20).then(() => caller.id)) id: string): string {
      log.push(`paid as ${this.connection.caller.id} for ${id}`);
      return 'paid';
    }
  }
  const app = application(scriptedModel([call('Bank_pay'), text('done')]), (container) => {
    container.bind(OrderService).toSelf();
    container.bind(Bank).toSelf();
    container.bind(Connection).toDynamicValue(async (context) => {
      await wait(60);
      return new Connection(context.get(Caller));
    });
    prepare(container);
  });
  return { ...app, log, Bank };
}

describe('a call that was given up does not begin later', () => {
  it.each<[string, number, (stop: { abort: () => void; close: () => Promise<void> }) => unknown]>([
    ['aborted', 60_000, ({ abort }) => abort()],
    ['its scope closed', 60_000, ({ close }) => close()],
    ['past its time', 20, () => undefined],
  ])('%s while its class was being resolved', async (_title, timeoutMs, stop) => {
    jest.useFakeTimers();
    try {
      const { ai, audit, log, Bank } = bank(() => undefined, timeoutMs);
      const controller = new AbortController();
      const scope = ai.openScope(as('alice'));
      const asked = scope.container
        .get(Desk)
        .agent.withTools([Bank])
        .run('q', { signal: controller.signal })
        .catch(() => undefined);
      await jest.advanceTimersByTimeAsync(10);
      void stop({ abort: () => controller.abort(new Error('left')), close: () => scope.close() });
      await jest.advanceTimersByTimeAsync(70_000);
      await asked;
      expect(log).toEqual([]);
      expect(audit.ended).toHaveLength(1);
      expect(audit.ended[0]!.outcome).toBe(timeoutMs === 20 ? 'timed-out' : 'aborted');
    } finally {
      jest.useRealTimers();
    }
  });

  it.each(Array.from({ length: 20 }, (_, i) => i))('aborted %i microtasks after it was announced', async (ticks) => {
    const ran: string[] = [];
    const controller = new AbortController();
    class Leaving extends AIObserver {
      override toolStarted(): void {
        void (async () => {
          for (let i = 0; i < ticks; i++) await Promise.resolve();
          ran.push('aborted');
          controller.abort(new Error('left'));
        })();
      }
    }
    @injectable()
    class Bank {
      @AITool('Pays')
      pay(@FromScope(Caller) caller: Caller): string {
        ran.push(`paid as ${caller.id}`);
        return 'paid';
      }
    }
    const { ai } = application(scriptedModel([call('Bank_pay'), text('done')]), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Bank).toSelf();
      container.bind(AIObserver).toConstantValue(new Leaving());
    });
    await ai.runInScope(as('alice'), (scope) =>
      scope.container
        .get(Desk)
        .agent.withTools([Bank])
        .run('q', { signal: controller.signal })
        .catch(() => undefined),
    );
    expect(ran.join()).not.toMatch(/aborted,paid/);
  });

  it('nor as the application, once the request is over', async () => {
    const { ai, log, Bank } = bank((container) => {
      container.bind(Caller).toConstantValue({ id: 'ROOT' });
    }, 20);
    await ai.runInScope(as('alice'), (scope) => scope.container.get(Desk).agent.withTools([Bank]).run('q'));
    await wait(120);
    expect(log).toEqual([]);
  });

  it('a tool that outlives its scope and looks something up late finds nobody', async () => {
    const seen: unknown[] = [];
    @injectable()
    class Lazy {
      constructor(@inject('caller') private readonly caller: () => Caller) {}
      @AITool({ description: 'Looks late', timeoutMs: 20 })
      async look(): Promise<string> {
        seen.push(this.caller().id);
        await wait(60);
        try {
          seen.push(this.caller().id);
        } catch (error) {
          seen.push(error);
        }
        return '';
      }
    }
    const { ai } = application(scriptedModel([call('Lazy_look'), text('done')]), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Lazy).toSelf();
      container.bind(Caller).toConstantValue({ id: 'ROOT' });
      container.bind('caller').toDynamicValue((context: ResolutionContext) => () => context.get(Caller));
    });
    await ai.runInScope(as('alice'), (scope) => scope.container.get(Desk).agent.withTools([Lazy]).run('q'));
    await wait(120);
    expect(seen).toEqual(['alice', expect.any(AIScopeError)]);
  });
});

describe('an error that others share', () => {
  it('carries nobody’s run to somebody else', async () => {
    const shared = new AIScopeError('shared');
    @injectable()
    class Broken {
      @AITool('Fails')
      fail(): string {
        throw shared;
      }
    }
    const { ai } = application(scriptedModel([call('Broken_fail'), call('Broken_fail')]), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Broken).toSelf();
    });
    const ask = (id: string) =>
      rejection(() =>
        ai.runInScope(as(id), (scope) => scope.container.get(Desk).agent.withTools([Broken]).run(`${id}’s question`)),
      ) as Promise<AIScopeError>;
    const [alice, bob] = [await ask('alice'), await ask('bob')];
    expect(shared.run).toBeUndefined();
    expect(alice.cause).toBe(shared);
    expect(JSON.stringify(alice.run)).toContain('alice’s question');
    expect(JSON.stringify(bob.run)).toContain('bob’s question');
    expect(JSON.stringify(bob.run)).not.toContain('alice');
  });

  it('as two questions of one scope that closes, tells each of itself alone', async () => {
    const { ai } = application(scriptedModel([never(), never()]));
    const scope = ai.openScope(as('alice'));
    const { agent } = scope.container.get(Desk);
    const asked = ['first', 'second'].map((question) => rejection(() => agent.run(question)) as Promise<AIScopeError>);
    await new Promise(setImmediate);
    await scope.close();
    const transcripts = (await Promise.all(asked)).map(({ run }) => run?.transcript);
    expect(transcripts).toEqual([[{ role: 'user', text: 'first' }], [{ role: 'user', text: 'second' }]]);
  });

  it('as the reason of a signal stays as it is', async () => {
    const reason = Object.freeze(new AIScopeError('shutting down'));
    const { ai } = application(scriptedModel([text('late')]));
    const ask = () =>
      ai.runInScope(as('alice'), (scope) =>
        scope.container.get(Desk).agent.run('q', { signal: AbortSignal.abort(reason) }),
      );
    expect(await rejection(ask)).toBe(reason);
    expect(reason.run).toBeUndefined();
  });
});
