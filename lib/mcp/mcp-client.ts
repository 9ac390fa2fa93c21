import { isObject } from '../declaration.js';

/*
 * The part of an MCP client that is used: that of `@modelcontextprotocol/sdk` (version 1) and of
 * `@modelcontextprotocol/client` (version 2), or anything of the same shape. Read by its shape, since a server is foreign
 * and the client may be of either major.
 */

/** A connected client of the official SDK. */
export interface MCPClient {
  // Methods, so that the clients' own overloads fit.
  listTools(params?: never, options?: never): Promise<unknown>;
  callTool(params: never, ...rest: never[]): Promise<unknown>;
}

/** How one request is bounded. */
export interface MCPRequestOptions {
  readonly signal: AbortSignal;
  /** In milliseconds. */
  readonly timeout: number;
}

/** A tool as the server describes it. */
export interface RemoteTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
}

/** A server that never comes to an end with its list must not fill the memory. */
const MAX_PAGES = 50;
const MAX_TOOLS = 2_000;

/** All tools of a server, page by page. What is no tool is left out. */
export async function listRemoteTools(client: MCPClient, options: MCPRequestOptions): Promise<readonly RemoteTool[]> {
  const tools: RemoteTool[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? undefined : { cursor };
    // Version 2 keeps lists; what a server has now is what counts.
    const listed = await client.listTools(params as never, { ...options, cacheMode: 'refresh' } as never);
    if (!isObject(listed) || !Array.isArray(listed['tools'])) throw new Error('what came is no list of tools');
    for (const tool of listed['tools'] as unknown[]) if (isRemoteTool(tool)) tools.push(readRemoteTool(tool));
    if (tools.length > MAX_TOOLS) throw new Error(`the server lists more than ${MAX_TOOLS.toString()} tools`);
    cursor = listed['nextCursor'];
    if (typeof cursor !== 'string' || cursor === '') return tools;
  }
  throw new Error(`the list of tools has more than ${MAX_PAGES.toString()} pages`);
}

function isRemoteTool(tool: unknown): tool is Readonly<Record<string, unknown>> & { readonly name: string } {
  return isObject(tool) && typeof tool['name'] === 'string';
}

function readRemoteTool({
  name,
  description,
  inputSchema,
  annotations,
}: Readonly<Record<string, unknown>>): RemoteTool {
  return {
    name: name as string,
    description: typeof description === 'string' ? description : '',
    inputSchema: isObject(inputSchema) ? inputSchema : {},
    annotations: isObject(annotations) ? annotations : {},
  };
}

/**
 * Calls a tool. Version 1 takes the schema of a result between the call and the options, version 2 does not: it declares
 * two parameters, where version 1, with a default for the second, declares one.
 */
export function callRemoteTool(
  client: MCPClient,
  call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
  options: MCPRequestOptions,
): Promise<unknown> {
  return client.callTool.length === 2
    ? client.callTool(call as never, options as never)
    : client.callTool(call as never, undefined as never, options as never);
}

/** Whether an error is what a server answered, in the words of JSON-RPC: then the connection holds. */
export function isAnswer(error: unknown): boolean {
  const code: unknown = isObject(error) ? error['code'] : undefined;
  // -32000 is the client's own word for a connection that closed, -32001 for a time that is over.
  return typeof code === 'number' && code <= -32_002 && code >= -32_768;
}

/** Whether a request took too long, by the client's own clock. */
export function isTimeout(error: unknown): boolean {
  const code: unknown = isObject(error) ? error['code'] : undefined;
  return code === -32_001 || code === 'REQUEST_TIMEOUT';
}
