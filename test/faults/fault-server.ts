import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requestProblems } from '../wire/open-ai-bodies.js';

/** What the server does with one request. */
export type Fault = (response: ServerResponse) => void;

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** The body as it came. */
  readonly text: string;
}

/** A provider on the loopback that misbehaves to order: one fault for each request, the last one for all that follow. */
export class FaultServer {
  readonly received: Received[] = [];
  /** What was no request by OpenAI's definition. */
  readonly problems: string[] = [];
  readonly #server: Server;
  #faults: readonly Fault[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
        const fault = this.#faults[Math.min(this.received.length, this.#faults.length - 1)];
        this.received.push({ headers: request.headers, body, text });
        const problem = requestProblems(body);
        if (problem !== '') this.problems.push(problem);
        fault?.(response);
      });
    });
  }

  static async open(): Promise<FaultServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultServer(server);
  }

  get baseURL(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}/v1`;
  }

  play(...faults: readonly Fault[]): void {
    this.received.length = 0;
    this.#faults = faults;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

const json = (response: ServerResponse, status: number, body: string, headers: object = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
};

interface Message {
  /** Function calls, which nobody asked for on the envelope. */
  readonly calls?: readonly object[];
  readonly content?: string | null;
  readonly finish?: string | null;
  readonly refusal?: string | null;
  readonly usage?: object | null;
  readonly headers?: object;
}

/** A completion. */
export const completion =
  ({ content = null, finish = 'stop', refusal = null, calls, usage, headers }: Message): Fault =>
  (response) => {
    const message = { role: 'assistant', content, refusal, ...(calls !== undefined && { tool_calls: calls }) };
    const body = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, finish_reason: finish, logprobs: null, message }],
      ...(usage !== undefined && { usage }),
    };
    json(response, 200, JSON.stringify(body), headers);
  };

/** An answer on the envelope. */
export const answer = (text: string): Fault =>
  completion({ content: JSON.stringify({ tool: 'ANSWER', arguments: [], answer: text }) });

/** A call on the envelope. */
export const toolCall = (tool: string, args: Readonly<Record<string, string>> = {}): Fault =>
  completion({
    content: JSON.stringify({
      tool,
      arguments: Object.entries(args).map(([name, value]) => ({ name, value })),
      answer: '',
    }),
  });

/** An HTTP status, with an error body as providers send it. */
export const status =
  (code: number, { headers = {}, error = {} }: { readonly headers?: object; readonly error?: object } = {}): Fault =>
  (response) => {
    const body = { error: { message: 'SECRET of the provider', type: 't', param: null, code: null, ...error } };
    json(response, code, JSON.stringify(body), { 'x-request-id': 'req-1', ...headers });
  };

/** 200, whatever the body. */
export const body =
  (text: string, type = 'application/json'): Fault =>
  (response) => {
    response.writeHead(200, { 'content-type': type }).end(text);
  };

/** Nothing ever comes. */
export const silence: Fault = () => undefined;

/** Headers and the begin of a body, and nothing more. */
export const stalled: Fault = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
};

/** The connection is closed before a response. */
export const reset: Fault = (response) => {
  response.destroy();
};

/** A body that is shorter than its headers say. */
export const cut: Fault = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
  response.write('{"id":"x"', () => {
    response.destroy();
  });
};

/** The begin of a stream that nobody asked for, and what becomes of it. */
export const streamed =
  (then: 'stalls' | 'ends' | 'breaks' | 'fails'): Fault =>
  (response) => {
    const chunk = (delta: object): string =>
      `data: ${JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason: null }],
      })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: '{"tool":"refund","arg' }), () => {
      if (then === 'ends') response.end();
      if (then === 'breaks') response.destroy();
      if (then === 'fails') response.end('data: {"error":{"message":"SECRET upstream"}}\n\n');
    });
  };

/** A stream of a text in pieces, and what becomes of it. */
export const written =
  (pieces: readonly string[], then: 'whole' | 'without an end' | 'breaks' | 'fails' | 'stalls'): Fault =>
  (response) => {
    const chunk = (delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason: finish }],
      })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req-1' });
    response.write(pieces.map((content) => chunk({ content })).join(''), () => {
      if (then === 'whole') response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
      if (then === 'without an end') response.end();
      if (then === 'breaks') setImmediate(() => response.destroy());
      if (then === 'fails') response.end('data: {"error":{"message":"SECRET upstream"}}\n\n');
    });
  };
