import { AIDefinitionError } from '../errors.js';

/* What is used of node-llama-cpp: a peer that is loaded on use, so its types may not be there. */

/** A token of a model's vocabulary. */
export type LlamaToken = number & { readonly isToken?: never };

export interface LlamaLibrary {
  getLlama(options: {
    readonly gpu: LlamaGpu;
    readonly build: 'never';
    readonly logLevel: 'error';
    readonly progressLogs: false;
    readonly skipDownload: true;
  }): Promise<Llama>;
  readonly LlamaCompletion: new (options: { readonly contextSequence: object }) => LlamaCompletion;
  resolveChatWrapper(model: LoadedModel): ChatWrapper;
}

/** What computes: a graphics card's interface, or `false` for the processor alone. */
export type LlamaGpu = 'auto' | 'cuda' | 'metal' | 'vulkan' | false;

export interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LoadedModel>;
  createGrammarForJsonSchema(schema: object): Promise<object>;
  dispose(): Promise<void>;
}

export interface LoadedModel {
  readonly tokenizer: unknown;
  readonly tokens: { readonly bos: LlamaToken | null; readonly shouldPrependBosToken: boolean };
  createContext(options: {
    readonly sequences: 1;
    readonly contextSize?: number;
    readonly threads?: number;
  }): Promise<LlamaContext>;
}

export interface LlamaContext {
  readonly contextSize: number;
  getSequence(): object;
}

/** Writes a chat in the form that the model was trained on: its file says which. */
export interface ChatWrapper {
  generateContextState(options: { readonly chatHistory: readonly ChatItem[] }): {
    readonly contextText: { tokenize(tokenizer: unknown): readonly LlamaToken[] };
    /** Texts at which a reply is over, opaque here. */
    readonly stopGenerationTriggers: readonly unknown[];
  };
}

export type ChatItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly string[] };

export interface LlamaCompletion {
  generateCompletionWithMeta(
    input: readonly LlamaToken[],
    options: {
      readonly grammar?: object;
      readonly customStopTriggers?: readonly unknown[];
      readonly maxTokens?: number;
      readonly temperature?: number;
      readonly topP?: number;
      readonly seed?: number;
      readonly repeatPenalty: false;
      readonly contextShiftSize: number;
      readonly disableContextShift: true;
      readonly signal: AbortSignal;
      readonly onTextChunk?: (text: string) => void;
      readonly onToken: (tokens: readonly LlamaToken[]) => void;
    },
  ): Promise<{ readonly response: string; readonly metadata: { readonly stopReason: string } }>;
}

/** In a variable: a compiler and a bundler need not find what only some applications install. */
const PACKAGE: string = 'node-llama-cpp';

/** Throws an `AIDefinitionError` where it is not installed. */
export async function loadLibrary(): Promise<LlamaLibrary> {
  try {
    return (await import(PACKAGE)) as LlamaLibrary;
  } catch (cause) {
    throw new AIDefinitionError(
      'llamaModel: the package "node-llama-cpp" is not installed, or does not load here; run: npm install node-llama-cpp@3',
      { cause },
    );
  }
}
