import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AIProviderError, ChatModel, type ModelReply, type ModelRequest } from 'inversify-ai';
import { httpError, never, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { completeWithRetry, type Retrying } from '../../../lib/model/retry.js';
import { DEFAULT_RETRY, type RetryOptions } from '../../../lib/run-options.js';

const REQUEST: ModelRequest = { wire: 'envelope', messages: [{ role: 'user', content: 'q' }], tools: [] };

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  const left = jest.getTimerCount();
  jest.useRealTimers();
  if (left > 0) throw new Error(`${left.toString()} timers are left`);
});

const thrown = (): never => {
  throw new Error('nobody reads this');
};
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

interface Tried {
  readonly reply?: ModelReply;
  readonly error?: unknown;
  readonly sent: readonly number[];
  readonly retries: readonly Retrying[];
}

/** Asks a model; when each request was sent, in milliseconds from now on. */
function ask(
  model: ChatModel,
  retry: RetryOptions = {},
  { signal = new AbortController().signal, maxAttempts = 3 } = {},
): { readonly done: Promise<Tried>; readonly sent: readonly number[] } {
  const begun = Date.now();
  const sent: number[] = [];
  const retries: Retrying[] = [];
  const done = completeWithRetry(model, REQUEST, {
    signal,
    maxAttempts,
    retry: { ...DEFAULT_RETRY, random: () => 1, ...retry },
    sending: () => sent.push(Date.now() - begun),
    retrying: (retrying) => retries.push(retrying),
  }).then(
    (reply) => ({ reply, sent, retries }),
    (error: unknown) => ({ error, sent, retries }),
  );
  return { done, sent };
}

async function tried(turns: readonly ScriptedTurn[], retry: RetryOptions = {}, maxAttempts = 3): Promise<Tried> {
  const { done } = ask(scriptedModel(turns), retry, { maxAttempts });
  await jest.runAllTimersAsync();
  return done;
}

describe('the delay', () => {
  const down = Array.from({ length: 9 }, () => httpError(503));

  it('doubles up to its cap, and is the whole of it times what is drawn', async () => {
    const retry = { minDelayMs: 100, maxDelayMs: 500 };
    expect((await tried(down, retry, 6)).sent).toEqual([0, 100, 300, 700, 1_200, 1_700]);
    expect((await tried(down, { ...retry, random: () => 0.5 }, 4)).sent).toEqual([0, 50, 150, 350]);
    expect((await tried(down, { ...retry, random: () => 0 }, 3)).sent).toHaveLength(3);
  });

  it.each<[string, () => number]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['gives no number', () => Number.NaN],
    ['gives another one', () => -3],
  ])('is a whole one where what draws it %s', async (_title, random) => {
    expect((await tried(down, { minDelayMs: 100, random }, 3)).sent).toEqual([0, 100, 300]);
  });

  it('may be 0', async () => {
    expect((await tried(down, { minDelayMs: 0, maxDelayMs: 0 }, 3)).retries.map(({ delayMs }) => delayMs)).toEqual([
      0, 0,
    ]);
  });

  it('is what the provider asks for where it asks, and a quarter of the jitter on top', async () => {
    const asks = httpError(429, { headers: { 'retry-after': '3' } });
    expect((await tried([asks, text('ok')], { minDelayMs: 400 })).sent).toEqual([0, 3_100]);
    expect((await tried([asks, text('ok')], { minDelayMs: 400, random: () => 0 })).sent).toEqual([0, 3_000]);
  });

  const asking = (after: string) => [httpError(429, { headers: { 'retry-after': after } }), text('ok')];

  it('is what the provider asks for up to the cap', async () => {
    expect(await tried(asking('60'))).toMatchObject({ sent: [0, 60_125], reply: { text: 'ok' } });
  });

  it.each([['60.001'], ['277403'], ['Infinity']])('is none where the provider asks for more: %s s', async (after) => {
    expect(await tried(asking(after))).toMatchObject({ sent: [0], error: { status: 429, attempts: 1 } });
  });
});

