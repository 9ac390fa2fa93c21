import type { Container } from 'inversify';
import { declareToken } from '../lib/token.js';

/**
 * One request's life: its container, in which the caller is bound, and all that is asked and called for it. Bound in
 * that container only, under this class.
 */
export abstract class AIScope {
  static {
    declareToken('AIScope', this);
  }

  /** A child of the application's container, with what `bind` put into it. */
  abstract readonly container: Container;
  /** Runs `fn` in this scope: agents without a scope of their own act for it. Throws an `AIScopeError` once it is closed. */
  abstract run<T>(fn: (scope: AIScope) => T): T;
  /**
   * Ends the scope. A question that is still running is aborted and rejects with an `AIScopeError`; its tools are waited
   * for as long as they may still take; then what the scope bound is unbound. Closing twice is harmless. A tool must not
   * wait for its own scope to close, which waits for the tool.
   */
  abstract close(): Promise<void>;
  abstract [Symbol.asyncDispose](): Promise<void>;
}

/** What binds a scope's own things: synchronous, since a scope that is half bound would act for nobody. */
export type ScopeBinder<R = unknown, A extends readonly unknown[] = []> = ((container: Container, ...request: A) => R) &
  ([R] extends [never] ? unknown : R extends PromiseLike<unknown> ? 'bind must be synchronous' : unknown);
