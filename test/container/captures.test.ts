import { describe, expect, it } from '@jest/globals';
import {
  Container,
  ContainerModule,
  inject,
  injectable,
  LazyServiceIdentifier,
  multiInject,
  named,
  optional,
  type ResolutionContext,
} from 'inversify';
import { AIScope, AIScopeError, ChatModel } from 'inversify-ai';
import {
  application,
  type App,
  as,
  Caller,
  Desk,
  OneCallModel,
  OrderService,
  OrderTools,
  rejection,
} from './orders.js';

/** A service that is built from one more thing, and tells what it found there. */
function serviceWith(id: string | symbol | (abstract new (...args: never[]) => object)) {
  @injectable()
  class Service extends OrderService {
    constructor(
      @inject(Caller) caller: Caller,
      @inject(id as string) readonly part: unknown,
    ) {
      super(caller);
    }
    override find(): string {
      const { part } = this;
      const value: unknown = typeof part === 'function' ? (part as () => unknown)() : part;
      return `${this.caller.id} with ${typeof value === 'object' ? (value as Caller).id : (value as string)}`;
    }
  }
  return Service;
}

const withPart = (prepare: (container: Container) => void) => (container: Container) => {
  prepare(container);
  container.bind(OrderService).to(serviceWith('part'));
};

const ask = (one: App, id: string): Promise<string> =>
  one.ai.runInScope(as(id), (scope) => scope.container.get(Desk).agent.chat('q'));

/** What alice and bob are told, in this order, each twice: the second try is refused like the first. */
async function refusals(prepare: (container: Container) => void): Promise<string[]> {
  const one = application(new OneCallModel(), prepare);
  const messages: string[] = [];
  for (const id of ['alice', 'bob', 'alice']) {
    const error = await rejection(() => ask(one, id));
    expect(error).toBeInstanceOf(AIScopeError);
    messages.push(error.message);
  }
  return messages;
}

@injectable()
class Keeper {
  constructor(@inject(Caller) readonly caller: Caller) {}
}

const keeps = (name: string, kept: string, chain: string): string => {
  const id = name.split(' ')[0]!;
  return (
    `${name} is a singleton of the application and would keep ${kept}, which belongs to one scope, for every later caller: ${chain}.\n` +
    `Bind ${id} inTransientScope(), or in the scope: container.bind(${id})…inSingletonScope() in openScope's bind; or pass ${kept} to its methods.`
  );
};

/** The same before there is any scope, when it may also have been forgotten. */
const needs = (message: string): string => {
  const [, name = '', kept = '', chain = ''] =
    /^(.*) is a singleton of the application and would keep (.*), which belongs to one scope, for every later caller: (.*)\.\n/.exec(
      message,
    )!;
  return `${name} is a singleton of the application and needs ${kept}, which the application does not bind: ${chain}.\nIf ${kept} is the application's, bind it there. If it is one caller's, ${name.split(' ')[0]!} would keep it for every later one: bind `;
};

const below = (chain: string): string => `OrderTools -> OrderService (Service) -> ${chain}`;
const cannotBuild = (name: string, chain: string, missing: string): string =>
  `${name} lives as long as the application, so the application builds it, without a caller, and that failed: ${chain}.\n` +
  `inversify says: No bindings found for service: "${missing}".`;
const without = (name: string, absent: string, chain: string): string =>
  `${name} is kept by the application, which built it without ${absent}; that is optional to it, and would be missing for every caller, although the scope binds it: ${chain}.\n` +
  `Bind ${name} inTransientScope(), or in the scope (openScope's bind); or let it not ask for ${absent}, and pass ${absent} to its methods.`;

