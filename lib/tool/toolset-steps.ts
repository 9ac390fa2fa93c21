import { nameProblems } from '../declaration.js';
import { redescribed } from './compile.js';
import { narrowTools } from './compiled-toolset.js';
import type { CompiledTool } from './tool.js';
import type { ToolsetStep } from './toolset.js';

/** Where the steps of a toolset are taken. */
interface StepContext {
  /** For messages: the agent that has the toolset. */
  readonly where: string;
  /** Not, where tools may be missing: those of a server that is down. A name is then not known to be wrong. */
  readonly isWhole: boolean;
  readonly problems: string[];
}

/** What the steps leave of some tools. What is wrong with a step goes to `problems`. */
export function takeSteps(
  tools: readonly CompiledTool[],
  steps: readonly ToolsetStep[],
  context: StepContext,
): readonly CompiledTool[] {
  return steps.reduce((left, step) => takeStep(left, step, context), tools);
}

function takeStep(tools: readonly CompiledTool[], step: ToolsetStep, context: StepContext): readonly CompiledTool[] {
  const where = `${context.where}: toolset(…).${step.do}`;
  switch (step.do) {
    case 'only':
      return narrowTools(tools, step.groups, where, context.isWhole ? context.problems : []);
    case 'except':
      refuseUnknown(where, step.names, tools, context);
      return tools.filter(({ name }) => !step.names.includes(name));
    case 'prefix':
      return tools.map((tool) => named(tool, `${step.prefix}_${tool.name}`, where, context));
    case 'rename': {
      const names = new Map(step.names);
      refuseUnknown(where, [...names.keys()], tools, context);
      return tools.map((tool) => named(tool, names.get(tool.name) ?? tool.name, where, context));
    }
    case 'describe': {
      const texts = step.texts.map(([what, text]) => [...partsOf(what), text] as const);
      refuseUnknown(
        where,
        texts.map(([name]) => name),
        tools,
        context,
      );
      return tools.map((tool) =>
        texts
          .filter(([name]) => name === tool.name)
          .reduce((described, [, parameter, text]) => redescribe(described, parameter, text, where, context), tool),
      );
    }
  }
}

/** No wire name holds a point. */
function partsOf(what: string): readonly [name: string, parameter: string | undefined] {
  const point = what.indexOf('.');
  return point < 0 ? [what, undefined] : [what.slice(0, point), what.slice(point + 1)];
}

function named(tool: CompiledTool, name: string, where: string, { problems }: StepContext): CompiledTool {
  if (name === tool.name) return tool;
  problems.push(...nameProblems(`${where}, ${tool.origin}`, name));
  return Object.freeze({ ...tool, name });
}

function redescribe(
  tool: CompiledTool,
  parameter: string | undefined,
  text: string,
  where: string,
  { problems }: StepContext,
): CompiledTool {
  if (parameter === undefined) return Object.freeze({ ...tool, description: text });
  if (!tool.parameters.some(({ name }) => name === parameter)) {
    const known = tool.parameters.map(({ name }) => name);
    problems.push(
      `${where}: ${tool.name} has no parameter "${parameter}"; ${known.length === 0 ? 'it has none' : `there are ${known.join(', ')}`}`,
    );
    return tool;
  }
  return redescribed(tool, parameter, text);
}

function refuseUnknown(
  where: string,
  names: readonly string[],
  tools: readonly CompiledTool[],
  { isWhole, problems }: StepContext,
): void {
  if (!isWhole) return;
  const known = new Set(tools.map(({ name }) => name));
  for (const name of new Set(names))
    if (!known.has(name))
      problems.push(`${where}: there is no tool "${name}" at this point; there are ${[...known].sort().join(', ')}`);
}
