import { Container, type ContainerOptions, type ServiceIdentifier } from 'inversify';
import { Plugin, type PluginApi, type PluginContext } from '@inversifyjs/plugin';
import type { AIScopeError } from '../lib/errors.js';
import type { Asked, IsBound } from './build-record.js';
import { SCOPE } from './current-scope.js';
import { isInversifyError } from './inversify-error.js';
import type { LongLived } from './long-lived.js';
import { type PlanBinding, rootOf } from './plan.js';
import { type Look, PlanWalk } from './plan-walk.js';
import { currentPurpose, isLookOnly, PLAN_SEEN, withPurpose } from './purpose.js';

/*
 * inversify caches a singleton with whatever it was first built from. Built through a request's container it would keep
 * that request's caller and serve it to everybody. awilix refuses that in its strict mode, for its own registrations;
 * inversify has nothing of the kind, so this reads each plan of a scope's container before anything is built from it.
 */

type PlanCache = PluginContext['planResultCacheService'];
type PlanResult = Parameters<PlanCache['set']>[1];

type Identifier = ServiceIdentifier;

/** What the guard needs to know of the application and the scope. */
export interface GuardedScope {
  /** What a container is told that asks for the scope it belongs to. */
  readonly self: object;
  readonly longLived: LongLived;
  /** Whether a binding was made by autobind: nobody said that it should exist. */
  isAutobound(binding: PlanBinding): boolean;
  /** Whether it binds something itself, under this name and tag. */
  binds: IsBound;
  /** Whether a binding is the application's, or an ancestor's. */
  isOfApplication(binding: PlanBinding): boolean;
  /** Why nothing may be resolved any more, once that is so. */
  ended(): AIScopeError | undefined;
  /** There is no scope yet: all that nobody bound stands in for what scopes will bind. */
  readonly onTrial?: boolean;
  /** The scope's own bindings are others than before. */
  changed(): void;
}

/** The guard of one scope's container. */
export interface ScopeGuard {
  /** The scope's own bindings, and no others. */
  ownBindings(id: unknown): Iterable<PlanBinding>;
  ownIdentifiers(): Iterable<unknown>;
  /**
   * Checks what a tool would be built from, without building it. Says whether there was a plan to look at.
   *
   * @param perLookup let pass what is bound once for each `get`
   */
  inspect(id: Identifier, perLookup?: boolean): boolean;
  /** The same for anything else: all that is bound under an identifier, each by inversify's own meaning. */
  look(id: Identifier): void;
  /** Runs a `get` whose result is for a tool: what is bound once for each `get` is then refused. */
  forTool<T>(id: Identifier, get: () => T): T;
}

/** What the next plugin is for: inversify makes it, and hands it nothing of ours. */
let registering: ((plugin: GuardPlugin) => void) | undefined;

/** Looks at every plan of a scope's container, and of those below it. One class for all scopes. */
class GuardPlugin extends Plugin<Container> {
  #api!: PluginApi;

  override load(api: PluginApi): void {
    this.#api = api;
    registering?.(this);
  }

  guard(scope: GuardedScope): void {
    const { planResultCacheService: cache } = this._context;
    keepNoPlans(cache, scope);
    cache.invalidateServiceBinding = () => {
      scope.changed();
    };
    const isOwn = ({ id, serviceIdentifier }: PlanBinding): boolean => {
      for (const own of this.ownBindings(serviceIdentifier)) if (own.id === id) return true;
      return false;
    };
    const isBoundInScope: IsBound = (id, asked) =>
      asked?.name === undefined && asked?.tag === undefined
        ? this.#context.getNonParentBindings(id as Identifier) !== undefined
        : scope.binds(id, asked);
    const look = (id: unknown, plan: unknown, isOwn: Look['isOwn']): void => {
      const purpose = currentPurpose();
      const lookOnly = isLookOnly(purpose, id);
      const { longLived, onTrial = false } = scope;
      new PlanWalk({
        longLived,
        isOwn,
        isBoundInScope,
        isAutobound: (binding) => scope.isAutobound(binding),
        purpose,
        isRoot: purpose !== undefined && 'id' in purpose && purpose.id === id,
        lookOnly,
        onTrial,
      }).walk(rootOf(plan));
      if (lookOnly) throw PLAN_SEEN;
    };
    this.#api.onPlan(({ serviceIdentifier }, plan) => {
      look(serviceIdentifier, plan, isOwn);
    });
    guardBelow(cache, scope, (id, plan) => {
      look(id, plan, (binding) => isOwn(binding) || !scope.isOfApplication(binding));
    });
  }

  /** Asked anew each time, since a restored snapshot replaces it. */
  get #context(): PluginContext['bindingService'] {
    return this._context.bindingService;
  }

  ownBindings(id: unknown): Iterable<PlanBinding> {
    return (this.#context.getNonParentBindings(id as Identifier) as Iterable<PlanBinding> | undefined) ?? [];
  }

  ownIdentifiers(): Iterable<unknown> {
    return this.#context.getNonParentBoundServices();
  }
}

