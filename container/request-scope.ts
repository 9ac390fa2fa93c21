import type { Container, IsBoundOptions, ServiceIdentifier } from 'inversify';
import { Cancellation } from '../lib/cancellation.js';
import { AIDefinitionError, AIScopeError, isErrorOf } from '../lib/errors.js';
import { copiesOf } from '../lib/token.js';
import type { Class } from '../decorators/metadata.js';
import { withScope } from './current-scope.js';
import { guardScope, makeContainer, type ScopeGuard } from './guard.js';
import { shapeOf } from './inspections.js';
import { identifierName, isInversifyError, thrownWithin } from './inversify-error.js';
import { type Asked, countAbsences } from './build-record.js';
import { failedBinding, watchOwn } from './own-failures.js';
import { servesAlone } from './plan.js';
import { withoutPurpose } from './purpose.js';
import { AIScope } from './scope.js';
import {
  advice,
  asyncBindError,
  closedError,
  endedError,
  failedBindingError,
  type ScopeEnding,
} from './scope-error.js';
import type { ToolHost } from './scan.js';
import type { ScopeOwner, ScopeWatcher } from './scope-owner.js';

/** The scope that `openScope` makes. */
export class RequestScope extends AIScope implements ToolHost {
  readonly container: Container;
  readonly #guard: ScopeGuard;
  readonly #owner: ScopeOwner;
  /** Made with the first question: most of what a scope does asks none. */
  #closing: Cancellation | undefined;
  /** What it binds, in a word; unknown until it is asked for, and again when that changes. */
  #shape: { readonly word: string | undefined } | undefined;
  readonly #inspected = new WeakSet<object>();
  #watcher: ScopeWatcher | undefined;
  /** Tools at work, with the time at which each is given up. */
  readonly #working = new Map<Promise<unknown>, number>();
  #closed: Promise<void> | undefined;
  #ending: ScopeEnding = 'closed';
  #unbinding = false;
  #isUnbound = false;

