import { type Container, type Newable, type ResolutionContext } from 'inversify';
import { Plugin, type PluginApi, type PluginContext } from '@inversifyjs/plugin';
import { AIScopeError } from '../lib/errors.js';
import { isSite } from '../decorators/metadata.js';
import { identifierName, isInversifyError } from './inversify-error.js';

/*
 * inversify caches a singleton with whatever it was first built from. Built through a request's container it would keep
 * that request's caller and serve it to everybody. No library guards against it (awilix has a strict mode of its own
 * kind, inversify has none), so this reads each plan of a scope's container before anything is built from it.
 */

// The parts of inversify's plan that are read here.
interface PlanBinding {
  readonly id: number;
  readonly serviceIdentifier: unknown;
  readonly scope?: 'Request' | 'Singleton' | 'Transient';
  readonly cache?: { readonly isRight: boolean };
  readonly implementationType?: { readonly name: string };
}
interface ServiceNode {
  readonly bindings?: BindingNode | readonly BindingNode[] | undefined;
}
interface BindingNode {
  readonly binding: PlanBinding;
  readonly constructorParams?: readonly (ServiceNode | undefined)[];
  readonly propertyParams?: ReadonlyMap<string | symbol, ServiceNode>;
  readonly params?: readonly ServiceNode[];
  readonly redirection?: ServiceNode;
  resolve(params: {
    readonly context: ResolutionContext;
    readonly planResult: unknown;
    requestScopeCache: undefined;
  }): unknown;
}
interface Plan {
  readonly tree: { readonly root: ServiceNode };
}

/** Ends a look at a plan before anything is built from it. */
class PlanSeen extends Error {}

/** The guard of one scope's container. */
export interface ScopeGuard {
  /** Checks what `id` would be built from, without building it. */
  inspect(id: Newable | symbol | string | ((...args: never[]) => unknown)): void;
}

/**
 * Puts the guard on a scope's container. `ownerContext` is the application's: what lives longer than the scope is built
 * in it, so that it can see what the application has and nothing of the scope.
 */
export function guardScope(container: Container, ownerContext: () => ResolutionContext): ScopeGuard {
  let context: PluginContext | undefined;
  let inspecting = false;
  class GuardPlugin extends Plugin<Container> {
    override load(api: PluginApi): void {
      context = this._context;
      const { bindingService, planResultCacheService } = this._context;
      const owned = (binding: PlanBinding): boolean =>
        [...(bindingService.getNonParentBindings(binding.serviceIdentifier as string) ?? [])].some(
          ({ id }) => id === binding.id,
        );
      api.onPlan((_options, plan) => {
        try {
          new PlanWalk(owned, inspecting ? undefined : ownerContext).walk((plan as unknown as Plan).tree.root, []);
          if (inspecting) throw new PlanSeen();
        } catch (error) {
          // The plan is in the cache before this runs: left there, a second get would not be looked at.
          planResultCacheService.clearCache();
          throw error;
        }
      });
    }
  }
  container.register(GuardPlugin);
  return {
    inspect(id) {
      context?.planResultCacheService.clearCache();
      inspecting = true;
      try {
        container.get(id as Newable);
      } catch (error) {
        if (error instanceof AIScopeError) throw error;
        // A binding that is missing below a tool is told when the tool is called.
        if (!(error instanceof PlanSeen) && !isInversifyError(error)) throw error;
      } finally {
        inspecting = false;
      }
    },
  };
}

/** One look at one plan. With `ownerContext` it also builds what the application owns; without, it only looks. */
class PlanWalk {
  readonly #seen = new Map<BindingNode, Set<boolean>>();

  constructor(
    readonly owned: (binding: PlanBinding) => boolean,
    readonly ownerContext: (() => ResolutionContext) | undefined,
  ) {}

