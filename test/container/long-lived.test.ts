import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable, multiInject, named, optional, type ResolutionContext } from 'inversify';
import { AIObserver, AIScopeError, installAI, type ToolEnded } from 'inversify-ai';
import {
  application,
  type App,
  as,
  Caller,
  Desk,
  OneCallModel,
  OrderService,
  quietLogger,
  rejection,
} from './orders.js';

/** A service that is built from one more thing, and tells it. */
@injectable()
class Service extends OrderService {
  constructor(
    @inject(Caller) caller: Caller,
    @inject('part') readonly part: unknown,
  ) {
    super(caller);
  }
  override find(): string {
    return `${this.caller.id}: ${String(typeof this.part === 'function' ? (this.part as () => unknown)() : this.part)}`;
  }
}

const withPart = (prepare: (container: Container) => void): App =>
  application(new OneCallModel(), (c) => {
    c.bind(OrderService).to(Service);
    prepare(c);
  });

const ask = (one: App, id: string, bind: (container: Container) => void = () => undefined): Promise<string> =>
  one.ai.runInScope(
    (own) => {
      as(id)(own);
      bind(own);
    },
    (scope) => scope.container.get(Desk).agent.chat('q'),
  );

const refused = async (run: () => unknown, message: RegExp): Promise<void> => {
  const error = await rejection(run);
  expect(error).toBeInstanceOf(AIScopeError);
  expect(error.message).toMatch(message);
};

describe('a singleton is built from what the application has', () => {
  @injectable()
  class Policy {
    constructor(@multiInject('rule') readonly rules: string[]) {}
    toString(): string {
      return this.rules.join('+');
    }
  }
  @injectable()
  class Optional {
    constructor(@inject('rule') @optional() readonly rule: string | undefined) {}
    toString(): string {
      return this.rule ?? 'no rule';
    }
  }
  const conditional = (own: Container): void => {
    own.bind('rule').toConstantValue('beta').whenNamed('beta');
  };

  it.each<[string, new (...args: never[]) => object]>([
    ['a list', Policy],
    ['something optional', Optional],
  ])('also where the first scope binds the same under a condition: %s', async (_title, target) => {
    const one = withPart((c) => {
      c.bind('rule').toConstantValue('refuse mallory');
      c.bind('part').to(target).inSingletonScope();
    });
    expect(await ask(one, 'alice', conditional)).toBe('alice: refuse mallory');
    expect(await ask(one, 'bob')).toBe('bob: refuse mallory');
    expect(String(one.container.get('part'))).toBe('refuse mallory');
  });

  it('and is refused where the application cannot build it by itself then', async () => {
    const one = withPart((c) => {
      c.bind('rule').toConstantValue('refuse mallory');
      c.bind('part').to(Policy).inSingletonScope().whenNamed('kept');
      c.bind('part').toConstantValue('another').whenNamed('other');
      @injectable()
      class Named extends OrderService {
        constructor(
          @inject(Caller) caller: Caller,
          @inject('part') @named('kept') readonly part: unknown,
        ) {
          super(caller);
        }
        override find(): string {
          return String(this.part);
        }
      }
      c.rebind(OrderService).to(Named);
    });
    await refused(
      () => ask(one, 'alice', conditional),
      /^part \(Policy\) is a singleton of the application, and the scope binds rule, of which it is built, under a condition: .*\nHave the application build it before its first request, container\.get\(part\); or bind it in the scope\./,
    );
    one.container.get('part', { name: 'kept' });
    expect(await ask(one, 'alice', conditional)).toBe('refuse mallory');
  });

  it('and does not mind what a scope binds under another name', async () => {
    const one = withPart((c) => {
      c.bind('part')
        .toDynamicValue((context) => context.get<string>('config', { name: 'redis', optional: true }) ?? 'plain')
        .inSingletonScope();
    });
    const tenant = (own: Container): void => {
      own.bind('config').toConstantValue('t').whenNamed('tenant');
    };
    expect(await ask(one, 'alice', tenant)).toBe('alice: plain');
    const redis = (own: Container): void => {
      own.bind('config').toConstantValue('r').whenNamed('redis');
    };
    await refused(() => ask(one, 'alice', redis), /^part is kept by the application, which built it without config/);
  });
});

