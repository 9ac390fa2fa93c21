/// <reference types="node" preserve="true" />
import type { Request, RequestHandler } from 'express';
import type { AIHandle } from '../install.js';
import type { ScopeBinder } from '../scope.js';
import { refuseHost, refuseOptions } from './arguments.js';
import { endWithResponse, isClosed } from './response-end.js';

/**
 * A middleware for Express 5, also below `@inversifyjs/http-express`: opens a scope for each request, runs all that comes
 * after it in that scope, and closes the scope when the response ends. A client that hangs up aborts the question.
 *
 * Use it before authentication, and bind what is read later: what `bind` binds is asked for when an agent needs it.
 *
 * @param bind puts the caller into the scope's container; synchronous
 */
export function aiScope<R>(ai: Pick<AIHandle, 'openScope'>, bind: ScopeBinder<R, [request: Request]>): RequestHandler {
  refuseOptions('aiScope of inversify-ai/express', ai, bind);
  return (request, response, next) => {
    refuseHost(
      'aiScope of inversify-ai/express is a middleware of Express: app.use(aiScope(ai, bind))',
      typeof (response as unknown as Partial<typeof response> | undefined)?.once === 'function',
    );
    const scope = ai.openScope((container) => bind(container, request) as undefined);
    endWithResponse(scope, response, request);
    // A client that is gone already needs no answer: what comes next finds no scope, and no caller.
    if (isClosed(response, request)) next();
    else
      scope.run(() => {
        next();
      });
  };
}
