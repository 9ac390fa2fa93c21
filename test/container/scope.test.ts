import { describe, expect, it, jest } from '@jest/globals';
import { Container, inject, injectable, LazyServiceIdentifier } from 'inversify';
import {
  type AIHandle,
  AIScope,
  AIScopeError,
  AITool,
  type AIService,
  ChatModel,
  createAIService,
  defineTool,
  FromScope,
  installAI,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
} from 'inversify-ai';
import { call, never, scriptedModel, text } from 'inversify-ai/testing';
import { application, as, Caller, Desk, OneCallModel, OrderService, OrderTools, rejection } from './orders.js';

const twoTurns = (n = 1) =>
  scriptedModel(Array.from({ length: n }, () => [call('OrderTools_findOrder', { orderId: 42 }), text('done')]).flat());

const deskOf = (scope: AIScope): Desk => scope.container.get(Desk);

describe('who is asking', () => {
  it('is the caller of the scope that the agent was resolved from, in run or not', async () => {
    const { ai, audit } = application(twoTurns(2));
    for (const id of ['alice', 'bob']) {
      const scope = ai.openScope(as(id));
      await deskOf(scope).agent.chat('q');
      await scope.close();
    }
    expect(audit.ended.map(({ result }) => result)).toEqual(['order 42 for alice', 'order 42 for bob']);
  });

  it('is the current caller for an agent that the application resolved', async () => {
    const { container, ai, audit } = application(twoTurns(2));
    const desk = container.get(Desk);
    await ai.runInScope(as('alice'), () => desk.agent.chat('q'));
    await ai.runInScope(as('bob'), () => desk.agent.chat('q'));
    expect(audit.ended.map(({ result }) => result)).toEqual(['order 42 for alice', 'order 42 for bob']);
  });

  it.each(['transient', 'singleton'])('stays apart in 100 interleaved questions to a %s controller', async (kind) => {
    const { container, ai } = application(new OneCallModel(), (container) => {
      container.bind(OrderService).toSelf();
      if (kind === 'singleton') container.bind(Desk).toSelf().inSingletonScope();
    });
    const ids = Array.from({ length: 100 }, (_, i) => `u${i.toString()}`);
    const answers = await Promise.all(
      ids.map((id) =>
        ai.runInScope(as(id), async (scope) => {
          const agent = kind === 'singleton' ? container.get(Desk).agent : deskOf(scope).agent;
          const first = await agent.chat('q');
          return [first, await agent.chat('again')];
        }),
      ),
    );
    expect(answers).toEqual(ids.map((id) => [`order 42 for ${id}`, `order 42 for ${id}`]));
  });

  it('fills @FromScope, which the model neither sees nor can set', async () => {
    const model = scriptedModel([
      call('OrderTools_whoAmI', { id: 'bob', caller: 'bob' }),
      call('OrderTools_whoAmI'),
      text('done'),
    ]);
    const { ai } = application(model);
    const run = await ai.runInScope(as('alice'), (scope) => deskOf(scope).agent.run('q'));
    expect(model.requests[0]!.body).toContain('OrderTools_whoAmI() -> Tells who is asking');
    expect(run.calls.map(({ outcome, result }) => [outcome, result])).toEqual([
      [
        'invalid-arguments',
        'OrderTools_whoAmI was not called, its arguments are wrong:\nid: no such argument; this tool takes none\ncaller: no such argument; this tool takes none',
      ],
      ['ok', 'alice'],
    ]);
  });

  it('resolves a tool class anew for each call', async () => {
    const built: object[] = [];
    @injectable()
    class Counted {
      constructor() {
        built.push(this);
      }
      @ReadOnly
      @AITool('Nothing')
      touch(): string {
        return 'touched';
      }
    }
    const { ai } = application(twoTurns(), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Counted).toSelf();
    });
    const scope = ai.openScope(as('alice'));
    const model = scriptedModel([call('Counted_touch'), call('Counted_touch'), text('done')]);
    scope.container.bind(ChatModel).toConstantValue(model);
    await deskOf(scope).agent.withTools([Counted]).chat('q');
    expect(new Set(built).size).toBe(2);
  });
});

