import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable, type Newable, optional, type ResolutionContext } from 'inversify';
import {
  AI,
  AIDefinitionError,
  AIScopeError,
  AIService,
  AITool,
  AIToolParam,
  type ChatModel,
  FromScope,
  installAI,
  Mutating,
  ReadOnly,
} from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import {
  application,
  type App,
  as,
  Caller,
  Desk,
  OneCallModel,
  OrderService,
  OrderTools,
  quietLogger,
  rejection,
} from './orders.js';

type Prepare = (container: Container) => void;
type Kind = 'transient' | 'request' | 'singleton';

const bindAs = (container: Container, target: Newable, kind: Kind): void => {
  const binding = container.bind(target).toSelf();
  if (kind === 'singleton') binding.inSingletonScope();
  else if (kind === 'request') binding.inRequestScope();
  else binding.inTransientScope();
};

const ask = (app: App, id: string): Promise<string> =>
  app.ai.runInScope(as(id), (scope) => scope.container.get(Desk).agent.chat('q'));

const app = (prepare: Prepare): App =>
  application(new OneCallModel(), (container) => {
    prepare(container);
    if (!container.isBound(OrderService)) container.bind(OrderService).toSelf();
  });

async function refused(run: () => unknown, ...parts: readonly (string | RegExp)[]): Promise<void> {
  const error = await rejection(run);
  expect(error).toBeInstanceOf(AIScopeError);
  for (const part of parts) expect(error.message).toMatch(part);
}

describe('each caller gets their own', () => {
  const rows: [string, Prepare][] = [
    ['everything transient', () => undefined],
    ['a transient controller in the application', (c) => bindAs(c, Desk, 'transient')],
    ['a controller once for each get', (c) => bindAs(c, Desk, 'request')],
    ['a singleton controller in the application', (c) => bindAs(c, Desk, 'singleton')],
    ['a tool class once for each get', (c) => bindAs(c, OrderTools, 'request')],
  ];

  it.each(rows)('%s, alice first and bob first, interleaved', async (_title, prepare) => {
    for (const ids of [
      ['alice', 'bob'],
      ['bob', 'alice'],
    ]) {
      const one = app(prepare);
      expect(await Promise.all(ids.map((id) => ask(one, id)))).toEqual(ids.map((id) => `order 42 for ${id}`));
      expect(await ask(one, 'carol')).toBe('order 42 for carol');
    }
  });

  it('a controller that the scope itself binds as its singleton', async () => {
    const { ai } = app(() => undefined);
    const own = (id: string) => (container: Container) => {
      as(id)(container);
      container.bind(Desk).toSelf().inSingletonScope();
      container.bind(OrderService).toSelf().inSingletonScope();
    };
    for (const id of ['alice', 'bob'])
      expect(await ai.runInScope(own(id), (scope) => scope.container.get(Desk).agent.chat('q'))).toBe(
        `order 42 for ${id}`,
      );
  });
});

