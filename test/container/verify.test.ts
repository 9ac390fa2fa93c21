import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable, injectFromBase, optional } from 'inversify';
import { AI, AIDefinitionError, AIObserver, AIService, AITool, FromScope, installAI, ReadOnly } from 'inversify-ai';
import { exposedTools, scriptedModel } from 'inversify-ai/testing';
import { as, Caller, Desk, OrderService, OrderTools, quietLogger } from './orders.js';

function verify(prepare: (container: Container) => void, options: { autobind?: true } = {}) {
  const container = new Container(options);
  prepare(container);
  const logger = quietLogger();
  const ai = installAI(container, { model: scriptedModel([]), logger });
  let problems: readonly string[] = [];
  try {
    ai.verify();
  } catch (error) {
    expect(error).toBeInstanceOf(AIDefinitionError);
    ({ problems } = error as AIDefinitionError);
  }
  return { ai, problems, warnings: logger.warn.mock.calls.map(([line]) => line as string) };
}

const bindAll = (container: Container, ...services: (abstract new (...args: never[]) => object)[]): void => {
  for (const service of services) container.bind<object>(service as new () => object).toSelf();
};

describe('verify finds, before there is any scope', () => {
  it('a singleton that would keep what only a scope can bind', () => {
    const { problems } = verify((c) => {
      bindAll(c, OrderTools, Desk);
      c.bind(OrderService).toSelf().inSingletonScope();
    });
    expect(problems).toEqual([
      '@AI on Desk#0: OrderService is a singleton of the application and needs Caller, which the application does not bind: OrderTools -> OrderService -> Caller.\n' +
        "If Caller is the application's, bind it there. If it is one caller's, OrderService would keep it for every later one: bind OrderService inTransientScope(), or in the scope, container.bind(OrderService)…inSingletonScope() in openScope's bind; or pass Caller to its methods.",
    ]);
  });

  it('a singleton controller that would keep one', () => {
    @injectable()
    class Kept {
      constructor(
        @inject(Caller) readonly caller: Caller,
        @AI({ tools: [OrderTools] }) readonly agent: AIService,
      ) {}
    }
    const { problems } = verify((c) => {
      bindAll(c, OrderTools, OrderService);
      c.bind('controller').to(Kept).inSingletonScope();
    });
    expect(problems).toEqual([
      expect.stringMatching(
        /^@AI on Kept#1: controller \(Kept\) is a singleton .* needs Caller.*: controller \(Kept\) -> Caller\./,
      ),
    ]);
  });

  it('none where everything that lives long can do without, and builds nothing', () => {
    let built = 0;
    @injectable()
    class Pool {
      constructor(@inject('metrics') @optional() readonly metrics: unknown) {
        built++;
      }
    }
    @injectable()
    class Service extends OrderService {
      constructor(
        @inject(Caller) caller: Caller,
        @inject(Pool) readonly pool: Pool,
      ) {
        super(caller);
      }
    }
    const { problems, warnings } = verify((c) => {
      bindAll(c, OrderTools);
      c.bind(Desk).toSelf().inSingletonScope();
      c.bind(Pool).toSelf().inSingletonScope();
      c.bind(OrderService).to(Service);
    });
    expect([problems, warnings, built]).toEqual([[], [], 0]);
  });

  it('what is bound once for each lookup below a tool, as a warning: a scope may bind it otherwise', async () => {
    @injectable()
    class Session {}
    @injectable()
    class Service extends OrderService {
      constructor(
        @inject(Caller) caller: Caller,
        @inject(Session) readonly session: Session,
      ) {
        super(caller);
      }
    }
    const { ai, problems, warnings } = verify((c) => {
      bindAll(c, OrderTools, Desk);
      c.bind(Session).toSelf().inRequestScope();
      c.bind(OrderService).to(Service);
    });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^\[inversify-ai\] @AI on Desk#0: Session is bound inRequestScope\(\)[^]* If it is bound in scopes alone, this is no mistake\.$/,
      ),
    ]);
    const bind = (own: Container): void => {
      as('alice')(own);
      own.bind(Session).toSelf().inSingletonScope();
    };
    await expect(ai.runInScope(bind, (scope) => scope.container.get(Desk).agent)).resolves.toBeInstanceOf(AIService);
  });

  it('nothing wrong with what autobind makes, and binds no caller', async () => {
    const { ai, problems } = verify(
      (c) => {
        bindAll(c, OrderTools, Desk);
      },
      { autobind: true },
    );
    expect(problems).toEqual([]);
    await expect(ai.runInScope(as('alice'), (scope) => scope.container.get(OrderService).find(1))).resolves.toBe(
      'order 1 for alice',
    );
  });

  it('a token that @FromScope names and a singleton keeps', () => {
    const TENANT = Symbol('Tenant');
    @injectable()
    class Tools {
      @ReadOnly
      @AITool('d')
      look(@FromScope('profile') _profile: string): string {
        return 'x';
      }
    }
    @injectable()
    class Holder {
      constructor(@AI({ tools: [Tools] }) readonly agent: AIService) {}
    }
    const { problems } = verify((c) => {
      bindAll(c, Tools, Holder);
      c.bind('profile')
        .toResolvedValue((tenant: string) => tenant, [TENANT])
        .inSingletonScope();
    });
    expect(problems).toEqual([expect.stringMatching(/^@AI on Holder#0: profile is a singleton .* needs Tenant/)]);
  });
});

describe('a subclass of a class with agents', () => {
  @injectable()
  class Base {
    @AI({ tools: [OrderTools], toolGroup: ReadOnly }) readonly reader!: AIService;
    constructor(@AI({ tools: [OrderTools] }) readonly agent: AIService) {}
  }

  const check = (target: new (...args: never[]) => object): readonly string[] =>
    verify((c) => {
      bindAll(c, OrderTools, OrderService, target);
    }).problems;

  const loses = (name: string, ...sites: string[]): string[] =>
    sites.map(
      (site) =>
        `${name} loses @AI of ${site}, which it inherits: inversify injects what a base class declares only where it is asked to; write @injectFromBase() on ${name}, or declare the agent there`,
    );

  it('that does not say that it takes them is told, for the property and the constructor', () => {
    @injectable()
    class Plain extends Base {}
    class Unmarked extends Base {}
    expect(check(Plain)).toEqual(loses('Plain', 'Base.reader', 'Base#0'));
    expect(check(Unmarked)).toEqual(loses('Unmarked', 'Base.reader', 'Base#0'));
    expect(new (Plain as unknown as new () => Base)().agent).toBeUndefined();
  });

  it('further down, too', () => {
    @injectable()
    @injectFromBase()
    class Middle extends Base {}
    @injectable()
    class Bottom extends Middle {}
    expect(check(Middle)).toEqual([]);
    expect(check(Bottom)).toEqual(loses('Bottom', 'Base.reader', 'Base#0'));
  });

  it('that takes them, or declares its own, passes', () => {
    @injectable()
    @injectFromBase()
    class Taking extends Base {}
    @injectable()
    class Own extends Base {
      @AI({ tools: [OrderTools] }) declare readonly reader: AIService;
      constructor(@AI({ tools: [OrderTools] }) agent: AIService) {
        super(agent);
      }
    }
    expect(check(Taking)).toEqual([]);
    expect(check(Own)).toEqual([]);
  });

  it('that writes a constructor of its own loses only the property', () => {
    @injectable()
    class Fixed extends Base {
      constructor() {
        super(undefined as never);
      }
    }
    expect(check(Fixed)).toEqual(loses('Fixed', 'Base.reader'));
  });

  it('that nobody bound says nothing', () => {
    @injectable()
    class Unused extends Base {}
    expect(Unused.name).toBe('Unused');
    expect(check(Base)).toEqual([]);
  });
});

describe('verify warns', () => {
  it('of several calls in a turn that the model’s wire does not have', () => {
    @injectable()
    class Several {
      constructor(@AI({ tools: [OrderTools], parallelToolCalls: true }) readonly agent: AIService) {}
    }
    const { problems, warnings } = verify((c) => {
      bindAll(c, OrderTools, OrderService, Several);
    });
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/^\[inversify-ai\] @AI on Several#0: parallelToolCalls does nothing, .* beside it\.$/),
    ]);
  });
});