describe('a ChatModel bound in the scope', () => {
  it('serves that scope and no other', async () => {
    const { ai } = application(scriptedModel([text('the application’s')]));
    const own = (container: Container) => {
      as('alice')(container);
      container.bind(ChatModel).toConstantValue(scriptedModel([text('alice’s')]));
    };
    expect(await ai.runInScope(own, (scope) => deskOf(scope).agent.chat('q'))).toBe('alice’s');
    expect(await ai.runInScope(as('bob'), (scope) => deskOf(scope).agent.chat('q'))).toBe('the application’s');
  });
});

describe('no question without a caller', () => {
  const refused = async (ask: () => unknown, message: RegExp): Promise<void> => {
    const error = await rejection(ask);
    expect(error).toBeInstanceOf(AIScopeError);
    expect(error.message).toMatch(message);
  };

  it('outside every scope', async () => {
    const model = twoTurns();
    const { container } = application(model);
    await refused(
      () => container.get(Desk).agent.chat('q'),
      /^Desk#0: there is no scope, so there is no caller to act for. Ask inside ai.runInScope/,
    );
    expect(model.requests).toHaveLength(0);
  });

  it('after the scope has ended, also where the application binds a caller of its own', async () => {
    const model = twoTurns(2);
    const { ai } = application(model, (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Caller).toConstantValue({ id: 'ROOT' });
    });
    const scope = ai.openScope(as('alice'));
    const { agent, reader } = deskOf(scope);
    expect((await agent.run('q')).calls[0]!.result).toBe('order 42 for alice');
    await scope.close();
    await refused(() => agent.chat('q'), /^Desk#0: the scope has ended/);
    await refused(() => reader.chat('q'), /^Desk.reader: the scope has ended/);
    await refused(() => scope.run(() => 1), /^run: the scope has ended/);
    expect(model.requests).toHaveLength(2);
  });

  it('with anything from the container of a scope that has ended, inside another’s run too', async () => {
    const { ai } = application(twoTurns(), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Caller).toConstantValue({ id: 'ROOT' });
    });
    const alice = ai.openScope(as('alice'));
    await alice.close();
    await refused(() => deskOf(alice), /the scope has ended/);
    await refused(() => alice.container.get(Caller), /the scope has ended/);
    await refused(() => alice.container.getAsync(OrderService), /the scope has ended/);
    await ai.runInScope(as('bob'), () => refused(() => deskOf(alice), /the scope has ended/));
  });

  it('where the answer was not awaited in the scope, and the error says what to write', async () => {
    const { ai } = application(twoTurns());
    let chat: Promise<string> = Promise.resolve('');
    await ai.runInScope(as('alice'), (scope) => {
      chat = deskOf(scope).agent.chat('q');
      chat.catch(() => undefined);
    });
    await refused(
      () => chat,
      /^The scope was closed before the question was answered, .* return the promise of chat\(\)/,
    );
  });

  it('with an agent of another scope, in a nested one too', async () => {
    const model = twoTurns();
    const { ai } = application(model);
    await ai.runInScope(as('alice'), async (alice) => {
      const { agent } = deskOf(alice);
      await ai.runInScope(as('bob'), () =>
        refused(() => agent.chat('q'), /^Desk#0: this agent belongs to another scope than the one it is used in/),
      );
    });
    expect(model.requests).toHaveLength(0);
  });

  it('in a scope of another application', async () => {
    const one = application(twoTurns());
    const other = application(twoTurns());
    const desk = one.container.get(Desk);
    await other.ai.runInScope(as('alice'), () =>
      refused(() => desk.agent.chat('q'), /^Desk#0: the current scope belongs to another application/),
    );
  });

  it.each([
    ['missing', () => undefined, /OrderTools could not be resolved in the current scope: bind what is missing/],
    [
      'ambiguous',
      (container: Container) => {
        as('alice')(container);
        as('bob')(container);
      },
      /OrderTools could not be resolved in the current scope: keep one of several bindings\. inversify says: Ambiguous/,
    ],
  ])('where the caller is %s: the run ends and nothing further is sent', async (_title, bind, message) => {
    const model = twoTurns();
    const { ai, audit } = application(model);
    await refused(() => ai.runInScope(bind as () => undefined, (scope) => deskOf(scope).agent.chat('q')), message);
    expect(model.requests).toHaveLength(1);
    expect(audit.ended.map(({ outcome }) => outcome)).toEqual(['failed']);
  });

  it('where what is below a tool needs itself', async () => {
    @injectable()
    class Knot {
      constructor(@inject(new LazyServiceIdentifier(() => Knot)) readonly knot: unknown) {}
      @AITool('Nothing')
      touch(): string {
        return '';
      }
    }
    const model = scriptedModel([call('Knot_touch'), text('done')]);
    const { ai } = application(model, (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Knot).toSelf();
    });
    await refused(
      () => ai.runInScope(as('alice'), (scope) => deskOf(scope).agent.withTools([Knot]).chat('q')),
      /Knot could not be resolved in the current scope.*Circular dependency found/s,
    );
    expect(model.requests).toHaveLength(1);
  });

  it('where @FromScope finds nothing bound', async () => {
    const model = scriptedModel([call('OrderTools_whoAmI'), text('done')]);
    const { ai } = application(model, (container) => {
      container.bind(OrderService).toConstantValue({} as OrderService);
    });
    await refused(
      () =>
        ai.runInScope(
          () => undefined,
          (scope) => deskOf(scope).agent.chat('q'),
        ),
      /Caller could not be resolved in the current scope/,
    );
    expect(model.requests).toHaveLength(1);
  });

  it('in createAIService: creating is allowed, the call ends the run', async () => {
    class Tools {
      @AITool('Tells who is asking')
      whoAmI(@FromScope(Caller) caller: Caller): string {
        return caller.id;
      }
    }
    const service = createAIService({ model: scriptedModel([call('Tools_whoAmI')]), tools: [new Tools()] });
    await refused(() => service.chat('q'), /There is no scope: a service made by createAIService has no container/);
  });

  it('but an exception of a constructor is a failed tool', async () => {
    @injectable()
    class Broken {
      constructor() {
        throw new Error('no database');
      }
      @AITool('Nothing')
      touch(): string {
        return '';
      }
    }
    const { ai, audit } = application(scriptedModel([call('Broken_touch'), text('done')]), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Broken).toSelf();
    });
    const answer = await ai.runInScope(as('alice'), (scope) => deskOf(scope).agent.withTools([Broken]).chat('q'));
    expect(answer).toBe('done');
    expect(audit.ended[0]).toMatchObject({ outcome: 'failed', error: new Error('no database') });
  });
});

