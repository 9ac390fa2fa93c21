import { describe, expect, it, jest } from '@jest/globals';
import { Container, inject, injectable, postConstruct } from 'inversify';
import {
  AI,
  AIService,
  AIScopeError,
  AITool,
  AIToolError,
  AIToolParam,
  createAIService,
  defineTool,
  type AIRun,
  FromScope,
  installAI,
  type InstallOptions,
  ReadOnly,
} from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { Events } from '../events.js';
import { as, Caller, quietLogger, rejection } from './orders.js';

class Forbidden extends Error {}

@injectable()
class Rows {
  constructor(@inject(Caller) readonly caller: Caller) {}

  /** Row 1 is alice's, row 2 does not exist, and "not yours" is an exception, as services have it. */
  find(id: number): string | undefined {
    if (id !== 1) return undefined;
    if (this.caller.id !== 'alice') throw new Forbidden(`row 1 of alice@example.test is not ${this.caller.id}'s`);
    return 'row 1';
  }
}

const isDenial = (error: unknown): boolean => error instanceof Forbidden;

interface Variant {
  readonly notFound?: string;
  readonly repeatable?: boolean;
  readonly returnDirect?: boolean;
  readonly readOnly?: boolean;
}

/** What bob sees of one row: all requests, the run, what was logged. */
async function seen(id: number, variant: Variant, again = false, options: Partial<InstallOptions> = { isDenial }) {
  const { readOnly, ...tool } = variant;
  @injectable()
  class RowTools {
    constructor(@inject(Rows) private readonly rows: Rows) {}

    @AITool({ description: 'Opens a row', name: 'open', ...tool })
    async open(@AIToolParam('id', 'The row', { type: 'integer' }) row: number): Promise<string | undefined> {
      await Promise.resolve();
      return this.rows.find(row);
    }
  }
  if (readOnly === true) ReadOnly(RowTools);
  @injectable()
  class Desk {
    constructor(@AI({ tools: [RowTools] }) readonly agent: AIService) {}
  }
  const container = new Container();
  for (const service of [Rows, RowTools, Desk]) container.bind<object>(service).toSelf();
  const calls = Array.from({ length: again ? 2 : 1 }, () => call('open', { id }));
  const model = scriptedModel([...calls, text('done')]);
  const logger = quietLogger();
  const ai = installAI(container, { model, logger, ...options });
  const run = await ai.runInScope(as('bob'), (scope) => scope.container.get(Desk).agent.run('q'));
  return { bodies: model.requests.map(({ body }) => body.replaceAll(String(id), 'N')), run, logger };
}

const told = ({ calls }: AIRun): string[] => calls.map(({ result }) => result);

