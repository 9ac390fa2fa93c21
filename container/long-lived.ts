import type { ResolutionContext, ServiceIdentifier } from 'inversify';
import { AIScopeError } from '../lib/errors.js';
import { currentScope, outsideScopes, SCOPE } from './current-scope.js';
import { identifierName, isInversifyError } from './inversify-error.js';
import { type BindingNode, idOf, nameOf, type PlanBinding, type ServiceNode, trace } from './plan.js';
import { currentPurpose, withPurpose } from './purpose.js';

/*
 * What lives longer than a scope is built by the application, in the application's context and in no scope's run, before
 * a scope resolves anything through it. So a pool, a cache or a factory, which no plan can look into, sees what the
 * application has and never a caller; one that cannot be built so is refused with the reason.
 */

/** What something long-lived asked for, could do without, and did not find. */
export class BuildRecord {
  readonly #absent = new Set<unknown>();
  readonly #holds = new Set<BuildRecord>();
  readonly #noted: () => void;
  #isBuilding = false;

  /** @param noted called for each new absence */
  constructor(noted: () => void) {
    this.#noted = noted;
  }

  addAbsent(id: unknown): void {
    // Every site asks for it; an agent without a scope of its own follows the current one.
    if (id === SCOPE || this.#absent.has(id)) return;
    this.#absent.add(id);
    this.#noted();
  }

  /** What it has started may ask for something long after it was built; that is no part of it. */
  get isBuilding(): boolean {
    return this.#isBuilding;
  }

  begin(): void {
    this.#isBuilding = true;
  }

  end(): void {
    this.#isBuilding = false;
  }

  /** Something else that lives long and is part of it. */
  addHeld(record: BuildRecord): void {
    if (record !== this) this.#holds.add(record);
  }

  /** What was absent here, or in what it holds, and is there now. */
  findAbsent(isThere: (id: unknown) => boolean, seen = new Set<BuildRecord>()): unknown {
    if (seen.has(this)) return undefined;
    seen.add(this);
    for (const id of this.#absent) if (isThere(id)) return id;
    for (const held of this.#holds) {
      const found = held.findAbsent(isThere, seen);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Of what is being built right now, if something is. */
export function buildingRecord(): BuildRecord | undefined {
  const purpose = currentPurpose();
  return purpose?.of === 'owner' && purpose.record.isBuilding ? purpose.record : undefined;
}

/** The container that owns what lives long. */
export interface LongLivedOwner {
  context(): ResolutionContext;
  /** Makes it plan anew: a plan that is kept is shown to nobody. */
  forgetPlans(): void;
}

/** Builds what an application owns and keeps, and remembers what was absent then. */
export class LongLived {
  readonly #owner: LongLivedOwner;
  readonly #records = new WeakMap<PlanBinding, BuildRecord>();
  #absences = 0;

  constructor(owner: LongLivedOwner) {
    this.#owner = owner;
  }

  /** How often something was absent so far: more than before means that something asynchronous asked meanwhile. */
  get absences(): number {
    return this.#absences;
  }

  recordOf(binding: PlanBinding): BuildRecord {
    let record = this.#records.get(binding);
    if (record === undefined) {
      record = new BuildRecord(() => this.#absences++);
      this.#records.set(binding, record);
    }
    return record;
  }

  /** Builds one thing in the context of the application, whoever asked for it first; it is in inversify's own cache then. */
  build(node: BindingNode, root: ServiceNode, path: readonly BindingNode[], ownWords: boolean): void {
    const record = this.recordOf(node.binding);
    buildingRecord()?.addHeld(record);
    this.#owner.forgetPlans();
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
      if (ownWords || !isInversifyError(error)) throw error;
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
   * The application's context, as something long-lived gets it and may keep it: a factory asks when it is called. What
   * is optional and absent is noted, and refused where the scope that is current then does bind it.
   */
  #contextFor(record: BuildRecord): ResolutionContext {
    const context = (): ResolutionContext => this.#owner.context();
    const noted = <T>(id: ServiceIdentifier, value: T): T => {
      if (value !== undefined && !(Array.isArray(value) && value.length === 0)) return value;
      if (record.isBuilding) record.addAbsent(id);
      if (id !== SCOPE && currentScope()?.binds(id) === true)
        throw new AIScopeError(
          `${identifierName(id)} was asked for by something that the application keeps, a factory or a singleton, which gets what the application has; only the scope binds it, so it would be missing. ` +
            `Pass it to the function as an argument, or bind what asks inTransientScope() or in the scope.`,
        );
      return value;
    };
    const given = {
      get: (id: ServiceIdentifier, options?: object) => noted(id, context().get<unknown>(id, options as never)),
      getAll: (id: ServiceIdentifier, options?: object) => noted(id, context().getAll(id, options as never)),
      getAsync: async (id: ServiceIdentifier, options?: object) =>
        noted(id, await context().getAsync<unknown>(id, options as never)),
      getAllAsync: async (id: ServiceIdentifier, options?: object) =>
        noted(id, await context().getAllAsync(id, options as never)),
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
