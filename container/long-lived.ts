import type { ResolutionContext, ServiceIdentifier } from 'inversify';
import { AIScopeError } from '../lib/errors.js';
import { BuildRecord, recordOf } from './build-record.js';
import { currentScope, outsideScopes } from './current-scope.js';
import { identifierName, isInversifyError } from './inversify-error.js';
import { type BindingNode, idOf, nameOf, type PlanBinding, type ServiceNode, trace } from './plan.js';
import { buildingRecord, PLAN_SEEN, withPurpose } from './purpose.js';
import { APPLICATIONS, type Rank } from './rank.js';

/*
 * What lives longer than a scope is built by the application, in the application's context and in no scope's run, before
 * a scope resolves anything through it. So a pool, a cache or a factory, which no plan can look into, sees what the
 * application has and never a caller; one that cannot be built so is refused with the reason.
 */

/** An application, as far as what lives long is concerned. */
export interface LongLivedOwner {
  context(): ResolutionContext;
  /** Whether a binding is its own, or of a container above. */
  rankOf(binding: PlanBinding): Rank;
  /** Whether something is done to what is bound under an identifier when it is first had. */
  isActivated(id: unknown): boolean;
}

/** Builds what an application owns and keeps, and remembers what was absent then. */
export class LongLived {
  readonly #owner: LongLivedOwner;
  /** The application's plans that were looked at, with what is absent below each. */
  readonly #looked = new WeakMap<object, { readonly record: BuildRecord; readonly generation: number }>();
  /** Plans are mended in place when something is bound anew, and then looked at again. */
  #generation = 0;

  constructor(owner: LongLivedOwner) {
    this.#owner = owner;
  }

  rankOf(binding: PlanBinding): Rank {
    return this.#owner.rankOf(binding);
  }

  recordOf(binding: PlanBinding): BuildRecord {
    return recordOf(binding, () => this.rankOf(binding));
  }

  bindingsChanged(): void {
    this.#generation++;
  }

  /**
   * Looks at a plan of the application's, once; what is being built right now, if something is, holds what is absent there.
   *
   * @param walk looks at it, and notes in the record
   */
  see(plan: object, isForced: boolean, walk: (record: BuildRecord) => void): void {
    const building = buildingRecord();
    let known = this.#looked.get(plan);
    if (known?.generation !== this.#generation || isForced) {
      known = { record: new BuildRecord(APPLICATIONS), generation: this.#generation };
      // Before it is walked: what is built on the way may ask for the same.
      this.#looked.set(plan, known);
      building?.addHeld(known.record);
      try {
        walk(known.record);
      } catch (error) {
        this.#looked.delete(plan);
        throw error;
      }
    }
    building?.addHeld(known.record);
  }

  /** Whether a plan shows less of a binding than there is: it runs a function of the application's. */
  isOpaque({ type, onActivation, serviceIdentifier }: PlanBinding): boolean {
    return (
      type === 'DynamicValue' ||
      type === 'Factory' ||
      onActivation !== undefined ||
      this.#owner.isActivated(serviceIdentifier)
    );
  }

  /** Builds one thing in the context of the application, whoever asked for it first; it is in inversify's own cache then. */
  build(
    node: BindingNode,
    root: ServiceNode,
    path: readonly BindingNode[],
    forApplication: boolean,
    requestScopeCache: Map<unknown, unknown>,
  ): void {
    const record = this.recordOf(node.binding);
    buildingRecord()?.addHeld(record);
    record.begin();
    let built: unknown;
    try {
      built = outsideScopes(() =>
        withPurpose({ of: 'owner', record }, () =>
          node.resolve({ context: this.#contextFor(record), planResult: { tree: { root } }, requestScopeCache }),
        ),
      );
    } catch (error) {
      record.end();
      if (forApplication || !isInversifyError(error)) throw error;
      throw unbuildable(node, path, error);
    }
    const end = (): void => {
      record.end();
    };
    // Whoever resolves it from the cache sees the rejection.
    if (built instanceof Promise) built.then(end, end);
    else end();
  }

  /**
   * The same where the scope binds something of what it is built from, under a condition that does not hold there: a
   * plan of the scope's has not even the application's, so the application must make its own.
   */
  buildByOwnPlan(node: BindingNode, path: readonly BindingNode[], shade: string): void {
    const id = node.binding.serviceIdentifier as ServiceIdentifier;
    try {
      outsideScopes(() => withPurpose({ of: 'look', id }, () => this.#owner.context().getAll(id, { optional: true })));
    } catch (error) {
      if (error !== PLAN_SEEN && !isInversifyError(error)) throw error;
    }
    if (node.binding.cache?.isRight !== true) throw shaded(node, path, shade);
  }

  /**
   * The application's context, as something long-lived gets it and may keep it: a factory asks when it is called. Inside a
   * scope's run what is then absent, and bound in that scope, is refused.
   */
  #contextFor(record: BuildRecord): ResolutionContext {
    const context = (): ResolutionContext => this.#owner.context();
    const late = <T>(get: (context: ResolutionContext) => T): T => {
      const scope = currentScope();
      if (record.isBuilding || scope === undefined) return get(context());
      const asked = new BuildRecord(record.rank);
      asked.begin();
      const checked = <V>(value: V): V => {
        const lacking = asked.findAbsent((id, how) => scope.binds(id, how));
        if (lacking !== undefined) throw askedLate(lacking);
        return value;
      };
      const value = withPurpose({ of: 'owner', record: asked }, () => get(context()));
      return value instanceof Promise ? (value.then(checked) as T) : checked(value);
    };
    const given = {
      get: (id: ServiceIdentifier, options?: object) => late((from) => from.get<unknown>(id, options as never)),
      getAll: (id: ServiceIdentifier, options?: object) => late((from) => from.getAll(id, options as never)),
      getAsync: (id: ServiceIdentifier, options?: object) =>
        late((from) => from.getAsync<unknown>(id, options as never)),
      getAllAsync: (id: ServiceIdentifier, options?: object) => late((from) => from.getAllAsync(id, options as never)),
      getActivations: (id: ServiceIdentifier) => context().getActivations(id),
    };
    return given as unknown as ResolutionContext;
  }
}

function unbuildable(node: BindingNode, path: readonly BindingNode[], error: Error): AIScopeError {
  return new AIScopeError(
    `${nameOf(node)} lives as long as the application, so the application builds it, without a caller, and that failed: ${trace(path)}.\n` +
      `inversify says: ${error.message}\n` +
      `If it needs the caller, bind ${idOf(node)} inTransientScope(), or in the scope (openScope's bind); else bind what is missing in the application.`,
    { cause: error },
  );
}

function shaded(node: BindingNode, path: readonly BindingNode[], shade: string): AIScopeError {
  return new AIScopeError(
    `${nameOf(node)} is a singleton of the application, and the scope binds ${shade}, of which it is built, under a condition: ${trace(path)}.\n` +
      `Have the application build it before its first request, container.get(${idOf(node)}); or bind it in the scope.`,
  );
}

function askedLate(lacking: unknown): AIScopeError {
  return new AIScopeError(
    `${identifierName(lacking)} was asked for by something that the application keeps, a factory or a singleton, which gets what the application has; only the scope binds it, so it would be missing. ` +
      `Pass it to the function as an argument, or bind what asks inTransientScope() or in the scope.`,
  );
}
