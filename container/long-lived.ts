import type { ResolutionContext, ServiceIdentifier } from 'inversify';
import { AIScopeError } from '../lib/errors.js';
import { type Asked, BuildRecord, recordOf } from './build-record.js';
import { currentScope, outsideScopes, SCOPE } from './current-scope.js';
import { identifierName, isInversifyError } from './inversify-error.js';
import { type BindingNode, idOf, nameOf, type PlanBinding, type ServiceNode, trace } from './plan.js';
import { buildingRecord, PLAN_SEEN, withPurpose } from './purpose.js';
import { ABOVE, APPLICATIONS, type Rank } from './rank.js';

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
  /** Whether it binds something itself, and not a container above. */
  binds(id: ServiceIdentifier): boolean;
  /** Makes it plan anew: a plan that is kept is shown to nobody. */
  forgetPlans(): void;
}

/** Builds what an application owns and keeps, and remembers what was absent then. */
export class LongLived {
  readonly #owner: LongLivedOwner;
  /** What was absent below what the application was asked for, by its identifier, as long as the plans are kept. */
  readonly #asked = new Map<unknown, BuildRecord>();

  constructor(owner: LongLivedOwner) {
    this.#owner = owner;
  }

  rankOf(binding: PlanBinding): Rank {
    return this.#owner.rankOf(binding);
  }

  recordOf(binding: PlanBinding): BuildRecord {
    return recordOf(binding, () => this.rankOf(binding));
  }

  /** A record for a plan of the application's; a part of what is being built, if something is. */
  recordOfPlan(id: unknown): BuildRecord {
    const building = buildingRecord();
    const record = new BuildRecord(building?.rank ?? APPLICATIONS);
    building?.addHeld(record);
    this.#asked.set(id, record);
    return record;
  }

  forgetPlans(): void {
    this.#asked.clear();
    this.#owner.forgetPlans();
  }

  /** Builds one thing in the context of the application, whoever asked for it first; it is in inversify's own cache then. */
  build(node: BindingNode, root: ServiceNode, path: readonly BindingNode[], forApplication: boolean): void {
    const record = this.recordOf(node.binding);
    buildingRecord()?.addHeld(record);
    this.forgetPlans();
    record.begin();
    let built: unknown;
    try {
      built = outsideScopes(() =>
        withPurpose({ of: 'owner', record }, () =>
          node.resolve({
            context: this.#contextFor(record),
            planResult: { tree: { root } },
            requestScopeCache: undefined,
          }),
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
    this.forgetPlans();
    try {
      outsideScopes(() => withPurpose({ of: 'look' }, () => this.#owner.context().getAll(id, { optional: true })));
    } catch (error) {
      if (error !== PLAN_SEEN && !isInversifyError(error)) throw error;
    } finally {
      this.forgetPlans();
    }
    if (node.binding.cache?.isRight !== true) throw shaded(node, path, shade);
  }

  /**
   * The application's context, as something long-lived gets it and may keep it: a factory asks when it is called. What
   * is absent is noted, and refused where the scope that is current then does bind it.
   */
  #contextFor(record: BuildRecord): ResolutionContext {
    const context = (): ResolutionContext => this.#owner.context();
    const from = (id: ServiceIdentifier): ResolutionContext => {
      if (record.rank === ABOVE && this.#owner.binds(id)) record.addTaken(id);
      return context();
    };
    const noted = <T>(id: ServiceIdentifier, asked: Asked | undefined, value: T): T => {
      const isAbsent = id !== SCOPE && (value === undefined || (Array.isArray(value) && value.length === 0));
      if (record.isBuilding) {
        if (isAbsent) record.addAbsent(id, asked);
        return value;
      }
      const scope = currentScope();
      if (scope === undefined) return value;
      const lacking =
        isAbsent && scope.binds(id, asked)
          ? id
          : this.#asked.get(id)?.findAbsent((absent, how) => scope.binds(absent, how));
      if (lacking !== undefined) throw askedLate(lacking);
      return value;
    };
    const given = {
      get: (id: ServiceIdentifier, options?: Asked) => noted(id, options, from(id).get<unknown>(id, options as never)),
      getAll: (id: ServiceIdentifier, options?: Asked) => noted(id, options, from(id).getAll(id, options as never)),
      getAsync: async (id: ServiceIdentifier, options?: Asked) =>
        noted(id, options, await from(id).getAsync<unknown>(id, options as never)),
      getAllAsync: async (id: ServiceIdentifier, options?: Asked) =>
        noted(id, options, await from(id).getAllAsync(id, options as never)),
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
