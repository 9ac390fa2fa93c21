import type { Container } from 'inversify';
import {
  countProblems,
  describeKind,
  optionProblems,
  shortly,
  throwProblems,
  timerProblems,
} from '../lib/declaration.js';
import type { ToolGroup } from '../lib/tool/group.js';

/**
 * What binds a caller, and all that is this request's own, into its scope. Synchronous: an `async` one, after which a
 * scope would be half bound, is a type error.
 */
export type MCPCallerBinder = (container: Container) => NoPromise;

// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a function without a return gives just that
type NoPromise = void | { readonly then?: never };

/** A request, as far as it may say who is asking. */
export interface MCPRequest {
  /** The address of the peer, never one that a forwarding header claims. Behind a proxy it is the proxy's. */
  readonly remoteAddress: string | undefined;
  /** The path and the query, as they came. */
  readonly url: string;
  /** Aborted when the client hangs up, or the request's time is over. */
  readonly signal: AbortSignal;
}

/**
 * Says who is asking: gives what binds the caller into the scope of this request, or nothing where nobody is signed in.
 * Header names are in small letters. What it throws is logged, and its client is told no more than that of no token.
 */
export type MCPAuthenticate = (
  headers: Readonly<Record<string, string>>,
  request: MCPRequest,
) => MCPCallerBinder | undefined | Promise<MCPCallerBinder | undefined>;

/** What `mcpServer` takes besides the application and the tools. */
export interface MCPServerOptions {
  /** How it calls itself to its clients; events and messages call it `mcpServer <name>`. */
  readonly name: string;
  /** The version of what it offers, for its clients. */
  readonly version: string;
  /**
   * Who is asking, for each HTTP request. `false` says that nobody need be: then a scope binds nothing. It must be said,
   * and does not concern `stdio`.
   */
  readonly authenticate: MCPAuthenticate | false;
  /** Only the tools in this group, or in any of these. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
  /** The host names by which it may be spoken to, without a port. Default: `localhost`, `127.0.0.1` and `[::1]`. */
  readonly hosts?: readonly string[];
  /** The host names of pages in a browser that may speak to it. Default: the same three. */
  readonly origins?: readonly string[];
  /** The longest body of a request, in bytes, at most 4,194,304. Default: 1,048,576. */
  readonly maxBodyBytes?: number;
  /** After so long an HTTP request is given up and its call aborted. In milliseconds; default 120,000. */
  readonly timeoutMs?: number;
}

/** The same, checked, with its defaults. */
export interface ReadServerOptions {
  readonly name: string;
  readonly version: string;
  readonly authenticate: MCPAuthenticate | false;
  readonly hosts: readonly string[];
  /** Whether they were named. */
  readonly hasHosts: boolean;
  readonly origins: readonly string[];
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
}

const OPTIONS = ['name', 'version', 'authenticate', 'toolGroup', 'hosts', 'origins', 'maxBodyBytes', 'timeoutMs'];
const LOOPBACK = Object.freeze(['localhost', '127.0.0.1', '[::1]']);
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** What is wrong with the options is added to `problems`; throws at once only where there are none to look at. */
export function readServerOptions(options: MCPServerOptions, problems: string[]): ReadServerOptions {
  problems.push(...optionProblems('mcpServer', options, OPTIONS));
  const { name, version, authenticate, hosts = LOOPBACK, origins = LOOPBACK } = options;
  const { maxBodyBytes = 1024 * 1024, timeoutMs = 120_000 } = options;
  if (typeof (name as unknown) !== 'string' || !/^[\x21-\x7e]{1,64}$/.test(name))
    problems.push(`mcpServer: name must be a word of at most 64 characters, name: 'crm'; found ${shortly(name)}`);
  const where = siteOf(name);
  if (typeof (version as unknown) !== 'string' || version.trim() === '')
    problems.push(`${where}: version must be a text, version: '1.0.0'; found ${shortly(version)}`);
  if (typeof authenticate !== 'function' && (authenticate as unknown) !== false)
    problems.push(
      `${where}: authenticate must say who is asking, authenticate: async (headers) => (container) => { container.bind(Caller)… }, or be false where nobody need be; found ${describeKind(authenticate)}`,
    );
  problems.push(
    ...hostProblems(where, 'hosts', hosts),
    ...hostProblems(where, 'origins', origins),
    ...countProblems(where, 'maxBodyBytes', maxBodyBytes),
    ...timerProblems(where, 'timeoutMs', timeoutMs),
  );
  if (maxBodyBytes > MAX_BODY_BYTES)
    problems.push(`${where}: maxBodyBytes may be ${MAX_BODY_BYTES.toString()} at most, found ${shortly(maxBodyBytes)}`);
  return {
    name,
    version,
    authenticate,
    hosts,
    hasHosts: options.hosts !== undefined,
    origins,
    maxBodyBytes,
    timeoutMs,
  };
}

