import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  AIDefinitionError,
  AIMiddleware,
  AIProviderError,
  type AIRun,
  type AIServiceOptions,
  createAIService,
  defineTool,
  type ModelReply,
  type NextTool,
  Recorder,
  refuse,
  type ToolInvocation,
  type ToolOutcome,
  type TurnContext,
} from 'inversify-ai';
import { call, httpError, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recorder-'));
  file = join(folder, 'run.json');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const ran: unknown[] = [];
beforeEach(() => {
  ran.length = 0;
});

const pay = (description = 'Pays') =>
  defineTool({
    name: 'pay',
    description,
    parameters: { amount: { type: 'integer', description: 'How much' }, due: { type: Date, description: 'When' } },
    execute: ({ amount }) => {
      ran.push(amount);
      if (amount === 13) throw new Error('Forbidden');
      return 'x'.repeat(amount > 100 ? 30_000 : 3);
    },
  });

function agent(
  turns: readonly ScriptedTurn[],
  middleware: readonly AIMiddleware[],
  options: Partial<AIServiceOptions> = {},
) {
  const model = scriptedModel(turns);
  const service = createAIService({
    model,
    middleware,
    tools: [pay()],
    retry: { minDelayMs: 0, maxDelayMs: 0 },
    logger: { warn: jest.fn(), error: jest.fn() },
    ...options,
  });
  return { model, service };
}

const due = '2026-03-01T00:00:00Z';
const turns = [
  call('pay', { amount: 5, due }),
  call('pay', { amount: 101, due }),
  call('pay', { amount: 5, due }),
  text('done'),
];
const record = () => new Recorder({ file, mode: 'record' });
const replay = () => new Recorder({ file, mode: 'replay' });
const rest = ({ runId: _, calls, usage: { attempts: __, ...usage }, ...run }: AIRun): object => ({
  ...run,
  usage,
  calls: calls.map(({ durationMs: ___, executed: ____, ...record }) => record),
});
const failure = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('Recorder', () => {
  it('plays a recorded run again, and neither asks a model nor runs a tool', async () => {
    const recorded = await agent(turns, [record()]).service.run('q');
    expect(ran).toEqual([5, 101]);
    const { model, service } = agent([], [replay()]);
    const replayed = await service.run('q');
    expect(rest(replayed)).toEqual(rest(recorded));
    expect(replayed.usage.attempts).toBe(0);
    expect(recorded.calls.map(({ executed }) => executed)).toEqual([true, true, false]);
    expect(replayed.calls.map(({ executed }) => executed)).toEqual([false, false, false]);
    expect(ran).toEqual([5, 101]);
    expect(model.requests).toHaveLength(0);
  });

  it('plays what the limits of a run did, too', async () => {
    const limits = { perTool: { pay: 1 } };
    const script = [turns[0]!, turns[1]!, text('done')];
    const recorded = await agent(script, [record()], { limits })
      .service.run('q')
      .catch((error: unknown) => error);
    const replayed = await agent([], [replay()], { limits })
      .service.run('q')
      .catch((error: unknown) => error);
    expect(String(replayed)).toBe(String(recorded));
  });

  it('plays a denial as one, and a failed provider call', async () => {
    const options: Partial<AIServiceOptions> = { isDenial: () => true };
    const script = [call('pay', { amount: 13, due }), httpError(400)];
    const recorded = await failure(agent(script, [record()], options).service.run('q'));
    expect(recorded).toBeInstanceOf(AIProviderError);
    const replayed = await failure(agent([], [replay()], options).service.run('q'));
    expect(replayed).toBeInstanceOf(AIProviderError);
    expect(replayed).toMatchObject({
      status: 400,
      message: (recorded as Error).message,
      run: { calls: [{ outcome: 'failed' }] },
    });
    expect(readFileSync(file, 'utf8')).not.toContain('Forbidden');
  });

  it.each<[string, Partial<AIServiceOptions>, RegExp]>([
    [
      'another system text',
      { system: 'Be brief.' },
      /turn 1, the request is not as it was recorded, at messages.0.content/,
    ],
    ['another tool', { tools: [pay('Pays out')] }, /turn 1, the request is not as it was recorded/],
    ['other settings', { settings: { temperature: 0 } }, /the request is not as it was recorded, at settings/],
  ])('ends a run that would go another way: %s', async (_title, options, message) => {
    await agent(turns, [record()]).service.run('q');
    ran.length = 0;
    const { model, service } = agent(turns, [replay()], options);
    const error = await failure(service.run('q'));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).toContain('run.json');
    expect(ran).toEqual([]);
    expect(model.requests).toHaveLength(0);
  });

  it('ends a run whose recording was changed: the arguments are compared', async () => {
    await agent(turns, [record()]).service.run('q');
    ran.length = 0;
    writeFileSync(file, readFileSync(file, 'utf8').replace('"amount\\":5', '"amount\\":6'));
    const error = await failure(agent([], [replay()]).service.run('q'));
    expect((error as Error).message).toMatch(/call call_1, the arguments of pay is not as it was recorded/);
    expect(ran).toEqual([]);
  });

  it('holds several runs, by question, each played once', async () => {
    const { service } = agent([text('a'), text('b'), text('c')], [record()]);
    await Promise.all([service.chat('one'), service.chat('two'), service.chat('one')]);
    const played = agent([], [replay()]).service;
    expect(await Promise.all(['two', 'one', 'one'].map((question) => played.chat(question)))).toEqual(['b', 'a', 'c']);
    const error = await failure(played.chat('two'));
    expect((error as Error).message).toMatch(/holds no further run of createAIService with this question/);
  });

  it('writes a file that its owner alone may read, whole at every step', async () => {
    const seen: unknown[] = [];
    const looks = defineTool({
      name: 'pay',
      description: 'Looks',
      parameters: {},
      execute: () => {
        seen.push(JSON.parse(readFileSync(file, 'utf8')));
        return 'ok';
      },
    });
    await agent([call('pay'), text('done')], [record()], { tools: [looks] }).service.run('q');
    expect(seen).toMatchObject([{ version: 1, runs: [{ question: 'q', steps: [{ step: 'turn', at: '1' }] }] }]);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  });

  it.each<[string, string | undefined, RegExp]>([
    ['there is none', undefined, /run.json cannot be read; record a run first/],
    ['it is no JSON', '{', /is no recording that this version reads; record it anew/],
    ['it is another JSON', '{"version":1,"runs":[{}]}', /is no recording/],
    ['it is of another version', '{"version":2,"runs":[]}', /is no recording/],
    ...[
      { step: 'turn', at: '1', request: {}, reply: null, failure: null },
      { step: 'turn', at: '1', request: {}, reply: { text: 5 } },
      { step: 'tool', at: 'call_1', tool: 'pay', arguments: '{}', outcome: null },
      { step: 'tool', at: 'call_1', tool: 'pay', arguments: '{}', outcome: { outcome: 'aborted', result: '' } },
    ].map((step): [string, string, RegExp] => [
      `a step was written by hand, ${JSON.stringify(step)}`,
      JSON.stringify({ version: 1, runs: [{ site: 'createAIService', question: 'q', steps: [step] }] }),
      /is no recording/,
    ]),
  ])('says what is wrong with a recording: %s', async (_title, content, message) => {
    if (content !== undefined) writeFileSync(file, content);
    const error = await failure(agent([], [replay()]).service.run('q'));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as Error).message).toMatch(message);
  });

  it('records arguments that go in a circle, as far as arguments go', async () => {
    const loops = z.object({ n: z.number() }).transform(({ n }) => {
      const value: Record<string, unknown> = { n };
      value['self'] = value;
      return value;
    });
    const tools = [
      defineTool({
        name: 'walk',
        description: 'Walks',
        parameters: { way: { schema: loops, description: 'The way' } },
        execute: ({ way }) => (way as { readonly n: number }).n,
      }),
    ];
    const script = [call('walk', { way: { n: 4 } }), text('done')];
    expect((await agent(script, [record()], { tools }).service.run('q')).calls[0]).toMatchObject({ outcome: 'ok' });
    expect((await agent([], [replay()], { tools }).service.run('q')).calls[0]).toMatchObject({ result: '4' });
  });

  it('that cannot write ends the run', async () => {
    const nowhere = new Recorder({ file: join(folder, 'none', 'run.json'), mode: 'record' });
    const error = await failure(agent(turns, [nowhere]).service.run('q'));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as Error).message).toMatch(/run.json cannot be written \(ENOENT\); its folder must be there/);
    expect(ran).toEqual([]);
  });

  it('whose file cannot be written after a tool ended says that the tool did', async () => {
    const blocks = defineTool({
      name: 'pay',
      description: 'Pays',
      parameters: {},
      execute: () => {
        rmSync(file);
        mkdirSync(file);
        writeFileSync(join(file, 'in the way'), '');
        return 'paid';
      },
    });
    const error = await failure(agent([call('pay'), text('done')], [record()], { tools: [blocks] }).service.run('q'));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as AIDefinitionError).run?.calls).toMatchObject([{ outcome: 'ok', executed: true, result: 'paid' }]);
    expect(readdirSync(folder)).toEqual(['run.json']);
  });

  it('is nobody’s to redirect, and two on one file leave it whole', async () => {
    writeFileSync(`${file}.part`, 'mine', { mode: 0o644 });
    const script = [text('a'), text('b')];
    await Promise.all([1, 2, 3].map(() => agent(script, [record()]).service.run('q')));
    expect(readFileSync(`${file}.part`, 'utf8')).toBe('mine');
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1, runs: [{ question: 'q' }] });
    expect(readdirSync(folder).sort()).toEqual(['run.json', 'run.json.part']);
  });

  it('holds of a reply what a reply is, whatever somebody hung on it', async () => {
    class Raw extends AIMiddleware {
      override async turn(_context: TurnContext, next: () => Promise<ModelReply>): Promise<ModelReply> {
        return { ...(await next()), raw: { authorization: 'Bearer SECRET' } } as ModelReply;
      }
    }
    await agent([text('done')], [record(), new Raw()]).service.run('q');
    expect(readFileSync(file, 'utf8')).not.toContain('SECRET');
  });

  it('plays what a middleware said as it was told: cut where it is long, never empty', async () => {
    for (const said of ['', 'x'.repeat(30_000)]) {
      class Says extends AIMiddleware {
        override tool(): Promise<ToolOutcome> {
          return Promise.resolve({ outcome: 'ok', result: said });
        }
      }
      const script = [turns[0]!, turns[1]!, text('done')];
      const recorded = await agent(script, [record(), new Says()]).service.run('q');
      expect(rest(await agent([], [replay(), new Says()]).service.run('q'))).toEqual(rest(recorded));
    }
  });

  it('plays a call that was executed and refused afterwards as one that counts', async () => {
    class Withholds extends AIMiddleware {
      override async tool(_call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
        await next();
        return refuse('Not for you.');
      }
    }
    const options = { limits: { perTool: { pay: 1 } } };
    const script = [turns[0]!, text('done')];
    const recorded = await agent(script, [record(), new Withholds()], options).service.run('q');
    expect(recorded.calls).toMatchObject([{ outcome: 'refused', executed: true }]);
    expect(rest(await agent([], [replay(), new Withholds()], options).service.run('q'))).toEqual(rest(recorded));
  });

  it.each<[string, unknown, RegExp]>([
    ['no file', { mode: 'record' }, /file must be a path, 'run.json'/],
    ['another mode', { file: 'a', mode: 'rec' }, /mode must be 'record' or 'replay'/],
    ['an unknown option', { file: 'a', mode: 'record', path: 'b' }, /there is no option "path"/],
  ])('refuses options that are none: %s', (_title, options, message) => {
    expect(() => new Recorder(options as never)).toThrow(message);
  });
});
