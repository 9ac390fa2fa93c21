import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Body, Controller, type Guard, Post, UnauthorizedHttpResponse, UseGuard } from '@inversifyjs/http-core';
import { InversifyExpressHttpAdapter } from '@inversifyjs/http-express';
import express, { type Request } from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { stream as streamed } from 'hono/streaming';
import { Container, injectable } from 'inversify';
import type { AIHandle } from 'inversify-ai';
import { aiScope as expressScope } from 'inversify-ai/express';
import { aiScope as fastifyScope } from 'inversify-ai/fastify';
import { aiScope as honoScope } from 'inversify-ai/hono';

/** One application behind one web framework. */
export interface Hosted {
  readonly container: Container;
  readonly ai: AIHandle;
  /** Binds the caller into a scope; `user` is read when the caller is needed. */
  readonly bind: (container: Container, user: () => string | undefined) => unknown;
  /** Answers what was posted to `/ask`. */
  readonly answer: (question: string) => Promise<string>;
  /** Posts to `/stream`: parts of an answer, each sent as it comes. */
  readonly stream: (question: string) => AsyncIterable<string>;
}

export interface Host {
  readonly url: string;
  stop(): Promise<void>;
}

/** Authentication that looks something up: after the scope was opened, and after an await. */
async function authenticate(header: unknown): Promise<string | undefined> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
  return typeof header === 'string' ? header : undefined;
}

type WithUser<T> = T & { asking?: string | undefined };

function listening(server: Server): Host {
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

export async function listen(app: express.Application): Promise<Host> {
  const server = await new Promise<Server>((resolve) => {
    const started: Server = app.listen(0, '127.0.0.1', () => {
      resolve(started);
    });
  });
  return listening(server);
}

async function onExpress({ ai, bind, answer, stream }: Hosted): Promise<Host> {
  const app = express();
  app.use(expressScope(ai, (container, request) => bind(container, () => (request as WithUser<Request>).asking)));
  app.use(express.json());
  app.use(async (request, _response, next) => {
    (request as WithUser<Request>).asking = await authenticate(request.headers['x-user']);
    next();
  });
  app.post('/ask', async (request, response) => {
    response.send(await answer((request.body as { question: string }).question));
  });
  app.post('/stream', async (request, response) => {
    for await (const part of stream((request.body as { question: string }).question)) response.write(part);
    response.end();
  });
  app.use(((error, _request, response, _next) => {
    response.status(500).send((error as Error).message);
  }) as express.ErrorRequestHandler);
  return listen(app);
}

/** The same with the body read first, so that what parses it knows no scope yet. */
async function onExpressAfterBody({ ai, bind, answer }: Hosted): Promise<Host> {
  const app = express();
  app.use(express.json());
  app.use(expressScope(ai, (container, request) => bind(container, () => request.headers['x-user'] as string)));
  app.post('/ask', async (request, response) => {
    response.send(await answer((request.body as { question: string }).question));
  });
  return listen(app);
}

async function onFastify({ ai, bind, answer, stream }: Hosted): Promise<Host> {
  const server = fastify();
  await server.register(
    fastifyScope(ai, (container, request) => bind(container, () => (request as WithUser<typeof request>).asking)),
  );
  server.addHook('preHandler', async (request) => {
    (request as WithUser<typeof request>).asking = await authenticate(request.headers['x-user']);
  });
  server.post('/ask', async (request) => answer((request.body as { question: string }).question));
  server.post('/stream', async (request, reply) => {
    reply.hijack();
    for await (const part of stream((request.body as { question: string }).question)) reply.raw.write(part);
    reply.raw.end();
  });
  server.setErrorHandler((error, _request, reply) => reply.status(500).send((error as Error).message));
  await server.listen({ port: 0, host: '127.0.0.1' });
  return {
    ...listening(server.server),
    stop: async () => {
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

/** The application of Hono's that is served, or asked without a server. */
export function honoApplication({ ai, bind, answer, stream }: Hosted): Hono {
  const app = new Hono<{ Variables: { user: string | undefined } }>();
  app.use(honoScope(ai, (container, context) => bind(container, () => context.get('user') as string | undefined)));
  app.use(async (context, next) => {
    context.set('user', await authenticate(context.req.header('x-user')));
    await next();
  });
  app.post('/ask', async (context) =>
    context.text(await answer((await context.req.json<{ question: string }>()).question)),
  );
  app.post('/stream', async (context) => {
    const { question } = await context.req.json<{ question: string }>();
    return streamed(
      context,
      async (body) => {
        for await (const part of stream(question)) await body.write(part);
      },
      async () => Promise.resolve(), // a reader that leaves is no news
    );
  });
  app.onError((error, context) => context.text(error.message, 500));
  return app as unknown as Hono;
}

async function onHono(hosted: Hosted): Promise<Host> {
  const server = await new Promise<Server>((resolve) => {
    const started = serve({ fetch: honoApplication(hosted).fetch, port: 0, hostname: '127.0.0.1' }, () => {
      resolve(started as Server);
    });
  });
  return listening(server);
}

/** Express below `@inversifyjs/http-core`, which resolves controllers and guards from the application's container. */
async function onHttpCore({ container, ai, bind, answer }: Hosted): Promise<Host> {
  @injectable()
  class SignedIn implements Guard<Request> {
    async activate(request: Request): Promise<boolean> {
      (request as WithUser<Request>).asking = await authenticate(request.headers['x-user']);
      if ((request as WithUser<Request>).asking === undefined) throw new UnauthorizedHttpResponse();
      return true;
    }
  }
  @Controller('/ask')
  class AskController {
    @UseGuard(SignedIn)
    @Post()
    async ask(@Body() body: { question: string }): Promise<string> {
      return answer(body.question);
    }
  }
  container.bind(SignedIn).toSelf().inSingletonScope();
  container.bind(AskController).toSelf();
  const app = express();
  app.use(expressScope(ai, (own, request) => bind(own, () => (request as WithUser<Request>).asking)));
  app.use(express.json());
  // It logs what no filter catches, as the question of a client that left.
  const silent = (): void => undefined;
  const logger = {
    log: silent,
    error: silent,
    warn: silent,
    info: silent,
    http: silent,
    verbose: silent,
    debug: silent,
    silly: silent,
  };
  const adapter = new InversifyExpressHttpAdapter(container, { logger }, app);
  return listen(await adapter.build());
}

export const hosts: readonly (readonly [name: string, start: (hosted: Hosted) => Promise<Host>])[] = [
  ['Express', onExpress],
  ['Express, the body read before', onExpressAfterBody],
  ['Fastify', onFastify],
  ['Hono', onHono],
  ['http-core on Express', onHttpCore],
];