/** Each is refused to everybody, on every try, with this message. */
const captures: readonly (readonly [title: string, prepare: (container: Container) => void, message: string])[] = [
  [
    'a singleton tool class',
    (c) => {
      c.bind(OrderService).toSelf();
      c.bind(OrderTools).toSelf().inSingletonScope();
    },
    keeps('OrderTools', 'Caller', 'OrderTools -> OrderService -> Caller'),
  ],
  [
    'a singleton service below it',
    (c) => {
      c.bind(OrderService).toSelf().inSingletonScope();
    },
    keeps('OrderService', 'Caller', 'OrderTools -> OrderService -> Caller'),
  ],
  [
    'a singleton further down, over a transient',
    withPart((c) => {
      @injectable()
      class Cache {
        constructor(@inject(Keeper) readonly keeper: Keeper) {}
      }
      c.bind(Keeper).toSelf();
      c.bind('part').to(Cache).inSingletonScope();
    }),
    keeps('part (Cache)', 'Caller', below('part (Cache) -> Keeper -> Caller')),
  ],
  [
    'a property of a singleton',
    withPart((c) => {
      @injectable()
      class Cache {
        @inject(Caller) readonly caller!: Caller;
      }
      c.bind('part').to(Cache).inSingletonScope();
    }),
    keeps('part (Cache)', 'Caller', below('part (Cache) -> Caller')),
  ],
  [
    'an optional caller of a singleton class',
    withPart((c) => {
      @injectable()
      class Cache {
        constructor(@inject(Caller) @optional() readonly caller: Caller | undefined) {}
      }
      c.bind('part').to(Cache).inSingletonScope();
    }),
    keeps('part (Cache)', 'Caller', below('part (Cache) -> Caller')),
  ],
  [
    'a singleton resolved value',
    withPart((c) => {
      c.bind('part')
        .toResolvedValue((caller: Caller) => caller, [Caller])
        .inSingletonScope();
    }),
    keeps('part', 'Caller', below('part -> Caller')),
  ],
  [
    'a redirection to a singleton',
    withPart((c) => {
      c.bind(Keeper).toSelf().inSingletonScope();
      c.bind('part').toService(Keeper);
    }),
    keeps('Keeper', 'Caller', below('part -> Keeper -> Caller')),
  ],
  [
    'a class that says itself that it is a singleton',
    withPart((c) => {
      @injectable('Singleton')
      class Cache {
        constructor(@inject(Caller) readonly caller: Caller) {}
      }
      c.bind('part').to(Cache);
    }),
    keeps('part (Cache)', 'Caller', below('part (Cache) -> Caller')),
  ],
  [
    'a lazy identifier',
    withPart((c) => {
      @injectable()
      class Cache {
        constructor(@inject(new LazyServiceIdentifier(() => Caller)) readonly caller: Caller) {}
      }
      c.bind('part').to(Cache).inSingletonScope();
    }),
    keeps('part (Cache)', 'Caller', below('part (Cache) -> Caller')),
  ],
  [
    'a named singleton',
    (c) => {
      @injectable()
      class Service extends OrderService {
        constructor(
          @inject(Caller) caller: Caller,
          @inject('part') @named('kept') readonly part: unknown,
        ) {
          super(caller);
        }
      }
      c.bind('part').to(Keeper).inSingletonScope().whenNamed('kept');
      c.bind('part').toConstantValue('another').whenNamed('other');
      c.bind(OrderService).to(Service);
    },
    keeps('part (Keeper)', 'Caller', below('part (Keeper) -> Caller')),
  ],
  [
    'one of many that a singleton collects',
    withPart((c) => {
      @injectable()
      class Bus {
        constructor(@multiInject('listener') readonly listeners: unknown[]) {}
      }
      c.bind('listener').to(Keeper);
      c.bind('part').to(Bus).inSingletonScope();
    }),
    keeps('part (Bus)', 'Caller', below('part (Bus) -> listener (Keeper) -> Caller')),
  ],
  [
    'a singleton of a container module',
    withPart((c) => {
      c.load(
        new ContainerModule(({ bind }) => {
          bind('part').to(Keeper).inSingletonScope();
        }),
      );
    }),
    keeps('part (Keeper)', 'Caller', below('part (Keeper) -> Caller')),
  ],
  [
    'a singleton that takes the scope itself',
    withPart((c) => {
      c.bind('part')
        .toResolvedValue((scope: AIScope) => scope, [AIScope])
        .inSingletonScope();
    }),
    keeps('part', 'AIScope', below('part -> AIScope')),
  ],
  [
    'a singleton dynamic value',
    withPart((c) => {
      c.bind('part')
        .toDynamicValue((context) => context.get(Caller))
        .inSingletonScope();
    }),
    cannotBuild('part', below('part'), 'Caller'),
  ],
  [
    'a singleton dynamic value that waits first',
    withPart((c) => {
      c.bind('part')
        .toDynamicValue(async (context) => {
          await Promise.resolve();
          return context.getAsync(Caller);
        })
        .inSingletonScope();
    }),
    'No bindings found for service: "Caller".',
  ],
  [
    'a singleton dynamic value that can do without',
    withPart((c) => {
      c.bind('part')
        .toDynamicValue((context) => context.get(Caller, { optional: true })?.id ?? 'nobody')
        .inSingletonScope();
    }),
    without('part', 'Caller', below('part')),
  ],
  [
    'one that can do without and waits first',
    withPart((c) => {
      c.bind('part')
        .toDynamicValue(async (context) => {
          await Promise.resolve();
          return (await context.getAsync(Caller, { optional: true }))?.id ?? 'nobody';
        })
        .inSingletonScope();
    }),
    without('part', 'Caller', below('part')),
  ],
  [
    'one that asks for something with an optional caller',
    withPart((c) => {
      @injectable()
      class Profile {
        constructor(@inject(Caller) @optional() readonly caller: Caller | undefined) {}
      }
      c.bind(Profile).toSelf();
      c.bind('part')
        .toDynamicValue((context) => context.get(Profile).caller?.id ?? 'nobody')
        .inSingletonScope();
    }),
    without('part', 'Caller', below('part')),
  ],
  [
    'one that holds another that can do without',
    withPart((c) => {
      c.bind('inner')
        .toDynamicValue((context) => context.get(Caller, { optional: true })?.id ?? 'nobody')
        .inSingletonScope();
      c.bind('part')
        .toDynamicValue((context) => context.get<string>('inner'))
        .inSingletonScope();
    }),
    without('part', 'Caller', below('part')),
  ],
  [
    'a factory that asks when it is made',
    withPart((c) => {
      c.bind<() => string>('part').toFactory((context: ResolutionContext) => {
        const caller = context.get(Caller);
        return () => caller.id;
      });
    }),
    cannotBuild('part', below('part'), 'Caller'),
  ],
  [
    'a factory that asks when it is called, and can do without',
    withPart((c) => {
      c.bind<() => string>('part').toFactory(
        (context: ResolutionContext) => () => context.get(Caller, { optional: true })?.id ?? 'nobody',
      );
    }),
    'Caller was asked for by something that the application keeps, a factory or a singleton, which gets what the application has; only the scope binds it, so it would be missing. Pass it to the function as an argument, or bind what asks inTransientScope() or in the scope.',
  ],
  [
    'an activated constant',
    withPart((c) => {
      c.bind<object>('part')
        .toConstantValue({})
        .onActivation((context) => context.get(Caller));
    }),
    cannotBuild('part', below('part'), 'Caller'),
  ],
  [
    'an activation of the application’s',
    withPart((c) => {
      c.bind<object>('part')
        .toDynamicValue(() => ({}))
        .inSingletonScope();
      c.onActivation<object>('part', (context) => context.get(Caller));
    }),
    cannotBuild('part', below('part'), 'Caller'),
  ],
  [
    'a model that is a singleton over a caller',
    (c) => {
      @injectable()
      class Mine extends OneCallModel {
        constructor(@inject(Caller) readonly caller: Caller) {
          super();
        }
      }
      c.bind(OrderService).toSelf();
      c.bind('mine').to(Mine).inSingletonScope();
      c.bind(OrderTools).toSelf();
      c.bind(Desk)
        .toDynamicValue((context) => {
          context.get<ChatModel>('mine');
          return context.get<Desk>('desk');
        })
        .inTransientScope();
      c.bind('desk').to(Desk);
    },
    keeps('mine (Mine)', 'Caller', 'mine (Mine) -> Caller'),
  ],
];