describe('C22: a singleton that would keep a caller is refused, on every try', () => {
  const captive =
    /is a singleton of the application and would keep Caller, which belongs to one scope, for every later caller/;

  it.each<[string, Prepare, string]>([
    ['the tool class', (c) => bindAs(c, OrderTools, 'singleton'), 'OrderTools -> OrderService -> Caller'],
    ['a service below it', (c) => bindAs(c, OrderService, 'singleton'), 'OrderTools -> OrderService -> Caller'],
  ])('%s', async (_title, prepare, chain) => {
    for (const ids of [
      ['alice', 'bob'],
      ['bob', 'alice'],
    ]) {
      const one = app(prepare);
      for (const id of ids) await refused(() => ask(one, id), captive, chain, /inTransientScope\(\), or in the scope/);
    }
  });

  it('when the site is resolved, before anything is asked', async () => {
    const { ai } = app((c) => bindAs(c, OrderService, 'singleton'));
    await refused(() => ai.runInScope(as('alice'), (scope) => scope.container.get(Desk)), captive);
  });

  it('also for an agent that was resolved outside the scope', async () => {
    const { container, ai } = app((c) => bindAs(c, OrderService, 'singleton'));
    const { agent } = container.get(Desk);
    await refused(() => ai.runInScope(as('alice'), () => agent.chat('q')), captive);
  });

  it('also where the application binds a caller too, built before or not', async () => {
    for (const built of [false, true]) {
      const one = app((c) => {
        bindAs(c, OrderService, 'singleton');
        c.bind(Caller).toConstantValue({ id: 'ROOT' });
      });
      if (built) one.container.get(OrderService);
      await refused(() => ask(one, 'alice'), captive);
    }
  });

  it('also where it is asked for by itself, twice', async () => {
    const { ai } = app((c) => bindAs(c, OrderService, 'singleton'));
    const scope = ai.openScope(as('alice'));
    for (let i = 0; i < 2; i++) await refused(() => scope.container.get(OrderService), captive);
    await refused(() => scope.container.getAsync(OrderService), captive);
  });

  it.each<[string, Prepare]>([
    [
      'toResolvedValue',
      (c) => {
        c.bind('kept')
          .toResolvedValue((caller: Caller) => caller.id, [Caller])
          .inSingletonScope();
      },
    ],
    [
      'a redirection to a singleton',
      (c) => {
        bindAs(c, OrderService, 'singleton');
        c.bind('kept').toService(OrderService);
      },
    ],
    [
      'an optional caller',
      (c) => {
        @injectable()
        class Kept {
          constructor(@inject(Caller) @optional() readonly caller: Caller | undefined) {}
        }
        c.bind('kept').to(Kept).inSingletonScope();
      },
    ],
    [
      'a property',
      (c) => {
        @injectable()
        class Kept {
          @inject(Caller) readonly caller!: Caller;
        }
        c.bind('kept').to(Kept).inSingletonScope();
      },
    ],
  ])('%s', async (_title, prepare) => {
    const { ai } = app(prepare);
    const scope = ai.openScope(as('alice'));
    for (let i = 0; i < 2; i++) await refused(() => scope.container.get('kept'), /would keep Caller/);
  });

  it.each<[string, Prepare]>([
    [
      'a singleton dynamic value',
      (c) => {
        c.bind('kept')
          .toDynamicValue((context) => context.get(Caller).id)
          .inSingletonScope();
      },
    ],
    [
      'an activated constant',
      (c) => {
        c.bind<{ id?: string }>('kept')
          .toConstantValue({})
          .onActivation((context) => context.get(Caller));
      },
    ],
  ])('%s that needs one, which a plan does not show', async (_title, prepare) => {
    const { ai } = app(prepare);
    const scope = ai.openScope(as('alice'));
    for (let i = 0; i < 2; i++)
      await refused(
        () => scope.container.get('kept'),
        /^kept lives as long as the application, so the application builds it, without a caller, and that failed/,
        /If it needs the caller, bind kept inTransientScope\(\)/,
      );
  });

  it('a factory of the application sees what the application has, whoever asked first', async () => {
    const { ai } = app((c) => {
      c.bind<() => string>('factory').toFactory((context: ResolutionContext) => () => context.get(Caller).id);
      c.bind<string>('kept')
        .toDynamicValue((context) => context.get<() => string>('factory')())
        .inTransientScope();
    });
    const scope = ai.openScope(as('alice'));
    expect(() => scope.container.get<() => string>('factory')()).toThrow(/No bindings found/);
  });
});

