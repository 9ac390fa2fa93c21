/** Scopes, adapters, verification, the two-callers kit. */
import 'reflect-metadata';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { Container, type ServiceIdentifier } from 'inversify';
import { AIScopeError, installAI, type AIDescription, type AIHandle, type AIScope, type ChatModel } from 'inversify-ai';
import { aiScope as expressScope } from 'inversify-ai/express';
import { aiScope as fastifyScope } from 'inversify-ai/fastify';
import { aiScope as honoScope } from 'inversify-ai/hono';
import { exposedTools, twoCallers } from 'inversify-ai/testing';

class Forbidden extends Error {}

export async function wired(
  container: Container,
  model: ChatModel,
  Caller: ServiceIdentifier<{ email: string }>,
): Promise<string> {
  const ai: AIHandle = installAI(container, { model, isDenial: (error) => error instanceof Forbidden });
  ai.verify();
  const description: AIDescription = ai.describe();

  const app = express();
  app.use(
    expressScope(ai, (container, req) => {
      container.bind(Caller).toDynamicValue(() => ({ email: String(req.headers['x-user']) }));
    }),
  );
  const server = fastify();
  await server.register(
    fastifyScope(ai, (container, req) => {
      container.bind(Caller).toDynamicValue(() => ({ email: String(req.headers['x-user']) }));
    }),
  );
  const hono = new Hono();
  hono.use(
    honoScope(ai, (container, c) => {
      container.bind(Caller).toDynamicValue(() => ({ email: c.req.header('x-user') ?? '' }));
    }),
  );

  await using scope: AIScope = ai.openScope((container) => {
    container.bind(Caller).toConstantValue({ email: 'alice@example.test' });
  });
  const own: Container = scope.container;
  await scope.run(async () => own.isBound(Caller));

  await twoCallers(ai, {
    callers: [
      {
        name: 'alice',
        bind: (container) => {
          container.bind(Caller).toConstantValue({ email: 'alice@example.test' });
        },
        marks: ['order 42'],
      },
      {
        name: 'bob',
        bind: (container) => {
          container.bind(Caller).toConstantValue({ email: 'bob@example.test' });
        },
        marks: ['order 7'],
      },
    ],
    ask: async (asking: AIScope) => asking.container,
  });
  const surface: readonly string[] = exposedTools(ai);
  return JSON.stringify([description, surface, AIScopeError.name]);
}
