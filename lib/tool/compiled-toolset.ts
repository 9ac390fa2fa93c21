import { throwProblems } from '../declaration.js';
import { inGroups } from './group.js';
import type { CompiledTool } from './tool.js';

/**
 * The narrowed, frozen set of tools that one agent has: what the model reads, what it can name and what is executed all
 * come from here. Ordered by wire name, by code unit, so that the same set always gives the same bytes.
 */
export class CompiledToolset {
  readonly tools: readonly CompiledTool[];
  readonly names: readonly string[];
  readonly #byName: ReadonlyMap<string, CompiledTool>;
  readonly #narrowed = new Map<string, CompiledToolset>();
  readonly #without = new Map<string, CompiledToolset>();

  /** The set without tools: a plain model, and the turn after the last permitted call. */
  static readonly EMPTY = new CompiledToolset([]);

  /** Throws an `AIDefinitionError` where two tools have one name. */
  constructor(tools: readonly CompiledTool[]) {
    throwProblems(duplicateNames(tools));
    this.tools = Object.freeze([...tools].sort((a, b) => (a.name < b.name ? -1 : 1)));
    this.names = Object.freeze(this.tools.map(({ name }) => name));
    this.#byName = new Map(this.tools.map((tool) => [tool.name, tool]));
    Object.freeze(this);
  }

  /** The tool of that wire name, of this set and no other. */
  get(name: string): CompiledTool | undefined {
    return this.#byName.get(name);
  }

  /** Those in any of the groups, as a set of their own; throws where none is left, since an agent would lose all its tools unnoticed. */
  only(groups: readonly string[], where: string): CompiledToolset {
    const key = JSON.stringify(groups);
    let narrowed = this.#narrowed.get(key);
    if (narrowed === undefined) {
      const problems: string[] = [];
      narrowed = new CompiledToolset(narrowTools(this.tools, groups, where, problems));
      throwProblems(problems);
      this.#narrowed.set(key, narrowed);
    }
    return narrowed;
  }

  /** The others, as a set of their own: what is left when some may not be called any more. */
  without(names: readonly string[]): CompiledToolset {
    if (names.length === 0) return this;
    const left = this.tools.filter(({ name }) => !names.includes(name));
    if (left.length === this.tools.length) return this;
    if (left.length === 0) return CompiledToolset.EMPTY;
    const key = left.map(({ name }) => name).join();
    let rest = this.#without.get(key);
    if (rest === undefined) {
      rest = new CompiledToolset(left);
      this.#without.set(key, rest);
    }
    return rest;
  }
}

/** The tools in any of the groups; a group that leaves nothing of something is a problem. */
export function narrowTools(
  tools: readonly CompiledTool[],
  groups: readonly string[],
  where: string,
  problems: string[],
): readonly CompiledTool[] {
  const narrowed = tools.filter((tool) => inGroups(tool, groups));
  if (tools.length > 0 && narrowed.length === 0) problems.push(emptyGroup(where, groups, tools));
  return narrowed;
}

/** What to say where a group leaves nothing: the groups that there are, since most often one is misspelt. */
function emptyGroup(where: string, groups: readonly string[], tools: readonly CompiledTool[]): string {
  const present = [...new Set(tools.flatMap((tool) => [...tool.groups]))].sort();
  const bear = present.length === 0 ? 'they bear no group' : `their groups are ${present.join(', ')}`;
  return `${where}: no tool is in toolGroup ${groups.join(' or ')}; of ${tools.map(({ name }) => name).join(', ')}, ${bear}. Mark the methods, or name another group`;
}

/** One line for each wire name that two tools have, naming where both were declared. */
export function duplicateNames(tools: readonly CompiledTool[]): string[] {
  const seen = new Map<string, CompiledTool>();
  const problems: string[] = [];
  for (const tool of tools) {
    const other = seen.get(tool.name);
    if (other !== undefined)
      problems.push(
        `${other.origin} and ${tool.origin} both have the wire name ${tool.name}; give one another name, name: 'legacy_find'`,
      );
    else seen.set(tool.name, tool);
  }
  return problems;
}