describe('what lives long is legal where it keeps nobody', () => {
  it('a pool below a tool, built once, by the application', async () => {
    let built = 0;
    @injectable()
    class Pool {
      constructor() {
        built++;
      }
    }
    @injectable()
    class Service extends OrderService {
      constructor(
        @inject(Caller) caller: Caller,
        @inject(Pool) readonly pool: Pool,
        @inject('cache') readonly cache: Map<string, string>,
      ) {
        super(caller);
      }
    }
    const one = app((c) => {
      c.bind(Pool).toSelf().inSingletonScope();
      c.bind('cache')
        .toDynamicValue(() => new Map())
        .inSingletonScope();
      c.bind(OrderService).to(Service);
    });
    expect(await Promise.all(['alice', 'bob'].map((id) => ask(one, id)))).toEqual([
      'order 42 for alice',
      'order 42 for bob',
    ]);
    expect(built).toBe(1);
  });

  it('an asynchronous singleton below a tool', async () => {
    const one = app((c) => {
      c.bind('pool')
        .toDynamicValue(async () => Promise.resolve('pool'))
        .inSingletonScope();
      @injectable()
      class Service extends OrderService {
        constructor(
          @inject(Caller) caller: Caller,
          @inject('pool') readonly pool: string,
        ) {
          super(caller);
        }
        override find(id: number): string {
          return `${super.find(id)} from ${this.pool}`;
        }
      }
      c.bind(OrderService).to(Service);
    });
    expect(await Promise.all(['alice', 'bob'].map((id) => ask(one, id)))).toEqual([
      'order 42 for alice from pool',
      'order 42 for bob from pool',
    ]);
  });

  it('a singleton that fails to be built: a failed tool, and the real error to the observer', async () => {
    const boom = new Error('connection refused');
    const one = app((c) => {
      c.bind('pool')
        .toDynamicValue(() => {
          throw boom;
        })
        .inSingletonScope();
      @injectable()
      class Service extends OrderService {
        constructor(
          @inject(Caller) caller: Caller,
          @inject('pool') readonly pool: string,
        ) {
          super(caller);
        }
      }
      c.bind(OrderService).to(Service);
    });
    expect(await ask(one, 'alice')).toBe(
      'OrderTools_findOrder failed. The reason is not known to you, so do not guess it.',
    );
    expect(one.audit.ended[0]!.error).toBe(boom);
  });

  it('a transient dynamic value is built in the scope and sees it', async () => {
    const one = app((c) => {
      c.bind(OrderService).toDynamicValue((context) => new OrderService(context.get(Caller)));
    });
    expect(await Promise.all(['alice', 'bob'].map((id) => ask(one, id)))).toEqual([
      'order 42 for alice',
      'order 42 for bob',
    ]);
  });
});

describe('C23: once for each get is not once for a request', () => {
  @injectable()
  class Session {
    userId = '';
  }

  @injectable()
  class SessionService extends OrderService {
    constructor(
      @inject(Caller) caller: Caller,
      @inject(Session) readonly session: Session,
    ) {
      super(caller);
    }
    override find(id: number): string {
      return `order ${id.toString()} of session "${this.session.userId}"`;
    }
  }

  it('a session bound inRequestScope below a tool is refused when the site is resolved, and says what to write', async () => {
    const one = app((c) => {
      c.bind(Session).toSelf().inRequestScope();
      c.bind(OrderService).to(SessionService);
    });
    const open = () => one.ai.runInScope(as('alice'), (scope) => scope.container.get(Desk));
    for (let i = 0; i < 2; i++)
      await refused(
        open,
        /^Session is bound inRequestScope\(\), which in inversify means once for each get/,
        'OrderTools -> OrderService (SessionService) -> Session',
        /Bind it in the scope, container.bind\(Session\)…inSingletonScope\(\) in openScope's bind, .* or inTransientScope\(\) if it keeps nothing/,
      );
  });

  it('bound in the scope it is one for all lookups', async () => {
    const one = app((c) => {
      c.bind(OrderService).to(SessionService);
    });
    const answer = await one.ai.runInScope(
      (container) => {
        as('alice')(container);
        container.bind(Session).toSelf().inSingletonScope();
      },
      async (scope) => {
        scope.container.get(Session).userId = 'alice';
        const { agent } = scope.container.get(Desk);
        return [await agent.chat('q'), await agent.chat('q')];
      },
    );
    expect(answer).toEqual(['order 42 of session "alice"', 'order 42 of session "alice"']);
  });
});

