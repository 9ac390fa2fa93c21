import type { Server } from 'node:http';
import fastify from 'fastify';
import type { ChatModel } from 'inversify-ai';
import { aiScope } from 'inversify-ai/fastify';
import { createApplication } from '../quickstart/application.js';
import { SecurityContext } from '../quickstart/orders.js';
import { SupportController } from '../quickstart/support.js';
import { authenticate, signedIn } from './identity.js';

declare module 'fastify' {
  interface FastifyRequest {
    user: SecurityContext | undefined;
  }
}

/** The support desk behind Fastify 5. */
export async function start(model: ChatModel, port: number): Promise<Server> {
  const { ai } = createApplication(model);
  const server = fastify();
  server.decorateRequest('user', undefined);

  // Before authentication: the caller is read when an agent needs it, and by then somebody has signed in.
  await server.register(
    aiScope(ai, (container, request) => container.bind(SecurityContext).toDynamicValue(() => signedIn(request.user))),
  );
  server.addHook('onRequest', async (request, reply) => {
    request.user = await authenticate(request.headers['x-user']);
    if (request.user === undefined) await reply.status(401).send('Who are you?');
  });
  server.get<{ Querystring: { question: string } }>('/ask', async (request) => {
    const { tier1 } = ai.currentScope().container.get(SupportController);
    return tier1.chat(request.query.question);
  });

  await server.listen({ port, host: '127.0.0.1' });
  return server.server;
}
