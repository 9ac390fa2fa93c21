import { describe, expect, it, jest } from '@jest/globals';
import * as library from 'inversify-ai';
import {
  AIDefinitionError,
  AIError,
  ChatModel,
  createAIService,
  defineTool,
  embeddedModel,
  type ModelReply,
  type ModelRequest,
  openAI,
} from 'inversify-ai';
import { call, httpError, scriptedModel, text } from 'inversify-ai/testing';
import { as, createApplication, people } from '../samples/quickstart/application.js';
import { OrderService } from '../samples/quickstart/orders.js';
import { play, scenes } from '../samples/quickstart/scenes.js';
import { SupportController } from '../samples/quickstart/support.js';
import { rejection } from './container/orders.js';
import { readmeBlocks, readmeTable } from './readme.js';

const quiet = { warn: jest.fn(), error: jest.fn() };

describe('the README shows', () => {
  it('the sample’s output', async () => {
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const lines: string[] = [];
    await play(embeddedModel(), scenes, (line) => lines.push(line));
    expect(readmeBlocks('text')[0]).toBe(`${lines.join('\n')}\n`);
  });

  it('the text and the schema that the model gets', async () => {
    const requests: ModelRequest[] = [];
    class Recording extends ChatModel {
      readonly inner = embeddedModel();
      readonly name = this.inner.name;
      // What a model at OpenAI is taken to speak.
      readonly profile = { schema: 'enforced', wires: ['union', 'envelope', 'native'] } as const;
      override complete(request: ModelRequest, options: { signal: AbortSignal }): Promise<ModelReply> {
        requests.push(request);
        return this.inner.complete(request, options);
      }
    }
    await play(new Recording(), scenes.slice(0, 1), () => undefined);
    expect(`${requests[0]!.messages[0]!.content}\n`).toBe(readmeBlocks('text')[1]);
    const schema = readmeBlocks('json').find((block) => block.includes('ANSWER'))!;
    expect(JSON.parse(schema)).toEqual(requests[0]!.responseSchema!.schema);
    expect(requests[0]!.messages.slice(1)).toEqual([{ role: 'user', content: 'Where is order 42?' }]);
    expect(requests[1]!.messages.at(-1)!.content).toMatch(/^\{"tool":"OrderTools_findOrder","result":"Order 42, /);
  });

  it('the message of the guard', async () => {
    const { container, ai } = createApplication(scriptedModel([]), quiet);
    container.rebind(OrderService).toSelf().inSingletonScope();
    const error = await rejection(() =>
      ai.runInScope(as(people.alice!), (scope) => scope.container.get(SupportController)),
    );
    expect(`${error.message}\n`).toBe(readmeBlocks('text')[2]);
    expect(`${error.message}\n`).toBe(readmeBlocks('text', 'docs/who-is-asking.md')[1]);
  });

  it('the errors, with their codes', () => {
    for (const [name = '', codes = ''] of readmeTable('What fails, and how it says so')) {
      const made = (library as unknown as Record<string, new (...args: unknown[]) => AIError>)[
        name.replaceAll('`', '')
      ]!;
      for (const code of codes.replaceAll('`', '').split(', ')) {
        const first =
          { '`AIResponseError`': [code], '`AILimitError`': [code], '`AIToolSourceError`': ['kb'] }[name] ?? [];
        const error = new made(...first, 'm');
        expect(error).toBeInstanceOf(AIError);
        expect([error.code, error.name]).toEqual([code, name.replaceAll('`', '')]);
        expect(error.message).toMatch(/^(kb )?m$/);
      }
    }
  });
});

describe('the defaults of the README hold', () => {
  const row = (option: string, n = 0): number =>
    Number(readmeTable('Defaults').filter(([name]) => name === `\`${option}\``)[n]![2]);
  const look = (options: Partial<Parameters<typeof defineTool>[0]> = {}) =>
    defineTool({
      name: 'look',
      description: 'd',
      parameters: {},
      group: library.ReadOnly,
      execute: () => 'x',
      ...options,
    });

  it('maxToolCalls', async () => {
    const model = scriptedModel([...Array.from({ length: row('maxToolCalls') }, () => call('look')), text('ok')]);
    expect((await createAIService({ model, tools: [look()] }).run('q')).stop).toBe('cap');
  });

  it('maxAttempts', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const model = scriptedModel(Array.from({ length: 9 }, () => httpError(503)));
    const error = await rejection(() => createAIService({ model }).chat('q'));
    expect(error).toMatchObject({ attempts: row('maxAttempts') });
    expect(model.requests).toHaveLength(row('maxAttempts'));
  });

  it('maxResultChars', async () => {
    const limit = row('maxResultChars');
    const tools = [look({ execute: () => 'x'.repeat(limit + 1) })];
    const { calls } = await createAIService({ model: scriptedModel([call('look'), text('ok')]), tools }).run('q');
    expect(calls[0]!.result).toBe(`${'x'.repeat(limit)} … [1 more characters left out]`);
  });

  it('timeoutMs of a tool and of openAI', async () => {
    jest.useFakeTimers();
    try {
      const stuck = look({ execute: () => new Promise(() => undefined) });
      const run = createAIService({
        model: scriptedModel([call('look'), text('ok')]),
        tools: [stuck],
        logger: quiet,
      }).run('q');
      await jest.advanceTimersByTimeAsync(row('timeoutMs') - 1);
      const settled = jest.fn();
      void run.then(settled);
      await jest.advanceTimersByTimeAsync(0);
      expect(settled).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      expect((await run).calls[0]!.outcome).toBe('timed-out');

      const fetch: typeof globalThis.fetch = (_input, init) =>
        new Promise((_resolve, reject) =>
          init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error)),
        );
      const asked = rejection(() =>
        createAIService({ model: openAI({ model: 'm', apiKey: 'k', fetch }), maxAttempts: 1 }).chat('q'),
      );
      await jest.advanceTimersByTimeAsync(row('timeoutMs', 1));
      expect((await asked).message).toBe(
        `createAIService, m at api.openai.com: no complete reply within ${row('timeoutMs', 1).toString()} ms.`,
      );
    } finally {
      jest.useRealTimers();
    }
  });

  it('AIDefinitionError lists its problems', () => {
    expect(new AIDefinitionError(['a', 'b']).problems).toEqual(['a', 'b']);
  });
});
