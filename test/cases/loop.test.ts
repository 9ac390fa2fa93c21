import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  AIObserver,
  AIProviderError,
  AIResponseError,
  AITool,
  AIToolIterationError,
  AIToolParam,
  ChatModel,
  createAIService,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
  type RetryOptions,
  type ToolEnded,
  type ToolStarted,
} from 'inversify-ai';
import {
  call,
  filtered,
  httpError,
  never,
  refusal,
  scriptedModel,
  type ScriptedTurn,
  text,
} from 'inversify-ai/testing';
import { settled } from '../settled.js';
import { play, toldBefore } from './cases.js';

class OrderTools {
  readonly ran: string[] = [];

  @ReadOnly
  @AITool('Looks up a single order by id')
  findOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): string {
    this.ran.push(`find ${orderId.toString()}`);
    return `order ${orderId.toString()}`;
  }

  @AITool('Refunds')
  refundOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): string {
    this.ran.push(`refund ${orderId.toString()}`);
    return 'refunded';
  }
}

const AT_ONCE: RetryOptions = { minDelayMs: 0, maxDelayMs: 0 };

const find = () => call('OrderTools_findOrder', { orderId: 42 });

describe('C13: the same call for ever', () => {
  it('ends at the cap, with the calls that were made', async () => {
    const tools = new OrderTools();
    const { ask, model } = play([tools], Array.from({ length: 9 }, find), { maxToolCalls: 4 });
    const { error } = await ask();
    expect(tools.ran).toHaveLength(4);
    expect(model.requests).toHaveLength(5);
    expect(model.requests[4]!.tools).toEqual([]);
    expect(error).toBeInstanceOf(AIToolIterationError);
    expect((error as AIToolIterationError).run?.calls).toHaveLength(4);
  });

  it('an answer on the last turn is one, runs count for themselves', async () => {
    const turns = [find(), find(), find(), find(), text('done')];
    const tools = new OrderTools();
    const { service } = play([tools], [...turns, ...turns], { maxToolCalls: 4 });
    expect(await service.chat('q')).toBe('done');
    expect(await service.chat('q')).toBe('done');
    expect(tools.ran).toHaveLength(8);
  });
});

describe('C13: two agents at once', () => {
  it('count their calls for themselves', async () => {
    const [one, two] = [new OrderTools(), new OrderTools()];
    const first = play([one], Array.from({ length: 9 }, find), { maxToolCalls: 4 });
    const second = play([two], [find(), find(), text('done')], { maxToolCalls: 2 });
    const [{ error }, { run }] = await Promise.all([first.ask(), second.ask()]);
    expect(error).toBeInstanceOf(AIToolIterationError);
    expect(run).toMatchObject({ text: 'done', stop: 'cap' });
    expect([one.ran.length, two.ran.length]).toEqual([4, 2]);
  });
});

describe('C14: text and a call in one turn', () => {
  it.each([['stop'], ['tool_calls'], ['end_turn']])(
    'the call is run and the text is kept, with the finish reason %s',
    async (finish) => {
      const tools = new OrderTools();
      const turn = call('OrderTools_findOrder', { orderId: 42 }, { text: 'Let me check', finish });
      const { ask, model } = play([tools], [turn, text('In transit')]);
      expect((await ask()).run?.text).toBe('In transit');
      expect(tools.ran).toHaveLength(1);
      expect(model.requests[1]!.body).toContain('Let me check');
    },
  );

  it('text alone is the answer, whatever the finish reason says', async () => {
    const { ask, model } = play([new OrderTools()], [text('In transit', { finish: 'tool_calls' })]);
    expect((await ask()).run?.text).toBe('In transit');
    expect(model.requests).toHaveLength(1);
  });
});

/** A model that plays texts as they stand, for what no script of turns would write. */
class Verbatim extends ChatModel {
  readonly name = 'verbatim';
  readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;
  readonly requests: ModelRequest[] = [];
  constructor(private readonly texts: readonly string[]) {
    super();
  }
  override complete(request: ModelRequest): Promise<ModelReply> {
    this.requests.push(request);
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
    return Promise.resolve({ text: this.texts[this.requests.length - 1]!, finish: 'stop', usage });
  }
}

const envelope = (tool: string, orderId: number): string =>
  JSON.stringify({ tool, arguments: [{ name: 'orderId', value: orderId.toString() }], answer: '' });

