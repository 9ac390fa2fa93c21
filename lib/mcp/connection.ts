import { untilAborted } from '../abort.js';
import { isAnswer, isTimeout, type MCPClient, type MCPRequestOptions } from './mcp-client.js';

/** What a connection is made by; a client that somebody else made is not closed here. */
export interface ClientSource {
  readonly open: (options: MCPRequestOptions) => Promise<MCPClient>;
  readonly close?: (client: MCPClient) => Promise<void>;
}

interface Opened {
  readonly client: MCPClient;
  /** Requests under way. */
  uses: number;
  isLeft: boolean;
}

/** A connection to a server: opened with its first use, and again after it broke. */
export class Connection {
  readonly #source: ClientSource;
  readonly #connectTimeoutMs: number;
  #opened: Promise<Opened> | undefined;
  #isClosed = false;
  /** Whether it was told that the server is down. */
  isDown = false;

  constructor(source: ClientSource, connectTimeoutMs: number) {
    this.#source = source;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** One request over it. Where the connection broke, the next use makes another; nothing is sent again by itself. */
  async use<T>(signal: AbortSignal, request: (client: MCPClient) => Promise<T>): Promise<T> {
    const opened = await this.#open(signal);
    opened.uses++;
    try {
      // A client may not heed the signal, or say otherwise why it ended.
      return await untilAborted(signal, request(opened.client));
    } catch (error) {
      if (!signal.aborted && !isAnswer(error) && !isTimeout(error)) this.#leave(opened);
      throw error;
    } finally {
      opened.uses--;
      if (opened.isLeft) await this.#closeUnused(opened);
    }
  }

  /** The next use makes another: this one does not answer. What is under way on it goes on. */
  drop(): void {
    const dropped = this.#opened;
    this.#opened = undefined;
    dropped
      ?.then((opened) => {
        opened.isLeft = true;
        return this.#closeUnused(opened);
      })
      .catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const opened = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    if (opened !== undefined) await this.#source.close?.(opened.client).catch(() => undefined);
  }

  async #open(signal: AbortSignal): Promise<Opened> {
    if (this.#isClosed) throw new Error('the connection was closed');
    // Not under the signal of whoever came first: others wait for the same one.
    this.#opened ??= this.#connect();
    return untilAborted(signal, this.#opened);
  }

  async #connect(): Promise<Opened> {
    const timeout = this.#connectTimeoutMs;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      controller.abort(new Error(`no connection within ${timeout.toString()} ms`));
    }, timeout);
    try {
      const opening = this.#source.open({ signal: controller.signal, timeout });
      // One that comes too late is nobody's.
      opening
        .then((client) => (controller.signal.aborted ? this.#source.close?.(client) : undefined))
        .catch(() => undefined);
      return { client: await untilAborted(controller.signal, opening), uses: 0, isLeft: false };
    } catch (error) {
      this.#opened = undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The next use makes another. Others may still be waiting on this one. */
  #leave(opened: Opened): void {
    if (opened.isLeft) return;
    opened.isLeft = true;
    this.#opened = undefined;
  }

  async #closeUnused(opened: Opened): Promise<void> {
    if (opened.uses > 0) return;
    await this.#source.close?.(opened.client).catch(() => undefined);
  }
}
