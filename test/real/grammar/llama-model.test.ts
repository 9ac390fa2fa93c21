import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AIDefinitionError, AIProviderError, createAIService, type JsonSchema, type ModelRequest } from 'inversify-ai';
import { llamaModel } from 'inversify-ai/llama';
import { eagerModel, modelFolder } from './eager.js';
import { makeFile } from './gguf.js';

jest.setTimeout(60_000);

const model = eagerModel();
const folder = modelFolder();
const live = () => ({ signal: new AbortController().signal });
const plain = (settings: ModelRequest['settings'] = {}, content = 'Say hello.'): ModelRequest => ({
  wire: 'union',
  messages: [{ role: 'user', content }],
  tools: [],
  settings: { seed: 1, temperature: 1, ...settings },
});

describe('a model in a file', () => {
  it('is named after the file, and says that it enforces a schema', () => {
    expect(model()).toMatchObject({ name: 'eager', profile: { schema: 'enforced', wires: ['union', 'envelope'] } });
  });

  it('writes plain text, the same for the same seed, and counts it', async () => {
    const [one, same, other] = [
      await model().complete(plain({ maxOutputTokens: 20 }), live()),
      await model().complete(plain({ maxOutputTokens: 20 }), live()),
      await model().complete(plain({ maxOutputTokens: 20, seed: 2 }), live()),
    ];
    expect(same).toEqual(one);
    expect(other.text).not.toBe(one.text);
    expect(one).toMatchObject({ finish: 'length', usage: { outputTokens: 20 } });
    expect(one.usage.inputTokens).toBeGreaterThan(5);
  });

  it('without a temperature takes the likeliest token each time', async () => {
    const replies = [1, 2].map(async (seed) => {
      const request = { ...plain(), settings: { maxOutputTokens: 20, seed } };
      return (await model().complete(request, live())).text;
    });
    const [one, other] = await Promise.all(replies);
    expect(other).toBe(one);
  });

  it('streams what it would write as a whole', async () => {
    const request = plain({ maxOutputTokens: 30 });
    const whole = await model().complete(request, live());
    const deltas = [];
    for await (const delta of model().stream(request, live())) deltas.push(delta);
    const texts = deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : []));
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.join('')).toBe(whole.text);
    expect(deltas.at(-1)).toMatchObject({ type: 'end', finish: 'length', usage: whole.usage });
  });

  describe('that writes something long', () => {
    const long = plain({ maxOutputTokens: 2000 });
    const short = plain({ maxOutputTokens: 5 });
    /** How long that takes; one that waits for it takes longer. */
    let whole: number;
    beforeAll(async () => {
      const started = performance.now();
      const { finish } = await model().complete(long, live());
      if (finish !== 'length') throw new Error('it came to an end by itself');
      whole = performance.now() - started;
    });

    it('stops at an abort, with its reason, and goes on with the next', async () => {
      const controller = new AbortController();
      const reason = new Error('gone');
      const started = performance.now();
      const aborted = model().complete(long, { signal: controller.signal });
      const next = model().complete(short, live());
      setTimeout(() => controller.abort(reason), whole / 10);
      await expect(aborted).rejects.toBe(reason);
      await next;
      expect(performance.now() - started).toBeLessThan(whole / 2);
    });

    it('stops where its stream is left', async () => {
      const started = performance.now();
      for await (const delta of model().stream(long, live())) if (delta.type === 'text') break;
      await model().complete(short, live());
      expect(performance.now() - started).toBeLessThan(whole / 2);
    });

    it('fails where it is closed', async () => {
      const written = model().complete(long, live());
      const settled = written.catch((error: unknown) => error);
      setTimeout(() => void model().close(), whole / 10);
      expect(await settled).toBeInstanceOf(AIProviderError);
    });
  });

  it('lets one that waits leave the queue', async () => {
    const controller = new AbortController();
    const first = model().complete(plain({ maxOutputTokens: 200 }), live());
    const second = model().complete(plain({ maxOutputTokens: 5 }), { signal: controller.signal });
    controller.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    expect((await first).usage.outputTokens).toBe(200);
  });

  it('is loaded anew after it was closed', async () => {
    const before = await model().complete(plain({ maxOutputTokens: 5 }), live());
    await model().close();
    expect(await model().complete(plain({ maxOutputTokens: 5 }), live())).toEqual(before);
  });
});