describe('a scope', () => {
  it('has its container, a child of the application’s, in which it is bound itself', async () => {
    const { container, ai } = application(twoTurns());
    const scope = ai.openScope(as('alice'));
    expect(scope.container.get(Caller).id).toBe('alice');
    expect(scope.container.get(AIScope)).toBe(scope);
    expect(container.isBound(Caller)).toBe(false);
    expect(container.isBound(AIScope)).toBe(false);
    await scope.close();
    expect(scope.container.isBound(Caller)).toBe(false);
  });

  it('gives run what its function returns, and runInScope closes whatever happens', async () => {
    const { ai } = application(twoTurns());
    let kept: AIScope | undefined;
    const boom = new Error('boom');
    const failing = ai.runInScope(as('alice'), (scope) => {
      kept = scope;
      throw boom;
    });
    expect(await rejection(() => failing)).toBe(boom);
    expect(() => kept!.run(() => 1)).toThrow(AIScopeError);
    expect(await ai.runInScope(as('alice'), () => 7)).toBe(7);
  });

  it('closes twice without harm, and through await using', async () => {
    const { ai } = application(twoTurns());
    const scope = ai.openScope(as('alice'));
    await Promise.all([scope.close(), scope.close(), scope[Symbol.asyncDispose]()]);
    await scope.close();
    expect(() => scope.run(() => 1)).toThrow(/the scope has ended/);
  });

  it('deactivates what it bound, also asynchronously', async () => {
    const { ai } = application(twoTurns());
    const gone: string[] = [];
    const scope = ai.openScope((container) => {
      container
        .bind<string>('session')
        .toDynamicValue(() => 's1')
        .inSingletonScope()
        .onDeactivation(async (value) => {
          await Promise.resolve();
          gone.push(value);
        });
    });
    scope.container.get('session');
    await scope.close();
    expect(gone).toEqual(['s1']);
  });

  it('refuses a bind that is asynchronous', async () => {
    const { ai } = application(twoTurns());
    const error = await rejection(() =>
      // @ts-expect-error -- also a type error
      ai.openScope(async (container) => {
        await Promise.resolve();
        as('alice')(container);
      }),
    );
    expect(error).toBeInstanceOf(AIScopeError);
    expect(error.message).toMatch(/^The bind of a scope must be synchronous/);
  });

  it('refuses what is no function', async () => {
    const { ai } = application(twoTurns());
    expect(() => ai.openScope(undefined as never)).toThrow(/openScope: bind must be a function/);
    await expect(ai.runInScope(as('alice'), undefined as never)).rejects.toThrow(
      /runInScope takes two functions, .* found one/,
    );
    expect(() => ai.openScope(as('alice')).run(undefined as never)).toThrow(/run: takes the function/);
  });

  it('hands on what bind throws', () => {
    const { ai } = application(twoTurns());
    const boom = new Error('boom');
    expect(() =>
      ai.openScope(() => {
        throw boom;
      }),
    ).toThrow(boom);
  });

  it('takes a bind that returns a binding', async () => {
    const { ai } = application(twoTurns());
    const id = await ai.runInScope(
      (container) => container.bind(Caller).toDynamicValue(() => ({ id: 'alice' })),
      (scope) => scope.container.get(Caller).id,
    );
    expect(id).toBe('alice');
  });

  it('aborts its question when it closes, and waits for the tool at work before it unbinds', async () => {
    const order: string[] = [];
    let finish: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const started = new Promise<void>((resolve) => (begun = resolve));
    @injectable()
    class Slow {
      @AITool('Slow')
      async work(@FromScope(AIScope) scope: AIScope): Promise<string> {
        begun();
        await new Promise<void>((resolve) => (finish = resolve));
        order.push(`tool still sees ${scope.container.get(Caller).id}`);
        return 'late';
      }
    }
    const { ai } = application(scriptedModel([call('Slow_work'), text('done')]), (container) => {
      container.bind(OrderService).toSelf();
      container.bind(Slow).toSelf();
    });
    const scope = ai.openScope(as('alice'));
    const chat = rejection(() => deskOf(scope).agent.withTools([Slow]).chat('q')).then((error) => {
      order.push('question rejected');
      return error;
    });
    await started;
    const closed = scope.close().then(() => order.push('closed'));
    const error = await chat;
    expect(error).toBeInstanceOf(AIScopeError);
    expect(error.message).toMatch(/was closed before the question was answered, .* return the promise of chat\(\)/);
    finish();
    await closed;
    expect(order).toEqual(['question rejected', 'tool still sees alice', 'closed']);
  });

  it('waits no longer than the tool may take', async () => {
    jest.useFakeTimers();
    try {
      @injectable()
      class Stuck {
        @AITool({ description: 'Stuck', timeoutMs: 1_000 })
        hang(): Promise<string> {
          return new Promise(() => undefined);
        }
      }
      const { ai } = application(scriptedModel([call('Stuck_hang')]), (container) => {
        container.bind(OrderService).toSelf();
        container.bind(Stuck).toSelf();
      });
      const scope = ai.openScope(as('alice'));
      const chat = rejection(() => deskOf(scope).agent.withTools([Stuck]).chat('q'));
      await jest.advanceTimersByTimeAsync(100);
      const closed = scope.close();
      await jest.advanceTimersByTimeAsync(901);
      await closed;
      expect(await chat).toBeInstanceOf(AIScopeError);
    } finally {
      jest.useRealTimers();
    }
  });

  it('that closes before its first question has begun lets none begin', async () => {
    const model = twoTurns();
    const { ai } = application(model);
    const scope = ai.openScope(as('alice'));
    const chat = rejection(() => deskOf(scope).agent.chat('q'));
    await scope.close();
    expect((await chat).message).toMatch(/^The scope was closed before the question was answered/);
    expect(model.requests).toHaveLength(0);
    expect((scope as unknown as { signal: AbortSignal }).signal.aborted).toBe(true);
  });

  it('closes once, whoever closes it again on hearing of it', async () => {
    const gone: string[] = [];
    let ran: unknown;
    class Closing extends OneCallModel {
      override complete(_request: ModelRequest, options?: { signal: AbortSignal }): Promise<ModelReply> {
        return new Promise((_resolve, reject) => {
          options!.signal.addEventListener('abort', () => {
            void scope.close();
            try {
              scope.run(() => 1);
            } catch (error) {
              ran = error;
            }
            reject(options!.signal.reason as Error);
          });
        });
      }
    }
    const { ai } = application(new Closing());
    const scope = ai.openScope((container) => {
      as('alice')(container);
      container
        .bind('session')
        .toDynamicValue(() => 's1')
        .inSingletonScope()
        .onDeactivation(() => void gone.push('s1'));
    });
    scope.container.get('session');
    const chat = rejection(() => deskOf(scope).agent.chat('q'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await scope.close();
    await chat;
    expect(gone).toEqual(['s1']);
    expect(ran).toBeInstanceOf(AIScopeError);
  });

  it('aborts a question that waits for the model', async () => {
    const { ai } = application(scriptedModel([never()]));
    const scope = ai.openScope(as('alice'));
    const chat = rejection(() => deskOf(scope).agent.chat('q'));
    await new Promise(setImmediate);
    await scope.close();
    expect(await chat).toBeInstanceOf(AIScopeError);
  });
});

describe('withTools of an injected service', () => {
  it('puts classes and tools in place of the site’s, in the same scope', async () => {
    const model = scriptedModel([call('ping'), text('done')]);
    const { ai } = application(model);
    const ping = defineTool({ name: 'ping', description: 'Answers pong', parameters: {}, execute: () => 'pong' });
    const scope = ai.openScope(as('alice'));
    const { agent } = deskOf(scope);
    const other: AIService = agent.withTools([OrderTools, ping], { toolGroup: ReadOnly });
    await other.chat('q');
    expect(model.requests[0]!.tools).toEqual(['OrderTools_findOrder', 'OrderTools_whoAmI']);
    await scope.close();
    await expect(other.chat('q')).rejects.toThrow(/the scope has ended/);
  });
});

describe('withTools of an injected service, before anything is asked', () => {
  it('refuses a class that is not bound, and an empty list', async () => {
    class Unbound {
      @AITool('x')
      x(): string {
        return '';
      }
    }
    const { ai } = application(twoTurns());
    const { agent } = deskOf(ai.openScope(as('alice')));
    expect(() => agent.withTools([Unbound])).toThrow(
      'Desk#0, withTools: the tool class Unbound is not bound; write container.bind(Unbound).toSelf()',
    );
    expect(() => agent.withTools([])).toThrow(/Desk#0, withTools: tools is empty/);
  });
});

describe('installAI', () => {
  it.each<[string, (container: Container) => AIHandle, RegExp]>([
    [
      'no container',
      () => installAI({ model: twoTurns() } as never, {}),
      /the first argument must be inversify's container/,
    ],
    [
      'an unknown option',
      (c) => installAI(c, { models: 1 } as never),
      /installAI: there is no option "models"; the options are model, system/,
    ],
    [
      'no model',
      (c) => installAI(c, { model: 'gpt' } as never),
      /installAI: model must be a ChatModel, .* found a string/,
    ],
    [
      'a count below 1',
      (c) => installAI(c, { model: twoTurns(), maxAttempts: 0 }),
      /maxAttempts must be a whole number of at least 1, found 0/,
    ],
    [
      'the second time',
      (c) => {
        installAI(c, { model: twoTurns() });
        return installAI(c, {});
      },
      /installAI: done already on this container/,
    ],
    [
      'a model beside one that is bound',
      (c) => {
        c.bind(ChatModel).toConstantValue(twoTurns());
        return installAI(c, { model: twoTurns() });
      },
      /ChatModel is bound in this container already/,
    ],
  ])('refuses %s', (_title, install, message) => {
    expect(() => install(new Container())).toThrow(message);
  });
});

describe('two applications in one process', () => {
  it('serve their own callers, interleaved, with the same classes', async () => {
    const both = ['first', 'second'].map((name) => ({ name, ...application(new OneCallModel()) }));
    const asked = both.flatMap(({ name, ai }) =>
      ['alice', 'bob'].map((id) => ({
        answer: ai.runInScope(as(`${id} of ${name}`), (scope) => scope.container.get(Desk).agent.chat('q')),
        expected: `order 42 for ${id} of ${name}`,
      })),
    );
    expect(await Promise.all(asked.map(({ answer }) => answer))).toEqual(asked.map(({ expected }) => expected));
  });

  it('do not answer for each other, nested either way', async () => {
    const [first, second] = ['first', 'second'].map(() => application(new OneCallModel()));
    const agent = first!.container.get(Desk).agent;
    const nested = first!.ai.runInScope(as('alice'), () =>
      second!.ai.runInScope(as('bob'), async (scope) => [
        await rejection(() => agent.chat('q')),
        await rejection(async () => first!.ai.currentScope()),
        await scope.container.get(Desk).agent.chat('q'),
      ]),
    );
    const [refused, current, answer] = (await nested) as [Error, Error, string];
    expect(refused.message).toMatch(/the current scope belongs to another application/);
    expect(current.message).toMatch(/^ai\.currentScope\(\): the current scope belongs to another application/);
    expect(answer).toBe('order 42 for bob');
  });
});

describe('ai.currentScope()', () => {
  it('is the innermost scope whose run this code is in, through every await', async () => {
    const { ai } = application(new OneCallModel());
    await ai.runInScope(as('alice'), async (outer) => {
      expect(ai.currentScope()).toBe(outer);
      await ai.runInScope(as('bob'), async (inner) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        expect(ai.currentScope()).toBe(inner);
      });
      expect(ai.currentScope()).toBe(outer);
    });
  });

  it('is an error where there is none, and where it has ended', async () => {
    const { ai } = application(new OneCallModel());
    expect(() => ai.currentScope()).toThrow(
      'ai.currentScope(): there is no scope here. Ask inside ai.runInScope(…), or in a route behind aiScope(ai, …).',
    );
    const scope = ai.openScope(as('alice'));
    await scope.run(async () => {
      await scope.close();
      expect(() => ai.currentScope()).toThrow(/^ai\.currentScope\(\): the scope has ended/);
    });
  });
});

describe('a scope that is closing', () => {
  it('gives its own caller until it gives nothing, and at no moment the application’s', async () => {
    const { container, ai } = application(new OneCallModel());
    container.bind(Caller).toConstantValue({ id: 'THE APPLICATION' });
    const scope = ai.openScope((own) => {
      as('alice')(own);
      own
        .bind('connection')
        .toDynamicValue(() => ({}))
        .inSingletonScope()
        .onDeactivation(async () => {
          await Promise.resolve();
        });
    });
    scope.container.get('connection');
    const seen = new Set<string>();
    let isClosed = false;
    const closing = scope.close().then(() => {
      isClosed = true;
    });
    const isOpen = (): boolean => !isClosed;
    while (isOpen()) {
      try {
        seen.add(scope.container.get(Caller).id);
      } catch (error) {
        seen.add((error as Error).message.replace(/\. .*/, ''));
      }
      await Promise.resolve();
    }
    await closing;
    expect([...seen]).toEqual(['alice', 'The scope’s container: the scope has ended']);
  });

  it('although its bind failed, releases what it had bound', async () => {
    const { ai } = application(new OneCallModel());
    const released: string[] = [];
    expect(() =>
      ai.openScope((own) => {
        own
          .bind<string>('connection')
          .toDynamicValue(() => 'c')
          .inSingletonScope()
          .onDeactivation((c) => void released.push(c));
        own.get('connection');
        throw new Error('no such tenant');
      }),
    ).toThrow('no such tenant');
    await new Promise(setImmediate);
    expect(released).toEqual(['c']);
  });
});

describe('what was looked at once for all scopes that bind alike', () => {
  it('is looked at again when the application binds anew', () => {
    const { container, ai } = application(new OneCallModel());
    expect(ai.openScope(as('alice')).container.get(Desk)).toBeInstanceOf(Desk);
    container.rebind(OrderService).toSelf().inSingletonScope();
    expect(() => ai.openScope(as('alice')).container.get(Desk)).toThrow(/would keep Caller/);
  });

  it('is not the same for a scope that binds the same otherwise', () => {
    const { ai } = application(new OneCallModel());
    expect(ai.openScope(as('alice')).container.get(Desk)).toBeInstanceOf(Desk);
    expect(() =>
      ai
        .openScope((own) => {
          as('alice')(own);
          own.bind(OrderService).toSelf().inRequestScope();
        })
        .container.get(Desk),
    ).toThrow(/OrderService is bound inRequestScope\(\)/);
  });
});

describe('a scope of which something cannot be deactivated', () => {
  it('has ended all the same', async () => {
    const { ai } = application(new OneCallModel());
    const scope = ai.openScope((own) => {
      as('alice')(own);
      own
        .bind('connection')
        .toDynamicValue(() => ({}))
        .inSingletonScope()
        .onDeactivation(() => {
          throw new Error('stuck');
        });
    });
    scope.container.get('connection');
    await expect(scope.close()).rejects.toThrow('stuck');
    expect(() => scope.container.get(Caller)).toThrow(/the scope has ended/);
  });
});
