/// <reference types="node" preserve="true" />
/** `inversify-ai/mcp`: the tools of servers that speak MCP, and one's own tools as such a server. */
export { mcpTools, type MCPTools } from '../lib/mcp/mcp-tools.js';
export type { MCPClient } from '../lib/mcp/mcp-client.js';
export type { MCPAddress, MCPCommand, MCPHeaders, MCPServer, MCPToolsOptions } from '../lib/mcp/mcp-options.js';
export { mcpServer, type MCPListening, type MCPToolServer } from './mcp-server.js';
export type { MCPAuthenticate, MCPCallerBinder, MCPListenOptions, MCPRequest } from './mcp-server-options.js';
export type { MCPServerOptions, MCPStdioOptions } from './mcp-server-options.js';
