import type { ResolutionContext, ServiceIdentifier } from 'inversify';
import { isSite } from '../decorators/metadata.js';
import { AIScopeError } from '../lib/errors.js';
import { currentScope, outsideScopes, SCOPE } from './current-scope.js';
import { identifierName, isInversifyError } from './inversify-error.js';
import { type BindingNode, idOf, nameOf, type PlanBinding, type ServiceNode, trace } from './plan.js';
import { currentPurpose, withPurpose } from './purpose.js';
import { ABOVE, type Rank } from './rank.js';

/*
 * What lives longer than a scope is built by the application, in the application's context and in no scope's run, before
 * a scope resolves anything through it. So a pool, a cache or a factory, which no plan can look into, sees what the
 * application has and never a caller; one that cannot be built so is refused with the reason.
 */

/** What something long-lived asked for, could do without, and did not find. */
export class BuildRecord {
  readonly #absent = new Set<unknown>();
  readonly #taken = new Set<unknown>();
  readonly #holds = new Set<BuildRecord>();
  #isBuilding = false;

  /** @param rank whose it is */
  constructor(readonly rank: Rank) {}

  addAbsent(id: unknown): void {
    // Every site asks for it; an agent without a scope of its own follows the current one.
    if (id === SCOPE || this.#absent.has(id)) return;
    this.#absent.add(id);
    absences++;
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

  /** Something of one application's, in what a container above it keeps. */
  addTaken(id: unknown): void {
    // An agent acts for no other application's scopes, whoever holds it.
    if (!isSite(id)) this.#taken.add(id);
  }

  /** What was absent here, or in what it holds, and is there now. */
  findAbsent(isThere: (id: unknown) => boolean): unknown {
    return this.#find(({ absent }) => {
      for (const id of absent) if (isThere(id)) return id;
      return undefined;
    });
  }

  findTaken(): unknown {
    return this.#find(({ taken }) => taken.values().next().value);
  }

  #find(
    look: (sets: { readonly absent: ReadonlySet<unknown>; readonly taken: ReadonlySet<unknown> }) => unknown,
    seen = new Set<BuildRecord>(),
  ): unknown {
    if (seen.has(this)) return undefined;
    seen.add(this);
    let found = look({ absent: this.#absent, taken: this.#taken });
    for (const held of this.#holds) found ??= held.#find(look, seen);
    return found;
  }
}

/** Of what is being built right now, if something is. */
export function buildingRecord(): BuildRecord | undefined {
  const purpose = currentPurpose();
  return purpose?.of === 'owner' && purpose.record.isBuilding ? purpose.record : undefined;
}

// One for each binding in the process: what is kept above two applications is the same to both.
const records = new WeakMap<PlanBinding, BuildRecord>();
let absences = 0;

/** How often something was absent so far: more than before means that something asynchronous asked meanwhile. */
export function countAbsences(): number {
  return absences;
}

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
  constructor(owner: LongLivedOwner) {
    this.#owner = owner;
  }

  rankOf(binding: PlanBinding): Rank {
    return this.#owner.rankOf(binding);
  }

  recordOf(binding: PlanBinding): BuildRecord {
    let record = records.get(binding);
    if (record === undefined) {
      record = new BuildRecord(this.rankOf(binding));
      records.set(binding, record);
    }
    return record;
  }

  /** Builds one thing in the context of the application, whoever asked for it first; it is in inversify's own cache then. */
  build(node: BindingNode, root: ServiceNode, path: readonly BindingNode[], forApplication: boolean): void {
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
    const from = (id: ServiceIdentifier): ResolutionContext => {
      if (record.rank === ABOVE && this.#owner.binds(id)) record.addTaken(id);
      return context();
    };
    const given = {
      get: (id: ServiceIdentifier, options?: object) => noted(id, from(id).get<unknown>(id, options as never)),
      getAll: (id: ServiceIdentifier, options?: object) => noted(id, from(id).getAll(id, options as never)),
      getAsync: async (id: ServiceIdentifier, options?: object) =>
        noted(id, await from(id).getAsync<unknown>(id, options as never)),
      getAllAsync: async (id: ServiceIdentifier, options?: object) =>
        noted(id, await from(id).getAllAsync(id, options as never)),
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
