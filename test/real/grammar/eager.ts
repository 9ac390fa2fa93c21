import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { type LlamaModel, llamaModel, type LlamaModelOptions } from 'inversify-ai/llama';
import { makeModel } from './gguf.js';
import { REFUND, wordsOf } from './requests.js';

/** A folder for the models of a file of tests. */
export function modelFolder(): () => string {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'models-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  return () => folder;
}

/** Of a turn on either wire. */
const PIECES = [
  '{"next":{"tool":"',
  '","arguments":{"orderId":',
  '","arguments":{"orderId":42}}}',
  '","arguments":{}}}',
  '","answer":"',
  '"}}',
  '{"tool":"',
  '","arguments":[{"name":"',
  '","arguments":[{"name":"orderId","value":"42"}],"answer":"',
  '","arguments":[],"answer":"',
  '","value":"',
  '"}],"answer":"',
  '"}',
  '\n\n\n\n',
];

/** A model that wants to refund at every step, wherever its grammar lets it. One thread, so that it is the same anywhere. */
export function eagerModel(options: Partial<LlamaModelOptions> = {}): () => LlamaModel {
  const folder = modelFolder();
  let model: LlamaModel;
  beforeAll(async () => {
    const words = [...(await wordsOf('union')), ...(await wordsOf('envelope'))];
    const path = join(folder(), 'eager.gguf');
    writeFileSync(path, makeModel({ seed: 7, words, pieces: PIECES, wanted: REFUND }));
    model = llamaModel({ path, gpu: false, threads: 1, ...options });
  });
  afterAll(() => model.close());
  return () => model;
}