describe('verify says nothing against', () => {
  it('a class that is made by hand, or only a name for another, and extends one with agents', () => {
    @injectable()
    class Base {
      constructor(@AI({ tools: [OrderTools] }) readonly agent: AIService) {}
    }
    class ByHand extends Base {}
    abstract class Name extends Base {}
    const { problems, warnings } = verify((c) => {
      bindAll(c, OrderTools, OrderService, Base);
      c.bind(ByHand).toDynamicValue((context) => new ByHand(context.get(Base).agent));
      c.bind(Name).toService(Base);
    });
    expect([problems, warnings]).toEqual([[], []]);
  });

  it('a controller that is new for each lookup', () => {
    const { problems, warnings } = verify((c) => {
      bindAll(c, OrderTools, OrderService);
      c.bind(Desk).toSelf().inRequestScope();
    });
    expect([problems, warnings]).toEqual([[], []]);
  });

  it('what autobind made before', () => {
    const { ai } = verify((c) => bindAll(c, OrderTools, OrderService), { autobind: true });
    expect(exposedTools(ai)).toEqual([]);
    expect(() => ai.openScope(as('alice')).container.get(Desk)).not.toThrow();
    expect(exposedTools(ai)).toHaveLength(5);
    expect(() => {
      ai.verify();
    }).not.toThrow();
  });
});

