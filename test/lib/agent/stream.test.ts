import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  AIDefinitionError,
  type AIEvent,
  AIMiddleware,
  AIProviderError,
  type AIServiceOptions,
  ArgumentGuard,
  ChatModel,
  createAIService,
  defineTool,
  type ModelDelta,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
  type TurnContext,
} from 'inversify-ai';
import { call, filtered, httpError, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { Events } from '../../events.js';
import { settled } from '../../settled.js';

const find = defineTool({
  name: 'find',
  description: 'Finds',
  group: ReadOnly,
  parameters: { n: { type: 'integer', description: 'Which' } },
  execute: ({ n }) => `order ${n.toString()}`,
});

function agent(turns: readonly ScriptedTurn[], options: Partial<AIServiceOptions> = {}) {
  const model = scriptedModel(turns);
  const service = createAIService({
    model,
    tools: [find],
    retry: { minDelayMs: 0, maxDelayMs: 0 },
    logger: { warn: jest.fn(), error: jest.fn() },
    ...options,
  });
  return { model, service };
}

async function all(stream: AsyncIterable<AIEvent>): Promise<{ readonly events: AIEvent[]; readonly error?: unknown }> {
  const events: AIEvent[] = [];
  try {
    for await (const event of stream) events.push(event);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

const texts = (events: readonly AIEvent[]): readonly (readonly [number, string])[] => {
  const byTurn = new Map<number, string>();
  for (const event of events)
    if (event.type === 'text') byTurn.set(event.turn, (byTurn.get(event.turn) ?? '') + event.delta);
  return [...byTurn];
};
const types = (events: readonly AIEvent[]): readonly string[] =>
  events.map(({ type }) => type).filter((type, index, list) => type !== list[index - 1]);

/** A model that writes pieces, and fails or hangs where it is told to. */
class Writes extends ChatModel {
  readonly name = 'writes';
  readonly profile = { schema: 'accepted', wires: ['envelope', 'native'], prefers: 'native' } as const;
  requests = 0;
  readonly signals: AbortSignal[] = [];
  constructor(private readonly pieces: readonly (readonly (string | Error)[])[]) {
    super();
  }
  override complete(): Promise<ModelReply> {
    throw new Error('it is asked piece by piece');
  }
  override async *stream(
    _request: ModelRequest,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncIterable<ModelDelta> {
    this.signals.push(signal);
    for (const piece of this.pieces[this.requests++]!) {
      await Promise.resolve();
      if (piece === 'hangs') await new Promise(() => undefined);
      if (piece instanceof Error) throw piece;
      yield { type: 'text', text: piece };
    }
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
    yield { type: 'end', finish: 'stop', usage };
  }
}

const broken = (): AIProviderError => new AIProviderError('broken off', { retryable: true });

describe('a stream', () => {
  it('gives the events of the run in order, the answer as it is written, and the run at the end', async () => {
    const seen = new Events();
    const { service } = agent([call('find', { n: 1 }, { text: 'Let me look.' }), text('In transit "today" 😀')], {
      observers: [seen],
    });
    const { events } = await all(service.stream('q', { metadata: { ticket: 7 } }));
    expect(types(events)).toEqual([
      ...['run-started', 'turn-started', 'text', 'model-replied', 'tool-started', 'tool-ended'],
      ...['turn-started', 'text', 'model-replied', 'run-ended'],
    ]);
    expect(texts(events)).toEqual([
      [1, 'Let me look.'],
      [2, 'In transit "today" 😀'],
    ]);
    expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThan(3);
    const last = events.at(-1)!;
    expect(last).toMatchObject({ type: 'run-ended', run: { text: 'In transit "today" 😀', stop: 'answer', turns: 2 } });
    for (const event of events) {
      expect(Object.isFrozen(event)).toBe(true);
      expect([event.runId, event.site]).toEqual([events[0]!.runId, 'createAIService']);
    }
    // An observer is told the same.
    expect(events.find(({ type }) => type === 'tool-ended')).toMatchObject({ outcome: 'ok', result: 'order 1' });
    expect(seen.ended).toHaveLength(1);
  });

  it('begins when the first event is asked for', async () => {
    const { model, service } = agent([text('done')]);
    const stream = service.stream('q');
    await settled();
    expect(model.requests).toHaveLength(0);
    await all(stream);
    expect(model.requests).toHaveLength(1);
  });

  it('rejects after what came before, once, and is over then', async () => {
    const { service } = agent([call('find', { n: 1 }), filtered()]);
    const stream = service.stream('q')[Symbol.asyncIterator]();
    const seen: string[] = [];
    let error: unknown;
    while (error === undefined) {
      const next = await stream.next().catch((thrown: unknown) => {
        error = thrown;
      });
      if (next?.done === false) seen.push(next.value.type);
    }
    expect(seen).toContain('tool-ended');
    expect(error).toMatchObject({ code: 'filtered', run: { calls: [{ outcome: 'ok' }] } });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it.each<[string, unknown, RegExp]>([
    ['an unknown option', { signl: 1 }, /there is no option "signl"/],
    ['a type', z.object({ a: z.string() }), /stream: gives a text; for a typed answer write chat/],
  ])('rejects the first next() for what cannot be: %s', async (_title, options, message) => {
    const { model, service } = agent([text('done')]);
    const stream = service.stream('q', options as never);
    const { events, error } = await all(stream);
    expect(events).toEqual([]);
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as Error).message).toMatch(message);
    expect(model.requests).toHaveLength(0);
  });

  it('that is left aborts the provider call, and waits for its end', async () => {
    const model = new Writes([['a', 'b', 'hangs']]);
    const { service } = agent([], { model });
    for await (const event of service.stream('q')) if (event.type === 'text') break;
    expect(model.signals[0]!.aborted).toBe(true);
    await settled();
  });

  it('that is left aborts a tool at work', async () => {
    let reason: unknown;
    const slow = defineTool({
      name: 'slow',
      description: 'Slow',
      parameters: {},
      execute: (_args, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            resolve('late');
          });
        }),
    });
    const { model, service } = agent([call('slow'), text('late')], { tools: [slow] });
    for await (const event of service.stream('q')) if (event.type === 'tool-started') break;
    expect(reason).toEqual(new Error('nobody reads the stream any more'));
    expect(model.requests).toHaveLength(1);
  });

  it('that is left before it began sends nothing', async () => {
    const { model, service } = agent([text('done')]);
    const stream = service.stream('q')[Symbol.asyncIterator]();
    await stream.return!();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(model.requests).toHaveLength(0);
  });

  it('ends with the caller’s reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { service } = agent([], { model: new Writes([['a', 'hangs']]) });
    let error: unknown;
    try {
      for await (const event of service.stream('q', { signal: controller.signal }))
        if (event.type === 'text') controller.abort(reason);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBe(reason);
  });

  it('that is left while an event is awaited ends that wait', async () => {
    const model = new Writes([['hangs']]);
    const { service } = agent([], { model });
    const stream = service.stream('q')[Symbol.asyncIterator]();
    let next = await stream.next();
    while (next.done !== true && next.value.type !== 'turn-started') next = await stream.next();
    const awaited = stream.next();
    await settled();
    await stream.return!();
    expect(await awaited).toEqual({ done: true, value: undefined });
    expect(model.signals[0]!.aborted).toBe(true);
  });

  it('is read by one, one event after the other', async () => {
    const { service } = agent([text('done')]);
    const stream = service.stream('q')[Symbol.asyncIterator]();
    const first = stream.next();
    await expect(stream.next()).rejects.toThrow(/await each next\(\)/);
    expect((await first).value).toMatchObject({ type: 'run-started' });
  });

  it('keeps what is not read yet, however much, in order', async () => {
    const pieces = Array.from({ length: 4_000 }, (_, n) => `${n.toString()} `);
    const { service } = agent([], { model: new Writes([pieces]) });
    const stream = service.stream('q')[Symbol.asyncIterator]();
    const begun = await stream.next();
    // Until all of it is there, unread.
    for (let n = 0; n < 4_000; n++) await Promise.resolve();
    await settled();
    const { events } = await all({ [Symbol.asyncIterator]: () => stream });
    expect(begun.value).toMatchObject({ type: 'run-started' });
    expect(texts(events)).toEqual([[1, pieces.join('')]]);
    expect(events.at(-1)!.type).toBe('run-ended');
  });

  it('is read once: a second loop is refused, and finds nothing silently', async () => {
    const { service } = agent([text('done')]);
    const read = service.stream('q');
    await all(read);
    expect(String((await all(read)).error)).toMatch(/it was read already, and is read once/);
    const left = service.stream('q');
    for await (const event of left) if (event.type === 'run-started') break;
    expect(String((await all(left)).error)).toMatch(/it was read already/);
  });

  it('says stream where its options are wrong', async () => {
    const { error } = await all(agent([]).service.stream('q', { maxToolCalls: 0 }));
    expect(String(error)).toMatch(/, stream: maxToolCalls must be/);
  });
});

describe('a provider call that is shown', () => {
  it('is sent again where nothing of it was shown', async () => {
    const model = new Writes([[broken()], ['done']]);
    const { events } = await all(agent([], { model }).service.stream('q'));
    expect(texts(events)).toEqual([[1, 'done']]);
    expect(model.requests).toBe(2);
    const scripted = agent([httpError(503), text('done')]);
    expect((await all(scripted.service.stream('q'))).events.map(({ type }) => type)).toContain('model-retried');
  });

  it('is not sent again where something was: that would be shown twice', async () => {
    const model = new Writes([['do', broken()], ['done']]);
    const { events, error } = await all(agent([], { model }).service.stream('q'));
    expect(texts(events)).toEqual([[1, 'do']]);
    expect(error).toBeInstanceOf(AIProviderError);
    expect(model.requests).toBe(1);
  });

  it('is sent again on the envelope, where what came was not shown yet', async () => {
    const envelope = '{"tool":"ANSWER","arguments":[],"answer":"done"}';
    const model = new Writes([[envelope.slice(0, 20), broken()], [envelope]]);
    const { events } = await all(agent([], { model, wire: 'envelope' }).service.stream('q'));
    expect(texts(events)).toEqual([[1, 'done']]);
    expect(model.requests).toBe(2);
  });

  it('that ends without its end is no reply', async () => {
    class Ends extends Writes {
      override async *stream(): AsyncIterable<ModelDelta> {
        this.requests++;
        await Promise.resolve();
        yield { type: 'call', index: 0, id: 'a', name: 'find', arguments: '{"n":1}' };
      }
    }
    const model = new Ends([]);
    const { events, error } = await all(agent([], { model }).service.stream('q'));
    expect(error).toMatchObject({ code: 'provider', attempts: 3 });
    expect(types(events)).not.toContain('tool-started');
  });

  it('of a model that writes no pieces comes in one', async () => {
    const model = scriptedModel([text('done')]);
    Object.defineProperty(model, 'stream', { value: undefined });
    const { events } = await all(agent([], { model }).service.stream('q'));
    expect(events.filter(({ type }) => type === 'text')).toMatchObject([{ turn: 1, delta: 'done' }]);
  });

  it('is not shown before a middleware around turns has seen it', async () => {
    class Replaces extends AIMiddleware {
      override async turn(_context: TurnContext, next: () => Promise<ModelReply>): Promise<ModelReply> {
        const reply = await next();
        return { ...reply, text: reply.text.replaceAll('SECRET', '…') };
      }
    }
    const { events } = await all(agent([text('It is SECRET.')], { middleware: [new Replaces()] }).service.stream('q'));
    expect(events.filter(({ type }) => type === 'text')).toMatchObject([{ delta: 'It is ….' }]);
    // One around calls alone holds nothing back.
    const guarded = agent([text('It is here.')], { middleware: [new ArgumentGuard({ deny: [/x/] })] });
    const seen = (await all(guarded.service.stream('q'))).events.filter(({ type }) => type === 'text');
    expect(seen.length).toBeGreaterThan(1);
  });

  it('joins to the run’s text in its last turn: after a correction, and where a tool’s result is the answer', async () => {
    const direct = defineTool({
      name: 'last',
      description: 'Ends',
      returnDirect: true,
      parameters: {},
      execute: () => 'it',
    });
    for (const [turns, expected] of [
      [[text(''), text('done')], [[2, 'done']]],
      [[call('last')], [[1, 'it']]],
      [
        [call('last', {}, { text: 'Look:' })],
        [
          [1, 'Look:'],
          [2, 'it'],
        ],
      ],
    ] as const) {
      const { events } = await all(agent(turns, { tools: [direct] }).service.stream('q'));
      expect(texts(events)).toEqual(expected);
      expect((events.at(-1) as { run: { text: string } }).run.text).toBe(expected.at(-1)![1]);
    }
  });
});