describe('an agent inside something long-lived', () => {
  @injectable()
  class Helpdesk {
    constructor(@inject(Desk) readonly desk: Desk) {}
  }

  it('has no scope of its own and follows the current one, whoever asked for it first', async () => {
    const one = app((c) => {
      bindAs(c, Helpdesk, 'singleton');
    });
    const first = one.ai.openScope(as('alice'));
    const { agent } = first.container.get(Helpdesk).desk;
    expect(await first.run(() => agent.chat('q'))).toBe('order 42 for alice');
    expect(await one.ai.runInScope(as('bob'), () => agent.chat('q'))).toBe('order 42 for bob');
    await refused(() => agent.chat('q'), /there is no scope/);
  });

  it('works at the property of a singleton, too', async () => {
    @injectable()
    class Shared {
      @AI({ tools: [OrderTools], toolGroup: ReadOnly }) readonly agent!: AIService;
    }
    const one = app((c) => {
      bindAs(c, Shared, 'singleton');
    });
    expect(
      await Promise.all(
        ['alice', 'bob'].map((id) => one.ai.runInScope(as(id), (scope) => scope.container.get(Shared).agent.chat('q'))),
      ),
    ).toEqual(['order 42 for alice', 'order 42 for bob']);
  });
});

describe('what changes while scopes are open', () => {
  it('a service that is bound anew as a singleton is refused to both, never shared', async () => {
    const one = app(() => undefined);
    const scopes = ['alice', 'bob'].map((id) => one.ai.openScope(as(id)));
    const agents = scopes.map((scope) => scope.container.get(Desk).agent);
    for (const [i, id] of ['alice', 'bob'].entries()) expect(await agents[i]!.chat('q')).toBe(`order 42 for ${id}`);
    one.container.rebind(OrderService).toSelf().inSingletonScope();
    for (const agent of agents) await refused(() => agent.chat('q'), /would keep Caller/);
  });

  it('a late binding of the application does not bring in the application’s own caller', async () => {
    @injectable()
    class Plug {
      constructor(@inject(Caller) readonly caller: Caller) {}
    }
    @injectable()
    class Service extends OrderService {
      constructor(
        @inject(Caller) caller: Caller,
        @inject('plug') @optional() readonly plug: Plug | undefined,
      ) {
        super(caller);
      }
      override find(): string {
        return `${this.plug?.caller.id ?? 'no plug'} for ${this.caller.id}`;
      }
    }
    const one = app((c) => {
      c.bind(OrderService).to(Service);
      c.bind(Caller).toConstantValue({ id: 'ROOT' });
    });
    const scope = one.ai.openScope(as('alice'));
    const { agent } = scope.container.get(Desk);
    expect(await agent.chat('q')).toBe('no plug for alice');
    one.container.bind('plug').to(Plug);
    expect(await agent.chat('q')).toBe('alice for alice');
  });

  it('a snapshot of the scope’s container that is restored is guarded as before', async () => {
    const one = app((c) => bindAs(c, OrderService, 'singleton'));
    for (const id of ['alice', 'bob']) {
      const { container } = one.ai.openScope(() => undefined);
      container.snapshot();
      container.restore();
      as(id)(container);
      await refused(() => container.get(OrderService), /would keep Caller/);
    }
  });

  it('a singleton whose factory asks the request’s container back keeps nothing of it', async () => {
    const one = app((c) => {
      @injectable()
      class Kept {
        constructor(@inject(Caller) readonly caller: Caller) {}
      }
      c.bind('kept').to(Kept).inSingletonScope();
      c.bind('worker').toService('kept');
      c.bind('first')
        .toDynamicValue(() => asking.get('worker'))
        .inSingletonScope();
      c.bind(Caller).toConstantValue({ id: 'ROOT' });
    });
    const { container: asking } = one.ai.openScope(as('alice'));
    await refused(() => asking.get('first'), /would keep Caller/);
    expect(one.container.get<{ caller: Caller }>('kept').caller.id).toBe('ROOT');
  });
});

