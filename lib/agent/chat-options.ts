import { countProblems, describeKind, isObject, optionProblems, shortly, throwProblems } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import type { ToolChoice } from '../run-options.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import { groupNames, narrows, type ToolGroup } from '../tool/group.js';
import type { AgentDefinition, RunningAgent } from './agent.js';
import { wantsCall } from './offer.js';

/** What one question may say besides its text. Options only narrow: they never give an agent more than its site did. */
export interface ChatOptions {
  /** Ends the run; its reason is rethrown unchanged. */
  readonly signal?: AbortSignal;
  /** Handed to tools in their context; the model does not see it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Only the tools of this agent that are also in one of these groups. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
  /** At most so many calls; not above the agent's own bound. */
  readonly maxToolCalls?: number;
  /** Whether a tool must be called first, and which of this question's. Default: the agent's own. */
  readonly toolChoice?: ToolChoice;
}

const CHAT_OPTIONS = ['signal', 'metadata', 'toolGroup', 'maxToolCalls', 'toolChoice'];

/** Throws all that is wrong with a question and its options, as far as they say nothing of tools. */
export function checkQuestion(where: string, agent: AgentDefinition, question: unknown, options: ChatOptions): void {
  const problems = [
    ...optionProblems(where, options, CHAT_OPTIONS),
    ...countProblems(where, 'maxToolCalls', options.maxToolCalls),
  ];
  if (typeof question !== 'string' || question.trim() === '')
    problems.push(`${where}: the question must be a text that is not blank`);
  if (options.maxToolCalls !== undefined && options.maxToolCalls > agent.maxToolCalls)
    problems.push(
      `${where}: maxToolCalls ${options.maxToolCalls.toString()} is above the agent's own ${agent.maxToolCalls.toString()}; options of a call only narrow, raise it where the agent is declared`,
    );
  if (options.signal !== undefined && !isSignal(options.signal))
    problems.push(`${where}: signal must be an AbortSignal, found ${describeKind(options.signal)}`);
  if (options.metadata !== undefined && !isObject(options.metadata))
    problems.push(`${where}: metadata must be an object, found ${describeKind(options.metadata)}`);
  throwProblems(problems);
}

/** What the options leave of an agent with these tools. */
export function narrow(
  where: string,
  agent: AgentDefinition,
  all: CompiledToolset,
  options: ChatOptions,
): Pick<RunningAgent, 'toolset' | 'maxToolCalls' | 'toolChoice'> {
  const { maxToolCalls = agent.maxToolCalls, toolChoice = agent.toolChoice } = options;
  const toolset = narrowedSet(all, options, where);
  if (options.toolChoice === undefined && wantsCall(toolChoice) && toolset.get(toolChoice) === undefined) {
    // Said where the agent is declared, and right there.
    if (toolChoice !== 'required' && all.get(toolChoice) !== undefined)
      throw new AIDefinitionError(
        `${where}: toolGroup leaves no ${toolChoice}, which the agent's toolChoice wants; give the question a toolChoice of its own`,
      );
    throwProblems(toolChoiceProblems(agent.site, toolChoice, toolset));
  } else throwProblems(toolChoiceProblems(where, toolChoice, toolset));
  return { toolset, maxToolCalls, toolChoice };
}

function narrowedSet(toolset: CompiledToolset, options: ChatOptions, where: string): CompiledToolset {
  if (!narrows(options)) return toolset;
  const problems: string[] = [];
  const groups = groupNames(where, options.toolGroup, problems);
  if (toolset.tools.length === 0) problems.push(`${where}: there are no tools that toolGroup could narrow`);
  throwProblems(problems);
  return toolset.only(groups, where);
}

const CHOICES: readonly string[] = ['auto', 'required', 'none'];

/** A problem where a choice is of a tool that is not there. */
export function toolChoiceProblems(where: string, choice: unknown, toolset: CompiledToolset): string[] {
  if (choice === undefined || (typeof choice === 'string' && CHOICES.includes(choice))) {
    return choice === 'required' && toolset.tools.length === 0
      ? [`${where}: toolChoice is 'required', and there are no tools`]
      : [];
  }
  if (typeof choice === 'string' && toolset.get(choice) !== undefined) return [];
  return [
    `${where}: toolChoice must be 'auto', 'required', 'none'${toolset.names.length === 0 ? '' : ` or one of its tools, ${toolset.names.join(', ')}`}; found ${shortly(choice)}`,
  ];
}

/** Any implementation will do: a polyfill's, or another realm's. */
function isSignal(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { aborted, addEventListener, removeEventListener } = value;
  return (
    typeof aborted === 'boolean' && typeof addEventListener === 'function' && typeof removeEventListener === 'function'
  );
}
