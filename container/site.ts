import type { ServiceIdentifier } from 'inversify';
import { sourceProblems } from '../decorators/ai.js';
import type { Class, Site } from '../decorators/metadata.js';
import { ToolList } from '../lib/agent/tool-list.js';
import { describeKind, isClass } from '../lib/declaration.js';
import { AIDefinitionError } from '../lib/errors.js';
import { toolsetPlan } from '../lib/tool/toolset.js';
import { isRegistryKey, noRegistryKey } from '../lib/tool-source.js';
import { RegistryKey, type UnboundFinder } from './registry-key.js';
import { rootsOf } from './roots.js';
import { scanClass } from './scan.js';

/** A `tools` list, read: the set, and what its tools are resolved from. */
export interface CompiledTools {
  readonly list: ToolList;
  readonly classes: readonly Class[];
  /** What is looked up when a run begins. */
  readonly keys: readonly RegistryKey[];
  /** The classes and the tokens of `@FromScope`: all that a scope's container is asked for by a tool. */
  readonly roots: readonly ServiceIdentifier[];
}

/** A site's list; a lazy one is asked for now. */
export function readList(site: Site): unknown {
  const { tools } = site.options;
  if (typeof tools !== 'function') return tools;
  try {
    return tools();
  } catch (error) {
    throw new AIDefinitionError(
      `@AI on ${site.name}: the function in tools failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** The classes in a list and in its toolsets, whatever else is there. */
export function classesIn(list: unknown): readonly Class[] {
  if (!Array.isArray(list)) return [];
  return [
    ...new Set(
      (list as unknown[]).flatMap((source) => (isClass(source) ? [source] : classesIn(toolsetPlan(source)?.sources))),
    ),
  ];
}

/** Compiles a site's list. All that is wrong comes in one `AIDefinitionError`. */
export function compileSite(site: Site, list: unknown, unbound: UnboundFinder): CompiledTools {
  const problems = sourceProblems(site.name, list, typeof site.options.tools === 'function');
  if (problems.length > 0) throw new AIDefinitionError(problems);
  return compileTools(`@AI on ${site.name}`, list, site.options, unbound);
}

/** Reads a list of classes, `Tool`s, registry keys and toolsets. */
export function compileTools(where: string, list: unknown, options: object, unbound: UnboundFinder): CompiledTools {
  const keys = new Map<string, RegistryKey>();
  const read = new ToolList(where, list, options, (source, at, problems) => {
    if (typeof source === 'string') {
      if (!isRegistryKey(source)) problems.push(noRegistryKey(at, source));
      const key = keys.get(source) ?? new RegistryKey(source, unbound);
      keys.set(source, key);
      return key;
    }
    if (!isClass(source)) {
      problems.push(
        `${at}: tools holds ${describeKind(source)}; list classes with @AITool methods, tools made by defineTool, toolsets or registry keys`,
      );
      return [];
    }
    const scanned = scanClass(source);
    problems.push(...scanned.problems.map((problem) => `${at}: ${problem}`));
    return scanned.tools;
  });
  const classes = classesIn(list);
  const roots = classes.flatMap((target) => rootsOf(target).roots);
  return Object.freeze({ list: read, classes, keys: [...keys.values()], roots: [...new Set(roots)] });
}