  /** @param application the one that opened it, as `installAI` made it */
  constructor(
    readonly application: object,
    parent: Container,
    owner: ScopeOwner,
    bind: (container: Container) => unknown,
  ) {
    super();
    this.#owner = owner;
    this.container = makeContainer({ parent, defaultScope: owner.defaultScope });
    this.#guard = guardScope(this.container, {
      self: this,
      longLived: owner.longLived,
      isAutobound: (binding) => owner.isAutobound(binding),
      binds: (id, asked) => this.binds(id, asked),
      isOfApplication: (binding) => owner.isOfApplication(binding),
      ended: () => (this.#givesNothing ? endedError('The scope’s container', this.#ending) : undefined),
      changed: () => {
        this.#shape = undefined;
      },
    });
    for (const token of copiesOf('AIScope', AIScope)) this.container.bind(token).toConstantValue(this);
    const bound = this.#bind(bind);
    if (typeof bound !== 'object' || bound === null || !('then' in bound) || typeof bound.then !== 'function') return;
    Promise.resolve(bound as PromiseLike<unknown>).catch(() => undefined);
    this.end('closed');
    throw asyncBindError();
  }

  /** A scope that is half bound is closed at once: nobody gets it, to close it later. */
  #bind(bind: (container: Container) => unknown): unknown {
    try {
      return bind(this.container);
    } catch (error) {
      this.end('closed');
      throw error;
    }
  }

  get open(): boolean {
    return this.#closed === undefined;
  }

  /** Stops at each step of its runs, for a test of what callers see of each other. */
  watch(watcher: ScopeWatcher): void {
    this.#watcher = watcher;
  }

  get watcher(): ScopeWatcher | undefined {
    return this.#watcher;
  }

  /** Aborted when the scope closes. */
  get closing(): Cancellation {
    if (this.#closing === undefined) {
      this.#closing = new Cancellation();
      if (!this.open) this.#closing.abort(closedError(this.#ending));
    }
    return this.#closing;
  }

  /** The same for who listens to signals. */
  get signal(): AbortSignal {
    return this.closing.signal;
  }

  override run<T>(fn: (scope: AIScope) => T): T {
    this.refuseIfClosed('run');
    if (typeof fn !== 'function')
      throw new AIDefinitionError('run: takes the function that is run in the scope, scope.run(() => …)');
    return withoutPurpose(() => withScope(this, () => fn(this)));
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

  /** Closes where nobody waits for it, as at the end of a response: what fails then goes to the log. */
  end(ending: ScopeEnding): void {
    if (this.open) this.#ending = ending;
    this.close().catch((error: unknown) => {
      this.#owner.logger.error('[inversify-ai] what a scope bound could not be deactivated when it closed', error);
    });
  }

  async #close(): Promise<void> {
    this.#closing?.abortWith(() => closedError(this.#ending));
    await this.#toolsDone();
    this.#unbinding = true;
    try {
      await this.container.unbindAllAsync();
    } finally {
      // Also where something could not be deactivated, and inversify kept all.
      this.#isUnbound = true;
    }
  }

  /**
   * Whether its container gives nothing any more, since what is not bound in it would be the application's: from the
   * moment at which inversify drops its bindings, which is some time before it says so.
   */
  get #givesNothing(): boolean {
    return this.#isUnbound || (this.#unbinding && !this.container.isCurrentBound(AIScope));
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
    if (!this.open) throw endedError(what, this.#ending);
  }

  /** Refuses what tools must not be built from, before anything is asked; looked at once for all scopes that bind alike. */
  inspect(tools: { readonly roots: readonly ServiceIdentifier[] }): void {
    // Each time: what was had before anybody signed in may be nothing, and is kept.
    watchOwn([...this.#guard.ownIdentifiers()].flatMap((id) => [...this.#guard.ownBindings(id)]));
    if (this.#shape !== undefined && this.#inspected.has(tools)) return;
    this.#shape ??= { word: shapeOf(this.#guard, this.#owner.unconditional) };
    // An absence that was found meanwhile makes what was in order another matter.
    const word = this.#shape.word && `${this.#shape.word}@${countAbsences().toString()}`;
    const { inspections } = this.#owner;
    let isWhole = true;
    if (word === undefined || !inspections.has(tools, word))
      for (const root of tools.roots) isWhole = this.#guard.inspect(root) && isWhole;
    // What is not bound yet cannot be looked at yet.
    if (!isWhole) return;
    this.#inspected.add(tools);
    if (word !== undefined) inspections.add(tools, word);
  }

  /** Whether the scope itself binds something, under this name and tag. */
  binds(id: unknown, asked?: Asked): boolean {
    const { name, tag } = asked ?? {};
    const how = { ...(name !== undefined && { name }), ...(tag !== undefined && { tag }) };
    return this.container.isCurrentBound(id as ServiceIdentifier, how as IsBoundOptions);
  }

  /** Whether somebody bound it, here or above. inversify's own `isBound` would bind it, with autobind. */
  isBound(token: ServiceIdentifier): boolean {
    return this.container.isCurrentBound(token) || this.#owner.isBound(token);
  }

  /** Of the copies of a token, the one that the scope binds, else one that is bound above. */
  nearest<T extends ServiceIdentifier>(copies: readonly T[]): T | undefined {
    return copies.find((copy) => this.binds(copy)) ?? copies.find((copy) => this.isBound(copy));
  }

  /** All that is bound under a token, in the application and in the scope: inversify has the scope's own first. */
  async all<T>(
    token: ServiceIdentifier<T>,
  ): Promise<{ readonly application: readonly T[]; readonly own: readonly T[] }> {
    if (!this.isBound(token)) return { application: [], own: [] };
    const chained = this.#owner.isBound(token);
    const found = await this.#told(token, () => this.container.getAllAsync<T>(token, { chained }));
    const own = [...this.#guard.ownBindings(token)].filter((binding) => servesAlone(binding)).length;
    return { application: found.slice(own), own: found.slice(0, own) };
  }

  /** What is bound under a token, for the run itself. */
  service(token: ServiceIdentifier): Promise<unknown> {
    return this.#told(token, () => this.container.getAsync(token));
  }

  resolve(target: Class): Promise<object> {
    return this.value(target) as Promise<object>;
  }

  value(token: ServiceIdentifier): Promise<unknown> {
    return this.#told(token, () => this.#guard.forTool(token, () => this.container.getAsync(token)));
  }

  /** The same, for who cannot wait: what is bound must not be made asynchronously. */
  get(token: unknown): unknown {
    const id = token as ServiceIdentifier;
    if (!this.open) throw closedError(this.#ending);
    try {
      return this.#guard.forTool(id, () => this.container.get(id));
    } catch (error) {
      throw this.#failed(id, error);
    }
  }

  async #told<T>(token: ServiceIdentifier, get: () => Promise<T>): Promise<T> {
    if (this.#watcher !== undefined) await this.#watcher.step(`before ${identifierName(token)} was resolved`);
    if (!this.open) throw closedError(this.#ending);
    try {
      const absences = countAbsences();
      const value = await get();
      // Something long-lived that is built asynchronously may have found only now what it can do without.
      if (countAbsences() !== absences) this.#guard.look(token);
      if (this.#watcher !== undefined) await this.#watcher.step(`after ${identifierName(token)} was resolved`);
      return value;
    } catch (error) {
      throw this.#failed(token, error);
    }
  }

  /** What is thrown where something could not be had: the application's own error, or one that says what to bind. */
  #failed(token: ServiceIdentifier, error: unknown): Error {
    const failed = failedBinding(error);
    if (failed !== undefined && !isErrorOf(error, 'scope')) return failedBindingError(identifierName(failed), error);
    if (!isInversifyError(error)) return error as Error;
    const thrown = thrownWithin(error);
    if (thrown !== undefined) return thrown as Error;
    return new AIScopeError(
      `${identifierName(token)} could not be resolved in the current scope: ${advice(error.message)}. inversify says: ${error.message}`,
      { cause: error },
    );
  }
}
