import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Container } from 'inversify';
import { AIToolError, defineTool, installAI, ReadOnly } from 'inversify-ai';
import { mcpServer, type MCPToolServer } from 'inversify-ai/mcp';
import { scriptedModel } from 'inversify-ai/testing';

/*
 * The protocol's own conformance suite, as the program that it is, against a server of ours on the loopback. Of its
 * scenarios those are here that are about tools; others want resources, prompts or sampling.
 */

jest.setTimeout(60_000);

const tool = (name: string, execute: () => string) =>
  defineTool({ name, description: 'A tool that the suite calls', group: ReadOnly, parameters: {}, execute });

let server: MCPToolServer;
let url: string;
beforeAll(async () => {
  const ai = installAI(new Container(), { model: scriptedModel([]) });
  const tools = [
    tool('test_simple_text', () => 'This is a simple text response for testing.'),
    tool('test_error_handling', () => {
      throw new AIToolError('This tool intentionally returns an error for testing');
    }),
  ];
  server = mcpServer(ai, tools, { name: 'conformance', version: '1.0.0', authenticate: false });
  ({ url } = await server.listen({ port: 0 }));
});
afterAll(async () => {
  await server.close();
});

/** Runs one scenario; ends it after half a minute. */
function conformance(scenario: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const program = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
  const args = [program, 'server', '--url', url, '--scenario', scenario];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { timeout: 30_000, env: {} }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, output: `${stdout}\n${stderr}` });
    });
  });
}

it.each([
  ['server-initialize', 1],
  ['ping', 1],
  ['tools-list', 1],
  ['tools-call-simple-text', 1],
  ['tools-call-error', 1],
  ['server-sse-multiple-streams', 2],
  ['dns-rebinding-protection', 2],
])('passes %s', async (scenario, checks) => {
  const { code, output } = await conformance(scenario);
  expect(output).toContain(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`);
  expect(code).toBe(0);
});
