import type * as Installed from 'openai';
import { afterAll, beforeAll } from '@jest/globals';
import { defineTool } from 'inversify-ai';
import { FaultServer } from './fault-server.js';

/** The openai client: the installed one, or the one that OPENAI_UNDER_TEST names (`npm run test:openai-7`). */
export const { default: OpenAI } = (await import(process.env['OPENAI_UNDER_TEST'] ?? 'openai')) as typeof Installed;

/** A server for the tests of a file; whatever is sent to it must be a request by OpenAI's definition. */
export function faultServer(): () => FaultServer {
  let server: FaultServer;
  beforeAll(async () => {
    server = await FaultServer.open();
  });
  afterAll(async () => {
    await server.close();
    if (server.problems.length > 0) throw new Error(`sent what is no request: ${server.problems.join('\n')}`);
  });
  return () => server;
}

/** Notes what it was run with. */
export function refundTool(ran: unknown[]) {
  return defineTool({
    name: 'refund',
    description: 'Refunds an order',
    parameters: { orderId: { type: 'integer', description: 'The order id' } },
    execute: ({ orderId }) => {
      ran.push(orderId);
      return 'refunded';
    },
  });
}
