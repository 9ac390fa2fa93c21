import type { Container, ServiceIdentifier } from 'inversify';
import type { PluginContext } from '@inversifyjs/plugin';
import { isInjectable } from '../decorators/metadata.js';
import { isErrorOf } from '../lib/errors.js';
import { guardScope, makeContainer } from './guard.js';
import { classMetadata } from './lost-sites.js';
import type { InjectedElement, PlanBinding } from './plan.js';
import type { ScopeOwner } from './scope-owner.js';

/** Something that a scope will be asked for, and on whose behalf. */
export interface ScopedRoot {
  readonly where: string;
  readonly id: ServiceIdentifier;
  /** For a tool it must be there in each look-up; a controller or an observer may be bound as its application likes. */
  readonly forTool: boolean;
}

/** What is found in an application before it has any scope. */
export interface Captures {
  /** What no scope could ever get. */
  readonly problems: readonly string[];
  /** What a scope gets only if it binds something itself. */
  readonly warnings: readonly string[];
}

/**
 * Looks at what scopes will be asked for, before there is one: in a scope for trial, in which everything that nobody bound
 * is the scope's own, as it would have to be. Nothing is built.
 */
export function findCaptures(
  parent: Container,
  bindings: PluginContext['bindingService'],
  owner: ScopeOwner,
  roots: readonly ScopedRoot[],
): Captures {
  const trial = makeContainer({ parent, defaultScope: owner.defaultScope });
  const guard = guardScope(trial, {
    self: trial,
    onTrial: true,
    longLived: owner.longLived,
    isAutobound: (binding) => owner.isAutobound(binding),
    isOfApplication: (binding) => owner.isOfApplication(binding),
    binds: (id) => trial.isCurrentBound(id as ServiceIdentifier),
    ended: () => undefined,
    changed: () => undefined,
  });
  for (const id of unboundBelow(bindings, owner, roots)) trial.bind(id).toConstantValue(undefined);
  const problems = new Map<string, string>();
  const warnings = new Map<string, string>();
  for (const { where, id, forTool } of roots) {
    const found = refusal(() => {
      if (forTool) guard.inspect(id);
      else guard.look(id);
    });
    if (found === undefined) continue;
    // A scope may bind anew what is once for each lookup; what the application keeps it cannot mend.
    const lasting = forTool ? refusal(() => guard.inspect(id, true)) : found;
    if (lasting === undefined) warnings.set(found, `${where}: ${found}`);
    else problems.set(lasting, `${where}: ${lasting}`);
  }
  return { problems: [...problems.values()], warnings: [...warnings.values()] };
}

function refusal(look: () => unknown): string | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    if (!isErrorOf(error, 'scope')) throw error;
    return error.message;
  }
}

/** All that is asked for below some roots and that nobody binds; conditions of bindings are left to inversify's plan. */
function unboundBelow(
  bindings: PluginContext['bindingService'],
  owner: ScopeOwner,
  roots: readonly ScopedRoot[],
): ReadonlySet<ServiceIdentifier> {
  const bound = new Set<unknown>(bindings.getBoundServices());
  const unbound = new Set<ServiceIdentifier>();
  const seen = new Set<unknown>();
  const next: ServiceIdentifier[] = roots.map(({ id }) => id);
  const toolIds = new Set<unknown>(roots.flatMap(({ id, forTool }) => (forTool ? [id] : [])));
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    if (bound.has(id))
      for (const binding of (bindings.get(id) as Iterable<PlanBinding> | undefined) ?? [])
        next.push(...askedFor(binding));
    // What autobind makes is the application's; a tool class, or what @FromScope names, somebody must bind.
    else if (owner.autobinds && isInjectable(id) && !toolIds.has(id)) next.push(...askedForByClass(id as object));
    else unbound.add(id);
  }
  return unbound;
}

function askedFor({ implementationType, targetServiceIdentifier, metadata }: PlanBinding): ServiceIdentifier[] {
  if (targetServiceIdentifier !== undefined) return [targetServiceIdentifier];
  if (metadata !== undefined) return metadata.arguments.flatMap(identifierOf);
  return implementationType === undefined ? [] : askedForByClass(implementationType);
}

function askedForByClass(target: object): ServiceIdentifier[] {
  const { constructorArguments, properties } = classMetadata(target);
  return [...constructorArguments, ...properties.values()].flatMap(identifierOf);
}

function identifierOf(element: (InjectedElement & { readonly optional?: boolean }) | undefined): ServiceIdentifier[] {
  const value = element?.value;
  // What is optional and bound by nobody may well stay so.
  if (value === undefined || element?.optional === true) return [];
  return [typeof value === 'object' && 'unwrap' in value ? value.unwrap() : value];
}