describe('C15: several calls', () => {
  class Bank {
    readonly ran: string[] = [];
    @AITool('Pays')
    pay(@AIToolParam('amount', 'How much', { type: 'integer' }) amount: number): string {
      this.ran.push(`pay ${amount.toString()}`);
      return 'paid';
    }
    @AITool('Fails at once')
    boom(): string {
      throw new Error('at once');
    }
    @AITool('Fails after a while')
    async boomLater(): Promise<string> {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('later');
    }
  }

  it.each([
    ['in the middle', ['pay', 'boom', 'find']],
    ['first', ['boom', 'pay', 'find']],
    ['later, in the middle', ['pay', 'boomLater', 'find']],
  ])('one that fails %s drops no result of the others', async (_title, order) => {
    const [bank, orders] = [new Bank(), new OrderTools()];
    const made: Readonly<Record<string, ScriptedTurn>> = {
      pay: call('Bank_pay', { amount: 5 }),
      boom: call('Bank_boom'),
      boomLater: call('Bank_boomLater'),
      find: find(),
    };
    const { ask, model, events } = play([bank, orders], [...order.map((name) => made[name]!), text('ok')]);
    expect((await ask()).run?.text).toBe('ok');
    expect(bank.ran).toEqual(['pay 5']);
    const told: Readonly<Record<string, string>> = {
      pay: 'paid',
      boom: 'Bank_boom failed. The reason is not known to you, so do not guess it.',
      boomLater: 'Bank_boomLater failed. The reason is not known to you, so do not guess it.',
      find: 'order 42',
    };
    expect([1, 2, 3].map((n) => toldBefore(model, n))).toEqual(order.map((name) => told[name]));
    expect(events.ended.map(({ callId }) => callId)).toEqual(['call_1', 'call_2', 'call_3']);
    await settled();
  });

  const refund = envelope('OrderTools_refundOrder', 1);

  it.each([
    ['one after the other', `${refund}\n${envelope('OrderTools_refundOrder', 2)}`],
    ['in a list', `[${refund},${envelope('OrderTools_refundOrder', 2)}]`],
    ['in a list of names', '{"tool":["OrderTools_refundOrder","OrderTools_findOrder"],"arguments":[],"answer":""}'],
    ['under one key', `${refund.slice(0, -1)},"tool":"OrderTools_findOrder"}`],
    ['in a key of their own', `${refund.slice(0, -1)},"calls":[${refund}]}`],
    ['as a call and an answer', `${refund}${JSON.stringify({ tool: 'ANSWER', arguments: [], answer: 'Refunded.' })}`],
  ])('the envelope takes one a turn; several %s: none is run, and the model is told so', async (_title, several) => {
    const tools = new OrderTools();
    const model = new Verbatim([several, refund, JSON.stringify({ tool: 'ANSWER', arguments: [], answer: 'ok' })]);
    const run = await createAIService({ model, tools: [tools] }).run('q');
    expect(run.text).toBe('ok');
    expect(model.requests[1]!.messages.at(-1)!.content).toMatch(/could not be used.*Nothing was run/);
    expect(tools.ran).toEqual(['refund 1']);
    expect(run.calls).toHaveLength(1);
  });
});

describe('C16: call ids that repeat', () => {
  const made = (tool: string, orderId: number, id?: string) => call(tool, { orderId }, id === undefined ? {} : { id });

  it.each([
    ['the same one in two turns, for two orders', ['x', 'x']],
    ['empty ones', ['', '']],
    ['none', [undefined, undefined]],
  ])('%s: both run, each with its own result', async (_title, [first, second]) => {
    const tools = new OrderTools();
    const { ask, model, events } = play(
      [tools],
      [made('OrderTools_findOrder', 1, first), made('OrderTools_findOrder', 2, second), text('ok')],
    );
    expect((await ask()).run?.text).toBe('ok');
    expect(tools.ran).toEqual(['find 1', 'find 2']);
    expect([1, 2].map((n) => toldBefore(model, n))).toEqual(['order 1', 'order 2']);
    expect(new Set(events.ended.map(({ callId }) => callId)).size).toBe(2);
  });

  it('the same one for the same mutating call: it runs once, and is answered twice', async () => {
    const tools = new OrderTools();
    const { ask, model, events } = play(
      [tools],
      [made('OrderTools_refundOrder', 1, 'x'), made('OrderTools_refundOrder', 1, 'x'), text('ok')],
    );
    expect((await ask()).run?.text).toBe('ok');
    expect(tools.ran).toEqual(['refund 1']);
    expect(events.ended.map(({ callId, outcome }) => [callId, outcome])).toEqual([
      ['call_1', 'ok'],
      ['call_2', 'repeated'],
    ]);
    expect(toldBefore(model, 2)).toMatch(/already called with these arguments.*\nrefunded$/s);
  });
});

