/// <reference types="node" preserve="true" />
import type { Context, MiddlewareHandler } from 'hono';
import type { AIHandle } from '../install.js';
import type { ScopeBinder } from '../scope.js';
import { refuseHost, refuseOptions } from './arguments.js';
import { endScope, endWithResponse, type NodeResponse } from './response-end.js';

/**
 * A middleware for Hono 4: opens a scope for each request, runs all that comes after it in that scope, and closes the
 * scope when the response has been sent, streamed ones to their end. A client that hangs up aborts the question.
 *
 * Use it before authentication, and bind what is read later: what `bind` binds is asked for when an agent needs it.
 *
 * @param bind puts the caller into the scope's container; synchronous
 */
export function aiScope<R>(
  ai: Pick<AIHandle, 'openScope'>,
  bind: ScopeBinder<R, [context: Context]>,
): MiddlewareHandler {
  refuseOptions('aiScope of inversify-ai/hono', ai, bind);
  return async (context, next) => {
    refuseHost(
      'aiScope of inversify-ai/hono is a middleware of Hono: app.use(aiScope(ai, bind))',
      typeof (context as unknown as { readonly req?: { readonly raw?: unknown } }).req?.raw === 'object',
    );
    const scope = ai.openScope((container) => bind(container, context) as undefined);
    const outgoing = nodeResponse(context.env);
    if (outgoing !== undefined) {
      endWithResponse(scope, outgoing);
      if (outgoing.closed) await next();
      else await scope.run(() => next());
      return;
    }
    const { signal } = context.req.raw;
    const left = (): void => {
      endScope(scope, false);
    };
    signal.addEventListener('abort', left, { once: true });
    const end = (isComplete: boolean): void => {
      signal.removeEventListener('abort', left);
      endScope(scope, isComplete);
    };
    try {
      await scope.run(() => next());
    } catch (error) {
      end(true);
      throw error;
    }
    endWithBody(context, end);
  };
}

/** Under `@hono/node-server` there is Node's own response, which tells best when it ends. */
function nodeResponse(env: unknown): NodeResponse | undefined {
  const { outgoing } = (env ?? {}) as { readonly outgoing?: Partial<NodeResponse> };
  return typeof outgoing?.once === 'function' && typeof outgoing.closed === 'boolean'
    ? (outgoing as NodeResponse)
    : undefined;
}

/** Elsewhere a response ends when its body has been read, or is not read any further. */
function endWithBody(context: Context, end: (isComplete: boolean) => void): void {
  const { body, status } = context.res;
  // A response to an upgrade has no body, and cannot be made anew.
  if (body === null || status < 200) {
    end(true);
    return;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        end(true);
        controller.close();
      } catch (error) {
        end(false);
        controller.error(error);
      }
    },
    cancel: (reason) => {
      end(false);
      return reader.cancel(reason);
    },
  });
  context.res = new Response(watched, context.res);
}
