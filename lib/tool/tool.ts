import type { ToolOptions } from '../declaration.js';
import type { ParameterOptions } from '../schema/parameter.js';
import type { ArgumentsConverter } from '../schema/convert.js';
import type { ArgumentsSchema, JsonSchemaObject } from '../schema/json-schema.js';
import type { Parameter, StandardSchema } from '../schema/shape.js';
import type { ToolEffect, TranscriptEntry } from '../run.js';
import type { ToolGroup } from './group.js';

/** What a tool is told about the call that it serves. None of it comes from the model but `question`. */
export interface ToolCallContext {
  /** Unique for each question. */
  readonly runId: string;
  /** Unique within the run. */
  readonly callId: string;
  /** The provider call, counted from 1, whose reply made this call. */
  readonly turn: number;
  /** The tool's wire name. */
  readonly tool: string;
  /** Aborted when the caller gives up, the scope closes or the tool's time is over. */
  readonly signal: AbortSignal;
  /** What the service was asked; empty where nothing was, as in a call over MCP. */
  readonly question: string;
  /** The run so far, oldest first. */
  readonly transcript: readonly TranscriptEntry[];
  /** What the caller passed as `metadata`; `{}` where nothing was. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** One parameter of a tool made by hand: nothing but `type`, `enum`, `items`, `values` or a schema says what it is. */
export type ToolParameter = ParameterOptions & {
  /** What the value is, for the model. */
  readonly description: string;
} & (
    | Required<Pick<ParameterOptions, 'type'>>
    | Required<Pick<ParameterOptions, 'enum'>>
    | Required<Pick<ParameterOptions, 'items'>>
    | Required<Pick<ParameterOptions, 'values'>>
    | Required<Pick<ParameterOptions, 'schema'>>
    | Required<Pick<ParameterOptions, 'jsonSchema'>>
  );

/** The parameters of a tool made by hand, by name, in the order in which the model reads them. */
export type ToolParameters = Readonly<Record<string, ToolParameter>>;

/** Something that a model can call: the small port behind every kind of tool. */
export interface Tool extends ToolOptions {
  /** The wire name: `[A-Za-z0-9_-]`, at most 64. */
  readonly name: string;
  /** All that the model learns about what it does. */
  readonly description: string;
  /** Each by its name; or a Standard Schema of an object, which says all of them at once. */
  readonly parameters: ToolParameters | StandardSchema<object>;
  readonly groups: readonly ToolGroup[];
  /** Gets the converted arguments. What it returns is told to the model as text; a promise is awaited. */
  execute(args: object, context: ToolCallContext): unknown;
}

/**
 * A tool as a toolset holds it: checked, frozen, with its defaults filled in. `prepare` resolves what the call needs and
 * gives the call itself, so that a call that was given up meanwhile does not begin. It gets the run's `host`, which the
 * engine hands through unread: it is where a container's tools find the scope that they are resolved from.
 */
export interface CompiledTool {
  readonly name: string;
  /** Where it was declared, for messages to the developer: `OrderTools.findOrder`. */
  readonly origin: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** Checks and converts what the model sends. */
  readonly convert: ArgumentsConverter;
  /** What the model may send: all that was declared. */
  readonly schema: ArgumentsSchema;
  /** The same for a provider's strict mode; none where a parameter cannot be said in it. */
  readonly strictSchema: JsonSchemaObject | undefined;
  /** What fills the parameters that the model does not see and may not choose, by name. */
  readonly fromScope: readonly string[];
  readonly groups: readonly string[];
  readonly effect: ToolEffect;
  readonly timeoutMs: number;
  readonly idempotent: boolean;
  readonly repeatable: boolean;
  readonly returnDirect: boolean;
  readonly notFound: string | undefined;
  readonly maxResultChars: number;
  readonly prepare: (
    args: Readonly<Record<string, unknown>>,
    context: ToolCallContext,
    host: unknown,
  ) => (() => unknown) | Promise<() => unknown>;
}
