import { AIDefinitionError } from '../errors.js';
import type { JsonSchema } from './chat-model.js';
import { grammarSchema } from './llama-grammar.js';
import {
  type ChatItem,
  type ChatWrapper,
  type Llama,
  type LlamaCompletion,
  type LlamaGpu,
  type LlamaToken,
  type LoadedModel,
  loadLibrary,
} from './llama-library.js';

export interface DecoderOptions {
  /** Absolute. */
  readonly path: string;
  readonly gpu: LlamaGpu;
  readonly contextSize: number | undefined;
  readonly threads: number | undefined;
}

/** A chat in the model's own form and tokens, and what its reply must be. */
export interface Prompt {
  readonly tokens: readonly LlamaToken[];
  readonly end: { readonly grammar: object } | { readonly customStopTriggers: readonly unknown[] };
}

/** How one reply is written. */
export interface Writing {
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly signal: AbortSignal;
  readonly onText?: (text: string) => void;
}

export interface Written {
  readonly text: string;
  /** `length`: it was cut, by `maxTokens` or by the end of the context. */
  readonly finish: 'stop' | 'length';
  readonly tokens: number;
}

/** How many grammars are kept: an agent has one for its tools, one for its last turn and one for each type it answers in. */
const KEPT_GRAMMARS = 64;

/** A model in memory. It writes one reply at a time; others wait, and leave with their signal. */
export class LlamaDecoder {
  readonly #llama: Llama;
  readonly #model: LoadedModel;
  readonly #wrapper: ChatWrapper;
  readonly #completion: LlamaCompletion;
  readonly #contextSize: number;
  /** By the text of the schema. */
  readonly #grammars = new Map<string, Promise<object>>();

  private constructor(
    llama: Llama,
    model: LoadedModel,
    wrapper: ChatWrapper,
    completion: LlamaCompletion,
    contextSize: number,
  ) {
    this.#llama = llama;
    this.#model = model;
    this.#wrapper = wrapper;
    this.#completion = completion;
    this.#contextSize = contextSize;
  }

  /** Throws an `AIDefinitionError` where the package, its binary, the file or the memory is not there. */
  static async load({ path, gpu, contextSize, threads }: DecoderOptions): Promise<LlamaDecoder> {
    const library = await loadLibrary();
    const llama = await library
      // Neither downloads nor compiles: an application decides that when it is installed, not while somebody waits.
      .getLlama({ gpu, build: 'never', logLevel: 'error', progressLogs: false, skipDownload: true })
      .catch(
        because('node-llama-cpp has no binary that loads on this machine; run: npx node-llama-cpp source download'),
      );
    try {
      const model = await llama
        .loadModel({ modelPath: path })
        .catch(
          because(
            `node-llama-cpp cannot read ${path}; its log, on the standard error stream, says why; take a whole file, of a kind that this version knows`,
          ),
        );
      const context = await model
        .createContext({
          sequences: 1,
          ...(contextSize !== undefined && { contextSize }),
          ...(threads !== undefined && { threads }),
        })
        .catch(because('there is no memory for a context; give llamaModel a smaller contextSize'));
      const wrapper = library.resolveChatWrapper(model);
      const completion = new library.LlamaCompletion({ contextSequence: context.getSequence() });
      return new LlamaDecoder(llama, model, wrapper, completion, context.contextSize);
    } catch (error) {
      await llama.dispose();
      throw error;
    }
  }

  /** Tokens of question and reply together. */
  get contextSize(): number {
    return this.#contextSize;
  }

  /**
   * `schema`: what the reply must match; absent for plain text.
   * Throws a `GrammarError` for a schema that no grammar can be made of.
   */
  async prompt(history: readonly ChatItem[], schema: JsonSchema | undefined): Promise<Prompt> {
    // The model's turn is open, and nothing is in it.
    const chatHistory: readonly ChatItem[] = [...history, { type: 'model', response: [] }];
    const { contextText, stopGenerationTriggers } = this.#wrapper.generateContextState({ chatHistory });
    const tokens = contextText.tokenize(this.#model.tokenizer);
    const { bos, shouldPrependBosToken } = this.#model.tokens;
    // It is put in front once more where a completion begins.
    const isTwice = shouldPrependBosToken && bos !== null && tokens[0] === bos;
    return {
      tokens: isTwice ? tokens.slice(1) : tokens,
      // A grammar knows its own end; a stop text within a JSON text would cut it.
      end:
        schema === undefined
          ? { customStopTriggers: stopGenerationTriggers }
          : { grammar: await this.#grammar(schema) },
    };
  }

  /** Whether there is room for a reply: what does not fit would be cut off at the front, where the rules stand. */
  fits({ tokens }: Prompt): boolean {
    return tokens.length + 3 <= this.#contextSize;
  }

  async write({ tokens, end }: Prompt, { signal, onText, ...sampling }: Writing): Promise<Written> {
    let count = 0;
    const { response, metadata } = await this.#completion.generateCompletionWithMeta([...tokens], {
      ...sampling,
      ...end,
      // What is said twice may be meant: an order id, a key.
      repeatPenalty: false,
      contextShiftSize: 1,
      disableContextShift: true,
      signal,
      ...(onText && { onTextChunk: onText }),
      onToken: (written) => {
        count += written.length;
      },
    });
    return { text: response, finish: metadata.stopReason === 'maxTokens' ? 'length' : 'stop', tokens: count };
  }

  #grammar(schema: JsonSchema): Promise<object> {
    const key = JSON.stringify(schema);
    const known = this.#grammars.get(key);
    if (known !== undefined) return known;
    const made = this.#llama.createGrammarForJsonSchema(grammarSchema(schema));
    this.#grammars.set(key, made);
    const [oldest] = this.#grammars.keys();
    if (this.#grammars.size > KEPT_GRAMMARS && oldest !== undefined) this.#grammars.delete(oldest);
    return made;
  }

  /** Frees the memory; a reply that is being written fails. */
  async dispose(): Promise<void> {
    await this.#llama.dispose();
  }
}

function because(what: string): (cause: unknown) => never {
  return (cause) => {
    throw new AIDefinitionError(`llamaModel: ${what}`, { cause });
  };
}