describe('what is absent does not stay so unnoticed', () => {
  @injectable()
  class Query {
    constructor(@inject(Caller) @optional() readonly caller: Caller | undefined) {}
    toString(): string {
      return this.caller === undefined ? 'the rows of everybody' : `the rows of ${this.caller.id}`;
    }
  }
  @injectable()
  class Filter {
    constructor(@multiInject('restriction') @optional() readonly restrictions: string[]) {}
    toString(): string {
      return `rows less ${this.restrictions.length.toString()} restrictions`;
    }
  }

  it('a step behind a factory', async () => {
    const one = withPart((c) => {
      c.bind(Query).toSelf();
      c.bind<() => unknown>('part').toFactory((context: ResolutionContext) => () => context.get(Query));
    });
    for (let i = 0; i < 2; i++)
      await refused(() => ask(one, 'alice'), /^Caller was asked for by something that the application keeps/);
  });

  it('as an empty list', async () => {
    const one = withPart((c) => {
      c.bind(Filter).toSelf();
      c.bind('part')
        .toDynamicValue((context) => String(context.get(Filter)))
        .inSingletonScope();
    });
    expect(await ask(one, 'alice')).toBe('alice: rows less 0 restrictions');
    const restricted = (own: Container): void => {
      own.bind('restriction').toConstantValue('mine alone');
    };
    await refused(
      () => ask(one, 'bob', restricted),
      /^part is kept by the application, which built it without restriction/,
    );
  });

  it('after a snapshot of the application was restored', async () => {
    const one = withPart((c) => {
      c.bind('part')
        .toDynamicValue((context) => context.get(Caller, { optional: true })?.id ?? 'nobody')
        .inSingletonScope();
    });
    await refused(() => ask(one, 'alice'), /^part is kept by the application, which built it without Caller/);
    one.container.snapshot();
    one.container.restore();
    await refused(() => ask(one, 'alice'), /^part is kept by the application, which built it without Caller/);
  });

  it('for those who wait for the same asynchronous observer', async () => {
    const audited: string[] = [];
    class Audit extends AIObserver {
      constructor(private readonly by: string) {
        super();
      }
      override toolEnded(event: ToolEnded): void {
        audited.push(`${event.tool} for ${this.by}`);
      }
    }
    const one = application(new OneCallModel(), (c) => {
      c.bind(OrderService).toSelf();
      c.bind(AIObserver)
        .toDynamicValue(async (context) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          return new Audit((await context.getAsync(Caller, { optional: true }))?.id ?? 'nobody');
        })
        .inSingletonScope();
    });
    const asked = ['alice', 'bob', 'carol'].map((id) =>
      refused(() => ask(one, id), /^AIObserver is kept by the application, which built it without Caller/),
    );
    await Promise.all(asked);
    expect(audited).toEqual([]);
  });
});

describe('what is planned where no scope sees it', () => {
  it('a plan that fails leaves nothing that is built in somebody’s run', async () => {
    const built: string[] = [];
    const one = withPart((c) => {
      c.bind('part')
        .toDynamicValue((context) => {
          try {
            built.push(one.ai.currentScope().container.get(Caller).id);
          } catch {
            built.push('nobody');
          }
          return context.get(Caller, { optional: true })?.id ?? 'x';
        })
        .inSingletonScope();
      @injectable()
      class Page {
        constructor(
          @inject('part') readonly part: unknown,
          @inject('missing') readonly missing: unknown,
        ) {}
      }
      c.bind('page').to(Page);
    });
    expect(() => one.container.get('page')).toThrow(/No bindings found/);
    await one.ai.runInScope(as('alice'), () => one.container.get('part'));
    expect(built).toEqual(['nobody']);
    await refused(() => ask(one, 'bob'), /^part is kept by the application, which built it without Caller/);
  });
});