describe('a singleton that works on', () => {
  it('is built outside every scope’s run, so that its work is nobody’s', async () => {
    const outcomes: Promise<string>[] = [];
    @injectable()
    class Queue {
      constructor(@AI({ tools: [OrderTools], toolGroup: ReadOnly }) agent: AIService) {
        outcomes.push(new Promise((resolve) => setTimeout(resolve, 5)).then(() => agent.chat('q')));
        outcomes[0]!.catch(() => undefined);
      }
    }
    @injectable()
    class Service extends OrderService {
      constructor(
        @inject(Caller) caller: Caller,
        @inject(Queue) readonly queue: Queue,
      ) {
        super(caller);
      }
    }
    const one = app((c) => {
      bindAs(c, Queue, 'singleton');
      c.bind(OrderService).to(Service);
    });
    expect(await ask(one, 'alice')).toBe('order 42 for alice');
    await refused(() => outcomes[0]!, /there is no scope/);
  });
});

describe('a singleton that the application’s own container builds inside a run', () => {
  it('works on as nobody, too', async () => {
    const late: Promise<string>[] = [];
    @injectable()
    class Worker {
      constructor(@AI({ tools: [OrderTools], toolGroup: ReadOnly }) readonly agent: AIService) {
        late.push(new Promise((resolve) => setTimeout(resolve, 5)).then(() => agent.chat('q')));
        late[0]!.catch(() => undefined);
      }
    }
    const one = app((c) => bindAs(c, Worker, 'singleton'));
    await one.ai.runInScope(as('alice'), async () => {
      const { agent } = one.container.get(Worker);
      expect(await agent.chat('q')).toBe('order 42 for alice');
      await refused(() => late[0]!, /there is no scope/);
    });
    expect(late).toHaveLength(1);
  });

  it('also where the first try fails', async () => {
    let tries = 0;
    const late: Promise<string>[] = [];
    @injectable()
    class Flaky {
      constructor(@AI({ tools: [OrderTools], toolGroup: ReadOnly }) agent: AIService) {
        if (++tries === 1) throw new Error('connection refused');
        late.push(new Promise((resolve) => setTimeout(resolve, 5)).then(() => agent.chat('q')));
        late[0]!.catch(() => undefined);
      }
    }
    const one = app((c) => bindAs(c, Flaky, 'singleton'));
    await one.ai.runInScope(as('alice'), async () => {
      expect(() => one.container.get(Flaky)).toThrow('connection refused');
      expect(tries).toBe(1);
      one.container.get(Flaky);
      await refused(() => late[0]!, /there is no scope/);
    });
  });

  it('does its own work for no tool, although one needed it first', async () => {
    const jobs: Promise<string>[] = [];
    @injectable()
    class Queue {
      constructor() {
        jobs.push(
          new Promise((resolve) => setTimeout(resolve, 5)).then(() =>
            one.ai.runInScope(as('system'), (scope) => scope.container.get<string>('handler')),
          ),
        );
      }
    }
    @injectable()
    class Service extends OrderService {
      constructor(
        @inject(Caller) caller: Caller,
        @inject(Queue) readonly queue: Queue,
      ) {
        super(caller);
      }
    }
    const one = app((c) => {
      bindAs(c, Queue, 'singleton');
      c.bind(OrderService).to(Service);
      c.bind('unit')
        .toDynamicValue(() => 'unit')
        .inRequestScope();
      c.bind('handler').toDynamicValue((context) => context.get('unit'));
    });
    expect(await ask(one, 'alice')).toBe('order 42 for alice');
    expect(await jobs[0]).toBe('unit');
  });

  it('fails in its own words where it fails', async () => {
    const boom = new Error('no database');
    const one = app((c) => {
      c.bind('pool')
        .toDynamicValue(() => {
          throw boom;
        })
        .inSingletonScope();
    });
    await one.ai.runInScope(as('alice'), () => {
      expect(() => one.container.get('pool')).toThrow(boom);
      expect(() => one.container.get('missing')).toThrow(/No bindings found/);
    });
  });
});

