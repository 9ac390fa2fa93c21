import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { untilAborted } from '../lib/abort.js';
import { isObject } from '../lib/declaration.js';
import { endWithResponse, onClosed } from './adapters/response-end.js';
import { outsideScopes } from './current-scope.js';
import { type Served, serverFor } from './mcp-caller.js';
import {
  argumentsIn,
  checkHeaders,
  type Message,
  readMessage,
  saidOfCaller,
  textHeaders,
  webRequest,
} from './mcp-request.js';
import { refuse, Refusal, send } from './mcp-response.js';
import { loadServer } from './mcp-sdk.js';
import type { MCPCallerBinder, ReadServerOptions } from './mcp-server-options.js';
import type { RequestScope } from './request-scope.js';

/** A request under way. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Ends what is at work for it; the client is told that it failed. */
  readonly ending: AbortController;
  /** Aborted when the client hangs up, or has all it asked for. */
  readonly left: AbortController;
  scope?: RequestScope;
  done?: Promise<void>;
}

/** How long a response may still take that is written while all is ending, or past its time. In milliseconds. */
const LAST_WORDS_MS = 1_000;

/**
 * MCP over HTTP, for Node's own server. No request knows of another: each says who is asking and gets a scope of its
 * own, which ends with its response. A session's id is nothing but what a client cancels its own calls by: nothing is
 * kept under it, and nobody is somebody by it.
 */
export class MCPHttp {
  readonly #served: Served;
  readonly #options: ReadServerOptions;
  readonly #openScope: (bind: MCPCallerBinder) => RequestScope;
  readonly #exchanges = new Set<Exchange>();
  /** Those that may be cancelled. */
  readonly #calls = new Map<string, Exchange>();
  #isClosed = false;

  constructor(served: Served, options: ReadServerOptions, openScope: (bind: MCPCallerBinder) => RequestScope) {
    this.#served = served;
    this.#options = options;
    this.#openScope = openScope;
  }

