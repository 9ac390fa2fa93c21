import { describeKind, isClass, throwProblems } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import { compileHandmade, isTool } from '../tool/compile.js';
import { CompiledToolset, duplicateNames, narrowTools } from '../tool/compiled-toolset.js';
import { groupNames, narrows } from '../tool/group.js';
import { isLateTools, type LateContext, type LateTools } from '../tool/late-tools.js';
import type { CompiledTool } from '../tool/tool.js';
import { compiledBehind } from '../tool/registered-tool.js';
import { toolsetPlan, type ToolsetStep } from '../tool/toolset.js';
import { takeSteps } from '../tool/toolset-steps.js';

/** Reads what is in a `tools` list besides `Tool`s and toolsets; the engine itself knows no decorator. */
export type SourceScanner = (source: unknown, where: string, problems: string[]) => readonly CompiledTool[] | LateTools;

/** A list as far as it is read: what is known of it, and what is late. */
type Part =
  | { readonly is: 'known'; readonly tools: readonly CompiledTool[] }
  | { readonly is: 'late'; readonly source: LateTools }
  | { readonly is: 'toolset'; readonly parts: readonly Part[]; readonly steps: readonly ToolsetStep[] };

/** What each late source had. */
export type FoundLate = ReadonlyMap<LateTools, readonly CompiledTool[] | undefined>;

/** The tools that an agent has, or will have once it is asked. */
export interface AgentTools {
  /** What is known only when a run begins; mostly nothing. */
  readonly late: readonly LateTools[];
  /** What is known without asking anybody: all there is, where nothing is late. */
  readonly known: CompiledToolset;
  /** The set for a run. Throws an `AIDefinitionError` where what came does not go together. */
  find(context: LateContext): Promise<FoundTools>;
}

/** The set of one run. */
export interface FoundTools {
  readonly toolset: CompiledToolset;
  /** Not, where a server is down that may be: its tools are missing. */
  readonly isWhole: boolean;
}

/** Of a service that is a plain model. */
export const NO_TOOLS: AgentTools = Object.freeze({
  late: Object.freeze([]),
  known: CompiledToolset.EMPTY,
  find: () => Promise.resolve({ toolset: CompiledToolset.EMPTY, isWhole: true }),
});

/** How many sets of one list are kept: callers may have different tools on one server. */
const KEPT = 8;

/**
 * A `tools` list, read and narrowed. Where all of it is known, it is one set, made once. Where something in it is late, a
 * set is made for each run, and the same one again as long as nothing changes.
 */
export class ToolList implements AgentTools {
  readonly #where: string;
  readonly #parts: readonly Part[];
  readonly #groups: readonly string[] | undefined;
  readonly late: readonly LateTools[];
  readonly known: CompiledToolset;
  readonly #made: (FoundTools & { readonly found: FoundLate })[] = [];

  /** Throws all that is wrong in one `AIDefinitionError`. */
  constructor(where: string, sources: unknown, options: object, scan: SourceScanner) {
    this.#where = where;
    const problems: string[] = [];
    this.#parts = readParts(where, listOf(where, sources, problems), scan, problems);
    this.late = [...new Set(this.#parts.flatMap(lateIn))];
    const before = problems.length;
    this.#groups = narrows(options) ? groupNames(where, options.toolGroup, problems) : undefined;
    const known = problems.length > before ? [] : this.#toolsOf(new Map(), problems);
    throwProblems(problems);
    this.known = setOf(known);
  }

  async find(context: LateContext): Promise<FoundTools> {
    const found = await Promise.all(this.late.map(async (source) => [source, await source.find(context)] as const));
    return this.with(new Map(found));
  }

  /** The set that it is with what the late sources have. */
  with(found: FoundLate): FoundTools {
    const same = this.#made.find((made) => this.late.every((source) => made.found.get(source) === found.get(source)));
    if (same !== undefined) return same;
    const problems: string[] = [];
    const tools = this.#toolsOf(found, problems);
    throwProblems(problems);
    const made = Object.freeze({ found, toolset: setOf(tools), isWhole: this.#isWhole(found) });
    this.#made.unshift(made);
    this.#made.length = Math.min(this.#made.length, KEPT);
    return made;
  }

  #isWhole(found: FoundLate): boolean {
    return this.late.every((source) => found.get(source) !== undefined);
  }

  #toolsOf(found: FoundLate, problems: string[]): readonly CompiledTool[] {
    const isWhole = this.#isWhole(found);
    const context = { where: this.#where, isWhole, problems };
    const tools = this.#parts.flatMap((part) => toolsIn(part, found, context));
    const narrowed =
      this.#groups === undefined ? tools : narrowTools(tools, this.#groups, this.#where, isWhole ? problems : []);
    problems.push(...duplicateNames(narrowed).map((problem) => `${this.#where}: ${problem}`));
    return narrowed;
  }
}

function setOf(tools: readonly CompiledTool[]): CompiledToolset {
  return tools.length === 0 ? CompiledToolset.EMPTY : new CompiledToolset(tools);
}

/** The list, each class in it once. */
function listOf(where: string, sources: unknown, problems: string[]): readonly unknown[] {
  if (!Array.isArray(sources))
    throw new AIDefinitionError(`${where}: tools must be a list, tools: [OrderTools], found ${describeKind(sources)}`);
  if (sources.length === 0)
    throw new AIDefinitionError(
      `${where}: tools is empty; list what the model may call, or leave tools out for a plain model`,
    );
  const list: readonly unknown[] = sources;
  const again = list.filter((source, index) => isClass(source) && list.indexOf(source) < index);
  problems.push(
    ...[...new Set(again)].map(
      (target) => `${where}: tools lists ${(target as { name: string }).name} twice; list it once`,
    ),
  );
  return list.filter((source, index) => !isClass(source) || list.indexOf(source) === index);
}

function readParts(
  where: string,
  sources: readonly unknown[],
  scan: SourceScanner,
  problems: string[],
): readonly Part[] {
  return sources.map((source): Part => {
    const plan = toolsetPlan(source);
    if (plan !== undefined)
      return { is: 'toolset', parts: readParts(where, plan.sources, scan, problems), steps: plan.steps };
    if (isLateTools(source)) return { is: 'late', source };
    if (isTool(source)) {
      const tool = compiledBehind(source) ?? compileHandmade(source, problems);
      return { is: 'known', tools: tool === undefined ? [] : [tool] };
    }
    const read = scan(source, where, problems);
    return isLateTools(read) ? { is: 'late', source: read } : { is: 'known', tools: read };
  });
}

function lateIn(part: Part): readonly LateTools[] {
  if (part.is === 'late') return [part.source];
  return part.is === 'toolset' ? part.parts.flatMap(lateIn) : [];
}

function toolsIn(part: Part, found: FoundLate, context: Parameters<typeof takeSteps>[2]): readonly CompiledTool[] {
  switch (part.is) {
    case 'known':
      return part.tools;
    case 'late':
      return found.get(part.source) ?? [];
    case 'toolset':
      return takeSteps(
        part.parts.flatMap((inner) => toolsIn(inner, found, context)),
        part.steps,
        // What is missing elsewhere is not missing here.
        { ...context, isWhole: part.parts.flatMap(lateIn).every((source) => found.get(source) !== undefined) },
      );
  }
}
