import { AsyncLocalStorage } from 'node:async_hooks';
import { type BindingScope, Container, type ResolutionContext, type ServiceIdentifier } from 'inversify';
import { AIDefinitionError, AIScopeError } from '../lib/errors.js';
import { processState } from '../lib/process-state.js';
import type { Class } from '../decorators/metadata.js';
import { forNoTool, guardScope, type PlanBinding, type ScopeGuard } from './guard.js';
import { identifierName, isInversifyError } from './inversify-error.js';
import type { ToolHost } from './scan.js';

/**
 * One request's life: its container, in which the caller is bound, and all that is asked and called for it. Bound in
 * that container only, under this class.
 */
export abstract class AIScope {
  /** A child of the application's container, with what `bind` put into it. */
  abstract readonly container: Container;
  /** Runs `fn` in this scope: agents without a scope of their own act for it. Throws an `AIScopeError` once it is closed. */
  abstract run<T>(fn: (scope: AIScope) => T): T;
  /**
   * Ends the scope. A question that is still running is aborted and rejects with an `AIScopeError`; its tools are waited
   * for as long as they may still take; then what the scope bound is unbound. Closing twice is harmless.
   */
  abstract close(): Promise<void>;
  abstract [Symbol.asyncDispose](): Promise<void>;
}

/** What binds a scope's own things: synchronous, since a scope that is half bound would act for nobody. */
export type ScopeBinder<R = unknown> = ((container: Container) => R) &
  ([R] extends [never] ? unknown : R extends PromiseLike<unknown> ? 'bind must be synchronous' : unknown);

/** The identifier by which an agent finds the scope it is resolved in, the same in every copy of the package. */
export const SCOPE = Symbol.for('inversify-ai/scope');

const storage = processState('current-scope/1', () => new AsyncLocalStorage<RequestScope | undefined>());

/** The scope whose `run` this code is in. */
export function currentScope(): RequestScope | undefined {
  return storage.getStore();
}

/** Runs something in no scope: work that it starts must not go on as whoever happened to ask first. */
export function outsideScopes<T>(fn: () => T): T {
  return storage.run(undefined, fn);
}

/** What a scope takes from the application that opens it. */
export interface ScopeOwner {
  /** What `bind` means where nothing is said, in the application and so in its scopes. */
  readonly defaultScope: BindingScope;
  context(): ResolutionContext;
  /** Whether somebody bound it in the application or above. */
  isBound(token: ServiceIdentifier): boolean;
  isAutobound(binding: PlanBinding): boolean;
}

/** The scope that `openScope` makes. */
export class RequestScope extends AIScope implements ToolHost {
  readonly container: Container;
  readonly #guard: ScopeGuard;
  readonly #owner: ScopeOwner;
  /** Made with the first question: most of what a scope does asks none. */
  #closing: AbortController | undefined;
  readonly #inspected = new Set<unknown>();
  /** Tools at work, with the time at which each is given up. */
  readonly #working = new Map<Promise<unknown>, number>();
  #closed: Promise<void> | undefined;
  #unbound = false;