/**
 * Has a container plan for each `get` anew. A kept plan would be shown to nobody, those of its parts neither, which
 * inversify keeps even where the plan then fails; and it mends kept plans in place when the application binds anew, with
 * the application's own bindings.
 */
function keepNoPlans(cache: PlanCache, scope: GuardedScope): void {
  cache.getByServiceIdentifier = () => undefined;
  let isEmpty = true;
  cache.get = ({ serviceIdentifier }) => {
    const ended = scope.ended();
    if (ended !== undefined) throw ended;
    if (serviceIdentifier === SCOPE) return planOf(scope.self);
    if (!isEmpty) cache.clearCache();
    isEmpty = false;
    return undefined;
  };
}

/** The scope itself is no binding, which anybody could replace; and every agent asks for it, so it needs no planning. */
function planOf(scope: object): PlanResult {
  return { tree: { root: { resolve: () => scope } } } as unknown as PlanResult;
}

/** Guards what somebody makes below a scope's own container too: inversify tells the parent's plans of each new child. */
function guardBelow(cache: PlanCache, scope: GuardedScope, look: (id: unknown, plan: unknown) => void): void {
  const subscribe = cache.subscribe.bind(cache);
  cache.subscribe = (below) => {
    subscribe(below);
    keepNoPlans(below, scope);
    const keep = below.set.bind(below);
    below.set = (options, plan) => {
      look(options.serviceIdentifier, plan);
      keep(options, plan);
    };
    guardBelow(below, scope, look);
  };
}

/**
 * Shows an application's kept plans when they are used: inversify shows only those that it makes, and keeps also those of
 * their parts, those of plans that failed, and those that it mends in place.
 */
export function showKeptPlans(
  cache: PlanCache,
  show: (asked: Asked & { readonly serviceIdentifier: unknown }, plan: object) => void,
): void {
  const find = cache.get.bind(cache);
  const findPlain = cache.getByServiceIdentifier.bind(cache);
  cache.getByServiceIdentifier = (serviceIdentifier) => {
    const plan = findPlain(serviceIdentifier);
    if (plan !== undefined) show({ serviceIdentifier }, plan);
    return plan;
  };
  cache.get = (asked) => {
    const plan = find(asked);
    if (plan !== undefined) show(asked, plan);
    return plan;
  };
}

let isOpening = false;

/**
 * Spares an application's plans to note each scope, for which inversify holds a weak reference: a scope's container keeps
 * no plans, so there is nothing in it that a new binding could make wrong. Measured, a third of what a scope costs.
 */
export function noteNoScopes(cache: PlanCache): void {
  const subscribe = cache.subscribe.bind(cache);
  cache.subscribe = (child) => {
    if (!isOpening) subscribe(child);
  };
}

/** Makes a scope's container; it needs the guard. */
export function makeContainer(options: ContainerOptions): Container {
  isOpening = true;
  try {
    return new Container(options);
  } finally {
    isOpening = false;
  }
}

/** Puts the guard on a scope's container. */
export function guardScope(container: Container, scope: GuardedScope): ScopeGuard {
  let guard: GuardPlugin | undefined;
  registering = (plugin) => {
    plugin.guard(scope);
    guard = plugin;
  };
  try {
    container.register(GuardPlugin);
  } finally {
    registering = undefined;
  }
  const own = guard as unknown as GuardPlugin;
  return {
    ownBindings: (id) => own.ownBindings(id),
    ownIdentifiers: () => own.ownIdentifiers(),
    inspect: (id, perLookup = false) =>
      isSeen(() => withPurpose({ of: 'tool', id, lookOnly: true, perLookup }, () => container.get(id))),
    look: (id) => {
      isSeen(() => withPurpose({ of: 'look', id }, () => container.getAll(id, { optional: true })));
    },
    forTool: (id, get) => withPurpose({ of: 'tool', id, lookOnly: false }, get),
  };
}

/** Whether there was a plan to look at. */
function isSeen(get: () => unknown): boolean {
  try {
    get();
  } catch (error) {
    if (error === PLAN_SEEN) return true;
    // A binding that is missing below a tool is told when the tool is called.
    if (!isInversifyError(error)) throw error;
  }
  return false;
}