describe('what somebody made autobind make', () => {
  it.each(['application', 'scope'])('on request alone, in the %s, is nobody’s all the same', async (where) => {
    @injectable()
    class Report {
      constructor(@inject(Caller) readonly caller: Caller) {}
    }
    const one = application(new OneCallModel());
    if (where === 'application') one.container.get(Report, { autobind: true });
    await refused(
      () =>
        one.ai.runInScope(
          () => undefined,
          (scope) => {
            if (where === 'scope') scope.container.get(Report, { autobind: true });
            return scope.container.get(Desk).agent.chat('q');
          },
        ),
      /^Caller is bound by nobody, and autobind would make one out of nothing/,
    );
  });
});

describe('plans that are kept already', () => {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  @injectable()
  class Filter {
    constructor(@inject(Caller) @optional() readonly caller: Caller | undefined) {}
    toString(): string {
      return this.caller === undefined ? 'everybody' : this.caller.id;
    }
  }

  it('hide no absence from something asynchronous, whatever asks for the same meanwhile', async () => {
    const one = withPart((c) => {
      c.bind(Filter).toSelf();
      for (const id of ['part', 'other'])
        c.bind(id)
          .toDynamicValue(async (context) => {
            await wait(5);
            return String(context.get(Filter));
          })
          .inSingletonScope();
    });
    const warm = one.ai.runInScope(
      () => undefined,
      (scope) => scope.container.getAsync('other'),
    );
    one.container.get(Filter);
    await Promise.all([
      refused(() => ask(one, 'bob'), /^part is kept by the application, which built it without Caller/),
      warm,
    ]);
    await refused(() => ask(one, 'bob'), /^part is kept by the application, which built it without Caller/);
  });

  it('are told apart by name, each time that a factory asks', async () => {
    const one = withPart((c) => {
      c.bind<object>('repository').to(Filter).whenNamed('main');
      c.bind<object>('repository')
        .toConstantValue({ toString: () => 'static' })
        .whenNamed('static');
      c.bind<(name: string) => unknown>('make').toFactory(
        (context: ResolutionContext) => (name: string) => context.get('repository', { name }),
      );
      c.bind('part').toDynamicValue((context) => () => {
        const make = context.get<(name: string) => unknown>('make');
        return [String(make('static')), String(make('main'))].join();
      });
    });
    for (let i = 0; i < 3; i++)
      await refused(() => ask(one, 'bob'), /^Caller was asked for by something that the application keeps/);
  });

  it('show a transient dynamic value a step behind a factory, too', async () => {
    const one = withPart((c) => {
      c.bind('repository').toDynamicValue((context) => context.get(Caller, { optional: true })?.id ?? 'everybody');
      c.bind<() => unknown>('part').toFactory((context: ResolutionContext) => () => context.get('repository'));
    });
    await refused(() => ask(one, 'bob'), /^Caller was asked for by something that the application keeps/);
  });

  it('leave nothing to be built in somebody’s run after a plan that failed, whatever its conditions ask', async () => {
    const built: string[] = [];
    const one = withPart((c) => {
      c.bind('flags').toConstantValue(true);
      c.bind('late')
        .toConstantValue(1)
        .when(() => c.get<boolean>('flags'));
      c.bind('part')
        .toDynamicValue(() => {
          try {
            built.push(one.ai.currentScope().container.get(Caller).id);
          } catch {
            built.push('nobody');
          }
          return 'x';
        })
        .inSingletonScope();
      @injectable()
      class Root {
        constructor(
          @inject('late') readonly late: unknown,
          @inject('part') readonly part: unknown,
          @inject('missing') readonly missing: unknown,
        ) {}
      }
      c.bind('root').to(Root);
    });
    one.container.get('flags');
    expect(() => one.container.get('root')).toThrow(/No bindings found/);
    await one.ai.runInScope(as('alice'), () => one.container.get('part'));
    expect(built).toEqual(['nobody']);
  });

  it('are looked at by verify for what is asked, and not for what a condition asks', () => {
    const seen: unknown[] = [];
    const one = withPart((c) => {
      @injectable()
      class Keeper {
        constructor(@inject(Caller) readonly caller: Caller) {}
      }
      c.bind('flags').toDynamicValue(() => ({ on: true }));
      c.bind('part')
        .to(Keeper)
        .inSingletonScope()
        .when(() => {
          try {
            return c.get<{ on: boolean }>('flags').on;
          } catch (error) {
            seen.push(error);
            return false;
          }
        });
    });
    expect(() => {
      one.ai.verify();
    }).toThrow(/part \(Keeper\) is a singleton of the application and needs Caller/);
    expect(seen).toEqual([]);
  });
});

