import { AIDefinitionError } from '../errors.js';
import { boundedFetch } from './bounded-fetch.js';
import type { MCPClient } from './mcp-client.js';
import type { MCPAddress, MCPCommand } from './mcp-options.js';

/** A client that was made here, and is closed here. */
export type OwnClient = MCPClient & { close(): Promise<void> };

interface Transport {
  close(): Promise<void>;
}

/** What is used of the SDK, the same in both majors. */
interface SDK {
  readonly makeClient: () => OwnClient & { connect(transport: Transport, options?: object): Promise<void> };
  readonly overStdio: (command: MCPCommand) => Transport;
  readonly overHttp: (url: URL, headers: Readonly<Record<string, string>>) => Transport;
}

let loaded: Promise<SDK> | undefined;

/** Starts the command, or opens the address, and shakes hands. */
export async function connectOwn(
  server: MCPCommand | MCPAddress,
  headers: Readonly<Record<string, string>>,
  { signal, timeout }: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<OwnClient> {
  loaded ??= load();
  const sdk = await loaded;
  const transport = 'command' in server ? sdk.overStdio(server) : sdk.overHttp(new URL(server.url), headers);
  const client = sdk.makeClient();
  try {
    await client.connect(transport, { signal, timeout });
    return client;
  } catch (error) {
    // A process that was started, a stream that was opened.
    await transport.close().catch(() => undefined);
    throw error;
  }
}

/** How this package calls itself to a server. */
const NAME = { name: 'inversify-ai', version: '1' };

/**
 * A result is not checked against the schema that its own server declares: it is told as foreign text, whatever it holds.
 * A pattern in such a schema can hold the thread for hours, which no timer of ours ends.
 */
const UNCHECKED = {
  jsonSchemaValidator: {
    getValidator: () => (data: unknown) => ({ valid: true as const, data: data as never, errorMessage: undefined }),
  },
};

/** Loaded with the first server that is connected to; version 2 where both are there. */
async function load(): Promise<SDK> {
  const { makeClient, overStdio, overHttp } = (await version2()) ?? (await version1()) ?? missing();
  return { makeClient, overStdio, overHttp };
}

async function version2(): Promise<SDK | undefined> {
  const found = await import('@modelcontextprotocol/client').catch(() => undefined);
  if (found === undefined) return undefined;
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { Client, StreamableHTTPClientTransport } = found;
  return {
    makeClient: () => new Client(NAME, UNCHECKED),
    overStdio: (command) => new StdioClientTransport(processOf(command)),
    overHttp: (url, headers) => new StreamableHTTPClientTransport(url, requestInit(headers)),
  };
}

async function version1(): Promise<SDK | undefined> {
  const found = await import('@modelcontextprotocol/sdk/client/index.js').catch(() => undefined);
  if (found === undefined) return undefined;
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  return {
    makeClient: () => new found.Client(NAME, UNCHECKED),
    overStdio: (command) => new StdioClientTransport(processOf(command)),
    overHttp: (url, headers) => new StreamableHTTPClientTransport(url, requestInit(headers)),
  };
}

/** A server that sends on would have the headers sent to somebody else. */
function requestInit(headers: Readonly<Record<string, string>>) {
  return { fetch: boundedFetch, requestInit: { headers: { ...headers }, redirect: 'error' as const } };
}

function processOf({ command, args = [], env, cwd }: MCPCommand) {
  return { command, args: [...args], ...(env && { env: { ...env } }), ...(cwd !== undefined && { cwd }) };
}

function missing(): never {
  // Installed meanwhile, it is found.
  loaded = undefined;
  throw new AIDefinitionError(
    'mcpTools: to connect to a server, the official SDK is needed; npm install @modelcontextprotocol/client, or pass a client that is connected',
  );
}