describe('a failure', () => {
  it.each<[string, () => unknown]>([
    [
      'fails when it is read',
      () => ({
        get status() {
          return thrown();
        },
        get headers() {
          return thrown();
        },
      }),
    ],
    ['has headers that fail', () => ({ status: 503, headers: { get: () => thrown() } })],
    ['is a proxy that was revoked', revoked],
    ['hides what it is', () => new Proxy(new Error('x'), { has: () => thrown(), getPrototypeOf: () => thrown() })],
    ['is ours, and cannot be read', () => Object.defineProperty(new AIProviderError('x'), 'message', { get: thrown })],
    ['is nothing', () => undefined],
  ])('is an AIProviderError also where what was thrown %s', async (_title, make) => {
    class Fails extends ChatModel {
      readonly name = 'fails';
      readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;
      override complete(): Promise<ModelReply> {
        return Promise.reject(make() as Error);
      }
    }
    const { done } = ask(new Fails());
    await jest.runAllTimersAsync();
    expect((await done).error).toBeInstanceOf(AIProviderError);
  });

  it('says how often it was sent, what was asked for, and that an account is empty', async () => {
    const message = async (turns: readonly ScriptedTurn[], retry: RetryOptions = {}) =>
      ((await tried(turns, retry)).error as Error).message;
    const down = httpError(503);
    expect(await message([down, down, down])).toBe('scripted: the provider answered 503. It was sent 3 times.');
    expect(await message([httpError(429, { headers: { 'retry-after': '61' } })])).toBe(
      'scripted: the provider answered 429. It asked for 61000 ms, and retry.maxRetryAfterMs is 60000.',
    );
    expect(await message([httpError(429, { body: { error: { code: 'insufficient_quota' } } })])).toBe(
      'scripted: the provider answered 429: the account has nothing left, or is closed.',
    );
  });
});

describe('the deadline', () => {
  it('counts by the clock, where somebody holds the thread and the timer comes late', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const model = scriptedModel([text('late')]);
    const complete = model.complete.bind(model);
    model.complete = async (...args) => {
      const reply = await complete(...args);
      now += 500;
      return reply;
    };
    const { error } = await ask(model, { deadlineMs: 400 }).done;
    expect(error).toMatchObject({ attempts: 1, elapsedMs: 500 });
    jest.restoreAllMocks();
  });

  it('ends an attempt in its middle (C20 b)', async () => {
    const model = scriptedModel([never(), never(), never()], { attemptTimeoutMs: 30 });
    const { done } = ask(model, { minDelayMs: 0, maxDelayMs: 0, random: () => 0, deadlineMs: 70 }, { maxAttempts: 9 });
    await jest.runAllTimersAsync();
    const { error, sent } = await done;
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ attempts: 3, elapsedMs: 70, retryable: true });
    expect((error as Error).message).toBe(
      'scripted: no usable reply within the 70 ms of retry.deadlineMs, after 3 attempts.',
    );
    expect(sent).toHaveLength(3);
  });

  it('that a delay would reach is not slept up to: the failure is told at once', async () => {
    const { error, sent } = await tried([httpError(503), text('late')], {
      minDelayMs: 1_000,
      maxDelayMs: 1_000,
      deadlineMs: 900,
    });
    expect(error).toMatchObject({ status: 503, attempts: 1, elapsedMs: 0 });
    expect(sent).toEqual([0]);
  });
});

