import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AIDefinitionError } from '../lib/errors.js';
import { throwProblems } from '../lib/declaration.js';
import { type Toolset, toolsetPlan, type ToolSource } from '../lib/tool/toolset.js';
import type { Application } from './application.js';
import { outsideScopes } from './current-scope.js';
import { type AIHandle, applicationOf } from './install.js';
import { type Served, serverFor } from './mcp-caller.js';
import { MCPHttp } from './mcp-http.js';
import { loadServer, loadStdio } from './mcp-sdk.js';
import {
  type MCPListenOptions,
  type MCPServerOptions,
  type MCPStdioOptions,
  readListenOptions,
  readServerOptions,
  type ReadServerOptions,
  readStdioOptions,
  siteOf,
} from './mcp-server-options.js';
import type { RequestScope } from './request-scope.js';

/**
 * Serves tools of an application to clients that speak MCP: only those that are listed, each call as the caller of its
 * own request. Nothing is served before `listen`, `handler` or `stdio`.
 *
 * A call is looked up, converted, surrounded by middleware, executed, bounded and told to observers as an agent's is;
 * each is a run of its own, so that no call is "the same call again".
 *
 * @param tools what `toolset(…)` gives, or a list as `@AI` takes it: classes, `Tool`s, toolsets, registry keys, MCP servers
 *
 * Throws one `AIDefinitionError` with all that is wrong with the options and the tools. A class that nobody bound is
 * warned of by `ai.verify()`, and refused when a request meets it: a scope may bind it.
 */
export function mcpServer(
  ai: AIHandle,
  tools: Toolset | readonly ToolSource[],
  options: MCPServerOptions,
): MCPToolServer {
  const application = applicationOf('mcpServer', ai);
  const problems: string[] = [];
  const read = readServerOptions(options, problems);
  const list: unknown = toolsetPlan(tools) === undefined ? tools : [tools];
  const offer = application.offer(siteOf(read.name), list, options, problems);
  return new MCPToolServer(application, { name: read.name, version: read.version, offer }, read);
}

/** Where a server listens. */
export interface MCPListening {
  /** What a client is given: `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
  readonly port: number;
}

/** What `mcpServer` gives: tools, ready to be served over HTTP, in a server of one's own, or over standard streams. */
export class MCPToolServer {
  readonly #application: Application;
  readonly #served: Served;
  readonly #options: ReadServerOptions;
  readonly #http: MCPHttp;
  #listening: Server | undefined;
  #isClosed = false;
  /** Ends what is served over standard streams. */
  readonly #streams: (() => Promise<void>)[] = [];

  /** @internal */
  constructor(application: Application, served: Served, options: ReadServerOptions) {
    this.#application = application;
    this.#served = served;
    this.#options = options;
    this.#http = new MCPHttp(served, options, (bind) => application.openScope(bind));
  }

  /**
   * Serves over HTTP, on a port of its own. Resolves once it listens; rejects with an `AIDefinitionError` for options
   * that are none, where it listens already or was closed, and where the SDK is not installed; with Node's own error
   * where the port is taken.
   */
  async listen(options: MCPListenOptions): Promise<MCPListening> {
    const { port, host, path, headersTimeoutMs } = readListenOptions(this.#options, options);
    this.#refuseClosed('listen');
    if (this.#listening !== undefined)
      throw new AIDefinitionError(`${this.#site}, listen: it listens already; close it first, or make another`);
    const server = createServer(
      {
        headersTimeout: headersTimeoutMs,
        requestTimeout: Math.max(headersTimeoutMs, this.#options.timeoutMs),
        // Node looks for slow ones each 30 seconds else.
        connectionsCheckingInterval: Math.min(headersTimeoutMs, 1_000),
      },
      (request, response) => {
        if (request.url?.split('?', 1)[0] === path) void this.#http.handle(request, response);
        else response.writeHead(404, { connection: 'close' }).end();
      },
    );
    this.#listening = server;
    try {
      // What is not installed must not be found out by a client.
      await loadServer();
      this.#refuseClosed('listen');
      // The scope that this was called in, if any, is not that of the requests.
      outsideScopes(() => server.listen(port, host));
      await once(server, 'listening');
      this.#refuseClosed('listen');
    } catch (error) {
      this.#listening = undefined;
      server.close();
      throw error;
    }
    const { port: taken } = server.address() as AddressInfo;
    return Object.freeze({
      url: `http://${host.includes(':') ? `[${host}]` : host}:${taken.toString()}${path}`,
      port: taken,
    });
  }

  /**
   * For a server of Node's, or a framework on it, that there is already: `app.all('/mcp', server.handler())`. Mount it
   * before anything that parses bodies, which loses digits of large numbers. What it gives never rejects.
   */
  handler(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
    return (request, response) => this.#http.handle(request, response);
  }

  /**
   * Serves over this process's standard streams, for the program that started it. There is one caller, `bind` says who;
   * each call has a scope of its own. Resolves once it serves; it ends when its input does. Nothing else may write to
   * the standard output: log to the standard error.
   */
  async stdio(options: MCPStdioOptions): Promise<void> {
    const bind = readStdioOptions(this.#served.name, options);
    this.#refuseClosed('stdio');
    const sdk = await loadServer();
    const { serveStdio } = await loadStdio();
    this.#refuseClosed('stdio');
    const open = new Set<RequestScope>();
    const served = outsideScopes(() =>
      serveStdio(
        () =>
          serverFor(sdk, this.#served, {
            inScope: async (work) => {
              const scope = this.#application.openScope(bind);
              open.add(scope);
              try {
                return await work(scope);
              } finally {
                scope.end('answered');
                void scope
                  .close()
                  .catch(() => undefined)
                  .then(() => open.delete(scope));
              }
            },
          }),
        { maxSubscriptions: 0 },
      ),
    );
    this.#streams.push(async () => {
      await served.close();
      await Promise.allSettled([...open].map((scope) => scope.close()));
    });
  }

  /**
   * Ends everything: nothing further is accepted, calls at work are aborted, their scopes closed and connections ended.
   * Waits for tools at work, each as long as it may still take. Closing twice is harmless.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const server = this.#listening;
    const closed = server?.listening === true ? once(server, 'close') : undefined;
    server?.close();
    await Promise.all([this.#http.close(), ...this.#streams.splice(0).map((end) => end())]);
    server?.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #site(): string {
    return siteOf(this.#served.name);
  }

  #refuseClosed(what: string): void {
    if (this.#isClosed) throwProblems([`${this.#site}, ${what}: it was closed; make another with mcpServer(…)`]);
  }
}