describe('once for each get, below a tool', () => {
  @injectable()
  class Session {
    userId = '';
  }
  @injectable()
  class SessionTools {
    constructor(@inject('session') @optional() readonly session: Session | undefined) {}
    @ReadOnly
    @AITool('Says whose')
    whose(@FromScope(Session) session: Session): string {
      return session.userId;
    }
    @ReadOnly
    @AITool('Says whose, by way of a function')
    how(): string {
      return String(this.session?.userId);
    }
  }
  const one = (model: ChatModel) =>
    application(model, (c) => {
      c.bind(OrderService).toSelf();
      c.bind(SessionTools).toSelf();
      c.bind(Session).toSelf().inRequestScope();
    });

  it('is refused for @FromScope', async () => {
    const { ai } = one(scriptedModel([call('SessionTools_whose')]));
    await refused(
      () => ai.runInScope(as('alice'), (scope) => scope.container.get(Desk).agent.withTools([SessionTools]).chat('q')),
      /^Session is bound inRequestScope/,
    );
  });

  it('is refused where a function fetches it', async () => {
    const { ai, container } = one(scriptedModel([call('SessionTools_how')]));
    container.bind('session').toDynamicValue((context) => context.get(Session));
    await refused(
      () => ai.runInScope(as('alice'), (scope) => scope.container.get(Desk).agent.withTools([SessionTools]).chat('q')),
      /^Session is bound inRequestScope/,
    );
  });

  it('is refused where a function fetches it after waiting', async () => {
    const { ai, container } = one(scriptedModel([call('SessionTools_how')]));
    container.bind('session').toDynamicValue(async (context) => {
      await Promise.resolve();
      return context.getAsync(Session);
    });
    await refused(
      () => ai.runInScope(as('alice'), (scope) => scope.container.get(Desk).agent.withTools([SessionTools]).chat('q')),
      /^Session is bound inRequestScope/,
    );
  });

  it('is refused where the scope itself binds it so', async () => {
    const { ai } = application(scriptedModel([call('SessionTools_whose')]), (c) => {
      c.bind(OrderService).toSelf();
      c.bind(SessionTools).toSelf();
    });
    await refused(
      () =>
        ai.runInScope(
          (c) => {
            as('alice')(c);
            c.bind(Session).toSelf().inRequestScope();
          },
          (scope) => scope.container.get(Desk).agent.withTools([SessionTools]).chat('q'),
        ),
      /^Session is bound inRequestScope/,
    );
  });

  it('is allowed for the tool class, also behind another identifier', async () => {
    @injectable()
    class Impl extends OrderTools {}
    const behind = app((c) => {
      bindAs(c, Impl, 'request');
      c.bind(OrderTools).toService(Impl);
    });
    expect(await ask(behind, 'alice')).toMatch(/^OrderTools_findOrder failed|^order 42/);
  });

  it('is refused for an agent that was resolved before the caller was bound', async () => {
    const app2 = application(new OneCallModel(), (c) => {
      @injectable()
      class Service extends OrderService {
        constructor(
          @inject(Caller) caller: Caller,
          @inject(Session) readonly session: Session,
        ) {
          super(caller);
        }
      }
      c.bind(OrderService).to(Service);
      c.bind(Session).toSelf().inRequestScope();
    });
    const scope = app2.ai.openScope(() => undefined);
    const { agent } = scope.container.get(Desk);
    as('alice')(scope.container);
    await refused(() => agent.chat('q'), /^Session is bound inRequestScope/);
  });
});