  /** Answers one request; never rejects. What it was asked in, a scope of the application's perhaps, is not the caller's. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange: Exchange = { request, response, ending: new AbortController(), left: new AbortController() };
    this.#exchanges.add(exchange);
    exchange.done = outsideScopes(() => this.#serve(exchange));
    await exchange.done;
    this.#exchanges.delete(exchange);
  }

  /** Ends all requests: their calls are aborted, and their scopes are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#exchanges];
    for (const { ending } of open) ending.abort(new Error(`${this.#site} was closed`));
    await Promise.allSettled(open.flatMap(({ scope }) => scope?.close() ?? []));
    const { promise, stop } = after(LAST_WORDS_MS);
    await Promise.race([Promise.all(open.flatMap(({ done }) => done ?? [])), promise]);
    stop();
  }

  get #site(): string {
    return this.#served.offer.definition.site;
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { request, response, ending, left } = exchange;
    const stop = this.#limitTime(exchange);
    const leave = (): void => {
      left.abort(new Error('the client has left'));
    };
    response.once('close', leave);
    // A response that waits for an earlier one of its connection says nothing when that is gone.
    const stopListening = request.httpVersionMajor === 1 ? onClosed(request.socket, leave) : (): void => undefined;
    let key: string | undefined;
    try {
      const { bind, message } = await this.#read(exchange);
      key = this.#note(exchange, message);
      const answer = await this.#answer(exchange, bind, message);
      // Of a protocol without sessions there is no such message.
      const isNew = message.method === 'initialize' && answer.status === 200;
      await untilAborted(left.signal, send(response, answer, isNew ? { 'mcp-session-id': randomUUID() } : {}));
    } catch (error) {
      if (!left.signal.aborted) refuse(request, response, this.#refusal(error, ending.signal));
    } finally {
      stop();
      stopListening();
      if (key !== undefined && this.#calls.get(key) === exchange) this.#calls.delete(key);
      exchange.scope?.end(response.writableEnded ? 'answered' : 'left');
      await exchange.scope?.close().catch(() => undefined);
    }
  }

  /** Nor does who reads slowly keep a request for ever. */
  #limitTime({ response, ending }: Exchange): () => void {
    const { timeoutMs } = this.#options;
    const late = new Error(`${this.#site}: the request took more than the ${timeoutMs.toString()} ms of timeoutMs`);
    const timers = [
      setTimeout(() => {
        ending.abort(late);
        timers.push(setTimeout(() => response.destroy(), LAST_WORDS_MS));
      }, timeoutMs),
    ];
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  }

  /** Who is asking, and what: nothing of a request is read before it is known that somebody may. */
  async #read({ request, ending, left }: Exchange): Promise<{
    readonly bind: MCPCallerBinder;
    readonly message: Message;
  }> {
    if (this.#isClosed) throw new Refusal(503, 'The server is closing');
    const sdk = await loadServer();
    checkHeaders(sdk, request, this.#options);
    const signal = AbortSignal.any([ending.signal, left.signal]);
    const bind = await this.#callerOf(request, signal);
    if (!sdk.isJsonContentType(request.headers['content-type'] ?? null))
      throw new Refusal(415, 'Unsupported Media Type: Content-Type must be application/json');
    const message = await untilAborted(signal, readMessage(request, this.#options.maxBodyBytes));
    return { bind, message };
  }

  /** Whatever stands against a caller, the client is told the same. */
  async #callerOf(request: IncomingMessage, signal: AbortSignal): Promise<MCPCallerBinder> {
    const { authenticate } = this.#options;
    if (authenticate === false) return () => undefined;
    const { logger } = this.#served.offer;
    let bind: unknown;
    try {
      const asked = { remoteAddress: request.socket.remoteAddress, url: request.url ?? '', signal };
      // In a promise from the start: it may throw at once.
      const answer = (async () => authenticate(textHeaders(request), Object.freeze(asked)))();
      bind = await untilAborted(signal, answer);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(`[inversify-ai] ${this.#site}: authenticate threw, so the request was refused`, error);
    }
    if (typeof bind === 'function') return bind as MCPCallerBinder;
    if (bind !== undefined && bind !== null)
      logger.error(
        `[inversify-ai] ${this.#site}: authenticate must give a function that binds the caller, or nothing; the request was refused`,
      );
    throw new Refusal(401, 'Unauthorized', { headers: { 'www-authenticate': 'Bearer' } });
  }

  async #answer(exchange: Exchange, bind: MCPCallerBinder, message: Message): Promise<Response> {
    const { request, response, ending, left } = exchange;
    ending.signal.throwIfAborted();
    left.signal.throwIfAborted();
    const sdk = await loadServer();
    const scope = this.#openScope(bind);
    exchange.scope = scope;
    endWithResponse(scope, response, request);
    const caller = {
      inScope: <T>(work: (scope: RequestScope) => Promise<T>) => work(scope),
      signal: ending.signal,
      sent: argumentsIn(message),
    };
    // One for this request, which has this caller. Subscriptions would outlive it, and tell of nothing: a list changes
    // with its caller.
    const handler = sdk.createMcpHandler(() => serverFor(sdk, this.#served, caller), { maxSubscriptions: 0 });
    return handler.fetch(webRequest(request, left.signal), { parsedBody: message });
  }

  /**
   * Notes what may be cancelled, and cancels. Only who has the session's id, which is not to be guessed, and says the same
   * of who is asking, wherever that may stand, can mean the same call.
   */
  #note(exchange: Exchange, { id, method, params }: Message): string | undefined {
    const { request } = exchange;
    const { 'mcp-session-id': session } = request.headers;
    if (session === undefined) return undefined;
    const caller = [session, request.socket.remoteAddress, ...saidOfCaller(request)];
    const keyOf = (call: unknown): string | undefined =>
      typeof call === 'string' || typeof call === 'number' ? JSON.stringify([...caller, call]) : undefined;
    const cancelled = method === 'notifications/cancelled' && isObject(params) ? keyOf(params['requestId']) : undefined;
    if (cancelled !== undefined)
      this.#calls.get(cancelled)?.ending.abort(new Error('the client has cancelled the call'));
    const key = keyOf(id);
    if (key === undefined || this.#calls.has(key)) return undefined;
    this.#calls.set(key, exchange);
    return key;
  }

  #refusal(error: unknown, ending: AbortSignal): Refusal {
    if (error instanceof Refusal) return error;
    const { logger } = this.#served.offer;
    if (ending.aborted) {
      logger.warn(`[inversify-ai] ${this.#site}: a request was given up`, error);
      return this.#isClosed ? new Refusal(503, 'The server is closing') : new Refusal(408, 'Request Timeout');
    }
    logger.error(`[inversify-ai] ${this.#site}: a request could not be served`, error);
    return new Refusal(500, 'Internal error', { code: -32_603 });
  }
}

function after(ms: number): { readonly promise: Promise<void>; readonly stop: () => void } {
  let stop = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop = () => {
      clearTimeout(timer);
    };
  });
  return { promise, stop };
}
