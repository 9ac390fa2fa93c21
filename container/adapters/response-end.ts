import type { RequestScope } from '../request-scope.js';
import type { AIScope } from '../scope.js';

/** A response of Node's, of HTTP/1 or of the compatible side of HTTP/2, which tells the same of its stream. */
export interface NodeResponse {
  once(event: 'close', listener: () => void): unknown;
  readonly closed?: boolean;
  readonly writableFinished?: boolean;
  readonly stream?: { readonly closed: boolean; readonly aborted: boolean } | undefined;
}

export function isNodeResponse(value: unknown): value is NodeResponse {
  const { once, writableEnded } = (value ?? {}) as { readonly once?: unknown; readonly writableEnded?: unknown };
  return typeof once === 'function' && typeof writableEnded === 'boolean';
}

/** Whether there is nobody to answer any more. */
export function isClosed({ closed, stream }: NodeResponse): boolean {
  return closed ?? stream?.closed ?? false;
}

/**
 * Closes a scope when its response is complete, or when its connection is gone: then a client has hung up, and the
 * question is aborted. Nobody waits for that, so what fails in it goes to the log.
 */
export function endWithResponse(scope: AIScope, response: NodeResponse): void {
  const { stream } = response; // HTTP/2 takes it away at the end
  const end = (): void => {
    endScope(scope, stream === undefined ? response.writableFinished === true : !stream.aborted);
  };
  if (isClosed(response)) end();
  else response.once('close', end);
}

/** @param isComplete whether all of the response was sent */
export function endScope(scope: AIScope, isComplete: boolean): void {
  const { end } = scope as Partial<RequestScope>;
  // A scope of another version of this package can only be closed.
  if (typeof end === 'function') end.call(scope, isComplete ? 'answered' : 'left');
  else scope.close().catch(() => undefined);
}
