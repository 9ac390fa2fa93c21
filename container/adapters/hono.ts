/// <reference types="node" preserve="true" />
import type { Context, MiddlewareHandler } from 'hono';
import { onAbort } from '../../lib/abort.js';
import type { AIHandle } from '../install.js';
import type { ScopeBinder } from '../scope.js';
import { refuseHost, refuseOptions } from './arguments.js';
import { endScope, endWithResponse, isClosed, isNodeResponse, type NodeRequest } from './response-end.js';

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
    const { outgoing, incoming = {} } = (context.env ?? {}) as {
      readonly outgoing?: unknown;
      readonly incoming?: NodeRequest;
    };
    // Under @hono/node-server there is Node's own response, which tells best when it ends.
    if (isNodeResponse(outgoing)) {
      endWithResponse(scope, outgoing, incoming);
      if (isClosed(outgoing, incoming)) await next();
      else await scope.run(() => next());
      return;
    }
    const { signal } = context.req.raw;
    if (signal.aborted) {
      endScope(scope, false);
      await next();
      return;
    }
    const stopListening = onAbort(signal, () => {
      endScope(scope, false);
    });
    const end = (isComplete: boolean): void => {
      stopListening();
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

/** Ends what belongs to a body that nobody reads, and that is thrown away: another middleware put its own in its place. */
const unread = new FinalizationRegistry<() => void>((end) => {
  end();
});

/** Elsewhere a response ends when its body has been read, or is not read any further. */
function endWithBody(context: Context, end: (isComplete: boolean) => void): void {
  const { body } = context.res;
  // Of an answer to HEAD nobody reads the body.
  if (body === null || context.req.raw.method === 'HEAD') {
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
  unread.register(watched, () => {
    end(true);
  });
  context.res = new Response(watched, context.res);
}
