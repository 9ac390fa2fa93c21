import type { Server } from 'node:http';
import { Controller, Get, type Guard, Query, UnauthorizedHttpResponse, UseGuard } from '@inversifyjs/http-core';
import { InversifyExpressHttpAdapter } from '@inversifyjs/http-express';
import express, { type Request } from 'express';
import { injectable } from 'inversify';
import { AI, AIService, type ChatModel, ReadOnly } from 'inversify-ai';
import { aiScope } from 'inversify-ai/express';
import { createApplication } from '../quickstart/application.js';
import { OrderTools, SecurityContext } from '../quickstart/orders.js';
import { authenticate, signedIn } from './identity.js';

type AskingRequest = Request & { user?: SecurityContext };

/** http-core resolves guards and controllers from the application's container; the scope is the current one. */
@injectable()
class SignedInGuard implements Guard<AskingRequest> {
  async activate(request: AskingRequest): Promise<boolean> {
    const user = await authenticate(request.headers['x-user']);
    if (user === undefined) throw new UnauthorizedHttpResponse('Who are you?');
    request.user = user;
    return true;
  }
}

/** One controller for all requests, with an agent that acts for whoever is asking. */
@Controller({ path: '/ask', scope: 'Singleton' })
@UseGuard(SignedInGuard)
class AskController {
  constructor(@AI({ tools: [OrderTools], toolGroup: ReadOnly }) private readonly tier1: AIService) {}

  @Get()
  async ask(@Query({ name: 'question' }) question: string): Promise<string> {
    return this.tier1.chat(question);
  }
}

/** The support desk behind `@inversifyjs/http-core` on Express. */
export async function start(model: ChatModel, port: number): Promise<Server> {
  const { container, ai } = createApplication(model);
  container.bind(SignedInGuard).toSelf().inSingletonScope();
  container.bind(AskController).toSelf();
  ai.verify();

  // The adapter takes an Express application that has the scope in it already: before guards, which authenticate.
  const app = express();
  app.use(
    aiScope(ai, (own, request: AskingRequest) =>
      own.bind(SecurityContext).toDynamicValue(() => signedIn(request.user)),
    ),
  );
  const built = await new InversifyExpressHttpAdapter(container, { logger: false }, app).build();

  return new Promise((resolve) => {
    const server: Server = built.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}
