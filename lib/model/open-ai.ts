import type { ClientOptions } from 'openai';
import { untilAborted } from '../abort.js';
import { AIDefinitionError } from '../errors.js';
import { shortly, throwProblems, timerProblems, unknownOptions } from '../declaration.js';
import type { ChatModel } from './chat-model.js';
import { chatCompletions } from './chat-completions.js';
import { type OpenAIClient, OpenAIModel } from './open-ai-model.js';
import { type OpenAIProfile, type OpenAIProfileName, profileFor, profileProblems } from './profiles.js';
import { responses } from './responses.js';

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
  /** Which of OpenAI's two APIs. `responses` carries what the model thought from turn to turn. Default: `chat`. */
  readonly api?: 'chat' | 'responses';
  /**
   * What the server is known to do: the name of one that is known here, or `{ schema, wires }`. Default: by the address;
   * where nothing is known of it, `compatible`, which trusts nobody to enforce a schema.
   */
  readonly profile?: OpenAIProfileName | OpenAIProfile;
}

const OPTIONS = ['model', 'apiKey', 'baseURL', 'client', 'timeoutMs', 'headers', 'fetch', 'api', 'profile'];

/**
 * A model behind OpenAI's Chat Completions or Responses, at OpenAI or at any compatible server, through the `openai`
 * package (a peer, loaded with the first request; its own retries are off).
 * Throws an `AIDefinitionError` where there is neither key, base URL nor client: an application never falls back. A
 * request that fails rejects with an `AIProviderError`, an aborted one with the signal's reason.
 */
export function openAI(options: OpenAIOptions): ChatModel {
  throwProblems(unknownOptions('openAI', options, OPTIONS));
  if (typeof options.model !== 'string' || options.model === '')
    throw new AIDefinitionError(`openAI: name the model, openAI({ model: 'gpt-5-mini' })`);
  const { client, timeoutMs = 60_000, api = 'chat', profile } = options;
  const problems = [...timerProblems('openAI', 'timeoutMs', timeoutMs), ...profileProblems(profile)];
  if (!Object.hasOwn(TRANSPORTS, api))
    problems.push(`openAI: api must be 'chat' or 'responses', found ${shortly(api)}`);
  throwProblems(problems);
  const transport = TRANSPORTS[api];
  const make = (baseURL: unknown, clientOf: () => Promise<OpenAIClient>): ChatModel => {
    const host = hostOf(baseURL);
    return new OpenAIModel(options.model, {
      timeoutMs,
      where: host === undefined ? options.model : `${options.model} at ${host}`,
      profile: profileFor(profile, host),
      transport: transport(),
      client: clientOf,
    });
  };
  if (client !== undefined) {
    if (!isClient(client, api))
      throw new AIDefinitionError(`openAI: client must be an openai client, new OpenAI({ … })`);
    return make((client as { readonly baseURL?: unknown }).baseURL, () => Promise.resolve(client));
  }
  const apiKey = options.apiKey ?? environment('OPENAI_API_KEY');
  const baseURL = options.baseURL ?? environment('OPENAI_BASE_URL');
  if (!apiKey && !baseURL)
    throw new AIDefinitionError(
      'openAI: no key. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, or pass apiKey, baseURL or client',
    );
  if (baseURL && !isHttp(baseURL))
    throw new AIDefinitionError(
      'openAI: the base URL is no address; write it whole, with its scheme, http://127.0.0.1:11434/v1',
    );
  const { headers, fetch } = options;
  const connection = { apiKey, baseURL: baseURL || OPENAI_URL, ...(headers && { headers }), ...(fetch && { fetch }) };
  return make(
    connection.baseURL,
    lazily(() => connect(connection)),
  );
}

const TRANSPORTS = { chat: chatCompletions, responses };

const OPENAI_URL = 'https://api.openai.com/v1';

function isClient(client: unknown, api: 'chat' | 'responses'): boolean {
  const { chat, responses: second } = (client ?? {}) as {
    readonly chat?: { readonly completions?: { readonly create?: unknown } };
    readonly responses?: { readonly create?: unknown };
  };
  return typeof (api === 'chat' ? chat?.completions?.create : second?.create) === 'function';
}

/** `localhost:1234` is an address as well, whose scheme is `localhost`. */
function isHttp(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
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
