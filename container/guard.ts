import { AsyncLocalStorage } from 'node:async_hooks';
import type { Container, ResolutionContext, ServiceIdentifier } from 'inversify';
import { Plugin, type PluginApi } from '@inversifyjs/plugin';
import { AIScopeError } from '../lib/errors.js';
import { isInjectable, isSite } from '../decorators/metadata.js';
import { isToolClass } from '../decorators/tool-members.js';
import { identifierName, isInversifyError } from './inversify-error.js';

/*
 * inversify caches a singleton with whatever it was first built from. Built through a request's container it would keep
 * that request's caller and serve it to everybody. awilix refuses that in its strict mode, for its own registrations;
 * inversify has nothing of the kind, so this reads each plan of a scope's container before anything is built from it.
 */

// The parts of inversify's plan that are read here.
export interface PlanBinding {
  readonly id: number;
  readonly serviceIdentifier: unknown;
  readonly scope?: 'Request' | 'Singleton' | 'Transient';
  readonly cache?: { readonly isRight: boolean };
  readonly isSatisfiedBy?: unknown;
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

/** Thrown to end a look at a plan before anything is built from it. One for all: a stack for each look is not free. */
const PLAN_SEEN = new Error('The plan was looked at, and nothing was built.');

type Identifier = ServiceIdentifier;

/** What the guard needs to know of the application and the scope. */
export interface GuardedScope {
  /** The application's context: what lives longer than the scope is built in it, and outside every scope's run. */
  buildAsOwner<T>(build: (context: ResolutionContext) => T): T;
  /** Whether a binding was made by autobind: nobody said that it should exist. */
  isAutobound(binding: PlanBinding): boolean;
  /** Why nothing may be resolved any more, once that is so. */
  ended(): AIScopeError | undefined;
}

/** The guard of one scope's container. */
export interface ScopeGuard {
  /** Checks what a tool would be built from, without building it. Says whether there was a plan to look at. */
  inspect(id: Identifier): boolean;
  /** Runs a `get` whose result is for a tool: what is bound once for each `get` is then refused. */
  forTool<T>(id: Identifier, get: () => T): T;
}

/** Whose `get` a plan is made for. A tool class may itself be new for each `get`; nothing else that a tool gets may be. */
type Purpose = { readonly id: Identifier; readonly lookOnly: boolean } | undefined;

/** How one look is made. */
interface Look {
  readonly purpose?: Purpose;
  /** An error of inversify's is left as it is: nothing of a scope is concerned. */
  readonly ownWords?: boolean;
}

/** Carried through what is asynchronous: a factory that waits still works for the tool. */
const purposes = new AsyncLocalStorage<Purpose>();

/** What the next plugin is for: inversify makes it, and hands it nothing of ours. */
let registering: GuardedScope | undefined;

/** Looks at every plan of a scope's container. One class for all scopes. */
class GuardPlugin extends Plugin<Container> {
  override load(api: PluginApi): void {
    const scope = registering;
    if (scope === undefined) return;
    api.onPlan((_options, plan) => {
      // Plans are kept by no scope: inversify mends a cached plan in place when the application binds anew, with the
      // application's own bindings, and a plan that is found in the cache is not shown to anybody. Emptied first, so
      // that a `get` from within is seen as well.
      this._context.planResultCacheService.clearCache();
      const ended = scope.ended();
      if (ended !== undefined) throw ended;
      const { root } = (plan as unknown as Plan).tree;
      const purpose = purposes.getStore();
      new PlanWalk(this.#owned(), scope, { purpose }).walk(root, []);
      if (purpose?.lookOnly === true) throw PLAN_SEEN;
    });
  }

  /** What the scope's own container binds; asked anew each time, since a restored snapshot replaces it. */
  #owned(): (binding: PlanBinding) => boolean {
    const { bindingService } = this._context;
    return ({ id, serviceIdentifier }) => {
      for (const own of bindingService.getNonParentBindings(serviceIdentifier as Identifier) ?? [])
        if (own.id === id) return true;
      return false;
    };
  }
}

/** Puts the guard on a scope's container. */
export function guardScope(container: Container, scope: GuardedScope): ScopeGuard {
  registering = scope;
  try {
    container.register(GuardPlugin);
  } finally {
    registering = undefined;
  }
  return {
    inspect: (id) =>
      purposes.run({ id, lookOnly: true }, () => {
        try {
          container.get(id);
        } catch (error) {
          if (error === PLAN_SEEN) return true;
          // A binding that is missing below a tool is told when the tool is called.
          if (!isInversifyError(error)) throw error;
        }
        return false;
      }),
    forTool: (id, get) => purposes.run({ id, lookOnly: false }, get),
  };
}

/**
 * For a plan of the application's own container that is made while some scope runs, as web frameworks resolve their
 * controllers: builds what lives long outside every run, so that its work does not go on as whoever came first. Throws
 * what building it throws.
 */
export function buildLongLived(plan: unknown, buildAsOwner: GuardedScope['buildAsOwner']): void {
  const scope: GuardedScope = { buildAsOwner, isAutobound: () => false, ended: () => undefined };
  new PlanWalk(() => false, scope, { ownWords: true }).walk((plan as Plan).tree.root, []);
}

/** Runs something that is for no tool, whatever it is run from. */
export function forNoTool<T>(fn: () => T): T {
  return purposes.run(undefined, fn);
}

/** One look at one plan. Unless it is for looking only, it also builds what the application owns. */
class PlanWalk {
  readonly #seen = new Map<BindingNode, Set<boolean>>();