describe('verify also finds', () => {
  it('an observer that would keep a caller, which every question would need', () => {
    @injectable()
    class Audit extends AIObserver {
      constructor(@inject(Caller) readonly caller: Caller) {
        super();
      }
    }
    const { problems } = verify((c) => {
      bindAll(c, OrderTools, OrderService, Desk);
      c.bind(AIObserver).to(Audit).inSingletonScope();
      c.bind(AIObserver).toConstantValue(new (class extends AIObserver {})());
    });
    expect(problems).toEqual([
      expect.stringMatching(/^AIObserver: AIObserver \(Audit\) is a singleton .* needs Caller/),
    ]);
  });

  it('a list of tools that cannot be read, and goes on', () => {
    @injectable()
    class Lazy {
      constructor(
        @AI({
          tools: () => {
            throw new Error('not yet');
          },
        })
        readonly agent: AIService,
      ) {}
    }
    expect(verify((c) => bindAll(c, Lazy)).problems).toEqual(['@AI on Lazy#0: the function in tools failed: not yet']);
  });

  it('a subclass that loses an agent, whatever its text says of constructors', () => {
    @injectable()
    class Base {
      constructor(@AI({ tools: [OrderTools] }) readonly agent: AIService) {}
    }
    @injectable()
    class Cloning extends Base {
      // constructor( in a comment, and
      readonly text = 'no constructor (here)';
      clone(): object {
        return new (this.constructor as new (agent: AIService) => object)(this.agent);
      }
    }
    @injectable()
    class Passing extends Base {
      readonly more = 1;
      constructor(...args: [AIService]) {
        super(...args);
        expect(this.more).toBe(1);
      }
    }
    for (const target of [Cloning, Passing])
      expect(verify((c) => bindAll(c, OrderTools, OrderService, target)).problems).toEqual([
        expect.stringMatching(new RegExp(`^${target.name} loses @AI of Base#0`)),
      ]);
  });
});
