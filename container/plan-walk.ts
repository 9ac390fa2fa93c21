import { AIScopeError } from '../lib/errors.js';
import { isInjectable, isSite } from '../decorators/metadata.js';
import { isToolClass } from '../decorators/tool-members.js';
import { identifierName } from './inversify-error.js';
import type { Asked, BuildRecord, IsBound } from './build-record.js';
import { currentScope } from './current-scope.js';
import type { LongLived } from './long-lived.js';
import { APPLICATIONS, type Rank, SCOPES } from './rank.js';
import { type BindingNode, children, idOf, nameOf, type PlanBinding, rootOf, type ServiceNode, trace } from './plan.js';
import { currentPurpose, isLookOnly, PLAN_SEEN, type Purpose } from './purpose.js';

/** How one look at a plan is made. */
export interface Look {
  readonly longLived: LongLived;
  /** Whether a binding is the scope's own, or of a container below it. Nothing is, in a plan of the application. */
  readonly isOwn: (binding: PlanBinding) => boolean;
  /** Whether the scope binds something; nothing does, in a plan of the application. */
  readonly isBoundInScope: IsBound;
  /** Whether autobind made it: nobody said that it should exist. */
  readonly isAutobound: (binding: PlanBinding) => boolean;
  readonly purpose: Purpose | undefined;
  /** Whether the plan is of what the purpose names, and not of something that is asked for on the way. */
  readonly isRoot?: boolean;
  /** Nothing is built. */
  readonly lookOnly?: boolean;
  /** All that lives long is built; else, for the application, only what no plan shows: the rest is inversify's own. */
  readonly buildAll?: boolean;
  /** What is wrong is left to inversify's own words, or to a scope: nothing of one is concerned. */
  readonly forApplication?: boolean;
  /** There is no scope yet: all that nobody bound counts as the scope's. */
  readonly onTrial?: boolean;
}

/** What is known on the way down to a node. */
interface Above {
  /** What lives longest of all that is on the way and longer than the scope. */
  readonly keeper?: Keeper;
  /** It exists already, so nothing below it is built. */
  readonly isBuilt?: boolean;
  /** Whose parts these are. */
  readonly record?: BuildRecord | undefined;
  /** Of the nearest that lives long. */
  readonly shade?: Shade;
}

/** What a scope binds of something long-lived, so that the plan there is not the application's. */
interface Shade {
  by: unknown;
  readonly outer: Shade | undefined;
}

interface Keeper {
  readonly node: BindingNode;
  readonly rank: Rank;
}

/**
 * One look at one plan, before anything is built from it: refuses what would outlive the scope with something of the
 * scope in it, what would be made out of nothing, and what a tool would get empty. Unless it is for looking only, it
 * also has the application build what the application keeps.
 */
export class PlanWalk {
  readonly #look: Look;
  /** With the rank of what would keep it, when it was seen. */
  readonly #seen = new Map<BindingNode, number>();
  /** What is once for each `get` is one for all that is built in this one. */
  readonly #requestScopeCache = new Map<unknown, unknown>();

  constructor(look: Look) {
    this.#look = look;
  }

  walk(service: ServiceNode, path: readonly BindingNode[] = [], above: Above = {}, asked?: Asked): void {
    const { bindings, serviceIdentifier } = service;
    const nodes = bindings === undefined ? [] : 'binding' in bindings ? [bindings] : bindings;
    for (const node of nodes) this.#binding(service, node, path, above);
    const isShaded = this.#look.isBoundInScope(serviceIdentifier, undefined);
    if (nodes.length === 0 && !isShaded) above.record?.addAbsent(serviceIdentifier, asked);
    if (isShaded)
      for (let shade: Shade | undefined = above.shade; shade !== undefined; shade = shade.outer)
        shade.by = serviceIdentifier;
  }

