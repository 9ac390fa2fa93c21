import type { Class } from '../decorators/metadata.js';
import { throwProblems } from '../lib/declaration.js';
import { AIToolSourceError } from '../lib/errors.js';
import type { LateContext, LateTools } from '../lib/tool/late-tools.js';
import type { FoundEntry } from '../lib/tool/registry.js';
import type { CompiledTool } from '../lib/tool/tool.js';
import { LATE_TOOLS } from '../lib/tool-source.js';
import { copiesOf } from '../lib/token.js';
import type { RequestScope } from './request-scope.js';
import { rootsOf } from './roots.js';
import { ToolRegistry } from './tool-registry.js';

/** What to write for each of these classes that nobody bound, neither in the application nor in the scope. */
export type UnboundFinder = (
  where: string,
  classes: readonly Class[],
  scope: RequestScope | undefined,
) => readonly string[];

/** A key in a `tools` list. What it leads to is looked up in the registry of the scope, when a run begins. */
export class RegistryKey implements LateTools {
  readonly [LATE_TOOLS] = true;
  readonly label: string;
  readonly names: readonly string[];
  readonly #unbound: UnboundFinder;

  constructor(
    readonly key: string,
    unbound: UnboundFinder,
  ) {
    this.label = `the registry key "${key}"`;
    this.names = [key];
    this.#unbound = unbound;
  }

  async find({ where, host }: LateContext): Promise<readonly CompiledTool[]> {
    const scope = host as RequestScope;
    const found = this.in(await registryOf(scope));
    if (found.target !== undefined) {
      throwProblems(this.#unbound(where, [found.target], scope));
      scope.inspect(rootsOf(found.target));
    }
    return found.tools;
  }

  /** What it leads to in a registry. Throws an `AIToolSourceError` where that is nothing, or several tools. */
  in(registry: ToolRegistry): FoundEntry {
    return registry.find(this.key);
  }
}

async function registryOf(scope: RequestScope): Promise<ToolRegistry> {
  const token = scope.nearest(copiesOf('ToolRegistry', ToolRegistry));
  const bound = token === undefined ? undefined : await scope.service(token);
  if (isRegistry(bound)) return bound;
  throw new AIToolSourceError(
    'the tool registry',
    'is not one; bind new ToolRegistry() under ToolRegistry, or leave it to installAI',
  );
}

/** Of this copy of the package, or of another. */
export function isRegistry(value: unknown): value is ToolRegistry {
  return typeof value === 'object' && value !== null && 'unregisterModule' in value && 'find' in value;
}