describe('"not yours" and "does not exist" are the same to the model', () => {
  it.each<[string, Variant, boolean]>([
    ['with a notFound of the tool’s', { notFound: 'No row found with that id.', readOnly: true }, false],
    ['without one', { readOnly: true }, false],
    ['for a mutating tool', { notFound: 'No row found with that id.' }, false],
    ['for a mutating tool that is called twice', { notFound: 'No row found with that id.' }, true],
    ['for a tool that may be called twice', { notFound: 'No row found with that id.', repeatable: true }, true],
    ['for a tool whose result is the answer', { notFound: 'No row found with that id.', returnDirect: true }, false],
  ])('%s: every request is equal to the byte, and so is the number of turns', async (_title, variant, again) => {
    const denied = await seen(1, variant, again);
    const missing = await seen(2, variant, again);
    expect(denied.bodies).toEqual(missing.bodies);
    expect(denied.run.turns).toBe(missing.run.turns);
    expect(denied.run.text).toBe(missing.run.text);
    expect(told(denied.run)).toEqual(told(missing.run));
    expect(told(denied.run)[0]).toBe(variant.notFound ?? 'Done. There is no result to show.');
    // Who audits sees the difference; nobody is alarmed by it.
    expect(denied.run.calls[0]!.outcome).toBe('failed');
    expect(missing.run.calls[0]!.outcome).toBe('ok');
    expect(denied.logger.warn).not.toHaveBeenCalled();
  });

  it('without isDenial it is a failed tool, as any exception', async () => {
    const { run, logger } = await seen(1, { notFound: 'No row found with that id.' }, false, {});
    expect(told(run)).toEqual(['open failed. The reason is not known to you, so do not guess it.']);
    expect(logger.warn).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'throws',
      () => {
        throw new Error('oops');
      },
      /isDenial failed/,
    ],
    ['is asynchronous', () => Promise.resolve(true), /must return true or false, and returned an instance of Promise/],
    ['returns what is no boolean', () => 'yes', /must return true or false, and returned a string/],
  ])('an isDenial that %s denies nothing, and is logged', async (_title, broken, message) => {
    const { run, logger } = await seen(1, {}, false, { isDenial: broken as () => boolean });
    expect(told(run)).toEqual(['open failed. The reason is not known to you, so do not guess it.']);
    expect(logger.error.mock.calls.map(([line]) => line as string)).toEqual([expect.stringMatching(message)]);
  });

  it('is refused where it is no function', () => {
    expect(() => installAI(new Container(), { isDenial: true as never })).toThrow(
      'installAI: isDenial must be a function, (error) => error instanceof Forbidden; found a boolean',
    );
  });

  it('counts in a constructor and in a select, too, and before an AIToolError', async () => {
    class Told extends AIToolError {}
    @injectable()
    class Guarded {
      constructor(@inject(Caller) caller: Caller) {
        if (caller.id === 'bob') throw new Forbidden('bob may not');
      }
      @ReadOnly
      @AITool({ description: 'd', name: 'built', notFound: 'None.' })
      built(): string {
        return 'x';
      }
    }
    @injectable()
    class Selecting {
      @ReadOnly
      @AITool({ description: 'd', name: 'selected', notFound: 'None.' })
      selected(
        @FromScope(Caller, () => {
          throw new Forbidden('no');
        })
        _id: string,
      ): string {
        return 'x';
      }
      @ReadOnly
      @AITool({ description: 'd', name: 'said', notFound: 'None.' })
      said(): string {
        throw new Told('bob, you may not');
      }
    }
    @injectable()
    class Desk {
      constructor(@AI({ tools: [Guarded, Selecting] }) readonly agent: AIService) {}
    }
    const container = new Container();
    for (const service of [Guarded, Selecting, Desk]) container.bind<object>(service).toSelf();
    const model = scriptedModel([call('built'), call('selected'), call('said'), text('done')]);
    const ai = installAI(container, {
      model,
      logger: quietLogger(),
      isDenial: (error) => error instanceof Forbidden || error instanceof Told,
    });
    const run = await ai.runInScope(as('bob'), (scope) => scope.container.get(Desk).agent.run('q'));
    expect(told(run)).toEqual(['None.', 'None.', 'None.']);
  });

  it('works without a container as well, and the observer gets the error itself', async () => {
    const error = new Forbidden('x');
    const audit = new Events();
    const tool = defineTool({
      name: 'open',
      description: 'd',
      parameters: {},
      notFound: 'None.',
      execute: () => {
        throw error;
      },
    });
    const model = scriptedModel([call('open'), text('done')]);
    const agent = createAIService({ model, tools: [tool], isDenial, observers: [audit] });
    expect(told(await agent.run('q'))).toEqual(['None.']);
    expect(audit.ended[0]!.error).toBe(error);
  });
});

