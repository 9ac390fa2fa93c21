import { getEventListeners } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import {
  AIError,
  AIProviderError,
  ChatModel,
  createAIService,
  defineTool,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
} from 'inversify-ai';
import { Events } from '../events.js';
import { settled } from '../settled.js';

/** Mulberry32: the same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NO_USAGE = { inputTokens: 3, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 };
const call = (tool: string, n: string): string =>
  JSON.stringify({ tool, arguments: [{ name: 'n', value: n }], answer: '' });

/** Replies with whatever comes next, faults as often as answers. No language model: it reads nothing but what is on offer. */
class Unsteady extends ChatModel {
  readonly name = 'unsteady';
  readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;

  constructor(private readonly next: () => number) {
    super();
  }

  override async complete(_request: ModelRequest, { signal }: { signal: AbortSignal }): Promise<ModelReply> {
    const drawn = Math.floor(this.next() * 22);
    const reply = (text: string, finish = 'stop'): ModelReply => ({ text, finish, usage: NO_USAGE });
    if (drawn % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    switch (drawn) {
      case 0:
        throw new AIProviderError('down', { status: 503, retryable: true });
      case 1:
        throw new AIProviderError('no', { status: 400 });
      case 2:
        throw new TypeError('terminated');
      case 3:
        throw Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after-ms': '1' } });
      case 4:
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        });
      case 5:
        return reply('');
      case 6:
        return reply('{"tool":"pay"');
      case 7:
        return reply(call('pay', '1'), 'length');
      case 8:
        return reply(call('pay', '1'), 'content_filter');
      case 9:
        return { ...reply(''), refusal: 'No.' };
      case 10:
        return reply(call('drop', '1'));
      case 11:
        return reply(call('pay', 'all'));
      case 12:
        return undefined as never;
      case 13:
        return reply(JSON.stringify({ tool: 'ANSWER', arguments: [], answer: 'done' }));
      default:
        return reply(call(drawn % 2 === 0 ? 'pay' : 'find', Math.floor(this.next() * 6).toString()));
    }
  }
}

describe('a soak of 2,000 runs, each with faults of its own', () => {
  it('every run ends in an answer or a typed error, no mutating call runs twice, and nothing is left behind', async () => {
    const next = random(20_261_130);
    const perCall = new Map<string, number>();
    const paid = new Map<string, number>();
    const body = (n: number): unknown => {
      if (n === 2) throw new Error('boom');
      return n === 3 ? new Promise(() => undefined) : 'ok';
    };
    const pay = defineTool({
      name: 'pay',
      description: 'Pays',
      timeoutMs: 2,
      parameters: { n: { type: 'integer', description: 'A number' } },
      execute: ({ n }, { runId, callId }) => {
        perCall.set(`${runId} ${callId}`, (perCall.get(`${runId} ${callId}`) ?? 0) + 1);
        paid.set(`${runId} ${n.toString()}`, (paid.get(`${runId} ${n.toString()}`) ?? 0) + 1);
        return body(n);
      },
    });
    const find = defineTool({
      name: 'find',
      description: 'Finds',
      group: ReadOnly,
      timeoutMs: 2,
      parameters: { n: { type: 'integer', description: 'A number' } },
      execute: ({ n }) => body(n),
    });
    const events = new Events();
    const service = createAIService({
      model: new Unsteady(next),
      tools: [pay, find],
      observers: [events],
      retry: { minDelayMs: 0, maxDelayMs: 0, random: next },
      limits: { deadlineMs: 25, maxTurns: 9, maxTokens: 60, perTool: { pay: 4 } },
      logger: { warn: jest.fn(), error: jest.fn() },
    });
    const { signal } = new AbortController();
    const timersBefore = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const kinds = new Map<string, number>();
    const odd: unknown[] = [];
    const run = async (index: number): Promise<void> => {
      const own = new AbortController();
      if (index % 10 === 0)
        setImmediate(() => {
          own.abort(new Error('enough'));
        });
      const kind = await service.run('q', { signal: index % 10 === 0 ? own.signal : signal }).then(
        ({ stop }) => stop as string,
        (error: unknown) => {
          if (error instanceof AIError) return error.code as string;
          if (error === own.signal.reason) return 'aborted';
          odd.push(error);
          return 'odd';
        },
      );
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    };
    for (let batch = 0; batch < 2_000; batch += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => run(batch + index)));
    await settled();
    expect(odd).toEqual([]);
    expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBe(2_000);
    // Every way to end was gone.
    for (const kind of ['answer', 'provider', 'truncated', 'filtered', 'refused', 'malformed', 'deadline', 'aborted'])
      expect([kind, kinds.get(kind) ?? 0]).not.toEqual([kind, 0]);
    expect(Math.max(...perCall.values())).toBe(1);
    expect(Math.max(...paid.values())).toBe(1);
    const names = (name: string): number => events.all.filter(([found]) => found === name).length;
    expect(names('runEnded')).toBe(2_000);
    expect(names('runStarted')).toBe(2_000);
    expect(names('toolEnded')).toBe(names('toolStarted'));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBeLessThanOrEqual(
      timersBefore,
    );
  }, 60_000);
});
