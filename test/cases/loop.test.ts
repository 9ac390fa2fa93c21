import { describe, expect, it, jest } from '@jest/globals';
import {
  AIObserver,
  AIProviderError,
  AIResponseError,
  AITool,
  AIToolIterationError,
  AIToolParam,
  createAIService,
  ReadOnly,
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

describe('C20: an attempt’s own time limit', () => {
  const ask = async (turns: readonly ScriptedTurn[]) => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    jest.useFakeTimers();
    try {
      const model = scriptedModel(turns, { attemptTimeoutMs: 30 });
      const asked = createAIService({ model, maxAttempts: 3 })
        .run('q')
        .then(
          ({ text }) => ({ text, error: undefined }),
          (error: unknown) => ({ text: undefined, error }),
        );
      await jest.advanceTimersByTimeAsync(1_000);
      return { ...(await asked), requests: model.requests.length };
    } finally {
      jest.useRealTimers();
      jest.restoreAllMocks();
    }
  };

  it('a fresh one for each attempt', async () => {
    expect(await ask([never(), text('ok')])).toMatchObject({ text: 'ok', requests: 2 });
  });

  it('ends after the last attempt, and the error says how many and how long', async () => {
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
});