describe('C17: a refusal and a content filter are no answers', () => {
  it.each([
    ['a filter, empty', filtered(), 'filtered', ''],
    ['a filter, with text', text('Partly', { finish: 'content_filter' }), 'filtered', 'Partly'],
    ['a refusal', refusal("I can't help"), 'refused', "I can't help"],
  ])('%s', async (_title, turn, code, words) => {
    const { ask, model } = play([new OrderTools()], [turn]);
    const { error } = await ask();
    expect(error).toBeInstanceOf(AIResponseError);
    expect(error).toMatchObject({ code, text: words });
    expect(model.requests).toHaveLength(1);
  });

  it('nor is one a typed answer, and it is no wrong JSON either', async () => {
    const { service, model } = play([new OrderTools()], [text('In transit'), refusal("I can't help")]);
    const error: unknown = await service.chat('q', z.object({ state: z.string() })).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AIResponseError);
    expect(error).toMatchObject({ code: 'refused', text: "I can't help" });
    expect(model.requests).toHaveLength(2);
    const atOnce = play([new OrderTools()], [refusal("I can't help")]);
    await expect(atOnce.service.chat('q', z.object({ state: z.string() }))).rejects.toMatchObject({ code: 'refused' });
    expect(atOnce.model.requests).toHaveLength(1);
  });

  it('after a call that succeeded, the error carries it', async () => {
    const tools = new OrderTools();
    const { ask } = play([tools], [call('OrderTools_refundOrder', { orderId: 1 }), filtered()]);
    const { error } = await ask();
    expect((error as AIResponseError).run?.calls.map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['OrderTools_refundOrder', 'ok'],
    ]);
    expect(tools.ran).toEqual(['refund 1']);
  });
});

describe('C18: a retry repeats no tool', () => {
  it('the request that failed twice is sent again, the same to the byte; the refund is not', async () => {
    const tools = new OrderTools();
    const { ask, model } = play(
      [tools],
      [call('OrderTools_refundOrder', { orderId: 42 }), httpError(503), httpError(503), text('ok')],
      { retry: AT_ONCE },
    );
    expect((await ask()).run?.text).toBe('ok');
    expect(tools.ran).toEqual(['refund 42']);
    expect(model.requests).toHaveLength(4);
    const [, ...later] = model.requests.map(({ body }) => body);
    expect(new Set(later).size).toBe(1);
  });

  it('a provider that stays down: the error carries the refund, which ran once', async () => {
    jest.useFakeTimers();
    try {
      const tools = new OrderTools();
      const { ask, model } = play(
        [tools],
        [call('OrderTools_refundOrder', { orderId: 42 }), httpError(503), httpError(503), httpError(503)],
      );
      const asked = ask();
      await jest.advanceTimersByTimeAsync(60_000);
      const { error } = await asked;
      expect(error).toBeInstanceOf(AIProviderError);
      expect(error).toMatchObject({ status: 503, attempts: 3 });
      expect((error as AIProviderError).run?.calls).toMatchObject([{ outcome: 'ok', result: 'refunded' }]);
      expect(tools.ran).toEqual(['refund 42']);
      expect(model.requests).toHaveLength(4);
    } finally {
      jest.useRealTimers();
    }
  });

  it('a refund that commits and then fails is not run a second time by us', async () => {
    const ran: number[] = [];
    class Bank {
      @AITool('Refunds')
      refund(): string {
        ran.push(1);
        throw new Error('timeout');
      }
    }
    const { ask, model } = play([new Bank()], [call('Bank_refund'), text('failed')]);
    expect((await ask()).run?.text).toBe('failed');
    expect(ran).toEqual([1]);
    expect(toldBefore(model, 1)).toBe('Bank_refund failed. The reason is not known to you, so do not guess it.');
  });
});

