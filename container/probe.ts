import type { PluginContext } from '@inversifyjs/plugin';
import type { Container, Newable } from 'inversify';
import type { PlanBinding } from './plan.js';
import type { ScopeOwner } from './scope-owner.js';

/** Learns from classes that nobody knows what inversify tells nobody: the default scope, and what autobind makes. */
export function probe(
  container: Container,
  bindings: PluginContext['bindingService'],
): Pick<ScopeOwner, 'defaultScope' | 'autobinds' | 'isAutobound' | 'unconditional'> {
  const bindingOf = (target: Newable): PlanBinding | undefined => [...bindings.getChained(target)][0];
  class Bound {}
  class Asked {}
  class Autobound {}
  container.bind(Bound).toSelf();
  const { scope = 'Transient', isSatisfiedBy: always } = bindingOf(Bound) ?? {};
  container.unbind(Bound);
  const autobinds = container.isBound(Asked);
  if (container.isCurrentBound(Asked)) container.unbind(Asked);
  container.get(Autobound, { autobind: true });
  // What is bound by hand shares one constraint, or has one of its own; autobind makes an equal one for each.
  const made = String(bindingOf(Autobound)?.isSatisfiedBy);
  if (container.isCurrentBound(Autobound)) container.unbind(Autobound);
  return {
    defaultScope: scope,
    autobinds,
    unconditional: always,
    isAutobound: ({ implementationType, serviceIdentifier, isSatisfiedBy }) =>
      implementationType === serviceIdentifier && isSatisfiedBy !== always && String(isSatisfiedBy) === made,
  };
}
