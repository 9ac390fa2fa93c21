import { inject } from 'inversify';
import {
  countProblems,
  deepFreeze,
  describeKind,
  isClass,
  textProblems,
  throwProblems,
  optionProblems,
} from '../lib/declaration.js';
import { AIDefinitionError } from '../lib/errors.js';
import type { ChatModel } from '../lib/model/chat-model.js';
import { type AILimits, type ModelSettings, runOptionProblems, type ToolChoice } from '../lib/run-options.js';
import type { WireName } from '../lib/wire-name.js';
import { groupNames, isToolGroup, narrows, type ToolGroup } from '../lib/tool/group.js';
import type { Tool } from '../lib/tool/tool.js';
import { className, refuseStandardDecorator } from './member.js';
import { addSite, type Class } from './metadata.js';

/** What may stand in the `tools` of `@AI`: a class with `@AITool` methods, or a `Tool`. */
export type ToolSource = Class | Tool;

/** What `@AI` takes. */
export interface AIOptions {
  /** The only tools that this agent has; a function that returns the list, for classes that are declared later. */
  readonly tools: readonly ToolSource[] | (() => readonly ToolSource[]);
  /** Only those in this group, or in any of these. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
  /** What the application says to the model before every question. */
  readonly system?: string;
  /** Default: the `ChatModel` bound in the scope, else in the application. */
  readonly model?: ChatModel;
  /** Calls in one run, unknown, wrong and failed ones included. Default: 5. */
  readonly maxToolCalls?: number;
  /** How often one provider call is sent where that may help; 1 is no retry. Default: 3. */
  readonly maxAttempts?: number;
  /** What ends a run that does not end itself; each bound in place of the application's. */
  readonly limits?: AILimits;
  /** Sent along with every request; each in place of the application's. */
  readonly settings?: ModelSettings;
  /** How turns travel. Default: the strongest wire that the model's profile has. */
  readonly wire?: WireName;
  /** Whether a tool must be called first, and which. Default: `auto`. */
  readonly toolChoice?: ToolChoice;
  /** Whether the model may make several calls in one turn, on the native wire. Default: false. */
  readonly parallelToolCalls?: boolean;
  /** How many calls of one turn run at once, of tools that only look. Default: 4. */
  readonly maxParallelCalls?: number;
}

const OPTIONS = [
  ...['tools', 'toolGroup', 'system', 'model', 'maxToolCalls', 'maxAttempts', 'limits', 'settings'],
  ...['wire', 'toolChoice', 'parallelToolCalls', 'maxParallelCalls'],
];

/**
 * Injects an agent, an `AIService`, into a constructor parameter or a property. The agent has the tools that are listed
 * here and no others, and calls them as the caller of the current scope.
 *
 * Throws an `AIDefinitionError` for what can be seen here: a static, a method's parameter, unknown options, counts below
 * 1, no tools, a class that is `undefined`. What needs the container comes when the site is resolved, or at `verify()`.
 */
export function AI(options: AIOptions) {
  return (target: object, key?: string | symbol, parameter?: number | PropertyDescriptor): void => {
    refuseStandardDecorator('@AI', key);
    const owner = (typeof target === 'function' ? target : target.constructor) as Class;
    const index = typeof parameter === 'number' ? parameter : undefined;
    const name = `${className(owner)}${key === undefined ? '' : `.${String(key)}`}${index === undefined ? '' : `#${index.toString()}`}`;
    refuseTarget(name, target, key, parameter);
    const problems = optionProblems(`@AI on ${name}`, options, OPTIONS);
    problems.push(...countProblems(`@AI on ${name}`, 'maxToolCalls', options.maxToolCalls));
    problems.push(...countProblems(`@AI on ${name}`, 'maxAttempts', options.maxAttempts));
    if (narrows(options)) groupNames(`@AI on ${name}`, options.toolGroup, problems);
    problems.push(...textProblems(`@AI on ${name}`, 'system', options.system));
    problems.push(...runOptionProblems(`@AI on ${name}`, options));
    problems.push(...toolListProblems(name, options.tools));
    throwProblems(problems);
    const frozen = freezeOptions(options);
    // Its text is what inversify prints where nobody bound it.
    const id = Symbol(`@AI ${name}, bound by installAI(container, …)`);
    // inversify's own decorator files the injection; it refuses what it cannot inject before the site is known.
    (inject(id) as (target: object, key?: string | symbol, parameter?: number | PropertyDescriptor) => void)(
      target,
      key,
      parameter,
    );
    addSite(Object.freeze({ id, name, target: owner, member: key, index, options: frozen }));
  };
}

/** A copy that nobody can widen later. */
function freezeOptions(options: AIOptions): AIOptions {
  const { tools, toolGroup, limits, settings } = options;
  return Object.freeze({
    ...options,
    ...(limits !== undefined && { limits: deepFreeze(structuredClone(limits)) }),
    ...(settings !== undefined && { settings: Object.freeze({ ...settings }) }),
    tools: typeof tools === 'function' ? tools : Object.freeze([...tools]),
    ...(toolGroup !== undefined && { toolGroup: isToolGroup(toolGroup) ? toolGroup : Object.freeze([...toolGroup]) }),
  });
}

function refuseTarget(
  name: string,
  target: object,
  key: string | symbol | undefined,
  parameter: number | PropertyDescriptor | undefined,
): void {
  const refuse = (found: string): never => {
    throw new AIDefinitionError(
      `@AI on ${name}: ${found}; write it on a constructor parameter or on a property of the instance`,
    );
  };
  if (typeof parameter === 'number' && key !== undefined) refuse('a parameter of a method, which nothing injects');
  if (typeof target === 'function' && key !== undefined) refuse('a static, which nothing injects');
  if (key === undefined && typeof parameter !== 'number') refuse('a class');
  if (typeof parameter === 'object' && parameter.set === undefined)
    refuse(parameter.get === undefined ? 'a method' : 'a getter without a setter');
}

/** What is wrong with a list that is already there; one that a function returns is looked at when the site is resolved. */
function toolListProblems(site: string, tools: unknown): string[] {
  if (typeof tools === 'function' && !isClass(tools)) return [];
  return sourceProblems(site, tools);
}

/** What is wrong with a `tools` list, each with its index. */
export function sourceProblems(site: string, tools: unknown, lazy = false): string[] {
  const where = `@AI on ${site}`;
  if (tools === undefined)
    return [`${where}: tools is missing; list the classes that this agent may use, tools: [OrderTools]`];
  if (!Array.isArray(tools))
    return [`${where}: tools must be a list, found ${describeKind(tools)}; write tools: [OrderTools]`];
  if (tools.length === 0)
    return [
      `${where}: tools is empty; list the classes that this agent may use, or use createAIService for a plain model`,
    ];
  return (tools as unknown[]).flatMap((source, index) => {
    const at = `${where}, tools[${index.toString()}]`;
    if (source === undefined)
      return [
        lazy
          ? `${at} is undefined, although the list is read only now: check what is imported and its spelling`
          : `${at} is undefined: a circular import, or a class that is declared later; write tools: () => [OrderTools], which is read by verify(), or when the agent is first resolved`,
      ];
    if (isClass(source) || (typeof source === 'object' && source !== null && 'execute' in source)) return [];
    if (typeof source === 'object' && source !== null)
      return [
        `${at} is ${describeKind(source)}; list the class, the container makes the instance: tools: [OrderTools]`,
      ];
    return [`${at} is ${describeKind(source)}; list classes with @AITool methods, or tools made by defineTool`];
  });
}
