import { AsyncLocalStorage } from 'node:async_hooks';
import { childController } from '../abort.js';
import { describeKind, isObject, MAX_TIMER_MS } from '../declaration.js';
import { AIDefinitionError, AIScopeError, AIToolSourceError, isErrorOf } from '../errors.js';
import { cut } from '../schema/quote.js';
import { isCallerHost, type LateContext, type LateTools, type SourceChange } from '../tool/late-tools.js';
import type { CompiledTool, ToolCallContext } from '../tool/tool.js';
import { LATE_TOOLS } from '../tool-source.js';
import { type ClientSource, Connection } from './connection.js';
import { callRemoteTool, listRemoteTools, type MCPClient, type RemoteTool } from './mcp-client.js';
import {
  isHash,
  type MCPAddress,
  type MCPCommand,
  type MCPServer,
  type MCPToolsOptions,
  type ReadMCPOptions,
  readMCPOptions,
} from './mcp-options.js';
import { difference, type Pin, pinOf } from './pin.js';
import { remoteResult } from './remote-result.js';
import { compileRemote, tooMuchOf } from './remote-tool.js';
import { connectOwn, type OwnClient } from './sdk.js';

/**
 * The tools of a server that speaks MCP, for a `tools` list. It gives them at once and connects when a run needs them.
 * Only the tools that are listed are offered, prefixed by the server's name, and only as they were accepted: one whose
 * name, words or parameters changed is not, until its new hash is.
 * Throws an `AIDefinitionError` for options that are none.
 */
export function mcpTools(server: MCPServer, options: MCPToolsOptions): MCPTools {
  const read = readMCPOptions(options);
  refuseServer(read.server, server);
  return new MCPTools(server, read);
}

/** What `mcpTools` gives: it stands in a `tools` list, or in a toolset. */
export class MCPTools implements LateTools {
  /** What makes it one of the sources that a `tools` list may hold. */
  readonly [LATE_TOOLS] = true;
  /** The name that it was given. */
  readonly server: string;
  readonly label: string;
  readonly names: readonly string[];
  readonly #options: ReadMCPOptions;
  readonly #connections: Connections;
  readonly #pins: Map<string, Pin>;
  /** By name and hash: shared by all callers, since a call finds its caller's connection itself. */
  readonly #compiled = new Map<string, ReturnType<typeof compileRemote>>();
  /** The same array for the same tools. */
  readonly #sets = new Map<string, readonly CompiledTool[]>();
  /** What was told last of a tool: each change is told once. */
  readonly #told = new Map<string, string>();

  /** @internal */
  constructor(server: MCPServer, options: ReadMCPOptions) {
    this.#options = options;
    this.server = options.server;
    this.label = `the MCP server ${options.server}`;
    this.names = Object.freeze([...options.tools.values()].map(({ wireName }) => wireName));
    this.#connections = new Connections(server, options);
    this.#pins = new Map([...options.pins].map(([name, hash]) => [name, { hash }]));
  }