  walk(service: ServiceNode, path: readonly BindingNode[], keeper?: BindingNode): void {
    const { bindings } = service;
    if (bindings === undefined) return;
    for (const node of 'binding' in bindings ? [bindings] : bindings) this.#binding(service, node, path, keeper);
  }

  #binding(
    service: ServiceNode,
    node: BindingNode,
    path: readonly BindingNode[],
    keeper: BindingNode | undefined,
  ): void {
    if (this.#wasSeen(node, keeper !== undefined)) return;
    const { binding } = node;
    const here = [...path, node];
    const own = this.owned(binding);
    if (keeper !== undefined && own) throw captive(here, keeper);
    if (
      keeper === undefined &&
      !own &&
      binding.scope === 'Request' &&
      path.length > 0 &&
      this.ownerContext === undefined
    )
      throw perLookup(here);
    const longLived = !own && binding.scope === 'Singleton';
    for (const child of children(node)) this.walk(child, here, keeper ?? (longLived ? node : undefined));
    if (longLived && keeper === undefined && this.ownerContext !== undefined && binding.cache?.isRight !== true)
      build(node, service, here, this.ownerContext());
  }

  /** A plan may name one node many times, and be circular where it is lazy. */
  #wasSeen(node: BindingNode, kept: boolean): boolean {
    const seen = this.#seen.get(node) ?? new Set();
    if (seen.has(kept)) return true;
    this.#seen.set(node, seen.add(kept));
    return false;
  }
}

function children(node: BindingNode): readonly ServiceNode[] {
  const { constructorParams = [], propertyParams, params = [], redirection } = node;
  return [...constructorParams, ...(propertyParams?.values() ?? []), ...params, redirection].filter(
    (child) => child !== undefined,
  );
}

/** Builds a long-lived thing in the context of the application, whoever asked for it first. */
function build(node: BindingNode, root: ServiceNode, path: readonly BindingNode[], context: ResolutionContext): void {
  let built: unknown;
  try {
    built = node.resolve({ context, planResult: { tree: { root } }, requestScopeCache: undefined });
  } catch (error) {
    if (!isInversifyError(error)) throw error;
    const name = nameOf(node);
    throw new AIScopeError(
      `${name} lives as long as the application, and the application cannot build it without a caller: ${trace(path)}.\n` +
        `inversify says: ${error.message}\n` +
        `Bind ${name} inTransientScope(), or in the scope (openScope's bind), or take the caller out of it.`,
      { cause: error },
    );
  }
  // It is in inversify's cache now; whoever resolves it sees the rejection.
  if (built instanceof Promise) built.catch(() => undefined);
}

function captive(path: readonly BindingNode[], keeper: BindingNode): AIScopeError {
  const kept = nameOf(path.at(-1) as BindingNode);
  const name = nameOf(keeper);
  return new AIScopeError(
    `${name} is a singleton of the application and would keep ${kept}, which belongs to one scope, for every later caller: ${trace(path)}.\n` +
      `Bind ${name} inTransientScope(), or in the scope: container.bind(${name})…inSingletonScope() in openScope's bind; or pass ${kept} to its methods.`,
  );
}

function perLookup(path: readonly BindingNode[]): AIScopeError {
  const name = nameOf(path.at(-1) as BindingNode);
  return new AIScopeError(
    `${name} is bound inRequestScope() in the application, which in inversify means once for each get: a tool would get a new, empty one: ${trace(path)}.\n` +
      `Bind it in the scope, container.bind(${name})…inSingletonScope() in openScope's bind, to have one for each request; or inTransientScope() if it keeps nothing.`,
  );
}

function nameOf({ binding }: BindingNode): string {
  if (isSite(binding.serviceIdentifier)) return 'an @AI agent';
  const name = identifierName(binding.serviceIdentifier);
  const made = binding.implementationType?.name;
  return made === undefined || made === name ? name : `${name} (${made})`;
}

function trace(path: readonly BindingNode[]): string {
  return path.map(nameOf).join(' -> ');
}
