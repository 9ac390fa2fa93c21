import { describe, expect, it } from '@jest/globals';
import { Container, injectable, type Newable } from 'inversify';
import { AI, AIObserver, AIScopeError, AIService, installAI, ReadOnly, toolset } from 'inversify-ai';
import { call, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { Events } from '../events.js';
import { Caller, OrderService, OrderTools, quietLogger, rejection } from './orders.js';

/* An injected agent as another's tool: the same caller, whoever asked first. */

@injectable()
class Supervisor {
  constructor(
    @AI({ tools: [OrderTools], toolGroup: ReadOnly, wire: 'envelope' }) readonly clerk: AIService,
    @AI({ tools: [toolset(OrderTools).only(ReadOnly).prefix('own')] }) private readonly agent: AIService,
  ) {}

  get supervisor(): AIService {
    return this.agent.withTools([this.clerk.asTool({ name: 'clerk', description: 'Looks orders up' })]);
  }
}

function install(turns: readonly ScriptedTurn[]) {
  const container = new Container();
  for (const target of [OrderService, OrderTools, Supervisor] as Newable[]) container.bind(target).toSelf();
  const model = scriptedModel(turns);
  return { container, model, ai: installAI(container, { model, logger: quietLogger() }) };
}

const as = (id: string) => (container: Container) => {
  container.bind(Caller).toConstantValue({ id });
};
const CLERK = call('clerk', { task: 'find order 7' });
const FIND = call('OrderTools_findOrder', { orderId: 7 });

describe('an injected agent as a tool', () => {
  it('looks things up as the caller, and has no more tools than its site gives it', async () => {
    const { ai, model } = install([
      CLERK,
      call('OrderTools_refundOrder', { orderId: 7 }),
      FIND,
      text('seen'),
      text('ok'),
    ]);
    ai.verify();
    const run = await ai.runInScope(as('ann'), ({ container }) => container.get(Supervisor).supervisor.run('q'));
    expect(run.calls).toMatchObject([{ tool: 'clerk', outcome: 'ok', result: 'seen' }]);
    const [, , afterRefund, afterFind] = model.requests;
    expect(afterRefund!.body).toContain('OrderTools_refundOrder');
    expect(afterFind!.body).toContain('order 7 for ann');
    expect(run.usage.modelCalls).toBe(5);
  });

  it('is told to each observer once, with the run that it is in', async () => {
    const { ai, container } = install([CLERK, text('seen'), text('ok')]);
    const all: Events[] = [];
    container.bind(AIObserver).toDynamicValue(() => {
      const events = new Events();
      all.push(events);
      return events;
    });
    const { runId } = await ai.runInScope(as('ann'), ({ container: own }) => own.get(Supervisor).supervisor.run('q'));
    const started = all.flatMap((events) =>
      events.all.filter(([name]) => name === 'runStarted').map(([, event]) => event),
    );
    expect(started).toMatchObject([{ runId }, { site: 'Supervisor#0', parentRunId: runId }]);
    expect(started).toHaveLength(2);
  });

  it('is refused in another scope', async () => {
    const { ai } = install([CLERK, text('no')]);
    await ai.runInScope(as('ann'), async ({ container }) => {
      const tool = container.get(Supervisor).clerk.asTool({ name: 'clerk', description: 'd' });
      const error = await rejection(() =>
        ai.runInScope(as('bob'), (other) => other.container.get(Supervisor).supervisor.withTools([tool]).run('q')),
      );
      expect(error).toBeInstanceOf(AIScopeError);
      expect((error as Error).message).toContain('belongs to another scope');
    });
  });

  it('is ended by its scope', async () => {
    const { ai, container } = install([CLERK, FIND, text('no')]);
    container.unbind(OrderService);
    container.bind(OrderService).toDynamicValue(() => {
      void scope.close();
      return new OrderService({ id: 'ann' });
    });
    const scope = ai.openScope(as('ann'));
    const error = await rejection(() => scope.container.get(Supervisor).supervisor.run('q'));
    expect(error).toBeInstanceOf(AIScopeError);
  });
});
