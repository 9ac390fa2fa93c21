import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable, multiInject, named, optional, type ResolutionContext } from 'inversify';
import { AIObserver, AIScopeError, type ToolEnded } from 'inversify-ai';
import { application, type App, as, Caller, Desk, OneCallModel, OrderService, rejection } from './orders.js';

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
