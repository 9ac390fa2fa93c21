import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  AIDefinitionError,
  type AIScope,
  AIService,
  AITool,
  installAI,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
} from 'inversify-ai';
import { type AskingCaller, exposedTools, twoCallers } from 'inversify-ai/testing';
import { application, as, Caller, Desk, OneCallModel, OrderService, quietLogger, rejection } from './orders.js';

const callers: readonly AskingCaller[] = ['alice', 'bob'].map((name) => ({
  name,
  bind: as(name),
  marks: [`order 42 for ${name}`, `"${name}'s" own`],
}));

/** Calls its one tool, then answers with what it was told, at once or after a while. */
class AtOnceModel extends OneCallModel {
  constructor(private readonly ms = 0) {
    super([]);
  }
  override async complete({ messages, tools }: ModelRequest): Promise<ModelReply> {
    if (this.ms > 0) await new Promise((resolve) => setTimeout(resolve, this.ms));
    const last = messages.at(-1)!.content;
    const envelope = last.startsWith('{')
      ? { tool: 'ANSWER', arguments: [], answer: (JSON.parse(last) as { result: string }).result }
      : { tool: tools[0], arguments: [], answer: '' };
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
    return { text: JSON.stringify(envelope), finish: 'stop', usage };
  }
}

const askDesk = (scope: { container: Container }): Promise<string> => scope.container.get(Desk).agent.chat('q');

/** An application whose order service is this one, everything else as it should be. */
const withService = (make: (container: Container) => void) => application(new OneCallModel(), make).ai;