describe('a request that a model in a file cannot take', () => {
  const failure = async (request: ModelRequest): Promise<unknown> =>
    model()
      .complete(request, live())
      .catch((error: unknown) => error);

  it('is too long for its context: nothing is cut off at the front', async () => {
    const error = await failure(plain({}, 'x'.repeat(5_000)));
    expect(error).toBeInstanceOf(AIProviderError);
    expect(error).toMatchObject({ status: 400, retryable: false });
    expect(String((error as Error).cause)).toMatch(
      /the request has 50\d\d tokens, and the context 4096 with the reply/,
    );
  });

  it('has a schema that no grammar can say', async () => {
    const schema = { type: 'object', properties: { a: { allOf: [{ type: 'string' }] } } };
    const error = await failure({ ...plain(), responseSchema: { name: 'answer', schema } });
    expect(error).toMatchObject({ status: 400, retryable: false });
    expect(String((error as Error).cause)).toContain('#/properties/a: "allOf" cannot be said in a grammar');
  });

  it('has a setting that it does not have', async () => {
    const error = await failure(plain({ reasoningEffort: 'low' }));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(String(error)).toContain('settings.reasoningEffort; leave it out');
  });
});

it('a file that begins as a GGUF and is none is a definition error, each time', async () => {
  const path = join(folder(), 'broken.gguf');
  writeFileSync(path, makeFile('nonsense'));
  await using broken = llamaModel({ path, gpu: false });
  const error: unknown = await broken.complete(plain(), live()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AIDefinitionError);
  expect(String(error)).toContain(`node-llama-cpp cannot read ${path}`);
  await expect(createAIService({ model: broken }).chat('Hello')).rejects.toThrow(AIDefinitionError);
});

describe('what a grammar makes of a schema', () => {
  const object = (properties: Readonly<Record<string, unknown>>): JsonSchema => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  });

  it.each<[string, JsonSchema]>([
    [
      'a literal, and an enumeration of odd texts',
      object({ a: { const: 'x' }, b: { enum: ['a "b"', 'c\\d\n', 'é😀', ''] } }),
    ],
    [
      'an enumeration of several kinds',
      object({ a: { type: ['string', 'null'], enum: ['x', null] }, b: { enum: [1, true] } }),
    ],
    [
      'a list of types',
      object({
        a: { type: ['number', 'null'] },
        b: { type: ['object', 'null'], ...object({ c: { type: 'boolean' } }) },
      }),
    ],
    ['alternatives', object({ a: { anyOf: [{ type: 'null' }, object({ b: { type: 'boolean' } })] } })],
    ['a list', object({ a: { type: 'array', items: { enum: ['x', 'y'] } } })],
    [
      'a format that is known, and one that is not',
      object({ a: { type: 'string', format: 'date' }, b: { type: 'string', format: 'email' } }),
    ],
    [
      'a part, which refers to itself',
      {
        ...object({ a: { $ref: '#/$defs/node' } }),
        $defs: { node: object({ next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }) },
      },
    ],
    ['anything', object({ a: {} })],
  ])('%s', async (_what, schema) => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    const texts = new Set<string>();
    for (let seed = 1; seed <= 25; seed++) {
      const request = plain({ seed, maxOutputTokens: 120 });
      const reply = await model().complete({ ...request, responseSchema: { name: 'answer', schema } }, live());
      if (reply.finish === 'length') continue;
      texts.add(reply.text);
      expect([reply.text, validate(JSON.parse(reply.text))]).toEqual([reply.text, true]);
    }
    // It has a choice, and comes to an end.
    expect(texts.size).toBeGreaterThan(1);
  });
});
