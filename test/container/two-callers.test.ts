import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  AIDefinitionError,
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
    // A model that answers at once, so that nothing but the tool waits.
    const model = new (class extends OneCallModel {
      constructor() {
        super([]);
      }
      override async complete({ messages, tools }: ModelRequest): Promise<ModelReply> {
        const last = messages.at(-1)!.content;
        const envelope = last.startsWith('{')
          ? { tool: 'ANSWER', arguments: [], answer: (JSON.parse(last) as { result: string }).result }
          : { tool: tools[0], arguments: [], answer: '' };
        const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
        return Promise.resolve({ text: JSON.stringify(envelope), finish: 'stop', usage });
      }
    })();
    const ai = installAI(container, { model, logger: quietLogger() });
    const error = await rejection(() =>
      twoCallers(ai, { callers, ask: (scope) => scope.container.get(Slow).agent.chat('q') }),
    );
    expect(error.message).toMatch(
      /^twoCallers: alice, with bob starting \d+ awaits after alice: was shown "order 42 for bob"/,
    );
  });

  it('finds it in what the model is sent and in an error, also where the text is written as JSON', async () => {
    @injectable()
    class Leaking extends OrderService {
      override find(): string {
        return `"alice's" own`;
      }
    }
    const ai = withService((c) => void c.bind(OrderService).to(Leaking));
    expect((await rejection(() => twoCallers(ai, { callers, ask: askDesk }))).message).toMatch(
      /^twoCallers: bob, asking alone, after the others had asked: was shown "\\"alice's\\" own", which only alice may see, in the result of OrderTools_findOrder/,
    );
    const quiet = withService((c) => void c.bind(OrderService).toSelf());
    const error = await rejection(() =>
      twoCallers(quiet, {
        callers,
        ask: async (scope) => {
          await askDesk(scope);
          throw new Error('x', { cause: new Map([['k', { deep: ['order 42 for alice'] }]]) });
        },
      }),
    );
    expect(error.message).toMatch(/^twoCallers: alice, alone: ask failed: x$/);
  });

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
