import type * as sdk from '@modelcontextprotocol/server';
import type * as stdio from '@modelcontextprotocol/server/stdio';
import { AIDefinitionError } from '../lib/errors.js';

/*
 * The official SDK, loaded with the first server that is started. Version 2: it answers clients of both majors, its
 * low-level server takes our JSON Schemas as they are, and its HTTP handler keeps no session between requests.
 */

export type ServerSDK = typeof sdk;
export type ServerStdio = typeof stdio;
export type McpServer = sdk.McpServer;

export function loadServer(): Promise<ServerSDK> {
  return import('@modelcontextprotocol/server').catch(missing);
}

export function loadStdio(): Promise<ServerStdio> {
  return import('@modelcontextprotocol/server/stdio').catch(missing);
}

function missing(cause: unknown): never {
  throw new AIDefinitionError(
    'mcpServer: to serve tools, the official SDK is needed; npm install @modelcontextprotocol/server',
    { cause },
  );
}
