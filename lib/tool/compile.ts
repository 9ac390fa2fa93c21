import {
  deepFreeze,
  descriptionProblems,
  describeKind,
  nameProblems,
  type ToolOptions,
  toolOptionProblems,
} from '../declaration.js';
import { type ArgumentsConverter, compileArguments } from '../schema/convert.js';
import { type ArgumentsSchema, argumentsSchema } from '../schema/json-schema.js';
import { declareParameter } from '../schema/parameter.js';
import type { Parameter } from '../schema/shape.js';
import { isStandardSchema } from '../schema/standard.js';
import { strictArguments, strictExcess } from '../schema/strict.js';
import { wholeArguments } from '../schema/whole-schema.js';
import { effectOf, isToolGroup, MUTATING, READ_ONLY } from './group.js';
import type { CompiledTool, Tool, ToolParameter } from './tool.js';

/** What is left of a tool's declaration once parameters and groups are known; the same for a method and a function. */
export interface ToolDraft {
  readonly name: string;
  readonly origin: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** Where the parameters do not say how they are converted. */
  readonly convert?: ArgumentsConverter;
  readonly fromScope?: readonly string[];
  readonly groups: readonly string[];
  readonly options: ToolOptions;
  readonly prepare: CompiledTool['prepare'];
}

/**
 * Fills in the defaults, makes once what every call needs, and freezes. What no provider's strict mode would take goes to
 * `problems`, and then there is no tool.
 */
export function compileTool(draft: ToolDraft, problems: string[]): CompiledTool | undefined {
  const { options } = draft;
  const schema = argumentsSchema(draft.parameters);
  const strictSchema = strictArguments(schema);
  const limits =
    strictSchema === undefined
      ? sizeProblems(draft.origin, schema)
      : strictExcess(strictSchema).map(
          (found) => `${draft.origin}: its arguments have ${found}; declare less, or make several tools of it`,
        );
  problems.push(...limits);
  if (limits.length > 0) return undefined;
  return Object.freeze({
    name: draft.name,
    origin: draft.origin,
    description: draft.description,
    parameters: Object.freeze([...draft.parameters]),
    convert: draft.convert ?? compileArguments(draft.parameters),
    schema: deepFreeze(schema),
    strictSchema: deepFreeze(strictSchema),
    fromScope: Object.freeze([...(draft.fromScope ?? [])]),
    groups: Object.freeze([...draft.groups]),
    effect: effectOf(draft.groups),
    timeoutMs: options.timeoutMs ?? 60_000,
    idempotent: options.idempotent ?? false,
    repeatable: options.repeatable ?? false,
    returnDirect: options.returnDirect ?? false,
    notFound: options.notFound,
    maxResultChars: options.maxResultChars ?? 20_000,
    prepare: draft.prepare,
  });
}

/** The same tool with another text for one of its parameters. */
export function redescribed(tool: CompiledTool, parameter: string, description: string): CompiledTool {
  const parameters = Object.freeze(
    tool.parameters.map((one) => (one.name === parameter ? Object.freeze({ ...one, description }) : one)),
  );
  const schema = argumentsSchema(parameters);
  return Object.freeze({
    ...tool,
    parameters,
    schema: deepFreeze(schema),
    strictSchema: deepFreeze(strictArguments(schema)),
  });
}

/** In characters. No provider says where it stops, but each turn is billed for all of it. */
const MAX_SCHEMA = 500_000;

/** Without a strict form no provider counts what is in a schema; another library may write one that has no end. */
function sizeProblems(origin: string, schema: ArgumentsSchema): string[] {
  const { length } = JSON.stringify(schema);
  return length <= MAX_SCHEMA
    ? []
    : [
        `${origin}: the JSON Schema of its arguments has ${length.toString()} characters, and ${MAX_SCHEMA.toString()} are allowed; declare less, or make several tools of it`,
      ];
}

/** Whether a value in a `tools` list is a `Tool`. */
export function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && 'execute' in value && typeof value.execute === 'function';
}

/** Compiles a tool made by hand; what is wrong goes to `problems`, and then there is no tool. */
export function compileHandmade(tool: Tool, problems: string[]): CompiledTool | undefined {
  const before = problems.length;
  const origin = `tool ${typeof tool.name === 'string' ? tool.name : '(without a name)'}`;
  problems.push(
    ...nameProblems(origin, tool.name),
    ...descriptionProblems(origin, tool.description),
    ...toolOptionProblems(origin, tool),
  );
  const declared = declaredParameters(origin, tool.parameters, problems);
  const groups = groupsOf(origin, tool.groups, problems);
  if (declared === undefined || problems.length > before) return undefined;
  // Bound: what is compiled is what runs, whatever becomes of the object.
  const execute = tool.execute.bind(tool);
  return compileTool(
    {
      name: tool.name,
      origin,
      description: tool.description,
      ...declared,
      groups,
      options: tool,
      prepare: (args, context) => () => execute(args, context),
    },
    problems,
  );
}

function declaredParameters(
  origin: string,
  declared: unknown,
  problems: string[],
): Pick<ToolDraft, 'parameters' | 'convert'> | undefined {
  if (isStandardSchema(declared)) return wholeArguments(origin, declared, undefined, problems);
  if (typeof declared !== 'object' || declared === null || Array.isArray(declared)) {
    problems.push(
      `${origin}: parameters must be an object, { query: { type: 'string', description: '…' } }, or a Standard Schema, z.object({ query: z.string() }); {} for none; found ${describeKind(declared)}`,
    );
    return undefined;
  }
  const parameters: Parameter[] = [];
  for (const [name, parameter] of Object.entries(declared as Readonly<Record<string, ToolParameter>>)) {
    const where = `${origin}, parameter ${name}`;
    const { description } = (parameter as Partial<ToolParameter> | null) ?? {};
    const compiled = declareParameter(where, name, description, parameter, { from: 'handmade' }, problems);
    if (compiled !== undefined) parameters.push(compiled);
  }
  return { parameters };
}

function groupsOf(origin: string, groups: unknown, problems: string[]): readonly string[] {
  if (!Array.isArray(groups)) {
    problems.push(`${origin}: groups must be a list of groups, as [ReadOnly], found ${describeKind(groups)}`);
    return [];
  }
  const list: unknown[] = groups;
  const names = list.filter(isToolGroup).map(({ groupName }) => groupName);
  if (names.length < list.length)
    problems.push(`${origin}: groups holds something that is no group; use ReadOnly, Mutating or AIToolGroup('…')`);
  problems.push(...effectProblems(origin, names));
  return names;
}

/** A tool cannot be both; which one was meant decides what a read-only agent may call. */
export function effectProblems(origin: string, groups: readonly string[]): string[] {
  return groups.includes(READ_ONLY) && groups.includes(MUTATING)
    ? [`${origin}: marked both ReadOnly and Mutating; keep the one that is true`]
    : [];
}