describe('twoCallers', () => {
  it('passes where each sees their own, with a transient and with a singleton controller', async () => {
    await twoCallers(
      withService((c) => void c.bind(OrderService).toSelf()),
      { callers, ask: askDesk },
    );
    const { ai, container } = application(new OneCallModel(), (c) => {
      c.bind(OrderService).toSelf();
      c.bind(Desk).toSelf().inSingletonScope();
    });
    await expect(twoCallers(ai, { callers, ask: () => container.get(Desk).agent.chat('q') })).resolves.toBeUndefined();
  });

  /** Services that are wrong in ways no container can see. */
  const wrong: readonly (readonly [
    title: string,
    service: () => new (caller: Caller) => OrderService,
    message: RegExp,
  ])[] = [
    [
      'a cache that forgets whose the entry is',
      () => {
        const cache = new Map<number, string>();
        @injectable()
        class Cached extends OrderService {
          constructor(@inject(Caller) caller: Caller) {
            super(caller);
          }
          override find(id: number): string {
            const found = cache.get(id) ?? super.find(id);
            cache.set(id, found);
            return found;
          }
        }
        return Cached;
      },
      /^twoCallers: bob, asking alone, after the others had asked: was shown "order 42 for alice", which only alice may see, in the result of OrderTools_findOrder$/,
    ],
    [
      'a variable of the module, set at the start of a request and read after an await',
      () => {
        let current: Caller | undefined;
        @injectable()
        class Ambient extends OrderService {
          constructor(@inject(Caller) caller: Caller) {
            super(caller);
            current = caller;
          }
          override find(id: number): string {
            return new OrderService(current!).find(id);
          }
        }
        return Ambient;
      },
      /^twoCallers: (alice|bob), .*: was shown "order 42 for (alice|bob)", which only (alice|bob) may see, in /,
    ],
  ];

  it.each(wrong)('finds %s', async (_title, service, message) => {
    const ai = withService((c) => void c.bind(OrderService).to(service()));
    expect((await rejection(() => twoCallers(ai, { callers, ask: askDesk }))).message).toMatch(message);
  });

  it('finds what is wrong for a few awaits of the application’s own', async () => {
    let current = '';
    @injectable()
    class SlowTools {
      constructor(@inject(Caller) private readonly caller: Caller) {}
      @ReadOnly
      @AITool('Lists my orders')
      async list(): Promise<string> {
        current = this.caller.id;
        for (let i = 0; i < 3; i++) await Promise.resolve();
        return `order 42 for ${current}`;
      }
    }
    @injectable()
    class Slow {
      constructor(@AI({ tools: [SlowTools] }) readonly agent: AIService) {}
    }
    const container = new Container();
    container.bind(SlowTools).toSelf();
    container.bind(Slow).toSelf();
    // The model answers at once, so that nothing but the tool waits.
    const model = new AtOnceModel();
    const ai = installAI(container, { model, logger: quietLogger() });
    const error = await rejection(() =>
      twoCallers(ai, { callers, ask: (scope) => scope.container.get(Slow).agent.chat('q') }),
    );
    expect(error.message).toMatch(
      /^twoCallers: alice, with bob starting \d+ awaits after alice: was shown "order 42 for bob"/,
    );
  });

  /** What `ask` does with a slot that all callers share, and where that shows. */
  const channels: readonly (readonly [
    where: string,
    ask: (slot: { last: string }) => (scope: AIScope) => Promise<unknown>,
  ])[] = [
    [
      'a request to the model',
      (slot) => async (scope) => {
        const question = slot.last;
        slot.last = `order 42 for ${scope.container.get(Caller).id}`;
        await scope.container.get(Desk).agent.chat(`q ${question}`);
        return slot.last;
      },
    ],
    [
      'what ask gave',
      (slot) => async (scope) => {
        const before = slot.last;
        slot.last = await askDesk(scope);
        return { deep: [new Map([['answer', [before, slot.last]]])] };
      },
    ],
    [
      'what ask gave',
      (slot) => async (scope) => {
        const before = Buffer.from(slot.last);
        slot.last = await askDesk(scope);
        return [new Uint8Array(before), slot.last];
      },
    ],
    [
      'what ask gave',
      (slot) => async (scope) => {
        const before = slot.last;
        slot.last = await askDesk(scope);
        return { own: slot.last, toJSON: () => ({ before }) };
      },
    ],
    [
      'what ask threw',
      (slot) => async (scope) => {
        const before = slot.last;
        slot.last = await askDesk(scope);
        if (before.includes('alice') && slot.last.includes('bob')) throw new Error('x', { cause: { before } });
        return slot.last;
      },
    ],
  ];

  it.each(channels)('finds it in %s', async (where, ask) => {
    const ai = withService((c) => void c.bind(OrderService).toSelf());
    expect((await rejection(() => twoCallers(ai, { callers, ask: ask({ last: '' }) }))).message).toBe(
      `twoCallers: bob, asking alone, after the others had asked: was shown "order 42 for alice", which only alice may see, in ${where}`,
    );
  });

  it('finds it in the error of a tool, which the model is not told, and where the text is written as JSON', async () => {
    @injectable()
    class Leaking extends OrderService {
      constructor(@inject(Caller) caller: Caller) {
        super(caller);
      }
      override find(): string {
        if (this.caller.id === 'bob') throw new Error(`not like "alice's" own`);
        return `"alice's" own`;
      }
    }
    const ai = withService((c) => void c.bind(OrderService).to(Leaking));
    expect((await rejection(() => twoCallers(ai, { callers, ask: askDesk }))).message).toBe(
      `twoCallers: bob, asking alone, after the others had asked: was shown "\\"alice's\\" own", which only alice may see, in the error of OrderTools_findOrder`,
    );
    @injectable()
    class Quoting extends OrderService {
      override find(): string {
        return JSON.stringify({ text: JSON.stringify(`"alice's" own`) });
      }
    }
    const quoting = withService((c) => void c.bind(OrderService).to(Quoting));
    expect((await rejection(() => twoCallers(quoting, { callers, ask: askDesk }))).message).toMatch(
      /^twoCallers: bob, .*: was shown "\\"alice's\\" own", which only alice may see, in /,
    );
  });

  it.each<[string, unknown]>([
    ['a response', new Response('order 42 for alice')],
    ['a function', () => 'order 42 for alice'],
    ['a stream', new Response('x').body],
  ])('refuses what it cannot look into: %s', async (_title, given) => {
    const { ai } = application(new OneCallModel());
    expect((await rejection(() => twoCallers(ai, { callers, ask: async () => given }))).message).toMatch(
      /^twoCallers: alice, alone: ask failed: twoCallers: ask gave .*, into which it cannot look; let ask read it/,
    );
  });

  describe('tries every order at the library’s steps', () => {
    /** Begins and ends of runs, and of tools, as they happen; the model waits for nothing. */
    async function findsIn(leaks: (log: readonly string[], id: string, other: string) => boolean): Promise<string> {
      const log: string[] = [];
      @injectable()
      class StepTools {
        constructor(@inject(Caller) private readonly caller: Caller) {}
        @ReadOnly
        @AITool('Lists my orders')
        list(): string {
          log.push(`tool ${this.caller.id}`);
          return 'x';
        }
      }
      @injectable()
      class Steps {
        constructor(@AI({ tools: [StepTools] }) readonly agent: AIService) {}
      }
      const container = new Container();
      container.bind(StepTools).toSelf();
      container.bind(Steps).toSelf();
      const ai = installAI(container, { model: new AtOnceModel(), logger: quietLogger() });
      const ask = async (scope: AIScope): Promise<string> => {
        const { id } = scope.container.get(Caller);
        log.push(`begin ${id}`);
        await scope.container.get(Steps).agent.chat('q');
        log.push(`end ${id}`);
        const other = id === 'alice' ? 'bob' : 'alice';
        const own = log.slice(log.lastIndexOf(`begin ${id}`));
        return `order 42 for ${leaks(own, id, other) ? other : id}, and order 42 for ${id}`;
      };
      return (await rejection(() => twoCallers(ai, { callers, ask }))).message;
    }

    const holds = (own: readonly string[], ...events: readonly string[]): boolean => {
      let from = 0;
      return events.every((event) => (from = own.indexOf(event, from) + 1) > 0);
    };

    it('one runs to its end within the other, at a step that is not the first', async () => {
      const message = await findsIn((own, id, other) =>
        holds(own, `tool ${id}`, `begin ${other}`, `end ${other}`, `end ${id}`),
      );
      expect(message).toMatch(
        /^twoCallers: alice, while alice was stopped at step ([2-9]|\d\d), .*: was shown "order 42 for bob"/,
      );
    });

    it('either within the other', async () => {
      const message = await findsIn(
        (own, id, other) => id === 'bob' && holds(own, `begin ${other}`, `end ${other}`, `end ${id}`),
      );
      expect(message).toMatch(/^twoCallers: bob, while bob was stopped at step 1, .*: was shown "order 42 for alice"/);
    });

    it('step by step in turn', async () => {
      const message = await findsIn((own, id, other) =>
        holds(own, `begin ${other}`, `tool ${id}`, `tool ${other}`, `end ${id}`),
      );
      expect(message).toMatch(/^twoCallers: alice, step by step in turn: was shown "order 42 for bob"/);
    });
  });

  it('is as patient as the application is slow', async () => {
    // A slot between two calls of one run, and a model that takes longer than any fixed patience would be.
    let slot = '';
    @injectable()
    class SlotTools {
      constructor(@inject(Caller) private readonly caller: Caller) {}
      @ReadOnly
      @AITool('Lists my orders')
      list(): string {
        slot = `order 42 for ${this.caller.id}`;
        return 'listed';
      }
    }
    @injectable()
    class Slow {
      constructor(@AI({ tools: [SlotTools] }) readonly agent: AIService) {}
    }
    const container = new Container();
    container.bind(SlotTools).toSelf();
    container.bind(Slow).toSelf();
    const ai = installAI(container, { model: new AtOnceModel(170), logger: quietLogger() });
    const ask = async (scope: AIScope): Promise<string> => {
      await scope.container.get(Slow).agent.chat('q');
      return slot;
    };
    expect((await rejection(() => twoCallers(ai, { callers, ask }))).message).toMatch(
      /^twoCallers: alice, while alice was stopped at step \d+, .*: was shown "order 42 for bob"/,
    );
  }, 30_000);

  it('rejects where ask fails, alone or only beside another', async () => {
    const { ai } = application(new OneCallModel());
    const boom = new Error('boom');
    const error = await rejection(() => twoCallers(ai, { callers, ask: () => Promise.reject(boom) }));
    expect(error.message).toBe('twoCallers: alice, alone: ask failed: boom');
    expect(error.cause).toBe(boom);
    let open = 0;
    const beside = await rejection(() =>
      twoCallers(ai, {
        callers,
        ask: async (scope) => {
          if (++open > 1) throw boom;
          const answer = await askDesk(scope);
          open--;
          return answer;
        },
      }),
    );
    expect(beside.message).toMatch(
      /^twoCallers: (alice|bob), while alice was stopped at step 1, .*, and not alone: ask failed: boom$/,
    );
  });

  it('does not hang where one waits for the other, as for a lock', async () => {
    let last: Promise<unknown> = Promise.resolve();
    const { ai } = application(new OneCallModel());
    const ask = (scope: { container: Container }): Promise<string> => {
      const mine = last.then(() => askDesk(scope));
      last = mine.catch(() => undefined);
      return mine;
    };
    await expect(twoCallers(ai, { callers, ask })).resolves.toBeUndefined();
  });

  it('refuses to pass where it could not fail', async () => {
    const { ai } = application(new OneCallModel());
    const blind = callers.map((caller, n) => (n === 0 ? { ...caller, marks: ['never shown to alice'] } : caller));
    expect((await rejection(() => twoCallers(ai, { callers: blind, ask: askDesk }))).message).toBe(
      'twoCallers: alice was shown no mark of their own, so nothing would be found if another were shown it; let ask ask for what alice may see, and check the spelling of "never shown to alice"',
    );
  });

  it('refuses a mark that two are given', async () => {
    const { ai } = application(new OneCallModel());
    const same = callers.map((caller) => ({ ...caller, marks: ['order'] }));
    expect((await rejection(() => twoCallers(ai, { callers: same, ask: askDesk }))).message).toBe(
      'twoCallers: the mark "order" is given to two callers; a mark is what only one may see',
    );
  });

  it('refuses options that are wrong, all in one error', async () => {
    const { ai } = application(new OneCallModel());
    const error = await rejection(() => twoCallers(ai, { callers: [{ name: '', marks: [] }, null], ask: 1 } as never));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as AIDefinitionError).problems).toEqual([
      'twoCallers: ask must be a function, (scope) => …; found a number',
      'twoCallers: callers[0]: name must be a text, for messages',
      'twoCallers: callers[0]: bind must be a function, (container) => …',
      'twoCallers: callers[0]: marks must be a list of texts that only this caller may see',
      'twoCallers: callers[1]: name must be a text, for messages',
      'twoCallers: callers[1]: bind must be a function, (container) => …',
      'twoCallers: callers[1]: marks must be a list of texts that only this caller may see',
    ]);
    expect((await rejection(() => twoCallers(ai, { callers: callers.slice(1), ask: askDesk }))).message).toBe(
      'twoCallers: callers must be a list of two or more; found 1',
    );
  });
});

describe('exposedTools', () => {
  it('is one sorted line for each tool of each agent', () => {
    const { ai } = application(new OneCallModel());
    expect(exposedTools(ai)).toEqual([
      'Desk#0: OrderTools_findOrder [ReadOnly]',
      'Desk#0: OrderTools_refundOrder [Mutating]',
      'Desk#0: OrderTools_whoAmI [ReadOnly]',
      'Desk.reader: OrderTools_findOrder [ReadOnly]',
      'Desk.reader: OrderTools_whoAmI [ReadOnly]',
    ]);
  });
});
