import { AsyncLocalStorage } from 'node:async_hooks';
import { processState } from '../lib/process-state.js';
import type { RequestScope } from './request-scope.js';

/** The identifier by which an agent finds the scope it is resolved in, the same in every copy of the package. */
export const SCOPE = Symbol.for('inversify-ai/scope');

const storage = processState('current-scope/1', () => new AsyncLocalStorage<RequestScope | undefined>());

/** The scope whose `run` this code is in. */
export function currentScope(): RequestScope | undefined {
  return storage.getStore();
}

export function withScope<T>(scope: RequestScope, fn: () => T): T {
  return storage.run(scope, fn);
}

/** Runs something in no scope: work that it starts must not go on as whoever happened to ask first. */
export function outsideScopes<T>(fn: () => T): T {
  return storage.run(undefined, fn);
}