  constructor(
    readonly owned: (binding: PlanBinding) => boolean,
    readonly scope: GuardedScope,
    readonly look: Look,
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
    if (!own && this.scope.isAutobound(binding) && !this.#mayBeAutobound(binding, path)) throw autobound(here);
    if (keeper !== undefined && own) throw captive(here, keeper);
    if (keeper === undefined && binding.scope === 'Request' && !this.#mayBePerLookup(path)) throw perLookup(here);
    const longLived = !own && binding.scope === 'Singleton';
    for (const child of children(node)) this.walk(child, here, keeper ?? (longLived ? node : undefined));
    if (longLived && keeper === undefined && this.look.purpose?.lookOnly !== true && binding.cache?.isRight !== true)
      forNoTool(() => {
        this.scope.buildAsOwner((context) => {
          build(node, service, here, context, this.look.ownWords === true);
        });
      });
  }

  /** For anything but a tool inversify's own meaning holds; for a tool, only its own class may be new for each `get`. */
  #mayBePerLookup(path: readonly BindingNode[]): boolean {
    if (this.look.purpose === undefined) return true;
    return isToolClass(this.look.purpose.id) && path.every(({ redirection }) => redirection !== undefined);
  }

  /** A service that is marked as one may be made by autobind; what `@FromScope` names must be bound by somebody. */
  #mayBeAutobound({ implementationType }: PlanBinding, path: readonly BindingNode[]): boolean {
    const isFromScope = this.look.purpose !== undefined && path.length === 0 && !isToolClass(this.look.purpose.id);
    return !isFromScope && isInjectable(implementationType);
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
function build(
  node: BindingNode,
  root: ServiceNode,
  path: readonly BindingNode[],
  context: ResolutionContext,
  ownWords: boolean,
): void {
  let built: unknown;
  try {
    built = node.resolve({ context, planResult: { tree: { root } }, requestScopeCache: undefined });
  } catch (error) {
    if (ownWords || !isInversifyError(error)) throw error;
    const name = nameOf(node);
    throw new AIScopeError(
      `${name} lives as long as the application, so the application builds it, without a caller, and that failed: ${trace(path)}.\n` +
        `inversify says: ${error.message}\n` +
        `If it needs the caller, bind ${name} inTransientScope(), or in the scope (openScope's bind); else bind what is missing in the application.`,
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

function autobound(path: readonly BindingNode[]): AIScopeError {
  const name = nameOf(path.at(-1) as BindingNode);
  return new AIScopeError(
    `${name} is bound by nobody, and autobind would make one out of nothing, which would be nobody's: ${trace(path)}.\n` +
      `Bind it in the scope, container.bind(${name})… in openScope's bind, or in the application; or mark the class @injectable() if it is a service.`,
  );
}

function perLookup(path: readonly BindingNode[]): AIScopeError {
  const name = nameOf(path.at(-1) as BindingNode);
  return new AIScopeError(
    `${name} is bound inRequestScope(), which in inversify means once for each get: a tool would get a new, empty one: ${trace(path)}.\n` +
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
