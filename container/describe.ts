import { createHash } from 'node:crypto';
import { deepFreeze } from '../lib/declaration.js';
import type { ArgumentsSchema } from '../lib/schema/json-schema.js';
import type { LateTools } from '../lib/tool/late-tools.js';
import type { CompiledTool } from '../lib/tool/tool.js';
import type { ToolEffect } from '../lib/run.js';
import type { InjectedAgent } from './injected-service.js';
import type { ToolRegistry } from './tool-registry.js';

/**
 * What an application exposes to models: plain frozen data, the same for the same declarations, to be kept as a snapshot
 * so that a change of it shows in review.
 */
export interface AIDescription {
  /** By name. */
  readonly sites: readonly SiteDescription[];
}

/** One agent. */
export interface SiteDescription {
  /** `SupportController#0`, `SupportController.reader`. */
  readonly site: string;
  /** What it is narrowed to: the groups of which a tool must have one; empty where it has all tools of its list. */
  readonly toolGroup: readonly string[];
  /** What the application says to the model before every question. */
  readonly system: string;
  /** Calls in one run. */
  readonly maxToolCalls: number;
  /** By wire name; those of the registry as it is now. */
  readonly tools: readonly ToolDescription[];
  /** Where further tools come from when a run begins, and the names that each may have there; absent where there is none. */
  readonly servers?: readonly { readonly label: string; readonly tools: readonly string[] }[];
}

/** One tool of an agent. */
export interface ToolDescription {
  /** The wire name. */
  readonly name: string;
  /** Where it is declared: `OrderTools.findOrder`. */
  readonly declaredAt: string;
  /** A tool that is marked neither way counts as mutating. */
  readonly effect: ToolEffect;
  /** As marked, in alphabetical order. */
  readonly groups: readonly string[];
  /** What the model reads of it. */
  readonly description: string;
  /** What the model may choose. */
  readonly parameters: ArgumentsSchema;
  /** What is filled from the scope, by `@FromScope`: the model may not choose it. */
  readonly fromScope: readonly string[];
  /** SHA-256 of all that the model reads of the tool: name, description and parameters. */
  readonly schemaHash: string;
}

/** Describes agents; those of one name stay in one order, too. */
export function describeAgents(agents: readonly InjectedAgent[], registry: ToolRegistry): AIDescription {
  const sites = agents.map((agent) => describeAgent(agent, registry));
  const keyed = sites.map((site) => ({ site, key: `${site.site}\n${JSON.stringify(site)}` }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  return deepFreeze({ sites: keyed.map(({ site }) => site) });
}

function describeAgent({ definition, tools, toolGroup }: InjectedAgent, registry: ToolRegistry): SiteDescription {
  const { site, system, maxToolCalls } = definition;
  const found = new Map<LateTools, readonly CompiledTool[]>(tools.keys.map((key) => [key, key.in(registry).tools]));
  const { toolset } = tools.list.with(found);
  const elsewhere = tools.list.late.filter((late) => !found.has(late));
  return {
    site,
    toolGroup,
    system,
    maxToolCalls,
    tools: toolset.tools.map(describeTool),
    ...(elsewhere.length > 0 && {
      servers: elsewhere.map(({ label, names }) => ({ label, tools: [...names].sort() })),
    }),
  };
}

function describeTool(tool: CompiledTool): ToolDescription {
  const { name, origin, effect, groups, description, fromScope, schema: parameters } = tool;
  const hash = createHash('sha256').update(JSON.stringify({ name, description, parameters }));
  return {
    name,
    declaredAt: origin,
    effect,
    groups: [...groups].sort(),
    description,
    parameters,
    fromScope: [...fromScope],
    schemaHash: hash.digest('hex'),
  };
}