/** How events and messages call it. */
export function siteOf(name: unknown): string {
  return typeof name === 'string' ? `mcpServer ${name.slice(0, 64)}` : 'mcpServer';
}

function hostProblems(where: string, option: string, hosts: unknown): string[] {
  if (!Array.isArray(hosts) || hosts.length === 0)
    return [`${where}: ${option} must list host names, ${option}: ['mcp.example.com']; found ${describeKind(hosts)}`];
  return (hosts as unknown[])
    .filter((host) => typeof host !== 'string' || !/^([a-z0-9_.-]+|\[[0-9a-f:.]+\])$/.test(host))
    .map(
      (host) =>
        `${where}: ${option} holds ${shortly(host)}; write a host name in small letters, without scheme and port: 'mcp.example.com'`,
    );
}

/** Where `listen` listens. */
export interface MCPListenOptions {
  /** 0 is any that is free; the result says which. */
  readonly port: number;
  /** Default: `127.0.0.1`, which is reached from this machine alone. For another, name the option `hosts` too. */
  readonly host?: string;
  /** The only path that is served. Default: `/mcp`. */
  readonly path?: string;
  /** After so long without all headers of a request its connection is closed. In milliseconds; default 10,000. */
  readonly headersTimeoutMs?: number;
}

/** Throws an `AIDefinitionError` for what is no such option. */
export function readListenOptions(
  { name, hasHosts }: Pick<ReadServerOptions, 'name' | 'hasHosts'>,
  options: MCPListenOptions,
): Required<MCPListenOptions> {
  const where = `${siteOf(name)}, listen`;
  const problems = optionProblems(where, options, ['port', 'host', 'path', 'headersTimeoutMs']);
  const { port, host = '127.0.0.1', path = '/mcp', headersTimeoutMs = 10_000 } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    problems.push(`${where}: port must be a number from 0 to 65535, found ${shortly(port)}`);
  if (typeof (host as unknown) !== 'string' || host === '')
    problems.push(`${where}: host must be an address of this machine, host: '127.0.0.1'; found ${shortly(host)}`);
  else if (!hasHosts && !/^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host))
    problems.push(
      `${where}: host ${shortly(host)} is reached from other machines, but mcpServer answers to localhost alone; name what it is called there, hosts: ['mcp.example.com']`,
    );
  if (typeof (path as unknown) !== 'string' || !/^\/[\x21\x24-\x3e\x40-\x7e]*$/.test(path))
    problems.push(`${where}: path must begin with / and have no query, path: '/mcp'; found ${shortly(path)}`);
  problems.push(...timerProblems(where, 'headersTimeoutMs', headersTimeoutMs));
  throwProblems(problems);
  return { port, host, path, headersTimeoutMs };
}

/** What `stdio` takes. */
export interface MCPStdioOptions {
  /** Binds who is asking, into the scope of each call: the one that this process was started by. Synchronous. */
  readonly bind: MCPCallerBinder;
}

/** Throws an `AIDefinitionError` for what is no such option. */
export function readStdioOptions(name: string, options: MCPStdioOptions): MCPCallerBinder {
  const where = `${siteOf(name)}, stdio`;
  const problems = optionProblems(where, options, ['bind']);
  if (typeof (options.bind as unknown) !== 'function')
    problems.push(
      `${where}: bind must say who is asking, bind: (container) => { container.bind(Caller)… }; found ${describeKind(options.bind)}`,
    );
  throwProblems(problems);
  return options.bind;
}
