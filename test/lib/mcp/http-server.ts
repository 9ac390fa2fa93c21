import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request in the words of JSON-RPC. */
export interface Rpc {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> };
}

type Reply = (result: object) => void;
/** Answers one request; what it does not answer stays open. */
type Behaviour = (rpc: Rpc, reply: Reply, response: ServerResponse, request: IncomingMessage) => unknown;

/** An MCP server over HTTP that does what a test says, also what none should: written by hand, so that nothing mends it. */
export class HttpServer {
  readonly received: { readonly rpc: Rpc; readonly headers: IncomingMessage['headers'] }[] = [];
  tools: readonly object[] = [];
  /** What a call does. */
  call: Behaviour = (rpc, reply) => {
    reply({ content: [{ type: 'text', text: `did ${String(rpc.params?.name)}` }] });
  };
  /** What a list does. */
  list: Behaviour = (_rpc, reply) => {
    reply({ tools: this.tools });
  };
  readonly #server: Server;
  #sessions = new Set<string>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      void this.#serve(request, response);
    });
  }

  static async open(): Promise<HttpServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new HttpServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}/mcp`;
  }

  /** Forgets all sessions, as one that was started anew. */
  restart(): void {
    this.#sessions = new Set();
  }

  /** The calls that came, by the argument `to`. */
  get calls(): readonly unknown[] {
    return this.received.flatMap(({ rpc }) => (rpc.method === 'tools/call' ? [rpc.params?.arguments?.['to']] : []));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const rpc = JSON.parse(Buffer.concat(chunks).toString()) as Rpc & {
      readonly params?: { readonly protocolVersion?: string };
    };
    this.received.push({ rpc, headers: request.headers });
    const reply =
      (headers: object = {}): Reply =>
      (result) => {
        response.writeHead(200, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result }));
      };
    if (rpc.method === 'initialize') {
      const session = randomUUID();
      this.#sessions.add(session);
      reply({ 'mcp-session-id': session })({
        protocolVersion: rpc.params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'orders', version: '1' },
      });
    } else if (!this.#sessions.has(String(request.headers['mcp-session-id']))) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } }),
      );
    } else if (rpc.id === undefined) response.writeHead(202).end();
    else if (rpc.method === 'tools/list') this.list(rpc, reply(), response, request);
    else this.call(rpc, reply(), response, request);
  }
}