describe('outside every scope an application is what it was', () => {
  it('singletons of one look-up share what is once for it, and are built in their order', () => {
    const order: string[] = [];
    @injectable()
    class Bus {
      readonly listeners: string[] = [];
    }
    @injectable()
    class Publisher {
      constructor(@inject(Bus) readonly bus: Bus) {
        order.push('publisher');
      }
    }
    @injectable()
    class Migration {
      constructor() {
        order.push('migration');
      }
    }
    @injectable()
    class Listener {
      constructor(@inject(Bus) readonly bus: Bus) {
        order.push('listener');
      }
    }
    @injectable()
    class Main {
      constructor(
        @inject(Migration) readonly migration: Migration,
        @inject(Publisher) readonly publisher: Publisher,
        @inject(Listener) readonly listener: Listener,
      ) {}
    }
    const { container } = application(new OneCallModel());
    container.bind(Bus).toSelf().inRequestScope();
    container.bind(Publisher).toSelf().inSingletonScope();
    container.bind(Listener).toSelf().inSingletonScope();
    container.bind(Migration).toSelf();
    container.bind(Main).toSelf();
    const main = container.get(Main);
    expect(main.publisher.bus).toBe(main.listener.bus);
    expect(order).toEqual(['migration', 'publisher', 'listener']);
  });

  it('a chain of singletons that is longer than inversify plans at once is built one by one', () => {
    const { container } = application(new OneCallModel());
    container.bind('s0').toConstantValue(0);
    for (let i = 1; i <= 1_000; i++)
      container
        .bind(`s${i.toString()}`)
        .toResolvedValue((before: number) => before + 1, [`s${(i - 1).toString()}`])
        .inSingletonScope();
    for (let i = 1; i <= 1_000; i++) expect(container.get(`s${i.toString()}`)).toBe(i);
  });

  it('autobind makes what it made, for a singleton too', () => {
    class Helper {}
    const container = new Container({ autobind: true });
    installAI(container, { model: new OneCallModel(), logger: quietLogger() });
    container
      .bind('part')
      .toDynamicValue((context) => context.get(Helper))
      .inSingletonScope();
    expect(container.get('part')).toBeInstanceOf(Helper);
  });

  it('its context lives as long as it does, whatever is unbound or restored', () => {
    const { container } = application(new OneCallModel());
    container.unbindAll();
    container.bind('config').toConstantValue('c');
    container
      .bind('part')
      .toDynamicValue((context) => context.get('config'))
      .inSingletonScope();
    expect(container.get('part')).toBe('c');
  });
});

describe('below a tool, a step behind a transient dynamic value', () => {
  it('what is new for each look-up is refused as well', async () => {
    @injectable()
    class UnitOfWork {}
    const one = withPart((c) => {
      c.bind(UnitOfWork).toSelf().inRequestScope();
      c.bind('part').toDynamicValue((context) => context.get(UnitOfWork).constructor.name);
    });
    await refused(() => ask(one, 'alice'), /^UnitOfWork is bound inRequestScope\(\)/);
  });
});