  #binding(service: ServiceNode, node: BindingNode, path: readonly BindingNode[], above: Above): void {
    const { binding } = node;
    const { longLived, forApplication = false, lookOnly = false, buildAll = false } = this.#look;
    const own = this.#look.isOwn(binding);
    const isLongLived = !own && binding.scope === 'Singleton';
    const isAsked = isLongLived || above.keeper !== undefined || forApplication;
    const rank = own ? SCOPES : isAsked ? longLived.rankOf(binding) : APPLICATIONS;
    const record = isLongLived ? longLived.recordOf(binding) : undefined;
    if (record !== undefined) above.record?.addHeld(record);
    if (rank === APPLICATIONS) above.record?.addTaken(binding.serviceIdentifier);
    const isAutobound = this.#look.isAutobound(binding) && !this.#mayBeAutobound(binding, path);
    // Made out of nothing it is as good as absent; a scope that binds it must not go without.
    if (isAutobound && forApplication) above.record?.addAbsent(binding.serviceIdentifier);
    if (this.#wasSeen(node, above.keeper)) return;
    const here = [...path, node];
    if (isAutobound && !forApplication) throw autobound(here);
    if (above.keeper !== undefined && rank > above.keeper.rank && !forApplication && !isSite(binding.serviceIdentifier))
      throw this.#look.onTrial === true ? needed(here, above.keeper.node) : captive(here, above.keeper.node, rank);
    if (above.keeper === undefined && binding.scope === 'Request' && !this.#mayBePerLookup(path)) throw perLookup(here);
    const isBuilt = above.isBuilt === true || (isLongLived && binding.cache?.isRight === true);
    // What is built does not change, and what was absent then is in its record.
    if (forApplication && isBuilt && record?.isKnown === true) return;
    const keeper = above.keeper === undefined || rank < above.keeper.rank ? { node, rank } : above.keeper;
    const shade: Shade = { by: undefined, outer: above.shade };
    const below: Above = isLongLived ? { keeper, isBuilt, record, shade } : above;
    for (const child of children(node)) this.walk(child, here, below);
    if (record === undefined) return;
    if (shade.by === undefined) record.know();
    // What needs itself is left to inversify, which comes to an end with it, and has words for it.
    const isToBuild = !isBuilt && !lookOnly && !record.isBuilding;
    if (isToBuild && (buildAll || !forApplication || longLived.isOpaque(binding))) {
      if (shade.by !== undefined) longLived.buildByOwnPlan(node, here, identifierName(shade.by));
      else longLived.build(node, service, here, forApplication, this.#requestScopeCache);
    }
    if (forApplication) return;
    const absent = record.findAbsent(this.#look.isBoundInScope);
    if (absent !== undefined) throw builtWithout(here, identifierName(absent));
    const taken = record.findTaken();
    if (taken !== undefined) throw builtFrom(here, identifierName(taken));
  }

  /** For anything but a tool inversify's own meaning holds; for a tool, only its own class may be new for each `get`. */
  #mayBePerLookup(path: readonly BindingNode[]): boolean {
    const { purpose } = this.#look;
    if (purpose?.of !== 'tool' || purpose.perLookup === true) return true;
    const { isRoot = false } = this.#look;
    return isRoot && isToolClass(purpose.id) && path.every(({ redirection }) => redirection !== undefined);
  }

  /** A service that is marked as one may be made by autobind; what `@FromScope` names must be bound by somebody. */
  #mayBeAutobound({ implementationType }: PlanBinding, path: readonly BindingNode[]): boolean {
    const { purpose } = this.#look;
    const isFromScope =
      this.#look.isRoot === true && purpose?.of === 'tool' && path.length === 0 && !isToolClass(purpose.id);
    return !isFromScope && isInjectable(implementationType);
  }

  /** A plan may name one node many times, and be circular where it is lazy. What may keep less is looked at again. */
  #wasSeen(node: BindingNode, keeper: Keeper | undefined): boolean {
    const rank = keeper?.rank ?? Infinity;
    const before = this.#seen.get(node);
    if (before !== undefined && before <= rank) return true;
    this.#seen.set(node, rank);
    return false;
  }
}

