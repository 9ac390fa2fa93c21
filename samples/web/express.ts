import type { Server } from 'node:http';
import express, { type Request } from 'express';
import type { ChatModel } from 'inversify-ai';
import { aiScope } from 'inversify-ai/express';
import { createApplication } from '../quickstart/application.js';
import { SecurityContext } from '../quickstart/orders.js';
import { SupportController } from '../quickstart/support.js';
import { authenticate, signedIn } from './identity.js';

type AskingRequest = Request & { user?: SecurityContext };

/** The support desk behind Express 5. */
export async function start(model: ChatModel, port: number): Promise<Server> {
  const { ai } = createApplication(model);
  const app = express();

  // Before authentication: the caller is read when an agent needs it, and by then somebody has signed in.
  app.use(
    aiScope(ai, (container, request: AskingRequest) =>
      container.bind(SecurityContext).toDynamicValue(() => signedIn(request.user)),
    ),
  );
  app.use(async (request: AskingRequest, response, next) => {
    const user = await authenticate(request.headers['x-user']);
    if (user === undefined) {
      response.status(401).send('Who are you?');
      return;
    }
    request.user = user;
    next();
  });
  app.get('/ask', async (request, response) => {
    const { tier1 } = ai.currentScope().container.get(SupportController);
    response.type('text').send(await tier1.chat((request.query as { question: string }).question));
  });

  return new Promise((resolve) => {
    const server: Server = app.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}
