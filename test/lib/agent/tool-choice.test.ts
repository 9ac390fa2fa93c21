import { describe, expect, it, jest } from '@jest/globals';
import {
  type AIServiceOptions,
  AIToolIterationError,
  ChatModel,
  type ChatOptions,
  createAIService,
  defineTool,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
  type WireName,
} from 'inversify-ai';
import { call, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { answerOn } from '../../../lib/testing/scripted-reply.js';

const tools = ['find', 'pay'].map((name) =>
  defineTool({
    name,
    description: `Does ${name}`,
    parameters: {},
    ...(name === 'find' && { group: ReadOnly }),
    execute: () => 'ok',
  }),
);

async function ask(turns: readonly ScriptedTurn[], options: Partial<AIServiceOptions> = {}, chat: ChatOptions = {}) {
  const model = scriptedModel(turns);
  const service = createAIService({ model, tools, logger: { warn: jest.fn(), error: jest.fn() }, ...options });
  const ended = await service.run('q', chat).then(
    (run) => ({ run, error: undefined }),
    (error: unknown) => ({ run: undefined, error }),
  );
  const bodies = model.requests.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>);
  return { ...ended, model, bodies };
}

const done = text('done');

describe('a tool choice', () => {
  it('is in the grammar, until the first call was made', async () => {
    const { model, bodies } = await ask([call('find'), done], { toolChoice: 'required' });
    const words = bodies.map((body) => JSON.stringify(body['response_format']).includes('"ANSWER"'));
    expect(words).toEqual([false, true]);
    expect(model.requests.map(({ tools }) => tools)).toEqual([
      ['find', 'pay'],
      ['find', 'pay'],
    ]);
  });

  it('of one tool offers that one alone, then all', async () => {
    const { model } = await ask([call('pay'), done], { toolChoice: 'pay' });
    expect(model.requests.map(({ tools }) => tools)).toEqual([['pay'], ['find', 'pay']]);
  });

  it('is the provider’s own on the native wire', async () => {
    const choices = async (toolChoice: string) => {
      const { bodies } = await ask([call('pay'), done], { toolChoice, wire: 'native' });
      return bodies.map(({ tool_choice: choice }) => choice);
    };
    expect(await choices('required')).toEqual(['required', undefined]);
    expect(await choices('pay')).toEqual([{ type: 'function', function: { name: 'pay' } }, undefined]);
    expect(await choices('auto')).toEqual([undefined, undefined]);
  });

  it('of none offers nothing, and a call all the same is an error', async () => {
    const { run, model } = await ask([done], { toolChoice: 'none' });
    expect(run).toMatchObject({ text: 'done', stop: 'answer' });
    expect(model.requests[0]!.tools).toEqual([]);
    expect((await ask([call('pay')], { toolChoice: 'none' })).error).toBeInstanceOf(AIToolIterationError);
  });

  it('that a model does not heed is told to it once', async () => {
    const { run, bodies } = await ask([text('No need.'), call('find'), done], { toolChoice: 'required' });
    expect(run!.calls).toHaveLength(1);
    expect(JSON.stringify(bodies[1])).toContain('call one of these tools before you answer: find, pay.');
    const { error } = await ask([text('No.'), text('No.')], { toolChoice: 'required' });
    expect(error).toMatchObject({ code: 'malformed', text: 'No.' });
    expect(String(error)).toMatch(/it answers, and had to call one of find, pay first, by the toolChoice\.$/);
  });

  const answers = [text('No need.'), text('done')];
  it.each<[string, string, readonly ScriptedTurn[], RegExp]>([
    ['a corrective turn', 'required', answers, /a tool had to be called, .* was not within maxToolCalls\.$/],
    [
      'calls of what there is not',
      'required',
      [call('drop'), done],
      /was not within maxToolCalls: drop \(unknown-tool\)\.$/,
    ],
    ['calls of another tool', 'pay', [call('find'), done], /pay had to be called, .*: find \(refused\)\.$/],
  ])('is not passed by where %s used up maxToolCalls, on no wire', async (_title, toolChoice, turns, words) => {
    for (const wire of ['envelope', 'union', 'native'] as const) {
      const { error, model } = await ask(turns, { toolChoice, maxToolCalls: 1, wire });
      expect(error).toMatchObject({ code: 'malformed' });
      expect(String(error)).toMatch(words);
      expect(model.requests).toHaveLength(1);
    }
  });

  it('says so where it is none, and a tool is called', async () => {
    const { error } = await ask([call('pay')], { toolChoice: 'none' });
    expect(String(error)).toMatch(/the model named "pay", and the toolChoice is 'none', .*Nothing was run/);
  });

  it('of the agent that a question’s group leaves out is said to be the agent’s', async () => {
    const { error } = await ask([done], { toolChoice: 'pay' }, { toolGroup: ReadOnly });
    expect(String(error)).toMatch(/chat: toolGroup leaves no pay, which the agent's toolChoice wants/);
  });

  it('of a question stands in place of the agent’s, of its own narrowed tools', async () => {
    const { model } = await ask(
      [call('find'), done],
      { toolChoice: 'none' },
      { toolChoice: 'find', toolGroup: ReadOnly },
    );
    expect(model.requests[0]!.tools).toEqual(['find']);
    const { error, model: unasked } = await ask([done], {}, { toolChoice: 'pay', toolGroup: ReadOnly });
    expect((error as Error).message).toMatch(/chat: toolChoice must be 'auto', .*one of its tools, find; found "pay"/);
    expect(unasked.requests).toHaveLength(0);
  });

  it.each<[string, Partial<AIServiceOptions>, RegExp]>([
    [
      'a tool that is not there',
      { toolChoice: 'drop' },
      /toolChoice must be .* one of its tools, find, pay; found "drop"/,
    ],
    ['no text', { toolChoice: 5 as never }, /toolChoice must be 'auto', 'required', 'none' or the wire name/],
    [
      'a wire that there is none of',
      { wire: 'xml' as never },
      /wire must be 'envelope', 'union' or 'native'; found "xml"/,
    ],
    ['no boolean', { parallelToolCalls: 1 as never }, /parallelToolCalls must be true or false, found 1/],
    [
      'several calls on a wire that has one',
      { parallelToolCalls: true, wire: 'union' },
      /parallelToolCalls needs the wire native, and wire is 'union'/,
    ],
    ['no count', { maxParallelCalls: 0 }, /maxParallelCalls must be a whole number of at least 1, found 0/],
  ])('and the options beside it are refused where they are none: %s', (_title, options, message) => {
    expect(() => createAIService({ model: scriptedModel([]), tools, ...options })).toThrow(message);
  });

  it('a union is not taken where all tools together are more than a provider takes, and is refused where asked for', async () => {
    const large = ['one', 'two'].map((name) =>
      defineTool({
        name,
        description: 'Has many values',
        parameters: {
          value: {
            type: 'string',
            description: 'Which',
            enum: Array.from({ length: 600 }, (_, n) => `${name}-${n.toString()}`),
          },
        },
        execute: () => 'done',
      }),
    );
    const wires: WireName[] = [];
    class Any extends ChatModel {
      readonly name = 'any';
      readonly profile = { schema: 'enforced', wires: ['envelope', 'union', 'native'] } as const;
      override complete({ wire }: ModelRequest): Promise<ModelReply> {
        wires.push(wire);
        const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
        return Promise.resolve({ ...answerOn(wire, 'ok'), finish: 'stop', usage });
      }
    }
    const model = new Any();
    await createAIService({ model, tools: [large[0]!] }).chat('q');
    await createAIService({ model, tools: large }).chat('q');
    expect(wires).toEqual(['union', 'envelope']);
    expect(() => createAIService({ model, tools: large, wire: 'union' })).toThrow(
      /wire union: all tools together have 1203 values in enumerations, and providers take 1000; .*or take the envelope/,
    );
  });

  it('that needs a tool is refused where there is none', () => {
    expect(() => createAIService({ model: scriptedModel([]), toolChoice: 'required' })).toThrow(/there are no tools/);
    expect(() => createAIService({ model: scriptedModel([]), toolChoice: 'find' })).toThrow(
      /toolChoice must be 'auto', 'required', 'none'; found "find"/,
    );
  });

  it('and several calls that the profile’s wire does not have are warned of', () => {
    const logger = { warn: jest.fn(), error: jest.fn() };
    const options = { model: scriptedModel([]), tools, logger, parallelToolCalls: true };
    createAIService({ ...options, wire: 'native' });
    createAIService({ ...options, parallelToolCalls: false });
    expect(logger.warn).not.toHaveBeenCalled();
    createAIService(options);
    expect(logger.warn.mock.calls.map(([line]) => line as unknown)).toEqual([
      "[inversify-ai] createAIService: parallelToolCalls does nothing, since scripted leads to the wire envelope, which has one call a turn; write wire: 'native' beside it.",
    ]);
  });
});
