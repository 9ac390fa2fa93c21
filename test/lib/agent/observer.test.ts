import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  AIObserver,
  AIProviderError,
  createAIService,
  defineTool,
  type RunEnded,
  type RunStarted,
  type ToolEnded,
  type ToolStarted,
} from 'inversify-ai';
import { call, filtered, httpError, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { Events } from '../../events.js';
import { settled } from '../../settled.js';

const find = defineTool({
  name: 'find',
  description: 'Finds',
  parameters: { n: { type: 'integer', description: 'A number' } },
  execute: ({ n }) => {
    if (n === 0) throw new Error('SECRET');
    return `found ${n.toString()}`;
  },
});

async function events(turns: readonly ScriptedTurn[], signal?: AbortSignal): Promise<Events> {
  const seen = new Events();
  const service = createAIService({
    model: scriptedModel(turns),
    tools: [find],
    observers: [seen],
    retry: { minDelayMs: 0, maxDelayMs: 0 },
    logger: { warn: jest.fn(), error: jest.fn() },
  });
  await service.chat('q', { metadata: { ticket: 7 }, ...(signal && { signal }) }).catch(() => undefined);
  return seen;
}

describe('an observer', () => {
  it('that changes what can be changed reaches neither the tool, the run, nor another observer', async () => {
    const metadata = { ticket: { open: true } };
    const meddle = (args: unknown): void => {
      const { due, tags } = (args ?? {}) as { readonly due?: Date; readonly tags?: Set<string> };
      due?.setUTCFullYear(1970);
      tags?.clear();
    };
    class Meddles extends AIObserver {
      override runStarted(event: RunStarted): void {
        const { ticket } = event.metadata as { ticket: { open: boolean } };
        expect(() => (ticket.open = false)).toThrow(TypeError);
      }
      override toolStarted(event: ToolStarted): void {
        meddle(event.arguments);
      }
      override toolEnded(event: ToolEnded): void {
        meddle(event.arguments);
      }
      override runEnded({ run }: RunEnded): void {
        meddle(run.calls[0]!.arguments);
      }
    }
    const got: unknown[] = [];
    const plan = defineTool({
      name: 'plan',
      description: 'Plans',
      parameters: {
        due: { type: Date, description: 'When' },
        tags: { type: Set, items: String, description: 'Tags' },
      },
      execute: ({ due, tags }, context) => {
        got.push(due.getUTCFullYear(), tags.size, context.metadata);
      },
    });
    const after = new Events();
    const run = await createAIService({
      model: scriptedModel([call('plan', { due: '2026-03-01T00:00:00Z', tags: ['a', 'b'] }), text('done')]),
      tools: [plan],
      observers: [new Meddles(), after],
    }).run('q', { metadata });
    const whole = { due: new Date('2026-03-01T00:00:00Z'), tags: new Set(['a', 'b']) };
    expect(got).toEqual([2026, 2, { ticket: { open: true } }]);
    expect(run.calls[0]!.arguments).toEqual(whole);
    expect(after.started[0]!.arguments).toEqual(whole);
    expect(after.ended[0]!.arguments).toEqual(whole);
    const [, ended] = after.all.at(-1)!;
    expect((ended as RunEnded).run.calls[0]!.arguments).toEqual(whole);
  });

  it('is told how long a call took, the checks of its arguments included', async () => {
    jest.useFakeTimers();
    try {
      const slow = z.string().refine(async () => {
        await new Promise((resolve) => setTimeout(resolve, 70));
        return true;
      });
      const seen = new Events();
      const asked = createAIService({
        model: scriptedModel([call('look', { at: 'x' }), text('done')]),
        tools: [
          defineTool({
            name: 'look',
            description: 'Looks',
            parameters: { at: { schema: slow, description: 'At' } },
            execute: () => new Promise((resolve) => setTimeout(resolve, 30, 'seen')),
          }),
        ],
        observers: [seen],
      }).run('q');
      await jest.advanceTimersByTimeAsync(200);
      await asked;
      expect(seen.ended[0]).toMatchObject({ outcome: 'ok', durationMs: 100 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('is told every step of a run, in order, in frozen events of one run', async () => {
    const { all } = await events([call('find', { n: 1 }), httpError(503), text('done')]);
    expect(all.map(([name]) => name)).toEqual([
      ...['runStarted', 'turnStarted', 'modelReplied', 'toolStarted', 'toolEnded'],
      ...['turnStarted', 'modelRetried', 'modelReplied', 'runEnded'],
    ]);
    const common = all.map(
      ([, { runId, site, at }]: readonly [string, { runId?: string; site?: string; at?: number }]) => [
        runId,
        site,
        typeof at,
      ],
    );
    expect(new Set(common.map(String)).size).toBe(1);
    expect(common[0]).toEqual([expect.any(String), 'createAIService', 'number']);
    for (const [, event] of all) expect(Object.isFrozen(event)).toBe(true);
    expect(all[0]![1]).toMatchObject({ question: 'q', metadata: { ticket: 7 }, tools: ['find'] });
    expect(all[1]![1]).toMatchObject({ turn: 1, tools: ['find'] });
    expect(all[2]![1]).toMatchObject({
      turn: 1,
      model: 'scripted',
      finish: 'stop',
      attempts: 1,
      durationMs: expect.any(Number),
    });
    expect(all[6]![1]).toMatchObject({ turn: 2, attempt: 1, delayMs: 0, error: { status: 503 } });
    expect(all[7]![1]).toMatchObject({ turn: 2, attempts: 2 });
    expect(all[8]![1]).toMatchObject({ stop: 'answer', run: { text: 'done', turns: 2 } });
    expect(all[8]![1]).not.toHaveProperty('error');
  });

  it.each<[string, readonly ScriptedTurn[], object]>([
    ['a provider that stays down', [httpError(500), httpError(500), httpError(500)], { status: 500 }],
    ['a filter', [call('find', { n: 1 }), filtered()], { code: 'filtered' }],
  ])('is told how a run failed, with the run so far: %s', async (_title, turns, error) => {
    const { all } = await events(turns);
    const [name, event] = all.at(-1)!;
    expect(name).toBe('runEnded');
    expect(event).toMatchObject({ error, run: { calls: expect.any(Array) } });
    expect(event).not.toHaveProperty('stop');
  });

  it('is told the caller’s own reason of an abort', async () => {
    const reason = new Error('mine');
    const { all } = await events([text('done')], AbortSignal.abort(reason));
    expect(all.map(([name]) => name)).toEqual(['runStarted', 'runEnded']);
    expect((all[1]![1] as RunEnded).error).toBe(reason);
  });

  it('is told the real error of a tool, and of a retry a provider error', async () => {
    const seen = await events([call('find', { n: 0 }), httpError(503), text('done')]);
    expect(seen.ended).toMatchObject([{ outcome: 'failed', error: new Error('SECRET') }]);
    const [, retried] = seen.all.find(([name]) => name === 'modelRetried')!;
    expect((retried as { error: unknown }).error).toBeInstanceOf(AIProviderError);
  });

  it('of an older kind, that does not know every event, is told those it knows', async () => {
    const seen: string[] = [];
    const older = { toolEnded: () => void seen.push('toolEnded') } as unknown as AIObserver;
    const service = createAIService({
      model: scriptedModel([call('find', { n: 1 }), text('done')]),
      tools: [find],
      observers: [older],
    });
    expect(await service.chat('q')).toBe('done');
    expect(seen).toEqual(['toolEnded']);
  });

  it('that fails at every event changes nothing, and is logged once a run', async () => {
    class Fails extends AIObserver {
      override runStarted(): void {
        throw new Error('observer');
      }
      override turnStarted(): void {
        throw new Error('observer');
      }
      // eslint-disable-next-line @typescript-eslint/no-misused-promises -- it is what people write
      override async modelReplied(): Promise<void> {
        await Promise.reject(new Error('observer'));
      }
      override runEnded(): void {
        throw new Error('observer');
      }
    }
    const logger = { warn: jest.fn(), error: jest.fn() };
    const service = createAIService({
      model: scriptedModel([text('one'), text('two')]),
      observers: [new Fails()],
      logger,
    });
    expect(await service.chat('q')).toBe('one');
    expect(await service.chat('q')).toBe('two');
    await settled();
    expect(logger.error).toHaveBeenCalledTimes(2);
  });

  it('that takes itself out while it is told does not keep the others from being told', async () => {
    const list: AIObserver[] = [];
    const after = new Events();
    class Leaves extends AIObserver {
      override toolStarted(): void {
        list.splice(0, 1);
      }
    }
    list.push(new Leaves(), after);
    const service = createAIService({
      model: scriptedModel([call('find', { n: 1 }), text('done')]),
      tools: [find],
      observers: list,
    });
    await service.chat('q');
    expect(after.started).toHaveLength(1);
    expect(after.ended).toHaveLength(1);
  });
});
