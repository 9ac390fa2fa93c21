import { countProblems, optionProblems, throwProblems, TOOL_OPTIONS, type ToolOptions } from '../declaration.js';
import { AIToolError } from '../errors.js';
import { defineTool } from '../tool/define-tool.js';
import { READ_ONLY } from '../tool/group.js';
import type { Tool } from '../tool/tool.js';
import type { AgentDefinition } from './agent.js';
import type { Answered } from './question.js';
import { outwards, type SurroundingCall, surroundingCall } from './nesting.js';

/** What `asTool` takes. */
export interface AgentToolOptions extends ToolOptions {
  /** The wire name: `[A-Za-z0-9_-]`, at most 64. */
  readonly name: string;
  /** What it is good at: all that the other model learns about it. */
  readonly description: string;
  /** How many agents may be at work within each other, this one included. Default: 3. */
  readonly maxDepth?: number;
}

const DEFAULT_MAX_DEPTH = 3;

/** An agent as a tool. `answer` asks it in the place of whoever calls. */
export function agentTool(
  agent: AgentDefinition,
  options: AgentToolOptions,
  answer: (task: string, signal: AbortSignal, charged: SurroundingCall | undefined) => Promise<Answered>,
): Tool {
  const known = ['name', 'description', 'maxDepth', ...TOOL_OPTIONS];
  const problems = optionProblems('asTool', options, known);
  throwProblems([...problems, ...countProblems('asTool', 'maxDepth', options.maxDepth)]);
  const { maxDepth = DEFAULT_MAX_DEPTH, ...rest } = options;
  return defineTool({
    ...rest,
    parameters: {
      task: {
        type: 'string',
        description: 'What it is to do or to find out, in full: it knows nothing else',
        minLength: 1,
      },
    },
    group: onlyLooks(agent) ? [{ groupName: READ_ONLY }] : [],
    execute: async ({ task }, { signal }) => {
      const call = surroundingCall();
      refuse(options.name, agent, call, maxDepth);
      return (await answer(task, signal, call)).run.text;
    },
  });
}

/** Of tools that are known only when it runs, nobody can say so now. */
function onlyLooks({ tools: { known, late } }: AgentDefinition): boolean {
  return late.length === 0 && known.tools.every(({ effect }) => effect === 'read-only');
}

/** The model reads why, so that it does the task itself. */
function refuse(name: string, agent: AgentDefinition, call: SurroundingCall | undefined, maxDepth: number): void {
  const around = [...outwards(call)];
  if (around.some((outer) => outer.agent === agent))
    throw new AIToolError(`${name} is at work on this already and cannot be asked within itself; do it without.`);
  if (around.length >= maxDepth)
    throw new AIToolError(
      `${name} cannot be asked here: ${around.length.toString()} agents are at work within each other, and that is the most; do it without.`,
    );
}
