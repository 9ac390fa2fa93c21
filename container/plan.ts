import type { ResolutionContext, ServiceIdentifier } from 'inversify';
import { isSite } from '../decorators/metadata.js';
import { identifierName } from './inversify-error.js';

// The parts of inversify's bindings and plans that are read here. They are its own, and their names are too.

export interface PlanBinding {
  readonly id: number;
  readonly type?: string;
  readonly serviceIdentifier: unknown;
  readonly scope?: 'Request' | 'Singleton' | 'Transient';
  readonly cache?: { readonly isRight: boolean; readonly value?: unknown };
  readonly isSatisfiedBy?: unknown;
  readonly onActivation?: unknown;
  readonly implementationType?: { readonly name: string };
  readonly targetServiceIdentifier?: ServiceIdentifier;
  /** Of a resolved value. */
  readonly metadata?: { readonly arguments: readonly InjectedElement[] };
}

/** A constructor parameter, a property or an argument of a resolved value, as inversify filed it. */
export interface InjectedElement {
  readonly value?: ServiceIdentifier | { unwrap(): ServiceIdentifier };
}

export interface ServiceNode {
  readonly serviceIdentifier?: unknown;
  readonly bindings?: BindingNode | readonly BindingNode[] | undefined;
}

export interface BindingNode {
  readonly binding: PlanBinding;
  readonly constructorParams?: readonly (ServiceNode | undefined)[];
  readonly propertyParams?: ReadonlyMap<string | symbol, ServiceNode>;
  readonly params?: readonly ServiceNode[];
  readonly redirection?: ServiceNode;
  resolve(params: {
    readonly context: ResolutionContext;
    readonly planResult: unknown;
    readonly requestScopeCache: Map<unknown, unknown>;
  }): unknown;
}

/** The root of a plan as inversify shows it. */
export function rootOf(plan: unknown): ServiceNode {
  return (plan as { readonly tree: { readonly root: ServiceNode } }).tree.root;
}

/** What a binding is built from. */
export function children(node: BindingNode): readonly ServiceNode[] {
  const { constructorParams, propertyParams, params, redirection } = node;
  const found: ServiceNode[] = [];
  for (const child of constructorParams ?? []) if (child !== undefined) found.push(child);
  if (propertyParams !== undefined) found.push(...propertyParams.values());
  if (params !== undefined) found.push(...params);
  if (redirection !== undefined) found.push(redirection);
  return found;
}

/** A binding, for messages: what it is asked for by, and the class behind it where that is another. */
export function nameOf({ binding }: BindingNode): string {
  if (isSite(binding.serviceIdentifier)) return 'an @AI agent';
  const name = identifierName(binding.serviceIdentifier);
  const made = binding.implementationType?.name;
  return made === undefined || made === name ? name : `${name} (${made})`;
}

/** What a binding is asked for by, as code names it. */
export function idOf({ binding }: BindingNode): string {
  return identifierName(binding.serviceIdentifier);
}

/** How one came there: `OrderTools -> OrderService -> Caller`. */
export function trace(path: readonly BindingNode[]): string {
  return path.map(nameOf).join(' -> ');
}

/** Whether a binding's condition holds for what is asked for by itself: under no name or tag, below nothing. */
export function servesAlone({ isSatisfiedBy, serviceIdentifier }: PlanBinding): boolean {
  if (typeof isSatisfiedBy !== 'function') return true;
  const request = { serviceIdentifier, name: undefined, tags: new Map(), getAncestor: () => undefined };
  return (isSatisfiedBy as (request: object) => unknown)(request) === true;
}