describe('the signal', () => {
  it('that aborts in the same breath sends nothing', async () => {
    const controller = new AbortController();
    const model = scriptedModel([text('late')]);
    const { done, sent } = ask(model, {}, { signal: controller.signal });
    controller.abort(new Error('mine'));
    expect((await done).error).toEqual(new Error('mine'));
    expect([sent, model.requests]).toEqual([[], []]);
  });

  it('ends a delay with its reason, and is left without a listener', async () => {
    const controller = new AbortController();
    const { done, sent } = ask(scriptedModel([httpError(503), text('late')]), {}, { signal: controller.signal });
    await jest.advanceTimersByTimeAsync(1);
    const reason = new Error('mine');
    controller.abort(reason);
    expect((await done).error).toBe(reason);
    expect(sent).toEqual([0]);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('of each attempt is a fresh one that is not aborted (C20 a)', async () => {
    const seen: boolean[] = [];
    class Watched extends ChatModel {
      readonly name = 'watched';
      readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;
      override async complete(_: ModelRequest, { signal }: { signal: AbortSignal }): Promise<ModelReply> {
        seen.push(signal.aborted);
        await Promise.resolve();
        throw new AIProviderError('down', { retryable: true });
      }
    }
    const { done } = ask(new Watched());
    await jest.runAllTimersAsync();
    await done;
    expect(seen).toEqual([false, false, false]);
  });
});

describe('what a provider asks of one, it asks of all', () => {
  it('but nobody waits longer than it may: the failure says that another was told so', async () => {
    const model = scriptedModel([httpError(429, { headers: { 'retry-after': '3' } }), text('ok'), text('ok')]);
    const first = ask(model, { maxRetryAfterMs: 100_000 });
    await jest.advanceTimersByTimeAsync(0);
    const impatient = ask(model, { maxRetryAfterMs: 100 });
    const hurried = ask(model, { deadlineMs: 1_000 });
    for (const [{ done, sent }, message] of [
      [impatient, /to wait for 3000 ms more, and retry.maxRetryAfterMs is 100\./],
      [hurried, /to wait for 3000 ms more, and less is left of the 1000 ms of retry.deadlineMs\./],
    ] as const) {
      const { error } = await done;
      expect(error).toMatchObject({ status: 429, retryable: true, retryAfterMs: 3_000, attempts: 0 });
      expect((error as Error).message).toMatch(message);
      expect(sent).toEqual([]);
    }
    await jest.runAllTimersAsync();
    expect((await first.done).reply?.text).toBe('ok');
  });

  it('is waited for once, whatever a clock says that somebody holds still', async () => {
    jest.useRealTimers();
    jest.useFakeTimers({ doNotFake: ['performance'] });
    const model = scriptedModel([httpError(429, { headers: { 'retry-after': '5' } }), text('ok'), text('ok')]);
    const first = ask(model);
    await jest.advanceTimersByTimeAsync(1);
    const second = ask(model);
    await jest.advanceTimersByTimeAsync(7_000);
    expect((await first.done).reply?.text).toBe('ok');
    expect((await second.done).reply?.text).toBe('ok');
  });

  it('nobody sends before the instant, and then not all at once', async () => {
    const model = scriptedModel([
      httpError(429, { headers: { 'retry-after': '10' } }),
      ...Array.from({ length: 4 }, () => text('ok')),
    ]);
    let drawn = 0;
    const retry = { minDelayMs: 400, random: () => (drawn++ % 4) / 4 };
    const first = ask(model, retry);
    await jest.advanceTimersByTimeAsync(1_000);
    const others = [ask(model, retry), ask(model, retry), ask(model, retry)];
    await jest.advanceTimersByTimeAsync(8_000);
    expect(model.requests).toHaveLength(1);
    await jest.runAllTimersAsync();
    expect(model.requests).toHaveLength(5);
    for (const { done } of [first, ...others]) expect((await done).reply?.text).toBe('ok');
    // They came a second later, and wait for nine.
    expect(others.map(({ sent }) => sent[0]!)).toEqual([9_025, 9_050, 9_075]);
  });

  it('but what is beyond the cap is waited for by nobody: each finds out for itself', async () => {
    const asks = httpError(429, { headers: { 'retry-after': '3600' } });
    const model = scriptedModel([asks, text('ok')]);
    expect((await ask(model).done).error).toMatchObject({ status: 429 });
    expect((await ask(model).done).reply?.text).toBe('ok');
  });

  it('and one whose deadline comes first does not send at all', async () => {
    const model = scriptedModel([httpError(429, { headers: { 'retry-after': '50' } }), text('ok')]);
    const first = ask(model);
    await jest.advanceTimersByTimeAsync(1);
    const { error, sent } = await ask(model, { deadlineMs: 1_000 }).done;
    expect(error).toMatchObject({ attempts: 0 });
    expect(sent).toEqual([]);
    await jest.runAllTimersAsync();
    await first.done;
  });

  it('and another model is another matter', async () => {
    const first = ask(scriptedModel([httpError(429, { headers: { 'retry-after': '50' } }), text('ok')]));
    await jest.advanceTimersByTimeAsync(1);
    expect((await ask(scriptedModel([text('ok')])).done).sent).toEqual([0]);
    await jest.runAllTimersAsync();
    await first.done;
  });
});

describe('what was thrown is told apart by its shape', () => {
  class Throws extends ChatModel {
    readonly name = 'own';
    readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;
    calls = 0;
    constructor(private readonly thrown: unknown) {
      super();
    }
    override complete(): Promise<ModelReply> {
      this.calls++;
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever a model throws
      return Promise.reject(this.thrown);
    }
  }
  const shape = (fields: object): object => Object.assign(new Error('SECRET'), fields);

  it.each<[string, unknown, number]>([
    ['a status of another copy of the client', shape({ status: 503, headers: new Headers() }), 3],
    ['the same, final', shape({ status: 401, headers: new Headers() }), 1],
    ['headers as a plain object', shape({ status: 400, headers: { 'x-should-retry': 'true' } }), 3],
    ['a connection error of a client', shape({ status: undefined, cause: { code: 'ECONNRESET' } }), 3],
    ['an error within a stream', shape({ status: undefined, code: 'server_error' }), 3],
    ['a socket of undici', new TypeError('terminated', { cause: { code: 'UND_ERR_SOCKET' } }), 3],
    ['a fetch that failed', new TypeError('fetch failed'), 3],
    ['a name that cannot be looked up', shape({ code: 'ENOTFOUND' }), 3],
    ['a body that is no JSON', new SyntaxError('SECRET'), 3],
    ['a mistake in the model', new TypeError('SECRET is not a function'), 1],
    ['a text', 'SECRET', 1],
    ['nothing', undefined, 1],
  ])('%s', async (_title, thrown, attempts) => {
    const model = new Throws(thrown);
    const { done } = ask(model);
    await jest.runAllTimersAsync();
    const { error } = await done;
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ attempts });
    expect((error as Error).message).not.toContain('SECRET');
    expect((error as Error).cause).toBe(thrown);
    expect(model.calls).toBe(attempts);
  });
});
