import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AIDefinitionError, createAIService, type JsonSchema } from 'inversify-ai';
import { llamaModel, type LlamaModelOptions } from 'inversify-ai/llama';
import { GrammarError, grammarSchema } from '../../../lib/model/llama-grammar.js';

/* What needs no decoder; test/real/grammar has what needs one. */

let folder: string;
/** Begins as a GGUF, and is no more than that. */
let path: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'llama-'));
  path = join(folder, 'model.gguf');
  writeFileSync(path, 'GGUF');
  writeFileSync(join(folder, 'notes.txt'), 'not a model');
  writeFileSync(join(folder, 'empty.gguf'), '');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('llamaModel', () => {
  it.each<[string, (folder: string) => unknown, string]>([
    ['no options', () => undefined, 'expected an options object, found undefined'],
    ['no path', () => ({}), "path must name a GGUF file, llamaModel({ path: 'models/model.gguf' }), found undefined"],
    ['an empty path', () => ({ path: '' }), 'found an empty text'],
    ['no such file', (at) => ({ path: `${at}/none.gguf` }), '/none.gguf; write the path of a GGUF file'],
    ['a folder', (at) => ({ path: at }), 'is no file; write the path of a GGUF file'],
    ['another file', (at) => ({ path: `${at}/notes.txt` }), '/notes.txt is no GGUF file, it does not begin as one'],
    ['an empty file', (at) => ({ path: `${at}/empty.gguf` }), '/empty.gguf is no GGUF file'],
    ['an unknown option', (at) => ({ path: `${at}/model.gguf`, model: 'x' }), 'there is no option "model"'],
    ['a context of nothing', (at) => ({ path: `${at}/model.gguf`, contextSize: 0 }), 'contextSize must be a whole'],
    ['no threads', (at) => ({ path: `${at}/model.gguf`, threads: 0 }), 'threads must be a whole number'],
    ['another gpu', (at) => ({ path: `${at}/model.gguf`, gpu: true }), "gpu must be 'auto', 'cuda', 'metal', 'vulkan'"],
    ['no time', (at) => ({ path: `${at}/model.gguf`, timeoutMs: 0 }), 'timeoutMs must be a whole number'],
  ])('refuses %s when it is made', (_what, options, message) => {
    const make = () => llamaModel(options(folder) as LlamaModelOptions);
    expect(make).toThrow(AIDefinitionError);
    expect(make).toThrow(message);
    expect(make).toThrow('llamaModel: ');
  });

  it('tells all problems at once', () => {
    expect(() => llamaModel({ path: '', threads: 0 })).toThrow(/^2 problems:/);
  });

  it('needs no package before a question, which says what to install', async () => {
    const agent = createAIService({ model: llamaModel({ path }) });
    const error: unknown = await agent.chat('Hello').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(String(error)).toContain('run: npm install node-llama-cpp@3');
  });

  it('says the same of a stream', async () => {
    const agent = createAIService({ model: llamaModel({ path }) });
    const events: unknown[] = [];
    const read = async () => {
      for await (const event of agent.stream('Hello')) events.push(event);
    };
    await expect(read()).rejects.toThrow('run: npm install node-llama-cpp@3');
  });

  it('loads nothing for a question that was taken back', async () => {
    const reason = new Error('gone');
    const request = { wire: 'union', messages: [], tools: [] } as const;
    await expect(llamaModel({ path }).complete(request, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('closes without having been opened, and twice', async () => {
    const model = llamaModel({ path });
    await model.close();
    await expect(model.close()).resolves.toBeUndefined();
  });
});

describe('the schema that a grammar is made of', () => {
  it.each<[string, JsonSchema, JsonSchema]>([
    [
      'anyOf is oneOf',
      { anyOf: [{ type: 'null' }, { type: 'string' }] },
      { oneOf: [{ type: 'null' }, { type: 'string' }] },
    ],
    [
      'each of several types keeps its structure',
      { type: ['array', 'null'], items: { type: 'string' } },
      { oneOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
    ],
    ['bounds are left to the reader', { type: 'string', maxLength: 20_000, pattern: '^a' }, { type: 'string' }],
    ['a format that is not known is left out', { type: 'string', format: 'email' }, { type: 'string' }],
    ['one that is known stays', { type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
    [
      'an object says what else it may hold',
      { type: 'object' },
      { type: 'object', properties: {}, additionalProperties: true },
    ],
    [
      'a property may be called as a keyword is',
      { type: 'object', properties: { anyOf: { type: 'null' }, allOf: { const: 1 } } },
      { type: 'object', properties: { anyOf: { type: 'null' }, allOf: { enum: [1] } }, additionalProperties: false },
    ],
  ])('%s', (_what, schema, expected) => {
    expect(grammarSchema(schema)).toEqual(expected);
  });

  it.each<[string, JsonSchema]>([
    ['#/properties/a', { type: 'object', properties: { a: false } }],
    ['#/items/anyOf/1', { type: 'array', items: { anyOf: [{ type: 'null' }, { not: {} }] } }],
    ['#/properties/a', { type: 'object', properties: { a: { $ref: '#/$defs/none' } }, $defs: {} }],
    ['#', { $ref: '#' }],
    ['#', { enum: [] }],
    ['#', { enum: [{}] }],
    ['#', { type: 'tuple' }],
    ['#/$defs/part', { type: 'null', $defs: { part: { if: {} } } }],
  ])('what it cannot say is an error that names the place: %s of %j', (place, schema) => {
    expect(() => grammarSchema(schema)).toThrow(GrammarError);
    expect(() => grammarSchema(schema)).toThrow(new RegExp(`^${place.replaceAll('$', '\\$')}: `));
  });
});
