import type { ClientOptions } from 'openai';
import { untilAborted } from '../abort.js';
import { AIDefinitionError, AIProviderError } from '../errors.js';
import { MAX_TIMER_MS, throwProblems, timerProblems, unknownOptions } from '../declaration.js';
import { ChatModel, type ModelProfile, type ModelReply, type ModelRequest } from './chat-model.js';
import { readCompletion } from './open-ai-reply.js';
import { chatCompletionBody } from './open-ai-request.js';
import { providerError } from './provider-error.js';

/** The part of the `openai` client that is used: version 6 or 7, or anything of the same shape. */
export interface OpenAIClient {
  readonly chat: {
    readonly completions: {
      // A method, so that the client's overloads fit.
      create(body: never, options?: never): PromiseLike<unknown>;
    };
  };
}

/** What `openAI` takes. */
export interface OpenAIOptions {
  /** The provider's name of the model. There is no default: names age. */
  readonly model: string;
  /** Default: `OPENAI_API_KEY`. A server that asks for none needs none, given a `baseURL`. */
  readonly apiKey?: string;
  /** Any server that speaks Chat Completions. Default: `OPENAI_BASE_URL`, else OpenAI's own. */
  readonly baseURL?: string;
  /** A client of your own, in place of key, base URL, headers and fetch. */
  readonly client?: OpenAIClient;
  /** For one attempt, body included, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the network. */
  readonly fetch?: typeof globalThis.fetch;
}

const OPTIONS = ['model', 'apiKey', 'baseURL', 'client', 'timeoutMs', 'headers', 'fetch'];

/**
 * A model behind OpenAI's Chat Completions, at OpenAI or at any compatible server, through the `openai` package
 * (a peer, loaded with the first request; its own retries are off).
 * Throws an `AIDefinitionError` where there is neither key, base URL nor client: an application never falls back. A
 * request that fails rejects with an `AIProviderError`, an aborted one with the signal's reason.
 */
export function openAI(options: OpenAIOptions): ChatModel {
  throwProblems(unknownOptions('openAI', options, OPTIONS));
  if (typeof options.model !== 'string' || options.model === '')
    throw new AIDefinitionError(`openAI: name the model, openAI({ model: 'gpt-5-mini' })`);
  const { client, timeoutMs = 60_000 } = options;
  throwProblems(timerProblems('openAI', 'timeoutMs', timeoutMs));
  if (client !== undefined) {
    if (!isClient(client)) throw new AIDefinitionError('openAI: client must be an openai client, new OpenAI({ … })');
    const { baseURL } = client as { readonly baseURL?: unknown };
    return new OpenAIModel(options.model, timeoutMs, hostOf(baseURL), () => Promise.resolve(client));
  }
  const apiKey = options.apiKey ?? environment('OPENAI_API_KEY');
  const baseURL = options.baseURL ?? environment('OPENAI_BASE_URL');
  if (!apiKey && !baseURL)
    throw new AIDefinitionError(
      'openAI: no key. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, or pass apiKey, baseURL or client',
    );
  if (baseURL && hostOf(baseURL) === undefined)
    throw new AIDefinitionError('openAI: the base URL is no address; write it whole, http://127.0.0.1:11434/v1');
  const { headers, fetch } = options;
  const connection = { apiKey, baseURL: baseURL || OPENAI_URL, ...(headers && { headers }), ...(fetch && { fetch }) };
  return new OpenAIModel(
    options.model,
    timeoutMs,
    hostOf(connection.baseURL),
    lazily(() => connect(connection)),
  );
}

const OPENAI_URL = 'https://api.openai.com/v1';

function isClient(client: unknown): boolean {
  const { chat } = (client ?? {}) as { readonly chat?: { readonly completions?: { readonly create?: unknown } } };
  return typeof chat?.completions?.create === 'function';
}

/** Host and port, for messages; a user name or password in the address is in none. */
function hostOf(address: unknown): string | undefined {
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).host : undefined;
}

/** An empty variable is one that is not set: an empty base URL would mean OpenAI's own. */
function environment(name: string): string | undefined {
  return process.env[name] === '' ? undefined : process.env[name];
}

interface Connection {
  readonly apiKey: string | undefined;
  readonly baseURL: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof globalThis.fetch;
}

async function connect({ apiKey, baseURL, headers, fetch }: Connection): Promise<OpenAIClient> {
  const { default: OpenAI } = await import('openai').catch((cause: unknown) => {
    throw new AIDefinitionError('openAI: the package "openai" is not installed; run: npm install openai@6', { cause });
  });
  const options: ClientOptions = {
    // The client insists on a key; a server that asks for none is sent none.
    apiKey: apiKey || 'none',
    baseURL,
    maxRetries: 0,
    logLevel: 'off',
    defaultHeaders: { ...(!apiKey && { authorization: null }), ...headers },
    // The client keeps a timer until its fetch settles: one that heeds no signal must settle all the same.
    ...(fetch && { fetch: (input, init) => heeding(init?.signal, fetch(input, init)) }),
    // Set in the environment they are meant for OpenAI itself, and nobody else's business.
    ...(hostOf(baseURL) !== hostOf(OPENAI_URL) && { organization: null, project: null }),
  };
  return new OpenAI(options);
}

function heeding<T>(signal: AbortSignal | null | undefined, work: Promise<T>): Promise<T> {
  return signal ? untilAborted(signal, work) : work;
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

class OpenAIModel extends ChatModel {
  readonly profile: ModelProfile = Object.freeze({ schema: 'enforced', wires: ['envelope'] as const });
  readonly #timeoutMs: number;
  /** For messages. */
  readonly #where: string;
  readonly #client: () => Promise<OpenAIClient>;

  constructor(
    readonly name: string,
    timeoutMs: number,
    host: string | undefined,
    client: () => Promise<OpenAIClient>,
  ) {
    super();
    this.#timeoutMs = timeoutMs;
    this.#where = host === undefined ? name : `${name} at ${host}`;
    this.#client = client;
  }

  override async complete(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): Promise<ModelReply> {
    const client = await this.#client();
    signal.throwIfAborted();
    // A timer of our own over headers and body: openai 6 stops its own once the headers are there. A child of the signal
    // for each attempt, so that nothing stays on a signal that lives longer.
    const attempt = new AbortController();
    const onAbort = (): void => {
      attempt.abort(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => {
      attempt.abort(new Error('timeout'));
    }, this.#timeoutMs);
    try {
      const completion = client.chat.completions.create(
        chatCompletionBody(this.name, request) as never,
        { signal: attempt.signal, maxRetries: 0, timeout: Math.min(this.#timeoutMs + 1_000, MAX_TIMER_MS) } as never,
      );
      // The fetch or the client of an application may not heed the signal.
      return readCompletion(this.#where, await untilAborted(attempt.signal, Promise.resolve(completion)));
    } catch (error) {
      signal.throwIfAborted();
      if (attempt.signal.aborted)
        throw new AIProviderError(
          `${this.#where}: no complete reply within ${this.#timeoutMs.toString()} ms.`,
          { retryable: true },
          { cause: error },
        );
      throw providerError(this.#where, error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }
}