describe('autobind', () => {
  it('makes no caller out of nothing', async () => {
    const container = new Container({ autobind: true });
    container.bind(OrderTools).toSelf();
    container.bind(Desk).toSelf();
    const ai = installAI(container, { model: new OneCallModel(), logger: quietLogger() });
    await refused(
      () =>
        ai.runInScope(
          () => undefined,
          (scope) => scope.container.get(Desk).agent.chat('q'),
        ),
      /^Caller is bound by nobody, and autobind would make one out of nothing/,
    );
    const answer = await ai.runInScope(as('alice'), (scope) => scope.container.get(Desk).agent.chat('q'));
    expect(answer).toBe('order 42 for alice');
  });

  it('refuses nothing that somebody bound, and makes services that are marked as such', async () => {
    class Plain {
      readonly text = 'plain';
    }
    @injectable()
    class Marked2 {
      readonly text = 'marked';
    }
    @injectable()
    class Tools {
      constructor(
        @inject(Plain) private readonly plain: Plain,
        @inject(Marked2) private readonly marked: Marked2,
      ) {}
      @AITool('Tells')
      tell(): string {
        return `${this.plain.text} ${this.marked.text}`;
      }
    }
    const container = new Container({ autobind: true });
    for (const target of [Tools, OrderTools, Desk, Plain]) container.bind(target as Newable).toSelf();
    const model = scriptedModel([call('Tools_tell'), text('ok')]);
    const ai = installAI(container, { model, logger: quietLogger() });
    const run = await ai.runInScope(as('alice'), (scope) =>
      scope.container.get(Desk).agent.withTools([Tools]).run('q'),
    );
    expect(run.calls[0]!.result).toBe('plain marked');
  });

  it('makes no caller where an ancestor of the application does it', async () => {
    const container = new Container({ parent: new Container({ autobind: true }) });
    for (const target of [OrderTools, OrderService, Desk]) container.bind(target as Newable).toSelf();
    const ai = installAI(container, { model: new OneCallModel(), logger: quietLogger() });
    await refused(
      () =>
        ai.runInScope(
          () => undefined,
          (scope) => scope.container.get(Desk).agent.chat('q'),
        ),
      /^Caller is bound by nobody/,
    );
  });

  it('makes nothing for @FromScope, marked or not', async () => {
    @injectable()
    class Me {
      readonly id = 'nobody';
    }
    class Tools {
      @AITool('Tells who')
      who(@FromScope(Me) me: Me): string {
        return me.id;
      }
    }
    const container = new Container({ autobind: true });
    for (const target of [Tools, OrderTools, Desk]) container.bind(target as Newable).toSelf();
    const ai = installAI(container, { model: scriptedModel([call('Tools_who')]), logger: quietLogger() });
    await refused(
      () => ai.runInScope(as('alice'), (scope) => scope.container.get(Desk).agent.withTools([Tools]).run('q')),
      /^Me is bound by nobody/,
    );
  });
});

describe('a scope', () => {
  it('binds as its application does where nothing is said', () => {
    const container = new Container({ defaultScope: 'Singleton' });
    const ai = installAI(container, { model: new OneCallModel() });
    class Session {}
    const { container: own } = ai.openScope((c) => c.bind(Session).toSelf());
    expect(own.get(Session)).toBe(own.get(Session));
  });
});

