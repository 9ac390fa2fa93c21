import type { RequestScope } from '../request-scope.js';
import type { AIScope } from '../scope.js';

/** A response of Node's, of HTTP/1 or of the compatible side of HTTP/2, which tells the same of its stream. */
export interface NodeResponse {
  once(event: 'close', listener: () => void): unknown;
  readonly closed?: boolean;
  readonly writableEnded: boolean;
  readonly stream?: { readonly closed: boolean; readonly aborted: boolean } | undefined;
}

/** What its connection is known by. */
export interface NodeRequest {
  readonly socket?: Closable | null | undefined;
}

interface Closable {
  once(event: 'close', listener: () => void): unknown;
  readonly destroyed: boolean;
}

export function isNodeResponse(value: unknown): value is NodeResponse {
  const { once, writableEnded } = (value ?? {}) as { readonly once?: unknown; readonly writableEnded?: unknown };
  return typeof once === 'function' && typeof writableEnded === 'boolean';
}

/** Whether there is nobody to answer any more. HTTP/2 takes a response's stream away when it is closed. */
export function isClosed(response: NodeResponse, { socket }: NodeRequest): boolean {
  const { closed } = response;
  if (closed === undefined && 'stream' in response) return response.stream?.closed ?? true;
  return closed === true || socket?.destroyed === true;
}

/**
 * Closes a scope when its response is complete, or when its connection is gone: then a client has hung up, and the
 * question is aborted. Nobody waits for that, so what fails in it goes to the log.
 */
export function endWithResponse(scope: AIScope, response: NodeResponse, request: NodeRequest): void {
  const { stream } = response;
  const end = (): void => {
    stop();
    endScope(scope, stream === undefined ? response.writableEnded : !stream.aborted);
  };
  // A response that waits for an earlier one of its connection, and never gets it, says nothing when that is gone.
  const stop = stream === undefined ? onClosed(request.socket, end) : (): void => undefined;
  if (isClosed(response, request)) end();
  else response.once('close', end);
}

const listeners = new WeakMap<Closable, Set<() => void>>();

/** Hears of the end of a connection; one listener for all requests that come over it. Gives what stops it. */
export function onClosed(socket: Closable | null | undefined, listener: () => void): () => void {
  // What stands in for a connection, in a test or a gateway, may hear of nothing.
  if (typeof socket?.once !== 'function') return () => undefined;
  let all = listeners.get(socket);
  if (all === undefined) {
    const made = new Set<() => void>();
    all = made;
    listeners.set(socket, made);
    socket.once('close', () => {
      for (const each of made) each();
    });
  }
  const known = all;
  known.add(listener);
  return () => {
    known.delete(listener);
  };
}

/** @param isComplete whether all of the response was sent */
export function endScope(scope: AIScope, isComplete: boolean): void {
  const { end } = scope as Partial<RequestScope>;
  // A scope of another version of this package can only be closed.
  if (typeof end === 'function') end.call(scope, isComplete ? 'answered' : 'left');
  else scope.close().catch(() => undefined);
}