describe('@FromScope', () => {
  interface Session {
    readonly email?: string | null;
  }
  const SESSION = Symbol('Session');
  const entered = jest.fn();

  @injectable()
  class Mine {
    @ReadOnly
    @AITool({ description: 'd', name: 'whole' })
    whole(@FromScope(SESSION) session: Session): string {
      entered();
      return String(session.email);
    }
    @ReadOnly
    @AITool({ description: 'd', name: 'part' })
    part(@FromScope<Session>(SESSION, async ({ email }) => Promise.resolve(email)) email: string | null): string {
      entered();
      return String(email);
    }
  }
  @injectable()
  class Desk {
    constructor(@AI({ tools: [Mine] }) readonly agent: AIService) {}
  }

  const run = (tool: string, bind: (container: Container) => void): Promise<AIRun> => {
    entered.mockClear();
    const container = new Container();
    container.bind(Mine).toSelf();
    container.bind(Desk).toSelf();
    const ai = installAI(container, { model: scriptedModel([call(tool), text('done')]), logger: quietLogger() });
    return ai.runInScope(bind, (scope) => scope.container.get(Desk).agent.run('q'));
  };

  it('awaits what is bound asynchronously, and an asynchronous select', async () => {
    const bind = (container: Container): void => {
      container.bind(SESSION).toDynamicValue(async () => Promise.resolve({ email: 'alice@example.test' }));
    };
    expect(told(await run('whole', bind))).toEqual(['alice@example.test']);
    expect(told(await run('part', bind))).toEqual(['alice@example.test']);
  });

  it.each<[string, string, unknown, string]>([
    [
      'undefined',
      'whole',
      undefined,
      'Mine.whole: Session is bound, but gives undefined, so there is nobody to act for.',
    ],
    ['null', 'part', null, 'Mine.part: Session is bound, but gives null, so there is nobody to act for.'],
    [
      'nothing of what is selected',
      'part',
      {},
      'Mine.part: Session is bound, but select gives undefined, so there is nobody to act for.',
    ],
  ])('that finds %s ends the run, and the method is not entered', async (_title, tool, value, message) => {
    const asked = run(tool, (container) => {
      container.bind(SESSION).toDynamicValue(async () => Promise.resolve(value));
    });
    const error = await rejection(() => asked);
    expect(error).toBeInstanceOf(AIScopeError);
    expect(error.message).toContain(message);
    expect(entered).not.toHaveBeenCalled();
  });

  it('hands on a null that was selected on purpose', async () => {
    expect(
      told(
        await run('part', (container) => {
          container.bind(SESSION).toConstantValue({ email: null });
        }),
      ),
    ).toEqual(['null']);
  });
});

describe('a binding of the scope’s own that fails', () => {
  it.each<[string, (container: Container) => void]>([
    [
      'at once',
      (container) => {
        container.bind(Caller).toDynamicValue(() => {
          throw new Forbidden('nobody is signed in');
        });
      },
    ],
    [
      'after waiting',
      (container) => {
        container.bind(Caller).toDynamicValue(async () => Promise.reject(new Forbidden('nobody is signed in')));
      },
    ],
    [
      'as a resolved value',
      (container) => {
        container.bind(Caller).toResolvedValue(() => {
          throw new Forbidden('nobody is signed in');
        }, []);
      },
    ],
    [
      'with a text',
      (container) => {
        container.bind(Caller).toDynamicValue(() => {
          // eslint-disable-next-line @typescript-eslint/only-throw-error
          throw 'nobody is signed in';
        });
      },
    ],
  ])('%s ends the run, also where its error counts as a denial, and the error is the cause', async (_title, bind) => {
    @injectable()
    class RowTools {
      constructor(@inject(Rows) private readonly rows: Rows) {}
      @ReadOnly
      @AITool({ description: 'd', name: 'open', notFound: 'None.' })
      open(): string | undefined {
        return this.rows.find(1);
      }
    }
    @injectable()
    class Desk {
      constructor(@AI({ tools: [RowTools] }) readonly agent: AIService) {}
    }
    const container = new Container();
    for (const service of [Rows, RowTools, Desk]) container.bind<object>(service).toSelf();
    const model = scriptedModel([call('open'), text('done')]);
    const ai = installAI(container, { model, logger: quietLogger(), isDenial });
    const error = await rejection(() => ai.runInScope(bind, (scope) => scope.container.get(Desk).agent.chat('q')));
    expect(error).toBeInstanceOf(AIScopeError);
    expect(error.message).toMatch(
      /^Caller is bound in the scope, and its binding failed, so there is nobody to act for/,
    );
    expect((error.cause as Error).message).toBe('nobody is signed in');
    expect(model.requests).toHaveLength(1);
  });
});

