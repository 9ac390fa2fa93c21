import { execFile } from 'node:child_process';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Container } from 'inversify';
import { AIObserver, defineTool, installAI, ReadOnly, type ToolCallContext } from 'inversify-ai';
import { mcpServer, type MCPToolServer } from 'inversify-ai/mcp';
import { scriptedModel } from 'inversify-ai/testing';
import { as, OrderService, OrderTools, quietLogger } from '../container/orders.js';
import { Events } from '../events.js';

/* A server of ours, as programs of others find it: the official client, of both majors and of both protocols. */

jest.setTimeout(60_000);

let server: MCPToolServer | undefined;
afterEach(async () => {
  await server?.close();
});

interface Told {
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly schemas: Readonly<Record<string, readonly object[]>>;
  readonly orders: Readonly<Record<string, readonly string[]>>;
  readonly wrong: Readonly<Record<string, object>>;
  readonly eve: string;
  readonly givenUp: string;
}

function clients(version: string, url: string): Promise<Told> {
  return new Promise((resolve, reject) => {
    const args = ['test/real/mcp-clients.mjs', version, url, '50'];
    execFile(process.execPath, args, { timeout: 40_000, env: {} }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as Told);
      else reject(new Error(`${stderr}\n${stdout}`, { cause: error }));
    });
  });
}

/** A promise and what settles it. */
function signalled(): { readonly heard: Promise<void>; readonly say: () => void } {
  let say = (): void => undefined;
  const heard = new Promise<void>((resolve) => (say = resolve));
  return { heard, say: () => say() };
}

describe.each([['v1'], ['v2'], ['v2-2026']])('the official client, %s', (version) => {
  it('gets each caller its own data, call by call and all at once, and gives up a call', async () => {
    const container = new Container();
    container.bind(OrderService).toSelf();
    container.bind(OrderTools).toSelf();
    const events = new Events();
    container.bind(AIObserver).toConstantValue(events);
    const logger = quietLogger();
    const ai = installAI(container, { model: scriptedModel([]), logger });
    const waiting = signalled();
    const aborted = signalled();
    const tool = (name: string, execute: (args: object, context: ToolCallContext) => unknown) =>
      defineTool({ name, description: name, group: ReadOnly, parameters: {}, execute });
    const tools = [
      OrderTools,
      tool('wait', (_args, { signal }) => {
        waiting.say();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted.say();
            reject(signal.reason as Error);
          });
        });
      }),
      tool('waiting', () => waiting.heard),
      tool('aborted', () => aborted.heard),
    ];
    server = mcpServer(ai, tools, {
      name: 'crm',
      version: '1.0.0',
      authenticate: ({ authorization }) =>
        authorization === 'Bearer ann' || authorization === 'Bearer bob' ? as(authorization.slice(7)) : undefined,
    });
    const { url } = await server.listen({ port: 0 });
    const told = await clients(version, url);

    const names = ['OrderTools_findOrder', 'OrderTools_refundOrder', 'OrderTools_whoAmI', 'aborted', 'wait', 'waiting'];
    expect(told.names).toEqual({ ann: names, bob: names });
    expect(told.schemas['ann']![0]).toEqual({
      type: 'object',
      properties: { orderId: { type: 'integer', description: 'The order id' } },
      required: ['orderId'],
      additionalProperties: false,
    });
    const own = (who: string, from: number) =>
      Array.from({ length: 25 }, (_, n) => `order ${(2 * n + from).toString()} for ${who}`).sort();
    expect([...told.orders['ann']!].sort()).toEqual(own('ann', 0));
    expect([...told.orders['bob']!].sort()).toEqual(own('bob', 1));
    expect(told.wrong['ann']).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/^OrderTools_findOrder was not called, its arguments/) }],
    });
    expect(told.eve).toMatch(/^refused: .*(401|Unauthorized)/);
    expect(told.givenUp).toBe('string');
    expect(events.ended.filter(({ outcome }) => outcome === 'aborted').map(({ tool: name }) => name)).toEqual(['wait']);
    expect(logger.error).not.toHaveBeenCalled();
  });
});
