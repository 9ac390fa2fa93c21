import { describe, expect, it, jest } from '@jest/globals';
import { Container, injectable } from 'inversify';
import { AI, AIDefinitionError, type AIEvent, AIScopeError, AIService, installAI, openAI } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { application, as, Desk, OneCallModel, OrderService, OrderTools, quietLogger } from './orders.js';

@injectable()
class SharedDesk {
  constructor(@AI({ tools: [OrderTools] }) readonly agent: AIService) {}
}

async function answer(stream: AsyncIterable<AIEvent>, each: () => void = () => undefined): Promise<string> {
  let answer = '';
  for await (const event of stream) {
    each();
    if (event.type === 'run-ended') answer = event.run.text;
  }
  return answer;
}

const shared = () => {
  const app = application(new OneCallModel());
  app.container.bind(SharedDesk).toSelf().inSingletonScope();
  return { ...app, agent: app.container.get(SharedDesk).agent };
};

describe('a stream acts for the scope that was there when it was asked for', () => {
  it('wherever it is read', async () => {
    const { ai, agent } = shared();
    const streams = ['alice', 'bob'].map((id) => {
      const scope = ai.openScope(as(id));
      return scope.run(() => agent.stream('q'));
    });
    // Read outside any scope, and in another's.
    const [alice, bob] = streams as [AsyncIterable<AIEvent>, AsyncIterable<AIEvent>];
    expect(await answer(alice)).toBe('order 42 for alice');
    const carol = ai.openScope(as('carol'));
    expect(await carol.run(() => answer(bob))).toBe('order 42 for bob');
    await carol.close();
  });

  it('and its reader keeps a scope of their own within the loop', async () => {
    const { ai, agent } = shared();
    const alice = ai.openScope(as('alice'));
    const bob = ai.openScope(as('bob'));
    const seen = new Set<unknown>();
    const stream = alice.run(() => agent.stream('q'));
    await bob.run(() =>
      answer(stream, () => {
        seen.add(ai.currentScope());
      }),
    );
    expect([...seen]).toEqual([bob]);
    await alice.close();
    await bob.close();
  });

  it('interleaved streams of two callers stay apart', async () => {
    const { ai } = application(new OneCallModel());
    const asked = Array.from({ length: 20 }, (_, n) =>
      ai.runInScope(as(`caller ${n.toString()}`), (scope) => answer(scope.container.get(Desk).agent.stream('q'))),
    );
    expect(await Promise.all(asked)).toEqual(
      Array.from({ length: 20 }, (_, n) => `order 42 for caller ${n.toString()}`),
    );
  });

  it.each<[string, (app: ReturnType<typeof shared>) => AsyncIterable<AIEvent> | Promise<AsyncIterable<AIEvent>>]>([
    ['there is none', ({ agent }) => agent.stream('q')],
    [
      'it has ended before it is read',
      async ({ ai, agent }) => {
        const scope = ai.openScope(as('alice'));
        const stream = scope.run(() => agent.stream('q'));
        await scope.close();
        return stream;
      },
    ],
    [
      'it is another’s',
      ({ ai }) => {
        const alice = ai.openScope(as('alice'));
        const { agent } = alice.container.get(Desk);
        return ai.openScope(as('bob')).run(() => agent.stream('q'));
      },
    ],
  ])('and rejects the first next() where %s', async (_title, make) => {
    const stream = await make(shared());
    const next = stream[Symbol.asyncIterator]().next();
    await expect(next).rejects.toBeInstanceOf(AIScopeError);
  });

  it('and ends with it', async () => {
    const { ai } = application(scriptedModel([call('OrderTools_findOrder', { orderId: 42 }), text('done')]));
    const scope = ai.openScope(as('alice'));
    let error: unknown;
    try {
      for await (const event of scope.container.get(Desk).agent.stream('q'))
        if (event.type === 'tool-ended') void scope.close();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(AIScopeError);
  });
});

describe('a wire that a model does not speak', () => {
  it('is found at start-up, where the model is known', () => {
    @injectable()
    class Wired {
      constructor(@AI({ tools: [OrderTools], wire: 'union' }) readonly agent: AIService) {}
    }
    const container = new Container();
    container.bind(Wired).toSelf();
    container.bind(OrderTools).toSelf();
    container.bind(OrderService).toSelf();
    const model = openAI({ model: 'm', apiKey: 'k', baseURL: 'http://127.0.0.1:1/v1', profile: 'ollama' });
    const ai = installAI(container, { model, logger: quietLogger() });
    expect(() => {
      ai.verify();
    }).toThrow(/@AI on Wired#0: the model m does not speak the wire union, its profile has envelope, native/);
  });

  it('and of one bound in a scope, when it is asked', async () => {
    @injectable()
    class Wired {
      constructor(
        @AI({ tools: [OrderTools], wire: 'native', toolChoice: 'OrderTools_whoAmI' }) readonly agent: AIService,
      ) {}
    }
    const model = { name: 'one', profile: { schema: 'accepted', wires: ['envelope'] }, complete: jest.fn() };
    const { ai, container } = application(model as never);
    container.bind(Wired).toSelf();
    const asked = ai.runInScope(as('alice'), (scope) => scope.container.get(Wired).agent.chat('q'));
    await expect(asked).rejects.toBeInstanceOf(AIDefinitionError);
    expect(model.complete).not.toHaveBeenCalled();
  });

  it('as a tool choice that is no tool of the site is refused there', () => {
    @injectable()
    class Chosen {
      constructor(@AI({ tools: [OrderTools], toolChoice: 'refund' }) readonly agent: AIService) {}
    }
    const { ai, container } = application(scriptedModel([]));
    container.bind(Chosen).toSelf();
    expect(() => {
      ai.verify();
    }).toThrow(/@AI on Chosen#0: toolChoice must be 'auto', .* one of its tools, OrderTools_.*; found "refund"/);
  });
});
