import { AIDefinitionError } from '../errors.js';
import { TOOL_OPTIONS, type ToolOptions, unknownOptions } from '../declaration.js';
import type { ClassType } from '../schema/parameter.js';
import type { StandardSchema } from '../schema/shape.js';
import { compileHandmade } from './compile.js';
import type { ToolGroup } from './group.js';
import type { Tool, ToolCallContext, ToolParameter, ToolParameters } from './tool.js';

/** Of an enum by its names: a numeric one also leads back from its numbers. */
type MemberOf<E> = E extends readonly (infer V)[] ? V : E[Extract<keyof E, string>];
/** What a type alone says. */
type ValueOf<T> = T extends 'integer' | 'number' | NumberConstructor
  ? number
  : T extends 'boolean' | BooleanConstructor
    ? boolean
    : T extends BigIntConstructor
      ? bigint
      : T extends DateConstructor
        ? Date
        : T extends BufferConstructor | Uint8ArrayConstructor
          ? Buffer
          : T extends 'string' | StringConstructor
            ? string
            : T extends ClassType
              ? InstanceType<T>
              : T extends () => ClassType
                ? InstanceType<ReturnType<T>>
                : never;
/** What an element says: a type, or a type with its bounds. */
type ElementOf<E> = E extends object
  ? E extends ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown)
    ? ValueOf<E>
    : ShapeOf<E>
  : ValueOf<E>;
type ShapeOf<P> = P extends { readonly schema: StandardSchema<infer O> }
  ? O
  : P extends { readonly jsonSchema: object }
    ? unknown
    : DeclaredOf<P>;
type DeclaredOf<P> = P extends { readonly enum: infer E }
  ? MemberOf<E>
  : P extends { readonly items: infer I }
    ? P extends { readonly type: SetConstructor }
      ? Set<ElementOf<I>>
      : ElementOf<I>[]
    : P extends { readonly values: infer V }
      ? P extends { readonly type: MapConstructor }
        ? Map<string, ElementOf<V>>
        : Record<string, ElementOf<V>>
      : P extends { readonly type: infer T }
        ? ValueOf<T>
        : never;
type ArgumentOf<P extends ToolParameter> = ShapeOf<P> | (P extends { readonly nullable: true } ? null : never);
/** One with a default is there for the tool, though not for the model. */
type IsOptional<P extends ToolParameter> = P extends { readonly default: unknown }
  ? false
  : P extends { readonly optional: true }
    ? true
    : false;

/** What `execute` gets, from what was declared. */
export type ToolArguments<P extends ToolParameters | StandardSchema<object>> =
  P extends StandardSchema<infer O> ? O : P extends ToolParameters ? NamedArguments<P> : never;
type NamedArguments<P extends ToolParameters> = {
  readonly [K in keyof P as IsOptional<P[K]> extends true ? never : K]: ArgumentOf<P[K]>;
} & { readonly [K in keyof P as IsOptional<P[K]> extends true ? K : never]?: ArgumentOf<P[K]> | undefined };

/** What `defineTool` takes. */
export interface ToolDefinition<P extends ToolParameters | StandardSchema<object>> extends ToolOptions {
  /** The wire name: `[A-Za-z0-9_-]`, at most 64. */
  readonly name: string;
  /** What it does: all that the model learns about it besides its parameters. */
  readonly description: string;
  /**
   * By name, in the order in which the model reads them; `{}` for none. Or a Standard Schema of an object, of zod, valibot
   * or arktype, which says all of them at once.
   */
  readonly parameters: P;
  /** One group or several. Without one the tool counts as mutating. */
  readonly group?: ToolGroup | readonly ToolGroup[];
  /** Gets the converted arguments. What it returns is told to the model as text; a promise is awaited. */
  readonly execute: (args: ToolArguments<P>, context: ToolCallContext) => unknown;
}

/**
 * A tool made of a function. Making one registers nothing: it can be called once it stands in a `tools` list.
 * Throws an `AIDefinitionError` that names every problem.
 */
export function defineTool<const P extends ToolParameters | StandardSchema<object>>(
  definition: ToolDefinition<P>,
): Tool {
  const { name: named } = (definition as Partial<Tool> | undefined) ?? {};
  const where = `defineTool${typeof named === 'string' ? ` ${named}` : ''}`;
  const problems = unknownOptions(where, definition, [
    'name',
    'description',
    'parameters',
    'group',
    'execute',
    ...TOOL_OPTIONS,
  ]);
  if (problems.length > 0) throw new AIDefinitionError(problems);
  if (typeof definition.execute !== 'function')
    throw new AIDefinitionError(`${where}: execute must be a function (args, context) => …`);
  const { group = [], execute, ...rest } = definition;
  const tool: Tool = Object.freeze({
    ...rest,
    groups: Object.freeze(Array.isArray(group) ? [...(group as readonly ToolGroup[])] : [group as ToolGroup]),
    // The dispatcher hands over what was converted by this very declaration.
    execute: (args: object, context: ToolCallContext) => execute(args as ToolArguments<P>, context),
  });
  compileHandmade(tool, problems);
  if (problems.length > 0) throw new AIDefinitionError(problems);
  return tool;
}