  /** The hashes of the tools that are accepted, by the server's own names: to be given as `pins`. */
  get pins(): Readonly<Record<string, string>> {
    return Object.freeze(Object.fromEntries([...this.#pins].map(([name, { hash }]) => [name, hash])));
  }

  /**
   * Accepts a tool as it is now, by the hash that the event of its change has. From the next run on it is offered.
   * Throws an `AIDefinitionError` for a tool that is not listed, or what is no hash.
   */
  accept(tool: string, hash: string): void {
    if (!this.#options.tools.has(tool) || !isHash(hash))
      throw new AIDefinitionError(
        `mcpTools ${this.server}: accept takes one of ${[...this.#options.tools.keys()].join(', ')} and its hash, as the event tool-changed has it`,
      );
    this.#pins.set(tool, { hash });
    this.#told.delete(tool);
  }

  /** Closes every connection that was made here, and ends a process that was started. */
  async close(): Promise<void> {
    await this.#connections.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async find({ host, signal, tell }: LateContext): Promise<readonly CompiledTool[] | undefined> {
    const { connectTimeoutMs, required, tools } = this.#options;
    const connection = this.#connections.of(host);
    const { controller, stop } = childController(signal);
    const timer = setTimeout(() => {
      controller.abort(new Error(`no list of tools within ${connectTimeoutMs.toString()} ms`));
    }, connectTimeoutMs);
    let listed: readonly RemoteTool[];
    try {
      const options = { signal: controller.signal, timeout: connectTimeoutMs };
      listed = await connection.use(controller.signal, (client) => listRemoteTools(client, options));
    } catch (error) {
      signal.throwIfAborted();
      // One that is silent may be half open, and would be silent for ever.
      if (controller.signal.aborted) connection.drop();
      if (isErrorOf(error, 'definition') || isErrorOf(error, 'scope')) throw error;
      this.#down(connection, error, tell);
      return;
    } finally {
      clearTimeout(timer);
      stop();
    }
    if (connection.isDown) tell({ source: this.server, change: 'up', reason: 'it answers again' });
    connection.isDown = false;
    if (required && ![...tools.keys()].some((name) => listed.some((tool) => tool.name === name)))
      throw new AIToolSourceError(this.label, `has none of the tools that are listed: ${[...tools.keys()].join(', ')}`);
    return this.#offered(listed, tell);
  }

  #down(connection: Connection, error: unknown, tell: LateContext['tell']): undefined {
    const reason = 'does not answer, or not as a server does; see the cause';
    if (this.#options.required) throw new AIToolSourceError(this.label, reason, { cause: error });
    if (!connection.isDown) tell({ source: this.server, change: 'down', reason, error });
    connection.isDown = true;
    return undefined;
  }

  /** Of what the server lists, what is allowed, accepted and can be offered. */
  #offered(listed: readonly RemoteTool[], tell: LateContext['tell']): readonly CompiledTool[] {
    const offered: CompiledTool[] = [];
    const hashes: string[] = [];
    for (const [name, allowed] of this.#options.tools) {
      const found = listed.filter((tool) => tool.name === name);
      const [remote] = found;
      if (remote === undefined)
        this.#tell(tell, name, { change: 'tool-missing', reason: 'the server does not have it' });
      else if (found.length > 1)
        this.#tell(tell, name, { change: 'tool-unusable', reason: 'the server has several tools of that name' });
      else if (tooMuchOf(remote) !== undefined)
        this.#tell(tell, name, { change: 'tool-unusable', reason: tooMuchOf(remote) ?? '' });
      else {
        const tool = this.#accepted(remote, tell);
        if (tool === undefined) continue;
        const compiled = this.#compile(remote, allowed, tool);
        if ('unusable' in compiled)
          this.#tell(tell, name, { change: 'tool-unusable', reason: cut(compiled.unusable, 500) });
        else {
          this.#told.delete(name);
          offered.push(compiled);
          hashes.push(tool);
        }
      }
    }
    const key = hashes.join();
    const same = this.#sets.get(key) ?? Object.freeze(offered);
    this.#sets.set(key, same);
    return same;
  }

  /** The hash of a tool, where that is the one that was accepted; one that was never seen is accepted as it is. */
  #accepted(remote: RemoteTool, tell: LateContext['tell']): string | undefined {
    const now = pinOf(remote, this.#options.trustAnnotations);
    const accepted = this.#pins.get(remote.name);
    if (accepted === undefined || accepted.hash === now.hash) {
      this.#pins.set(remote.name, now);
      return now.hash;
    }
    this.#tell(tell, remote.name, {
      change: 'tool-changed',
      hash: now.hash,
      acceptedHash: accepted.hash,
      // With a connection for each caller, what was accepted may be the words for another.
      reason: difference(accepted, now, { quotesAccepted: !this.#connections.isForEach }),
    });
    return undefined;
  }

  #tell(tell: LateContext['tell'], tool: string, change: Omit<SourceChange, 'source' | 'tool'>): void {
    const said = JSON.stringify(change);
    if (this.#told.get(tool) === said) return;
    this.#told.set(tool, said);
    tell({ source: this.server, tool, ...change });
  }

  #compile(
    remote: RemoteTool,
    allowed: Parameters<typeof compileRemote>[1],
    hash: string,
  ): ReturnType<typeof compileRemote> {
    const key = `${hash} ${remote.name}`;
    const known =
      this.#compiled.get(key) ??
      compileRemote(
        remote,
        allowed,
        this.#options,
        (args, context, host) => () => this.#call(remote.name, args, context, host),
      );
    this.#compiled.set(key, known);
    return known;
  }

  async #call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { signal }: ToolCallContext,
    host: unknown,
  ): Promise<string> {
    const { server, timeoutMs, trustErrors } = this.#options;
    // The dispatcher's own time is over before: it says that nobody knows whether the call took effect.
    const timeout = Math.min(timeoutMs + 1_000, MAX_TIMER_MS);
    const result = await this.#connections
      .of(host)
      .use(signal, (client) => callRemoteTool(client, { name, arguments: args }, { signal, timeout }));
    return remoteResult(server, result, trustErrors);
  }
}

/** The connections to one server: one for all, or one for each caller whose headers are its own. */
class Connections {
  readonly #server: MCPServer;
  readonly #options: ReadMCPOptions;
  #shared: Connection | undefined;
  readonly #own = new WeakMap<object, Connection>();
  readonly #open = new Set<Connection>();
  /**
   * Where the list was made, which is nobody's request. A connection for all is opened there: who asks first is not whom
   * it belongs to, and nothing that it keeps at work may run as that caller.
   */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(server: MCPServer, options: ReadMCPOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** Whether each caller has one of its own. */
  get isForEach(): boolean {
    return isAddress(this.#server) && typeof this.#server.headers === 'function';
  }

  of(host: unknown): Connection {
    const server = this.#server;
    if (isClient(server)) return (this.#shared ??= this.#make({ open: () => Promise.resolve(server) }));
    const headers = isAddress(server) ? server.headers : undefined;
    if (typeof headers !== 'function') {
      const source = own(server, () => headers ?? {});
      return (this.#shared ??= this.#make({ ...source, open: (options) => this.#outside(() => source.open(options)) }));
    }
    if (!isCallerHost(host))
      throw new AIScopeError(
        `mcpTools ${this.#options.server}: headers is a function of the caller's scope, and there is none; inject the agent with @AI, or give the headers as an object`,
      );
    let connection = this.#own.get(host);
    if (connection === undefined) {
      connection = this.#make(own(server, () => headers((token) => host.get(token) as never)));
      this.#own.set(host, connection);
      this.#closeWith(host.signal, connection);
    }
    return connection;
  }

  #closeWith(signal: AbortSignal, connection: Connection): void {
    const close = (): void => {
      this.#open.delete(connection);
      void connection.close();
    };
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
  }

  async close(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    this.#shared = undefined;
    await Promise.all(open.map((connection) => connection.close()));
  }

  #make(source: ClientSource): Connection {
    const connection = new Connection(source, this.#options.connectTimeoutMs);
    this.#open.add(connection);
    return connection;
  }
}

/** A client of one's own, made with the headers that there are when it is opened. */
function own(server: MCPCommand | MCPAddress, headers: () => Readonly<Record<string, string>>): ClientSource {
  return {
    // In a promise from the start: what the headers are made from may throw.
    open: async (options) => connectOwn(server, headers(), options),
    close: (client) => (client as OwnClient).close(),
  };
}

function isClient(server: MCPServer): server is MCPClient {
  return 'callTool' in server && typeof server.callTool === 'function';
}

function isAddress(server: MCPServer): server is MCPAddress {
  return 'url' in server && !isClient(server);
}

function refuseServer(name: string, server: unknown): void {
  const where = `mcpTools ${name}`;
  if (isObject(server) && typeof server['callTool'] === 'function' && typeof server['listTools'] === 'function') return;
  if (isObject(server) && typeof server['command'] === 'string' && server['command'] !== '') return;
  const url = isObject(server) ? server['url'] : undefined;
  if (url instanceof URL || (typeof url === 'string' && URL.canParse(url) && /^https?:/.test(url))) {
    const { headers } = server as { readonly headers?: unknown };
    if (headers === undefined || typeof headers === 'function' || isObject(headers)) return;
    throw new AIDefinitionError(
      `${where}: headers must be an object, or a function (get) => ({ authorization: … }); found ${describeKind(headers)}`,
    );
  }
  throw new AIDefinitionError(
    `${where}: the server must be a connected client, { command: 'npx', args: [ … ] } or { url: 'https://…' }; found ${url === undefined ? describeKind(server) : 'a url that is none'}`,
  );
}