describe('a denial or a failure from where inversify wraps it, or where the result is told', () => {
  const asking = async (prepare: (container: Container) => new () => object) => {
    const container = new Container();
    const RowTools = prepare(container);
    @injectable()
    class Desk {
      constructor(@AI({ tools: [RowTools] }) readonly agent: AIService) {}
    }
    container.bind(RowTools).toSelf();
    container.bind(Desk).toSelf();
    const model = scriptedModel([call('open'), text('done')]);
    const ai = installAI(container, { model, logger: quietLogger(), isDenial });
    return told(await ai.runInScope(as('bob'), (scope) => scope.container.get(Desk).agent.run('q')));
  };

  it.each<[string, Error, string]>([
    ['a denial', new Forbidden('no'), 'None.'],
    ['any other error', new Error('disk full'), 'open failed. The reason is not known to you, so do not guess it.'],
  ])('in a @postConstruct below a tool: %s', async (_title, error, expected) => {
    @injectable()
    class Session {
      @postConstruct()
      begin(): void {
        throw error;
      }
    }
    expect(
      await asking((container) => {
        container.bind(Session).toSelf();
        @injectable()
        class RowTools {
          constructor(@inject(Session) readonly session: Session) {}
          @ReadOnly
          @AITool({ description: 'd', name: 'open', notFound: 'None.' })
          open(): string {
            return 'x';
          }
        }
        return RowTools as unknown as new () => object;
      }),
    ).toEqual([expected]);
  });

  it('in what a lazy result does when it is told', async () => {
    expect(
      await asking(() => {
        @injectable()
        class RowTools {
          @ReadOnly
          @AITool({ description: 'd', name: 'open', notFound: 'None.' })
          open(): unknown {
            return {
              toJSON: () => {
                throw new Forbidden('no');
              },
            };
          }
        }
        return RowTools;
      }),
    ).toEqual(['None.']);
  });
});

describe('a caller that is nothing', () => {
  it.each<[string, (container: Container) => void, string]>([
    ['a constant', (c) => void c.bind(Caller).toConstantValue(undefined as never), 'undefined'],
    ['a dynamic value', (c) => void c.bind(Caller).toDynamicValue(() => null as never), 'null'],
    [
      'one that is awaited',
      (c) => void c.bind(Caller).toDynamicValue(async () => Promise.resolve(undefined as never)),
      'undefined',
    ],
  ])('is injected into nothing below a tool: %s', async (_title, bind, found) => {
    let built = 0;
    @injectable()
    class RowTools {
      constructor(@inject(Caller) readonly caller: Caller | undefined) {
        built++;
      }
      @ReadOnly
      @AITool({ description: 'd', name: 'open' })
      open(): string {
        return this.caller?.id ?? 'everything';
      }
    }
    @injectable()
    class Desk {
      constructor(@AI({ tools: [RowTools] }) readonly agent: AIService) {}
    }
    const container = new Container();
    container.bind(RowTools).toSelf();
    container.bind(Desk).toSelf();
    const ai = installAI(container, { model: scriptedModel([call('open'), text('done')]), logger: quietLogger() });
    const error = await rejection(() => ai.runInScope(bind, (scope) => scope.container.get(Desk).agent.chat('q')));
    expect(error).toBeInstanceOf(AIScopeError);
    expect(error.message).toContain(`Caller is bound in the scope, but gives ${found}, so there is nobody to act for`);
    expect(built).toBe(0);
  });

  it('is no matter for what is bound under a symbol or a text', async () => {
    @injectable()
    class RowTools {
      constructor(@inject('correlation') readonly id: string | undefined) {}
      @ReadOnly
      @AITool({ description: 'd', name: 'open' })
      open(): string {
        return this.id ?? 'no id';
      }
    }
    @injectable()
    class Desk {
      constructor(@AI({ tools: [RowTools] }) readonly agent: AIService) {}
    }
    const container = new Container();
    container.bind(RowTools).toSelf();
    container.bind(Desk).toSelf();
    const ai = installAI(container, { model: scriptedModel([call('open'), text('done')]), logger: quietLogger() });
    const run = await ai.runInScope(
      (own) => {
        own.bind('correlation').toDynamicValue(() => undefined);
      },
      (scope) => scope.container.get(Desk).agent.run('q'),
    );
    expect(told(run)).toEqual(['no id']);
  });
});