describe('what would outlive its scope with something of the scope in it is refused to everybody, on every try', () => {
  it.each(captures)('%s', async (_title, prepare, message) => {
    const [first, ...others] = await refusals(prepare);
    expect(first).toContain(message);
    expect(others).toEqual([first, first]);
  });

  it.each(captures.filter(([title, , message]) => message.includes('would keep') && !title.startsWith('a model')))(
    '%s: at start-up already, where the plan shows it',
    (_title, prepare, message) => {
      const { ai } = application(new OneCallModel(), prepare);
      expect(() => {
        ai.verify();
      }).toThrow(needs(message));
    },
  );
});

describe('the guard', () => {
  it('also holds after a plan that failed halfway, parts of which inversify keeps', async () => {
    const one = application(new OneCallModel(), (c) => {
      @injectable()
      class Broken {
        constructor(
          @inject('part') readonly part: unknown,
          @inject('missing') readonly missing: unknown,
        ) {}
      }
      c.bind('broken').to(Broken);
      c.bind('part').to(Keeper).inSingletonScope();
      c.bind(OrderService).toSelf();
    });
    for (const id of ['alice', 'bob']) {
      const scope = one.ai.openScope(as(id));
      expect((await rejection(() => scope.container.get('broken'))).message).toMatch(/No bindings found/);
      const refused = await rejection(() => scope.container.get('part'));
      expect(refused).toBeInstanceOf(AIScopeError);
      expect(refused.message).toBe(keeps('part (Keeper)', 'Caller', 'part (Keeper) -> Caller'));
    }
  });

  it('also holds in a container that somebody makes below the scope’s own, whoever binds the caller there', async () => {
    const one = application(new OneCallModel(), (c) => {
      c.bind('part').to(Keeper).inSingletonScope();
      c.bind('mine').to(Keeper);
      c.bind('opaque')
        .toDynamicValue((context) => context.get(Caller))
        .inSingletonScope();
      c.bind(OrderService).toSelf();
    });
    const scope = one.ai.openScope(as('alice'));
    const child = new Container({ parent: scope.container });
    const grandchild = new Container({ parent: child });
    grandchild.bind(Caller).toConstantValue({ id: 'eve' });
    for (const container of [child, grandchild])
      for (let i = 0; i < 2; i++) {
        for (const get of [
          () => container.get('part'),
          () => container.getAsync('part'),
          () => container.getAll('part'),
        ])
          expect((await rejection(get)).message).toBe(keeps('part (Keeper)', 'Caller', 'part (Keeper) -> Caller'));
        expect((await rejection(() => container.get('opaque'))).message).toMatch(
          /^opaque lives as long as the application/,
        );
      }
    // What keeps nothing is made from what is nearest, as inversify has it; the agent's caller stays the scope's.
    expect(child.get<Keeper>('mine').caller.id).toBe('alice');
    expect(grandchild.get<Keeper>('mine').caller.id).toBe('eve');
    expect(await grandchild.get(Desk).agent.chat('q')).toBe('order 42 for alice');
    await scope.close();
    for (const container of [child, grandchild])
      expect((await rejection(() => container.get('mine'))).message).toMatch(/the scope has ended/);
  });

  it('leaves a container below the application alone, which is no scope: its agent has no caller', async () => {
    const one = application(new OneCallModel());
    const own = new Container({ parent: one.container });
    own.bind(Caller).toConstantValue({ id: 'eve' });
    const { agent } = own.get(Desk);
    expect((await rejection(() => agent.chat('q'))).message).toMatch(
      /there is no scope, so there is no caller to act for/,
    );
    // Inside a scope it acts for that scope's caller, not for one that was bound somewhere else.
    expect(await one.ai.runInScope(as('alice'), () => agent.chat('q'))).toBe('order 42 for alice');
  });
});

