import {
  descriptionProblems,
  nameProblems,
  throwProblems,
  TOOL_OPTIONS,
  type ToolOptions,
  toolOptionProblems,
  unknownOptions,
} from '../lib/declaration.js';
import { AIDefinitionError } from '../lib/errors.js';
import { emittedTypes, ownMetadata } from './metadata.js';
import { methodName } from './member.js';

/** What `@AITool` takes besides the description. */
export interface AIToolOptions extends ToolOptions {
  /** What the method does, in natural language: all that the model learns about it besides its parameters. */
  readonly description: string;
  /** Replaces the wire name `Class_method`; needed where class names are minified. `[A-Za-z0-9_-]`, at most 64. */
  readonly name?: string;
}

/**
 * Makes an instance method a tool. That alone exposes nothing: an agent has the tools of the classes it lists.
 * The wire name is `Class_method`, of the class that is listed.
 *
 * Throws an `AIDefinitionError` for a blank description, an unknown option, an illegal name, a parameter that is not
 * decorated, and anything that is not an instance method with a name.
 */
export function AITool(declaration: string | AIToolOptions) {
  return (target: object, key: string | symbol, descriptor?: PropertyDescriptor): void => {
    const { where, name: method } = methodName('@AITool', target, key, descriptor);
    if (method === 'then')
      throw new AIDefinitionError(
        `${where}: a tool method cannot be called then, an object with one is taken for a promise; rename it`,
      );
    const { description, name, ...options } =
      typeof declaration === 'string' ? { description: declaration, name: undefined } : readOptions(where, declaration);
    const problems = descriptionProblems(where, description);
    if (name !== undefined) problems.push(...nameProblems(where, name));
    problems.push(...toolOptionProblems(where, options));
    const paramTypes = emittedTypes(target, method);
    const parameterCount = paramTypes?.length ?? (descriptor?.value as { readonly length: number }).length;
    problems.push(...parameterProblems(where, target, method, parameterCount));
    if (ownMetadata(target).tools.has(method))
      problems.push(`${where}: the method is a tool already; keep one @AITool`);
    throwProblems(problems);
    ownMetadata(target).tools.set(method, { description, name, options, paramTypes, parameterCount });
  };
}

function readOptions(where: string, declaration: AIToolOptions): AIToolOptions {
  throwProblems(unknownOptions(where, declaration, ['description', 'name', ...TOOL_OPTIONS]));
  return declaration;
}

/** Parameter decorators run before those of their method, so all of them are known here. */
function parameterProblems(where: string, target: object, method: string, parameterCount: number): string[] {
  const sources = ownMetadata(target).parameters.get(method);
  const problems: string[] = [];
  const count = Math.max(parameterCount, ...[...(sources?.keys() ?? [])].map((index) => index + 1));
  for (let index = 0; index < count; index++)
    if (sources?.has(index) !== true)
      problems.push(
        `${where}, parameter ${index.toString()}: not decorated; write @AIToolParam('name', 'what it is') for a value from the model, @FromScope(Token) for one from the container, @AIToolContext() for the call's context`,
      );
  const names = [...(sources?.values() ?? [])].flatMap((source) => (source.from === 'model' ? [source.name] : []));
  for (const name of new Set(names))
    if (names.indexOf(name) !== names.lastIndexOf(name))
      problems.push(`${where}: two parameters are called ${name}; the model could not tell them apart`);
  return problems;
}
