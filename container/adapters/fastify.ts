/// <reference types="node" preserve="true" />
import type { FastifyPluginCallback, FastifyRequest } from 'fastify';
import type { AIHandle } from '../install.js';
import type { ScopeBinder } from '../scope.js';
import { refuseHost, refuseOptions } from './arguments.js';
import { endWithResponse, isClosed } from './response-end.js';

/**
 * A plugin for Fastify 5: opens a scope for each request in an `onRequest` hook, runs all that comes after it in that
 * scope, and closes the scope when the response ends. A client that hangs up aborts the question.
 *
 * Register it before authentication, and bind what is read later: what `bind` binds is asked for when an agent needs it.
 * It holds for the instance that it is registered on, and for those below.
 *
 * @param bind puts the caller into the scope's container; synchronous
 */
export function aiScope<R>(
  ai: Pick<AIHandle, 'openScope'>,
  bind: ScopeBinder<R, [request: FastifyRequest]>,
): FastifyPluginCallback {
  refuseOptions('aiScope of inversify-ai/fastify', ai, bind);
  const plugin: FastifyPluginCallback = (server, _options, registered) => {
    refuseHost(
      'aiScope of inversify-ai/fastify is a plugin: await server.register(aiScope(ai, bind))',
      typeof (server as unknown as Partial<typeof server>).addHook === 'function',
    );
    // A hook with a callback: what it runs inside the scope is the rest of the request. Of a middleware Fastify would
    // run the rest outside.
    server.addHook('onRequest', (request, reply, next) => {
      const scope = ai.openScope((container) => bind(container, request) as undefined);
      endWithResponse(scope, reply.raw, request.raw);
      if (isClosed(reply.raw, request.raw)) next();
      else
        scope.run(() => {
          next();
        });
    });
    registered();
  };
  // As fastify-plugin marks it: the hook is the instance's own, and not that of a context for this plugin alone.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'inversify-ai',
    [Symbol.for('plugin-meta')]: { name: 'inversify-ai', fastify: '5.x' },
  });
}