  /** @param application the one that opened it, as `installAI` made it */
  constructor(
    readonly application: object,
    parent: Container,
    owner: ScopeOwner,
    bind: (container: Container) => unknown,
  ) {
    super();
    this.#owner = owner;
    this.container = new Container({ parent, defaultScope: owner.defaultScope });
    this.#guard = guardScope(this.container, {
      buildAsOwner: (build) => outsideScopes(() => build(owner.context())),
      isAutobound: (binding) => owner.isAutobound(binding),
      ended: () => (this.#unbound ? endedError('The scope’s container') : undefined),
    });
    this.container.bind(SCOPE).toConstantValue(this);
    this.container.bind(AIScope).toConstantValue(this);
    const bound = bind(this.container);
    if (typeof bound === 'object' && bound !== null && 'then' in bound && typeof bound.then === 'function') {
      Promise.resolve(bound as PromiseLike<unknown>).catch(() => undefined);
      void this.close().catch(() => undefined);
      throw new AIScopeError(
        'The bind of a scope must be synchronous, and this one returned a promise. Await what it needs first, or bind a dynamic value, container.bind(Caller).toDynamicValue(async () => …), and resolve with getAsync.',
      );
    }
  }

  get open(): boolean {
    return this.#closed === undefined;
  }

  /** Aborted when the scope closes. */
  get signal(): AbortSignal {
    if (this.#closing === undefined) {
      this.#closing = new AbortController();
      if (!this.open) this.#closing.abort(closedError());
    }
    return this.#closing.signal;
  }

  override run<T>(fn: (scope: AIScope) => T): T {
    this.refuseIfClosed('run');
    if (typeof fn !== 'function')
      throw new AIDefinitionError('run: takes the function that is run in the scope, scope.run(() => …)');
    return forNoTool(() => storage.run(this, fn, this as AIScope));
  }

  override close(): Promise<void> {
    if (this.#closed === undefined) {
      // Noted before anything is aborted: who hears of it may close or ask again.
      let begin: (done: Promise<void>) => void = () => undefined;
      this.#closed = new Promise((resolve) => {
        begin = resolve;
      });
      begin(this.#close());
    }
    return this.#closed;
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#closing?.abort(closedError());
    await this.#toolsDone();
    try {
      await this.container.unbindAllAsync();
    } finally {
      // From here on its container gives nothing: what is not bound in it any more would be the application's.
      this.#unbound = true;
    }
  }

  /** Until the last tool has ended, or the last one that has not is past its time. */
  async #toolsDone(): Promise<void> {
    if (this.#working.size === 0) return;
    const longest = Math.max(...this.#working.values()) - Date.now();
    let timer: NodeJS.Timeout | undefined;
    const givenUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.max(0, longest));
    });
    await Promise.race([Promise.allSettled(this.#working.keys()), givenUp]);
    clearTimeout(timer);
  }

  /** Notes a tool at work, so that closing waits for it, `timeoutMs` at most. */
  waitFor(work: Promise<unknown>, timeoutMs: number): void {
    this.#working.set(work, Date.now() + timeoutMs);
    const done = (): void => {
      this.#working.delete(work);
    };
    work.then(done, done);
  }

  refuseIfClosed(what: string): void {
    if (!this.open) throw endedError(what);
  }

  /** Refuses what a tool must not be built from, before anything is asked; once for each identifier that can be planned. */
  inspect(id: ServiceIdentifier): void {
    if (!this.#inspected.has(id) && this.#guard.inspect(id)) this.#inspected.add(id);
  }

  /** Whether somebody bound it, here or above. inversify's own `isBound` would bind it, with autobind. */
  isBound(token: ServiceIdentifier): boolean {
    return this.container.isCurrentBound(token) || this.#owner.isBound(token);
  }

  /** All that is bound under a token, in the scope and in the application. */
  async all<T>(token: ServiceIdentifier<T>): Promise<readonly T[]> {
    if (!this.isBound(token)) return [];
    const chained = this.#owner.isBound(token);
    return this.#told(token, () => this.container.getAllAsync<T>(token, { chained }));
  }

  /** What is bound under a token, for the run itself. */
  async service(token: ServiceIdentifier): Promise<unknown> {
    return this.#told(token, () => this.container.getAsync(token));
  }

  async resolve(target: Class): Promise<object> {
    return (await this.value(target)) as object;
  }

  async value(token: ServiceIdentifier): Promise<unknown> {
    return this.#told(token, () => this.#guard.forTool(token, () => this.container.getAsync(token)));
  }

  async #told<T>(token: ServiceIdentifier, get: () => Promise<T>): Promise<T> {
    if (!this.open) throw closedError();
    try {
      return await get();
    } catch (error) {
      if (!isInversifyError(error)) throw error;
      throw new AIScopeError(
        `${identifierName(token)} could not be resolved in the current scope: ${advice(error.message)}. inversify says: ${error.message}`,
        { cause: error },
      );
    }
  }
}

function closedError(): AIScopeError {
  return new AIScopeError(
    'The scope was closed before the question was answered, so the question was aborted. Await the answer inside the scope: return the promise of chat() from the function that runInScope runs.',
  );
}

function endedError(what: string): AIScopeError {
  return new AIScopeError(
    `${what}: the scope has ended. Ask while its request is being answered, or open one: ai.runInScope(bind, fn).`,
  );
}

/** What to do about what inversify found; its own words follow. */
function advice(message: string): string {
  if (message.startsWith('Ambiguous')) return 'keep one of several bindings';
  if (message.startsWith('Circular')) return 'take one of the classes out of the circle';
  return "bind what is missing, in the application, or for one caller in openScope's bind";
}