/** Each serves every caller, and nobody hears of it. */
const legal: readonly (readonly [title: string, prepare: (container: Container) => void, found?: string])[] = [
  [
    'a pool made by a singleton dynamic value',
    withPart((c) => {
      c.bind('part')
        .toDynamicValue(() => 'pool')
        .inSingletonScope();
    }),
    'pool',
  ],
  [
    'a pool that connects asynchronously',
    withPart((c) => {
      c.bind('part')
        .toDynamicValue(async () => Promise.resolve('pool'))
        .inSingletonScope();
    }),
    'pool',
  ],
  [
    'a singleton over configuration',
    withPart((c) => {
      c.bind('config').toConstantValue({ id: 'eu-1' });
      c.bind('part')
        .toDynamicValue((context) => context.get<Caller>('config').id)
        .inSingletonScope();
    }),
    'eu-1',
  ],
  [
    'a constant that is a cache',
    withPart((c) => {
      c.bind('part').toConstantValue({ id: 'cache' });
    }),
    'cache',
  ],
  [
    'a constant that is activated without a caller',
    withPart((c) => {
      c.bind<object>('part')
        .toConstantValue({})
        .onActivation(() => ({ id: 'activated' }));
    }),
    'activated',
  ],
  [
    'a singleton logger class',
    withPart((c) => {
      @injectable()
      class Log {
        readonly id = 'log';
      }
      c.bind('part').to(Log).inSingletonScope();
    }),
    'log',
  ],
  [
    'a singleton over a singleton over a factory’s client',
    withPart((c) => {
      @injectable()
      class Client {
        readonly id: string;
        constructor(@inject('connect') connect: () => string) {
          this.id = connect();
        }
      }
      @injectable()
      class Repository {
        readonly id: string;
        constructor(@inject(Client) client: Client) {
          this.id = client.id;
        }
      }
      c.bind<() => string>('connect').toFactory(() => () => 'connected');
      c.bind(Client).toSelf().inSingletonScope();
      c.bind('part').to(Repository).inSingletonScope();
    }),
    'connected',
  ],
  [
    'a factory that makes things from what the application has',
    withPart((c) => {
      c.bind('region').toConstantValue('eu-1');
      c.bind<() => string>('part').toFactory((context: ResolutionContext) => () => context.get<string>('region'));
    }),
    'eu-1',
  ],
  [
    'a factory that can do without what nobody binds',
    withPart((c) => {
      c.bind<() => string>('part').toFactory(
        (context: ResolutionContext) => () => context.get<string>('tracer', { optional: true }) ?? 'untraced',
      );
    }),
    'untraced',
  ],
  [
    'a singleton that can do without what nobody binds',
    withPart((c) => {
      @injectable()
      class Metrics {
        readonly id: string;
        constructor(@inject('tracer') @optional() tracer: string | undefined) {
          this.id = tracer ?? 'untraced';
        }
      }
      c.bind('part').to(Metrics).inSingletonScope();
    }),
    'untraced',
  ],
  [
    'a singleton resolved value of the application’s things',
    withPart((c) => {
      c.bind('region').toConstantValue('eu-1');
      c.bind('part')
        .toResolvedValue((region: string) => region, ['region'])
        .inSingletonScope();
    }),
    'eu-1',
  ],
  [
    'a redirection to a singleton',
    withPart((c) => {
      c.bind('pool')
        .toDynamicValue(() => 'pool')
        .inSingletonScope();
      c.bind('part').toService('pool');
    }),
    'pool',
  ],
  [
    'a singleton that collects the application’s plugins',
    withPart((c) => {
      @injectable()
      class Registry {
        readonly id: string;
        constructor(@multiInject('plugin') plugins: string[]) {
          this.id = plugins.join('+');
        }
      }
      c.bind('plugin').toConstantValue('a');
      c.bind('plugin').toConstantValue('b');
      c.bind('part').to(Registry).inSingletonScope();
    }),
    'a+b',
  ],
  [
    'a singleton of a container module, deactivated some day',
    withPart((c) => {
      c.load(
        new ContainerModule(({ bind }) => {
          bind('part')
            .toDynamicValue(() => 'pool')
            .inSingletonScope()
            .onDeactivation(() => undefined);
        }),
      );
    }),
    'pool',
  ],
  [
    'a transient dynamic value, which sees the caller',
    withPart((c) => {
      c.bind('part').toDynamicValue((context) => `profile of ${context.get(Caller).id}`);
    }),
    'profile of CALLER',
  ],
  [
    'an optional caller of something transient',
    withPart((c) => {
      c.bind('part').toDynamicValue((context) => context.get(Caller, { optional: true })?.id ?? 'nobody');
    }),
    'CALLER',
  ],
  [
    'a singleton controller with an agent',
    withPart((c) => {
      c.bind('part').toConstantValue('x');
      c.bind(Desk).toSelf().inSingletonScope();
    }),
    'x',
  ],
  [
    'a tool class that is new for each lookup',
    withPart((c) => {
      c.bind('part').toConstantValue('x');
      c.bind(OrderTools).toSelf().inRequestScope();
    }),
    'x',
  ],
];

