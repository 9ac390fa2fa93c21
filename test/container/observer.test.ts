import { describe, expect, it } from '@jest/globals';
import { type Container, inject, injectable } from 'inversify';
import { AIObserver, AIScopeError, type ToolEnded, type ToolStarted } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { Events } from '../events.js';
import { application, as, Caller, Desk, OrderService, rejection } from './orders.js';

const script = () => scriptedModel([call('OrderTools_findOrder', { orderId: 42 }), call('nothing'), text('done')]);
const ask = (container: Container) => container.get(Desk).agent.chat('q');

describe('an observer', () => {
  it('of the scope comes on top of the application’s', async () => {
    const { ai, audit } = application(script());
    const own = new Events();
    await ai.runInScope(
      (container) => {
        as('alice')(container);
        container.bind(AIObserver).toConstantValue(own);
      },
      (scope) => ask(scope.container),
    );
    expect(own.ended).toEqual(audit.ended);
    expect(own.ended.map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['OrderTools_findOrder', 'ok'],
      ['nothing', 'unknown-tool'],
    ]);
  });

  it('bound transient in the application is built in the scope, and sees its caller', async () => {
    const seen: string[] = [];
    @injectable()
    class Personal extends AIObserver {
      constructor(@inject(Caller) private readonly caller: Caller) {
        super();
      }
      override toolEnded({ tool }: ToolEnded): void {
        seen.push(`${this.caller.id}: ${tool}`);
      }
    }
    const { ai } = application(script(), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(AIObserver).to(Personal);
    });
    await ai.runInScope(as('alice'), (scope) => ask(scope.container));
    expect(seen).toEqual(['alice: OrderTools_findOrder', 'alice: nothing']);
  });

  it('may be unbound while it is told: the run that it was told of goes on, and tells it to its end', async () => {
    const { ai, audit } = application(script());
    const told: string[] = [];
    await ai.runInScope(as('alice'), async (scope) => {
      class Leaves extends AIObserver {
        override toolStarted({ callId }: ToolStarted): void {
          told.push(callId);
          if (scope.container.isCurrentBound(AIObserver)) scope.container.unbind(AIObserver);
        }
      }
      scope.container.bind(AIObserver).toConstantValue(new Leaves());
      await ask(scope.container);
    });
    expect(told).toEqual(['call_1', 'call_2']);
    expect(audit.ended).toHaveLength(2);
  });

  it('that is a singleton and would keep a caller is refused, and nothing is sent', async () => {
    @injectable()
    class Keeper extends AIObserver {
      constructor(@inject(Caller) readonly caller: Caller) {
        super();
      }
    }
    const model = script();
    const { ai } = application(model, (container) => {
      container.bind(OrderService).toSelf();
      container.bind(AIObserver).to(Keeper).inSingletonScope();
    });
    const error = await rejection(() => ai.runInScope(as('alice'), (scope) => ask(scope.container)));
    expect(error).toBeInstanceOf(AIScopeError);
    expect(error.message).toMatch(/^AIObserver \(Keeper\) is a singleton of the application and would keep Caller/);
    expect(model.requests).toHaveLength(0);
  });

  it('is told, in frozen events, who, where and when', async () => {
    const { ai, audit } = application(script());
    const before = Date.now();
    await ai.runInScope(as('alice'), (scope) => ask(scope.container));
    expect(audit.started).toHaveLength(2);
    expect(audit.ended).toHaveLength(2);
    const [started, ended] = [audit.started[0]!, audit.ended[0]!];
    expect(ended).toMatchObject({ ...started, at: ended.at });
    expect(started).toMatchObject({
      site: 'Desk#0',
      callId: 'call_1',
      turn: 1,
      tool: 'OrderTools_findOrder',
      sent: { orderId: '42' },
      arguments: { orderId: 42 },
    });
    expect(audit.started[1]).toMatchObject({ callId: 'call_2', turn: 2, tool: 'nothing', sent: {} });
    expect(audit.started[1]).not.toHaveProperty('arguments');
    expect(started.at).toBeGreaterThanOrEqual(before);
    expect(new Set([...audit.started, ...audit.ended].map(({ runId }) => runId)).size).toBe(1);
    for (const event of [started, started.sent, started.arguments, ended]) expect(Object.isFrozen(event)).toBe(true);
  });
});
