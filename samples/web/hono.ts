import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { ChatModel } from 'inversify-ai';
import { aiScope } from 'inversify-ai/hono';
import { createApplication } from '../quickstart/application.js';
import { SecurityContext } from '../quickstart/orders.js';
import { SupportController } from '../quickstart/support.js';
import { authenticate, signedIn } from './identity.js';

type Env = { Variables: { user?: SecurityContext } };

/** The support desk behind Hono, on Node. */
export async function start(model: ChatModel, port: number): Promise<Server> {
  const { ai } = createApplication(model);
  const app = new Hono<Env>();

  // Before authentication: the caller is read when an agent needs it, and by then somebody has signed in.
  app.use(
    aiScope(ai, (container, context: Context<Env>) =>
      container.bind(SecurityContext).toDynamicValue(() => signedIn(context.get('user'))),
    ),
  );
  app.use(async (context, next) => {
    const user = await authenticate(context.req.header('x-user'));
    if (user === undefined) return context.text('Who are you?', 401);
    context.set('user', user);
    await next();
    return undefined;
  });
  app.get('/ask', async (context) => {
    const { tier1 } = ai.currentScope().container.get(SupportController);
    return context.text(await tier1.chat(context.req.query('question') ?? ''));
  });

  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => {
      resolve(server as Server);
    });
  });
}
