/// <reference types="node" preserve="true" />
/** `inversify-ai/llama`: a language model in a file of the application's, decoded in this process. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { untilAborted } from '../abort.js';
import { countProblems, describeKind, optionProblems, shortly, throwProblems, timerProblems } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import { ChatModel, type ModelDelta, type ModelProfile, type ModelReply, type ModelRequest } from './chat-model.js';
import { LlamaDecoder, type DecoderOptions } from './llama-decoder.js';
import type { LlamaGpu } from './llama-library.js';
import { llamaFetch } from './llama-server.js';
import { openAI } from './open-ai.js';

export type { LlamaGpu };

/** What `llamaModel` takes. */
export interface LlamaModelOptions {
  /** A GGUF file; a relative path is one of the working directory. The first of several parts stands for all. */
  readonly path: string;
  /** In tokens, for question and reply together. Default: what the model was trained for, as far as memory allows. */
  readonly contextSize?: number;
  /** What computes; `false` is the processor alone. Default: `auto`, the best that there is a binary for. */
  readonly gpu?: LlamaGpu;
  /** Threads of the processor. Default: as many as it has cores for it. */
  readonly threads?: number;
  /** For one attempt, the wait for other replies included, in milliseconds; loading is not. Default: 60,000. */
  readonly timeoutMs?: number;
}

const OPTIONS = ['path', 'contextSize', 'gpu', 'threads', 'timeoutMs'];
const GPUS: readonly unknown[] = ['auto', 'cuda', 'metal', 'vulkan', false];

/**
 * A model in a GGUF file of the application's, decoded in this process by `node-llama-cpp` (a peer, loaded with the first
 * request, as the file is) behind the `openai` client. Each turn is decoded against the grammar of its schema, so a tool
 * that is not on offer cannot be written where a tool is named. One reply is written at a time. Without `temperature` in
 * `settings` the likeliest token is taken each time.
 * Throws an `AIDefinitionError` for options that are none, and where there is no such file or it is no GGUF; a question
 * rejects with one where the package is not installed, has no binary for this machine, or cannot read the file.
 */
export function llamaModel(options: LlamaModelOptions): LlamaModel {
  const problems = optionProblems('llamaModel', options, OPTIONS);
  const { path, contextSize, gpu = 'auto', threads, timeoutMs = 60_000 } = options;
  problems.push(
    ...pathProblems(path),
    ...countProblems('llamaModel', 'contextSize', contextSize),
    ...countProblems('llamaModel', 'threads', threads),
    ...timerProblems('llamaModel', 'timeoutMs', timeoutMs),
  );
  if (!GPUS.includes(gpu))
    problems.push(`llamaModel: gpu must be 'auto', 'cuda', 'metal', 'vulkan' or false, found ${shortly(gpu)}`);
  throwProblems(problems);
  return new LlamaModel({ path: resolve(path), contextSize, gpu, threads }, timeoutMs);
}

/** What `llamaModel` gives. */
export class LlamaModel extends ChatModel {
  /** The file's name, without its ending. */
  readonly name: string;
  readonly profile: ModelProfile;
  readonly #options: DecoderOptions;
  readonly #inner: ChatModel;
  #decoder: Promise<LlamaDecoder> | undefined;

  /** @internal */
  constructor(options: DecoderOptions, timeoutMs: number) {
    super();
    this.#options = options;
    this.name = basename(options.path, '.gguf');
    this.#inner = openAI({
      model: this.name,
      apiKey: 'none',
      baseURL: 'http://node-llama-cpp.invalid/v1',
      fetch: llamaFetch(this.name, () => this.#load()),
      timeoutMs,
      profile: { schema: 'enforced', wires: ['union', 'envelope'] },
    });
    this.profile = this.#inner.profile;
  }

  override async complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply> {
    await this.#ready(request, options.signal);
    return this.#inner.complete(request, options);
  }

  override async *stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelDelta> {
    await this.#ready(request, options.signal);
    // One of openAI's has it.
    yield* this.#inner.stream?.(request, options) ?? [];
  }

  /** Frees the model's memory, and fails a reply that is being written. A later question loads it anew. */
  async close(): Promise<void> {
    const decoder = this.#decoder;
    this.#decoder = undefined;
    await (await decoder?.catch(() => undefined))?.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Outside the attempt: a large file takes longer to load than a reply may, and is not to be loaded twice. */
  async #ready({ settings }: ModelRequest, signal: AbortSignal): Promise<void> {
    if (settings?.reasoningEffort !== undefined)
      throw new AIDefinitionError(`llamaModel: a model in a file has no settings.reasoningEffort; leave it out`);
    signal.throwIfAborted();
    await untilAborted(signal, this.#load());
  }

  #load(): Promise<LlamaDecoder> {
    const decoder = (this.#decoder ??= LlamaDecoder.load(this.#options));
    // What was missing may be there the next time.
    decoder.catch(() => {
      if (this.#decoder === decoder) this.#decoder = undefined;
    });
    return decoder;
  }
}

/** A GGUF begins with these four letters. */
const MAGIC = 'GGUF';

function pathProblems(path: unknown): string[] {
  if (typeof path !== 'string' || path === '')
    return [
      `llamaModel: path must name a GGUF file, llamaModel({ path: 'models/model.gguf' }), found ${typeof path === 'string' ? 'an empty text' : describeKind(path)}`,
    ];
  const whole = resolve(path);
  const stat = statSync(whole, { throwIfNoEntry: false });
  if (stat === undefined) return [`llamaModel: there is no file ${whole}; write the path of a GGUF file`];
  if (!stat.isFile()) return [`llamaModel: ${whole} is no file; write the path of a GGUF file`];
  return beginning(whole) === MAGIC
    ? []
    : [`llamaModel: ${whole} is no GGUF file, it does not begin as one; convert the model, or download it as GGUF`];
}

function beginning(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(MAGIC.length);
    return bytes.toString('latin1', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
