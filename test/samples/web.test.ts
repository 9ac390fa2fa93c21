import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChatModel, embeddedModel } from 'inversify-ai';
import * as express from '../../samples/web/express.js';
import * as fastify from '../../samples/web/fastify.js';
import * as hono from '../../samples/web/hono.js';
import * as httpCore from '../../samples/web/http-core.js';

const samples: readonly (readonly [string, (model: ChatModel, port: number) => Promise<Server>])[] = [
  ['express', express.start],
  ['fastify', fastify.start],
  ['hono', hono.start],
  ['http-core', httpCore.start],
];

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

async function ask(user: string | undefined, question: string): Promise<readonly [number, string]> {
  const { port } = server!.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port.toString()}/ask?question=${encodeURIComponent(question)}`, {
    headers: user === undefined ? {} : { 'x-user': user },
  });
  return [response.status, await response.text()];
}

describe.each(samples)('the sample for %s', (_name, start) => {
  it('answers each caller of their own orders, however they interleave, and nobody else', async () => {
    server = await start(embeddedModel(), 0);
    const users = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? 'alice' : 'bob'));
    const answers = await Promise.all(users.map((user) => ask(user, 'Where is order 42?')));
    const alices = 'OrderTools_findOrder says: Order 42, one kettle, in transit, tracking NL1234567890';
    expect(answers).toEqual(
      users.map((user) => [200, user === 'alice' ? alices : 'OrderTools_findOrder says: No order found with that id.']),
    );
    for (const nobody of [undefined, 'eve', 'toString']) expect((await ask(nobody, 'Where is order 42?'))[0]).toBe(401);
  });
});
