import type { ServiceIdentifier } from 'inversify';
import 'reflect-metadata';
import type { ToolOptions } from '../lib/declaration.js';
import { processState } from '../lib/process-state.js';
import type { ParameterOptions } from '../lib/schema/parameter.js';
import type { AIOptions } from './ai.js';

/** A class, abstract or not. */
export type Class<T = object> = abstract new (...args: never[]) => T;

/** Where the value of a tool method's parameter comes from: the model, the scope, or the call. */
export type ParameterSource =
  | { readonly from: 'model'; readonly name: string; readonly description: string; readonly options: ParameterOptions }
  | {
      readonly from: 'scope';
      readonly token: ServiceIdentifier;
      readonly select: ((value: never) => unknown) | undefined;
    }
  | { readonly from: 'call' };

/** What `@AITool` says of a method. */
export interface ToolDeclaration {
  readonly description: string;
  readonly name: string | undefined;
  readonly options: ToolOptions;
  /** Of the method that was decorated, as the compiler emitted it; absent where the compiler emits none. */
  readonly paramTypes: readonly unknown[] | undefined;
  readonly parameterCount: number;
}

/** What the decorators said on one prototype itself, apart from its base's. */
export interface OwnMetadata {
  readonly tools: Map<string, ToolDeclaration>;
  readonly parameters: Map<string, Map<number, ParameterSource>>;
  readonly groups: Map<string, string[]>;
  readonly classGroups: string[];
}

/** One `@AI` in the code. */
export interface Site {
  /** The identifier that is injected there, generated for this site alone. */
  readonly id: symbol;
  /** `SupportController#0`, `SupportController.reader`: the site, in every message and event. */
  readonly name: string;
  readonly target: Class;
  /** The property it stands on, or the position of the constructor's parameter. */
  readonly member: string | symbol | undefined;
  readonly index: number | undefined;
  readonly options: AIOptions;
}

/** Told of each site that is decorated later. */
export interface SiteListener {
  siteAdded(site: Site): void;
}

interface State {
  readonly own: WeakMap<object, OwnMetadata>;
  readonly sites: Map<symbol, Site>;
  readonly listeners: Set<WeakRef<SiteListener>>;
}

const state = processState('metadata/1', (): State => ({ own: new WeakMap(), sites: new Map(), listeners: new Set() }));

/** What stands on this prototype itself; made on first use, so that a subclass never writes into its base's. */
export function ownMetadata(prototype: object): OwnMetadata {
  let own = state.own.get(prototype);
  if (own === undefined) {
    own = { tools: new Map(), parameters: new Map(), groups: new Map(), classGroups: [] };
    state.own.set(prototype, own);
  }
  return own;
}

/** The same for reading only. */
export function findMetadata(prototype: object): OwnMetadata | undefined {
  return state.own.get(prototype);
}

/** Files where a parameter's value comes from; `false` where it is filed already, since two cannot both be true. */
export function setParameter(prototype: object, key: string, index: number, source: ParameterSource): boolean {
  const { parameters } = ownMetadata(prototype);
  const ofMethod = parameters.get(key) ?? new Map<number, ParameterSource>();
  if (ofMethod.has(index)) return false;
  parameters.set(key, ofMethod.set(index, source));
  return true;
}

/** The parameter types of a method as the compiler emitted them, of this very prototype. */
export function emittedTypes(prototype: object, key: string): readonly unknown[] | undefined {
  const types: unknown = Reflect.getOwnMetadata('design:paramtypes', prototype, key);
  return Array.isArray(types) ? (types as readonly unknown[]) : undefined;
}

export function addSite(site: Site): void {
  state.sites.set(site.id, site);
  for (const reference of state.listeners) {
    const listener = reference.deref();
    if (listener === undefined) state.listeners.delete(reference);
    else listener.siteAdded(site);
  }
}

/** All sites so far; `listener` is told of later ones for as long as somebody holds it. */
export function watchSites(listener: SiteListener): Iterable<Site> {
  state.listeners.add(new WeakRef(listener));
  return state.sites.values();
}

export function isSite(id: unknown): boolean {
  return typeof id === 'symbol' && state.sites.has(id);
}

/** Whether a class is marked `@injectable()`, by inversify's own mark. */
export function isInjectable(target: unknown): boolean {
  return (
    typeof target === 'function' && Reflect.hasOwnMetadata('@inversifyjs/core/classIsInjectableFlagReflectKey', target)
  );
}
