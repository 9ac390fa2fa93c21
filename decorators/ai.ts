import { inject } from 'inversify';
import { deepFreeze, describeKind, isClass, throwProblems, optionProblems } from '../lib/declaration.js';
import { AIDefinitionError } from '../lib/errors.js';
import type { ChatModel } from '../lib/model/chat-model.js';
import { RUN_OPTIONS, type RunOptions, runOptionProblems } from '../lib/run-options.js';
import { groupNames, isToolGroup, narrows, type ToolGroup } from '../lib/tool/group.js';
import type { ToolSource } from '../lib/tool/toolset.js';
import { isRegistryKey, isToolSource, noRegistryKey } from '../lib/tool-source.js';
import { className, refuseStandardDecorator } from './member.js';
import { addSite, type Class } from './metadata.js';

/** What `@AI` takes. */
export interface AIOptions extends RunOptions {
  /** The only tools that this agent has: classes, `Tool`s, toolsets, registry keys, MCP servers; a function that returns the list, for classes that are declared later. */
  readonly tools: readonly ToolSource[] | (() => readonly ToolSource[]);
  /** Only those in this group, or in any of these. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
  /** Default: the `ChatModel` bound in the scope, else in the application. */
  readonly model?: ChatModel;
}

const OPTIONS = ['tools', 'toolGroup', ...RUN_OPTIONS, 'model'];

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
    if (narrows(options)) groupNames(`@AI on ${name}`, options.toolGroup, problems);
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
    if (isClass(source) || (typeof source === 'object' && source !== null && isToolSource(source))) return [];
    if (typeof source === 'string') return isRegistryKey(source) ? [] : [noRegistryKey(at, source)];
    if (typeof source === 'object' && source !== null)
      return [
        `${at} is ${describeKind(source)}; list the class, the container makes the instance: tools: [OrderTools]`,
      ];
    return [`${at} is ${describeKind(source)}; list classes with @AITool methods, or tools made by defineTool`];
  });
}
