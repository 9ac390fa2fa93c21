import { describeKind, descriptionProblems, isObject, nameProblems, throwProblems } from '../declaration.js';
import { TOOLSET_PLAN } from '../tool-source.js';
import { groupNames, type ToolGroup } from './group.js';
import type { LateTools } from './late-tools.js';
import type { Tool } from './tool.js';

/**
 * What may stand in a `tools` list: a class with `@AITool` methods, a `Tool`, a toolset, a key of the registry, the tools
 * of an MCP server.
 */
export type ToolSource = (abstract new (...args: never[]) => object) | Tool | Toolset | string | LateTools;

/** One thing that is done to the tools of a toolset, in the order in which it was written. */
export type ToolsetStep =
  | { readonly do: 'only'; readonly groups: readonly string[] }
  | { readonly do: 'except'; readonly names: readonly string[] }
  | { readonly do: 'prefix'; readonly prefix: string }
  | { readonly do: 'rename'; readonly names: readonly (readonly [from: string, to: string])[] }
  /** By wire name, or wire name and parameter: `search.query`. */
  | { readonly do: 'describe'; readonly texts: readonly (readonly [what: string, text: string])[] };

/** What a toolset was made of. Nothing in it is read before an agent is made: a class may be one that nobody bound yet. */
export interface ToolsetPlan {
  readonly sources: readonly unknown[];
  readonly steps: readonly ToolsetStep[];
}

/**
 * Tools as a value: what is in it, narrowed, renamed and described anew. It stands wherever a `tools` list stands, and in
 * another toolset. Each method gives a new one; names are wire names, as the steps before left them, and one that is not
 * there is an `AIDefinitionError` once the agent is made.
 */
export class Toolset {
  /** @internal */
  readonly [TOOLSET_PLAN]: ToolsetPlan;

  /** @internal */
  constructor(plan: ToolsetPlan) {
    this[TOOLSET_PLAN] = plan;
    Object.freeze(this);
  }

  /** Only the tools in this group, or in any of these. `.only(ReadOnly).only(Billing)` are those that are in both. */
  only(group: ToolGroup | readonly ToolGroup[]): Toolset {
    const problems: string[] = [];
    const groups = groupNames('toolset(…).only', group, problems);
    throwProblems(problems);
    return this.#and({ do: 'only', groups });
  }

  /** All but these, by wire name. */
  except(...names: readonly string[]): Toolset {
    if (names.length === 0 || !names.every(isName))
      throwProblems([`toolset(…).except takes wire names, .except('OrderTools_refundOrder'); found ${kinds(names)}`]);
    return this.#and({ do: 'except', names: Object.freeze([...names]) });
  }

  /** Puts a word and `_` before every name: `crm` makes `crm_lookup` of `lookup`. */
  prefix(prefix: string): Toolset {
    if (typeof prefix !== 'string' || !/^[A-Za-z0-9_-]{1,60}$/.test(prefix))
      throwProblems([
        `toolset(…).prefix takes a word of letters, digits, _ and -, .prefix('crm'); found ${kinds([prefix])}`,
      ]);
    return this.#and({ do: 'prefix', prefix });
  }

  /** Gives tools other wire names, `{ searchKB: 'search' }`. */
  rename(names: Readonly<Record<string, string>>): Toolset {
    const entries = entriesOf('rename', "{ searchKB: 'search' }", names);
    throwProblems(entries.flatMap(([from, to]) => nameProblems(`toolset(…).rename, ${from}`, to)));
    return this.#and({ do: 'rename', names: entries });
  }

  /** Says anew what the model reads of a tool or of a parameter, `{ search: '…', 'search.query': '…' }`. */
  describe(texts: Readonly<Record<string, string>>): Toolset {
    const entries = entriesOf('describe', "{ search: 'Searches the CRM', 'search.query': 'Words' }", texts);
    throwProblems(entries.flatMap(([what, text]) => descriptionProblems(`toolset(…).describe, ${what}`, text)));
    return this.#and({ do: 'describe', texts: entries });
  }

  #and(step: ToolsetStep): Toolset {
    const { sources, steps } = this[TOOLSET_PLAN];
    return new Toolset({ sources, steps: Object.freeze([...steps, Object.freeze(step)]) });
  }
}

/**
 * A toolset of classes with `@AITool` methods, `Tool`s, registry keys, MCP servers and other toolsets; for
 * `createAIService` of instances too. Making one reads and registers nothing.
 * Throws an `AIDefinitionError` where it is given nothing, or something that is `undefined`.
 */
export function toolset(...sources: readonly (object | string)[]): Toolset {
  const problems =
    sources.length === 0 ? ['toolset: there are no tools in it; list some, toolset(OrderTools, searchKB)'] : [];
  for (const [index, source] of (sources as readonly unknown[]).entries()) {
    const at = `toolset, source ${index.toString()}`;
    if (source === undefined)
      problems.push(
        `${at} is undefined: a circular import, or a class that is declared later; make the toolset where it is used, in tools: () => [toolset(…)]`,
      );
    else if (typeof source !== 'string' && typeof source !== 'function' && !isObject(source))
      problems.push(`${at} is ${describeKind(source)}; list classes, tools, registry keys or toolsets one by one`);
  }
  throwProblems(problems);
  return new Toolset(Object.freeze({ sources: Object.freeze([...sources]), steps: Object.freeze([]) }));
}

/** What a toolset was made of; nothing where a value is none. */
export function toolsetPlan(value: unknown): ToolsetPlan | undefined {
  return typeof value === 'object' && value !== null && TOOLSET_PLAN in value
    ? (value as Toolset)[TOOLSET_PLAN]
    : undefined;
}

function entriesOf(method: string, example: string, given: unknown): readonly (readonly [string, string])[] {
  if (!isObject(given) || Object.keys(given).length === 0)
    throwProblems([`toolset(…).${method} takes an object, ${example}; found ${kinds([given])}`]);
  return Object.freeze(Object.entries(given as Readonly<Record<string, string>>));
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name !== '';
}

function kinds(values: readonly unknown[]): string {
  if (values.length === 0) return 'nothing';
  return values
    .map((value) => (typeof value === 'string' ? `"${value.slice(0, 60)}"` : describeKind(value)))
    .join(', ');
}
