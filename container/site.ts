import type { ServiceIdentifier } from 'inversify';
import { sourceProblems } from '../decorators/ai.js';
import type { Class, Site } from '../decorators/metadata.js';
import { toolMembers } from '../decorators/tool-members.js';
import { buildToolset } from '../lib/agent/tool-list.js';
import { describeKind, isClass } from '../lib/declaration.js';
import { AIDefinitionError } from '../lib/errors.js';
import type { CompiledToolset } from '../lib/tool/compiled-toolset.js';
import { scanClass } from './scan.js';

/** A `tools` list, read: the set, and what its tools are resolved from. */
export interface CompiledTools {
  readonly toolset: CompiledToolset;
  readonly classes: readonly Class[];
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

/** The classes in a list, whatever else is in it. */
export function classesIn(list: unknown): readonly Class[] {
  return Array.isArray(list) ? [...new Set((list as unknown[]).filter(isClass))] : [];
}

/** Compiles a site's list. All that is wrong comes in one `AIDefinitionError`. */
export function compileSite(site: Site, list: unknown): CompiledTools {
  const problems = sourceProblems(site.name, list, typeof site.options.tools === 'function');
  if (problems.length > 0) throw new AIDefinitionError(problems);
  return compileTools(`@AI on ${site.name}`, list, site.options);
}

/** Reads a list of classes and `Tool`s. */
export function compileTools(where: string, list: unknown, options: object): CompiledTools {
  const classes: Class[] = [];
  const toolset = buildToolset(where, list, options, (source, at, problems) => {
    if (typeof source !== 'function') {
      problems.push(
        `${at}: tools holds ${describeKind(source)}; list classes with @AITool methods, or tools made by defineTool`,
      );
      return [];
    }
    const target = source as unknown as Class;
    if (classes.includes(target)) {
      problems.push(`${at}: tools lists ${target.name} twice; list it once`);
      return [];
    }
    classes.push(target);
    const scanned = scanClass(target);
    problems.push(...scanned.problems.map((problem) => `${at}: ${problem}`));
    return scanned.tools;
  });
  const tokens = classes
    .flatMap((target) => toolMembers(target, []))
    .flatMap(({ sources }) => sources.flatMap((source) => (source.from === 'scope' ? [source.token] : [])));
  return Object.freeze({ toolset, classes, roots: [...new Set<ServiceIdentifier>([...classes, ...tokens])] });
}
