import type { PluginContext } from '@inversifyjs/plugin';
import type { ServiceIdentifier } from 'inversify';
import { ArgumentGuard } from '../lib/agent/argument-guard.js';
import { AIMiddleware } from '../lib/agent/middleware.js';
import { AIObserver } from '../lib/agent/observer.js';
import type { AILimits } from '../lib/run-options.js';
import { copiesOf } from '../lib/token.js';
import { type PlanBinding, servesAlone } from './plan.js';
import type { ScopedTools } from './scoped-tools.js';

/** What is there for all sites and serves none of them: a misspelt name, a binding that no run asks for. */
export function unusedWarnings(
  offered: readonly ScopedTools[],
  limits: AILimits | undefined,
  bindings: PluginContext['bindingService'],
): readonly string[] {
  const names = new Set(offered.flatMap(({ tools }) => tools.list.known.names));
  // What comes from elsewhere may have any name.
  const isKnown = offered.every(({ tools }) => tools.list.late.length === 0);
  const unknown = (name: string): readonly string[] =>
    names.has(name) || !isKnown
      ? []
      : [`"${name}", which is no tool of any site; their tools are ${[...names].sort().join(', ')}.`];
  const bounds = Object.keys(limits?.perTool ?? {})
    .flatMap(unknown)
    .map((found) => `installAI, limits: perTool names ${found}`);
  const ofTokens = [...copiesOf<unknown>('AIMiddleware', AIMiddleware), ...copiesOf<unknown>('AIObserver', AIObserver)]
    .flatMap(
      (token) => [...(bindings.getNonParentBindings(token as ServiceIdentifier) ?? [])] as readonly PlanBinding[],
    )
    .flatMap((binding) => ofBinding(binding, unknown));
  return [...bounds, ...ofTokens];
}

function ofBinding(binding: PlanBinding, unknown: (name: string) => readonly string[]): readonly string[] {
  const { value } = binding as { readonly value?: unknown };
  const guarded = value instanceof ArgumentGuard ? (value.tools ?? []) : [];
  const { name } = binding.serviceIdentifier as { readonly name: string };
  return [
    ...guarded.flatMap(unknown).map((found) => `an ArgumentGuard names ${found}`),
    ...(servesAlone(binding)
      ? []
      : [`a binding of ${name} has a name, a tag or a condition, so no run asks for it; bind it without.`]),
  ];
}
