import type { ServerResponse } from 'node:http';
import type { RequestScope } from '../request-scope.js';
import type { AIScope } from '../scope.js';

/** A response of Node's, of either version of HTTP. */
export type NodeResponse = Pick<ServerResponse, 'once' | 'closed' | 'writableFinished'>;

/**
 * Closes a scope when its response is complete, or when its connection is gone: then a client has hung up, and the
 * question is aborted. Nobody waits for that, so what fails in it goes to the log.
 */
export function endWithResponse(scope: AIScope, response: NodeResponse): void {
  const end = (): void => {
    endScope(scope, response.writableFinished);
  };
  if (response.closed) end();
  else response.once('close', end);
}

/** @param isComplete whether all of the response was sent */
export function endScope(scope: AIScope, isComplete: boolean): void {
  (scope as RequestScope).end(isComplete ? 'answered' : 'left');
}