describe('C19: a tool that never returns', () => {
  it.each<[string, () => Promise<string>]>([
    ['never settles', () => new Promise(() => undefined)],
    ['settles late', () => new Promise((resolve) => setTimeout(() => resolve('late'), 200))],
    ['rejects late', () => new Promise((_resolve, reject) => setTimeout(() => reject(new Error('late')), 200))],
  ])('%s', async (_title, body) => {
    jest.useFakeTimers();
    try {
      class Slow {
        @AITool({ description: 'Slow', timeoutMs: 50 })
        stuck(): Promise<string> {
          return body();
        }
      }
      const { ask, model, events, logger } = play(
        [new Slow(), new OrderTools()],
        [call('Slow_stuck'), find(), text('ok')],
      );
      const asked = ask();
      await jest.advanceTimersByTimeAsync(51);
      expect((await asked).run?.text).toBe('ok');
      await jest.advanceTimersByTimeAsync(500);
      expect(toldBefore(model, 1)).toBe('Slow_stuck did not finish in time. It is not known whether it took effect.');
      expect(toldBefore(model, 2)).toBe('order 42');
      expect(events.ended.map(({ tool, outcome }) => [tool, outcome])).toEqual([
        ['Slow_stuck', 'timed-out'],
        ['OrderTools_findOrder', 'ok'],
      ]);
      expect(model.requests).toHaveLength(3);
      expect(logger.warn).toHaveBeenCalledTimes(1);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
    await settled();
  });
});

describe('C20: time limits and retries together', () => {
  const ask = async (turns: readonly ScriptedTurn[], retry: RetryOptions = {}) => {
    jest.useFakeTimers();
    try {
      const model = scriptedModel(turns, { attemptTimeoutMs: 30 });
      const begun = Date.now();
      const asked = createAIService({ model, maxAttempts: 3, retry: { ...AT_ONCE, ...retry } })
        .run('q')
        .then(
          ({ text }) => ({ text, error: undefined, afterMs: Date.now() - begun }),
          (error: unknown) => ({ text: undefined, error, afterMs: Date.now() - begun }),
        );
      await jest.advanceTimersByTimeAsync(1_000);
      return { ...(await asked), requests: model.requests.length };
    } finally {
      jest.useRealTimers();
    }
  };

  it('each attempt has a time of its own', async () => {
    expect(await ask([never(), text('ok')])).toMatchObject({ text: 'ok', requests: 2 });
  });

  it('the deadline ends them in the middle of the third', async () => {
    const { error, requests, afterMs } = await ask([never(), never(), never(), text('late')], { deadlineMs: 70 });
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ attempts: 3, elapsedMs: 70 });
    expect((error as Error).message).toMatch(/within the 70 ms of retry.deadlineMs, after 3 attempts/);
    expect([requests, afterMs]).toEqual([3, 70]);
  });

  it('without one they end after the last, and the error says how many and how long', async () => {
    const { error, requests } = await ask([never(), never(), never(), text('late')]);
    expect(error).toBeInstanceOf(AIProviderError);
    // The two delays between are 0, for which a timer takes 1 ms.
    expect(error).toMatchObject({ attempts: 3, elapsedMs: 92 });
    expect(requests).toBe(3);
  });
});

describe('C34: an observer does not break the run', () => {
  class Throws extends AIObserver {
    override toolStarted(): void {
      throw new Error('observer 1');
    }
    override toolEnded(): void {
      throw new Error('observer 1');
    }
  }
  class Rejects extends AIObserver {
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- it is what people write
    override async toolEnded(): Promise<void> {
      await Promise.reject(new Error('observer 2'));
    }
  }
  class Hangs extends AIObserver {
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- it is what people write
    override toolEnded(): Promise<void> {
      return new Promise(() => undefined);
    }
  }
  class Meddles extends AIObserver {
    readonly faults: string[] = [];
    override toolStarted(event: ToolStarted): void {
      this.#meddle(event.arguments, 'orderId', 7);
      this.#meddle(event.sent, 'orderId', '7');
    }
    override toolEnded(event: ToolEnded): void {
      this.#meddle(event, 'result', 'another');
    }
    #meddle(target: unknown, key: string, value: unknown): void {
      try {
        (target as Record<string, unknown>)[key] = value;
      } catch (error) {
        this.faults.push((error as Error).name);
      }
    }
  }

  it('whatever it does', async () => {
    const tools = new OrderTools();
    const meddles = new Meddles();
    const { ask, model, events, logger } = play(
      [tools],
      [call('OrderTools_refundOrder', { orderId: 5 }), find(), text('ok')],
      {
        observers: [new Throws(), new Rejects(), new Hangs(), meddles],
      },
    );
    expect((await ask()).run?.text).toBe('ok');
    await settled();
    expect(tools.ran).toEqual(['refund 5', 'find 42']);
    expect(events.started).toHaveLength(2);
    expect(events.ended.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    expect(toldBefore(model, 1)).toBe('refunded');
    expect(meddles.faults).toEqual(Array.from({ length: 6 }, () => 'TypeError'));
    expect(logger.error.mock.calls.map(([, error]) => (error as Error).message)).toEqual(['observer 1', 'observer 2']);
  });

  it('nor does one that takes itself away while it is told', async () => {
    const observers: AIObserver[] = [];
    const seen: string[] = [];
    class Leaves extends AIObserver {
      override toolStarted({ callId }: ToolStarted): void {
        seen.push(callId);
        observers.splice(observers.indexOf(this), 1);
      }
    }
    observers.push(new Leaves(), new Leaves());
    const { ask, events } = play([new OrderTools()], [find(), find(), text('ok')], { observers });
    expect((await ask()).run?.text).toBe('ok');
    expect(events.started).toHaveLength(2);
    expect(events.ended).toHaveLength(2);
    // Who was there when the run began is told to its end.
    expect(seen).toEqual(['call_1', 'call_1', 'call_2', 'call_2']);
  });
});