function captive(path: readonly BindingNode[], keeper: BindingNode, rank: Rank): AIScopeError {
  const kept = nameOf(path.at(-1) as BindingNode);
  const name = nameOf(keeper);
  const id = idOf(keeper);
  return new AIScopeError(
    rank === SCOPES
      ? `${name} is a singleton of the application and would keep ${kept}, which belongs to one scope, for every later caller: ${trace(path)}.\n` +
          `Bind ${id} inTransientScope(), or in the scope: container.bind(${id})…inSingletonScope() in openScope's bind; or pass ${kept} to its methods.`
      : `${name} is a singleton of a container above the application and would keep ${kept}, which is this application's, for every other one: ${trace(path)}.\n` +
          `Bind ${id} in the application, or inTransientScope(); or bind ${kept} where ${id} is bound.`,
  );
}

/** The same before there is any scope: what nobody bound may also have been forgotten. */
function needed(path: readonly BindingNode[], keeper: BindingNode): AIScopeError {
  const kept = nameOf(path.at(-1) as BindingNode);
  const id = idOf(keeper);
  return new AIScopeError(
    `${nameOf(keeper)} is a singleton of the application and needs ${kept}, which the application does not bind: ${trace(path)}.\n` +
      `If ${kept} is the application's, bind it there. If it is one caller's, ${id} would keep it for every later one: ` +
      `bind ${id} inTransientScope(), or in the scope, container.bind(${id})…inSingletonScope() in openScope's bind; or pass ${kept} to its methods.`,
  );
}

function builtFrom(path: readonly BindingNode[], taken: string): AIScopeError {
  const last = path.at(-1) as BindingNode;
  return new AIScopeError(
    `${nameOf(last)} is kept by a container above the application, and is built from ${taken}, which is one application's and would serve every other: ${trace(path)}.\n` +
      `Bind ${idOf(last)} in the application, or inTransientScope(); or bind ${taken} where ${idOf(last)} is bound.`,
  );
}

function builtWithout(path: readonly BindingNode[], absent: string): AIScopeError {
  const last = path.at(-1) as BindingNode;
  const name = nameOf(last);
  return new AIScopeError(
    `${name} is kept by the application, which built it without ${absent}; that is optional to it, and would be missing for every caller, although the scope binds it: ${trace(path)}.\n` +
      `Bind ${idOf(last)} inTransientScope(), or in the scope (openScope's bind); or let it not ask for ${absent}, and pass ${absent} to its methods.`,
  );
}

function autobound(path: readonly BindingNode[]): AIScopeError {
  const last = path.at(-1) as BindingNode;
  const name = nameOf(last);
  return new AIScopeError(
    `${name} is bound by nobody, and autobind would make one out of nothing, which would be nobody's: ${trace(path)}.\n` +
      `Bind it in the scope, container.bind(${idOf(last)})… in openScope's bind, or in the application; or mark the class @injectable() if it is a service.`,
  );
}

function perLookup(path: readonly BindingNode[]): AIScopeError {
  const last = path.at(-1) as BindingNode;
  const name = nameOf(last);
  return new AIScopeError(
    `${name} is bound inRequestScope(), which in inversify means once for each get: a tool would get a new, empty one: ${trace(path)}.\n` +
      `Bind it in the scope, container.bind(${idOf(last)})…inSingletonScope() in openScope's bind, to have one for each request; or inTransientScope() if it keeps nothing.`,
  );
}

/**
 * For a plan of the application's own container: builds what it keeps and no plan shows, and notes what was absent. Inside
 * a scope's run it builds all that it keeps, so that the work of it does not go on as whoever came first.
 */
export function lookAsOwner(
  plan: object,
  asked: Asked & { readonly serviceIdentifier: unknown },
  { longLived, isAutobound }: Pick<Look, 'longLived' | 'isAutobound'>,
): void {
  const lookOnly = isLookOnly(currentPurpose(), asked.serviceIdentifier);
  longLived.see(plan, lookOnly, (record) => {
    const walk = new PlanWalk({
      longLived,
      isAutobound,
      purpose: undefined,
      isOwn: () => false,
      isBoundInScope: () => false,
      forApplication: true,
      buildAll: lookOnly || currentScope() !== undefined,
    });
    walk.walk(rootOf(plan), [], { record }, asked);
  });
  if (lookOnly) throw PLAN_SEEN;
}