describe('what lives long and keeps nobody passes without a word', () => {
  const answerFor = (id: string, found: string): string => `${id} with ${found.replace('CALLER', id)}`;

  it.each(legal)('%s', async (_title, prepare, found = '') => {
    const one = application(new OneCallModel(), prepare);
    one.ai.verify();
    for (const ids of [['alice'], ['bob', 'alice'], ['alice', 'bob', 'carol', 'bob']])
      expect(await Promise.all(ids.map((id) => ask(one, id)))).toEqual(ids.map((id) => answerFor(id, found)));
    expect(one.logger.warn).not.toHaveBeenCalled();
    expect(one.logger.error).not.toHaveBeenCalled();
  });

  it.each(legal)('%s, first used where there is no scope', async (_title, prepare, found = '') => {
    const one = application(new OneCallModel(), prepare);
    // What needs a caller cannot be had here; everything else is built now.
    for (const id of ['part', 'pool', Desk])
      await rejection(async () => {
        await one.container.getAsync(id as string);
        throw new Error('there it is');
      });
    expect(await Promise.all(['alice', 'bob'].map((id) => ask(one, id)))).toEqual(
      ['alice', 'bob'].map((id) => answerFor(id, found)),
    );
  });

  it('things of a container above the application’s, shared by two applications', async () => {
    const root = new Container();
    let pools = 0;
    root
      .bind('part')
      .toDynamicValue(() => `pool ${(++pools).toString()}`)
      .inSingletonScope();
    const both = ['a', 'b'].map((name) => {
      const model = new OneCallModel();
      return {
        name,
        app: application(
          model,
          withPart(() => undefined),
          root,
        ),
      };
    });
    for (const { app } of both)
      expect(await Promise.all(['alice', 'bob'].map((id) => ask(app, id)))).toEqual([
        'alice with pool 1',
        'bob with pool 1',
      ]);
    expect(pools).toBe(1);
  });
});

