import { describeKind, throwProblems } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import { compileHandmade, isTool } from '../tool/compile.js';
import { groupNames, narrows } from '../tool/group.js';
import type { CompiledTool } from '../tool/tool.js';
import { duplicateNames, narrowTools, CompiledToolset } from '../tool/compiled-toolset.js';

/** Reads what is in a `tools` list besides `Tool`s; the engine itself knows no decorator. */
export type SourceScanner = (source: unknown, where: string, problems: string[]) => readonly CompiledTool[];

/** Compiles a `tools` list and narrows it; all its problems come in one `AIDefinitionError`. */
export function buildToolset(where: string, sources: unknown, options: object, scan: SourceScanner): CompiledToolset {
  if (!Array.isArray(sources))
    throw new AIDefinitionError(`${where}: tools must be a list, tools: [OrderTools], found ${describeKind(sources)}`);
  if (sources.length === 0)
    throw new AIDefinitionError(
      `${where}: tools is empty; list what the model may call, or leave tools out for a plain model`,
    );
  const problems: string[] = [];
  const tools = (sources as unknown[]).flatMap((source) => readSource(source, where, problems, scan));
  let narrowed: readonly CompiledTool[] = tools;
  if (narrows(options)) {
    const before = problems.length;
    const groups = groupNames(where, options.toolGroup, problems);
    if (problems.length === before) narrowed = narrowTools(tools, groups, where, problems);
  }
  problems.push(...duplicateNames(narrowed).map((problem) => `${where}: ${problem}`));
  throwProblems(problems);
  return new CompiledToolset(narrowed);
}

function readSource(source: unknown, where: string, problems: string[], scan: SourceScanner): readonly CompiledTool[] {
  if (!isTool(source)) return scan(source, where, problems);
  const tool = compileHandmade(source, problems);
  return tool === undefined ? [] : [tool];
}