describe('a class that is bound to another one', () => {
  class Reader {
    @ReadOnly
    @AITool('Finds')
    find(@FromScope(Caller, (caller) => caller.id) owner: string, @AIToolParam('text', 'What') text: string): string {
      return `${owner} ${text}`;
    }
  }
  class Writer extends Reader {
    @Mutating
    @AITool('Finds and deletes')
    override find(
      @AIToolParam('text', 'What') text: string,
      @FromScope(Caller, (caller) => caller.id) owner: string,
    ): string {
      return `deleted ${text} of ${owner}`;
    }
  }
  class Marked extends Reader {
    @Mutating
    override find(owner: string, text: string): string {
      return `deleted ${text} of ${owner}`;
    }
  }
  @Mutating
  class MarkedClass extends Reader {
    override find(owner: string, text: string): string {
      return `deleted ${text} of ${owner}`;
    }
  }
  class Grown extends Reader {
    // @ts-expect-error -- TypeScript sees it as well; plain JavaScript would not
    override find(text: string, owner: string, all: boolean): string {
      return `deleted ${text} of ${owner} ${String(all)}`;
    }
  }
  class Louder extends Reader {
    override find(owner: string, text: string): string {
      return super.find(owner, text).toUpperCase();
    }
  }
  const run = (bound: new () => Reader) => {
    const { ai } = application(scriptedModel([call('Reader_find', { text: 'victim' }), text('done')]), (c) => {
      c.bind(OrderService).toSelf();
      c.bind(Reader).to(bound);
    });
    return ai.runInScope(as('alice'), (scope) =>
      scope.container.get(Desk).agent.withTools([Reader], { toolGroup: ReadOnly }).run('q'),
    );
  };

  it.each([
    ['a subclass that declares the tool anew', Writer],
    ['a subclass that marks it mutating', Marked],
    ['a subclass that is marked mutating itself', MarkedClass],
    ['a subclass whose method takes more', Grown as unknown as new () => Reader],
  ])('by another contract is not called: %s', async (_title, bound) => {
    const error = await rejection(() => run(bound));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(error.message).toMatch(
      /^Reader.find: Reader is bound to \w+, which declares the tool find otherwise; list \w+ in tools/,
    );
  });

  it('that leaves the contract as it is is called', async () => {
    expect((await run(Louder)).calls[0]!.result).toBe('ALICE VICTIM');
  });
});

describe('what something long-lived does after it was built', () => {
  it('is no part of it: what it then finds absent stays its own matter', async () => {
    let polled: Promise<unknown> | undefined;
    const one = app((c) => {
      c.bind('poller')
        .toDynamicValue((context) => {
          // Started here, so it goes on in the context in which this was built.
          polled = new Promise((resolve) => setTimeout(resolve, 1)).then(
            () => c.get('tracer', { optional: true }) ?? context.get('tracer', { optional: true }),
          );
          return 'poller';
        })
        .inSingletonScope();
      @injectable()
      class Service extends OrderService {
        constructor(
          @inject(Caller) caller: Caller,
          @inject('poller') readonly poller: string,
        ) {
          super(caller);
        }
      }
      c.bind(OrderService).to(Service);
    });
    expect(await ask(one, 'alice')).toBe('order 42 for alice');
    expect(await polled).toBeUndefined();
    const traced = (container: Container): void => {
      as('bob')(container);
      container.bind('tracer').toConstantValue('t');
    };
    expect(await one.ai.runInScope(traced, (scope) => scope.container.get(Desk).agent.chat('q'))).toBe(
      'order 42 for bob',
    );
  });

  it('is built outside every run also where it is bound anew while scopes run', async () => {
    const one = app(() => undefined);
    const built: (string | undefined)[] = [];
    const make = () => {
      try {
        built.push(one.ai.currentScope().container.get(Caller).id);
      } catch {
        built.push(undefined);
      }
      return {};
    };
    one.container.bind('pool').toDynamicValue(make).inSingletonScope();
    one.container.bind('user').toResolvedValue((pool: object) => pool, ['pool']);
    await one.ai.runInScope(as('alice'), () => one.container.get('user'));
    one.container.rebind('pool').toDynamicValue(make).inSingletonScope();
    await one.ai.runInScope(as('alice'), () => one.container.get('user'));
    expect(built).toEqual([undefined, undefined]);
  });
});