describe('what a container above two applications keeps', () => {
  @injectable()
  class Repository {
    readonly id: string;
    constructor(@inject('tenant') tenant: string) {
      this.id = tenant;
    }
  }

  const two = (prepareRoot: (root: Container) => void) => {
    const root = new Container();
    prepareRoot(root);
    return ['a', 'b'].map((name) =>
      application(
        new OneCallModel(),
        withPart((c) => void c.bind('tenant').toConstantValue(name)),
        root,
      ),
    );
  };

  it.each<[string, (root: Container) => void, string]>([
    [
      'a class',
      (root) => void root.bind('part').to(Repository).inSingletonScope(),
      "part (Repository) is a singleton of a container above the application and would keep tenant, which is this application's, for every other one: OrderTools -> OrderService (Service) -> part (Repository) -> tenant.\nBind part in the application, or inTransientScope(); or bind tenant where part is bound.",
    ],
    [
      'a dynamic value',
      (root) =>
        void root
          .bind('part')
          .toDynamicValue((context) => context.get<string>('tenant'))
          .inSingletonScope(),
      "part is kept by a container above the application, and is built from tenant, which is one application's and would serve every other: OrderTools -> OrderService (Service) -> part.\nBind part in the application, or inTransientScope(); or bind tenant where part is bound.",
    ],
    [
      'a dynamic value that asks for something over it',
      (root) => {
        root.bind('middle').to(Repository);
        root
          .bind('part')
          .toDynamicValue((context) => context.get<Repository>('middle').id)
          .inSingletonScope();
      },
      "part is kept by a container above the application, and is built from tenant, which is one application's and would serve every other: OrderTools -> OrderService (Service) -> part.",
    ],
  ])('is refused to both where it is built from one application’s things: %s', async (_title, prepareRoot, message) => {
    for (const first of [0, 1]) {
      const both = two(prepareRoot);
      for (const one of first === 0 ? both : [...both].reverse())
        for (const id of ['alice', 'bob']) {
          const error = await rejection(() => ask(one, id));
          expect(error).toBeInstanceOf(AIScopeError);
          expect(error.message).toContain(message);
        }
    }
  });

  it('serves both where it is transient, each with its own', async () => {
    const both = two((root) => void root.bind('part').to(Repository));
    expect(await Promise.all(both.map((one) => ask(one, 'alice')))).toEqual(['alice with a', 'alice with b']);
  });

  it('may hold agents, which act for no other application', async () => {
    const root = new Container();
    root.bind(Desk).toSelf().inSingletonScope();
    const both = ['a', 'b'].map(() => application(new OneCallModel(), undefined, root));
    expect(await ask(both[0]!, 'alice')).toBe('order 42 for alice');
    expect((await rejection(() => ask(both[1]!, 'bob'))).message).toMatch(
      /the current scope belongs to another application/,
    );
  });
});
