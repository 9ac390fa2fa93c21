import type { PluginContext } from '@inversifyjs/plugin';
import type { Container, ServiceIdentifier } from 'inversify';
import type { Class, Site } from '../decorators/metadata.js';
import { AIMiddleware } from '../lib/agent/middleware.js';
import { AIObserver } from '../lib/agent/observer.js';
import { AIDefinitionError, AIToolSourceError } from '../lib/errors.js';
import { ChatModel } from '../lib/model/chat-model.js';
import type { FoundEntry } from '../lib/tool/registry.js';
import { copiesOf } from '../lib/token.js';
import { findCaptures, type ScopedRoot } from './captures.js';
import type { InjectedAgent } from './injected-service.js';
import { lostSites } from './lost-sites.js';
import type { RegistryKey } from './registry-key.js';
import { rootsOf } from './roots.js';
import type { ScopeOwner } from './scope-owner.js';
import type { ScopedTools } from './scoped-tools.js';
import type { ToolRegistry } from './tool-registry.js';

/** What is seen of one site: its agent, or what is wrong with it; and which of its classes nobody bound. */
export interface SiteLook {
  readonly agent?: InjectedAgent;
  readonly problems: readonly string[];
  readonly unbound: readonly string[];
}

/** What is checked of an application. */
export interface CheckedApplication {
  readonly container: Container;
  readonly bindings: PluginContext['bindingService'];
  readonly owner: ScopeOwner;
  readonly sites: readonly Site[];
  readonly look: (site: Site) => SiteLook;
  /** Tools for callers that bring a model of their own. */
  readonly offers: readonly ScopedTools[];
  /** Where the keys of `tools` lists are looked up. */
  readonly registry: ToolRegistry;
  /** Whether a model is bound for sites that name none. */
  readonly hasModel: boolean;
}

/** What is found before the first request. */
export interface Check {
  readonly problems: readonly string[];
  /** What only a scope can make right, by binding it. */
  readonly warnings: readonly string[];
  /** Of the sites of all bound classes. */
  readonly agents: readonly InjectedAgent[];
}

/** Checks the sites of all classes that are bound, and what their tools would be built from. Builds nothing. */
export function checkApplication(application: CheckedApplication): Check {
  const { container, bindings, owner, sites, look, offers, registry, hasModel } = application;
  const { made, asked } = boundClasses(bindings);
  const problems = lostSites(made, sites);
  const warnings: string[] = [];
  const agents: InjectedAgent[] = [];
  const roots: ScopedRoot[] = [];
  const checkTools = (where: string, offered: ScopedTools): void => {
    const registered = lookUp(where, offered, registry);
    problems.push(...registered.problems);
    warnings.push(...offered.unbound(where, registered.classes, undefined).map((problem) => `${problem}.`));
    const tools = [...offered.tools.roots, ...registered.classes.flatMap((target) => rootsOf(target).roots)];
    roots.push(...[...new Set(tools)].map((id) => ({ where, id, forTool: true })));
  };
  for (const site of sites) {
    const holders = [...asked].filter(([target]) => isOrExtends(target, site.target));
    if (holders.length === 0) continue;
    const where = `@AI on ${site.name}`;
    const { agent, problems: found, unbound } = look(site);
    problems.push(...found);
    warnings.push(...unbound.map((problem) => `${problem}.`));
    if (agent === undefined) continue;
    agents.push(agent);
    if (agent.model === undefined && !hasModel)
      warnings.push(`${where}: no model is known; pass one to installAI, or bind ChatModel.`);
    checkTools(where, agent);
    roots.push(...holders.flatMap(([, ids]) => ids).map((id) => ({ where, id, forTool: false })));
  }
  for (const offered of offers) {
    const where = offered.definition.site;
    warnings.push(...offered.unbound(where, offered.tools.classes, undefined).map((problem) => `${problem}.`));
    checkTools(where, offered);
  }
  for (const [name, token] of [
    ['AIObserver', AIObserver],
    ['AIMiddleware', AIMiddleware],
    ['ChatModel', ChatModel],
  ] as const)
    for (const id of copiesOf<ServiceIdentifier>(name, token)) roots.push({ where: name, id, forTool: false });
  const captures = findCaptures(container, bindings, owner, roots);
  return {
    problems: [...problems, ...captures.problems],
    warnings: [...warnings, ...captures.warnings],
    agents,
  };
}

/** What the keys of a list lead to, and whether all of it goes together. */
function lookUp(
  where: string,
  { tools: { keys, list } }: ScopedTools,
  registry: ToolRegistry,
): { readonly problems: readonly string[]; readonly classes: readonly Class[] } {
  if (keys.length === 0) return { problems: [], classes: [] };
  const found = new Map<RegistryKey, FoundEntry>();
  const problems: string[] = [];
  for (const key of keys)
    try {
      found.set(key, key.in(registry));
    } catch (error) {
      if (!(error instanceof AIToolSourceError)) throw error;
      problems.push(`${where}: ${error.message}`);
    }
  const classes = [...found.values()].flatMap(({ target }) => target ?? []);
  try {
    list.with(new Map([...found].map(([key, { tools }]) => [key, tools])));
  } catch (error) {
    if (!(error instanceof AIDefinitionError)) throw error;
    problems.push(...error.problems);
  }
  return { problems, classes: [...new Set(classes)] };
}

/** The classes that are made here or in an ancestor; and those that are asked for by themselves, made or not. */
function boundClasses(bindings: PluginContext['bindingService']): {
  readonly made: ReadonlySet<Class>;
  readonly asked: ReadonlyMap<Class, readonly ServiceIdentifier[]>;
} {
  const made = new Set<Class>();
  const asked = new Map<Class, ServiceIdentifier[]>();
  const add = (target: unknown, id: ServiceIdentifier): void => {
    asked.set(target as Class, [...(asked.get(target as Class) ?? []), id]);
  };
  for (const id of bindings.getBoundServices()) {
    if (typeof id === 'function') add(id, id);
    for (const binding of bindings.getChained(id)) {
      if (binding.type !== 'Instance') continue;
      const target = binding.implementationType as unknown;
      made.add(target as Class);
      if (target !== id) add(target, id);
    }
  }
  return { made, asked };
}

/** An inherited injection point is its subclass's too. */
function isOrExtends(target: Class, base: Class): boolean {
  return target === base || Object.prototype.isPrototypeOf.call(base, target);
}
