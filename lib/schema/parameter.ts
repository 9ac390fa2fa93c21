import { describeKind, PARAMETER_OPTIONS, parameterNameProblems, unknownOptions } from '../declaration.js';
import { callLimitProblems } from './call-limits.js';
import { declaredShape } from './declared-shape.js';
import { defaultOf } from './default-value.js';
import type { EmittedType } from './emitted-type.js';
import { finisherOf } from './finish.js';
import { isOfShape } from './is-of-shape.js';
import type { Parameter, Shape, StandardSchema, TextFormat } from './shape.js';

/** The names of JSON Schema: `'array'` needs `items`, `'object'` needs `values`. */
export type ParameterKind = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';

/** A class whose properties bear rules of class-validator. */
export type ClassType = new () => object;

/**
 * How a type is written: by JSON Schema's name, or by the class that the method takes; `() => Line` for one that is
 * declared later. `Object` is an object of values by name, and needs `values`; so does `Map`; `Array` and `Set` need
 * `items`.
 */
export type ParameterType =
  | ParameterKind
  | StringConstructor
  | NumberConstructor
  | BooleanConstructor
  | BigIntConstructor
  | DateConstructor
  | ArrayConstructor
  | SetConstructor
  | MapConstructor
  | ObjectConstructor
  | BufferConstructor
  | Uint8ArrayConstructor
  | ClassType
  | (() => ClassType);

/** What is inside a list or an object: a type, or a type with its bounds, `{ type: 'integer', minimum: 1 }`. */
export type ElementType = ParameterType | ElementOptions;

/** The allowed values: a list of texts or numbers, or a TypeScript enum. Of a numeric enum the model uses the names. */
export type EnumValues = readonly (string | number)[] | Readonly<Record<string, string | number>>;

/** What says what a value is. The bounds are JSON Schema's own, and checked here whatever a provider enforces. */
export interface ElementOptions {
  /** Needed where the compiler says nothing, or too little: an integer, a union with `undefined`. */
  readonly type?: ParameterType;
  /** What is in the array or the set. */
  readonly items?: ElementType;
  /** What is in the map or the object, under any name. */
  readonly values?: ElementType;
  readonly enum?: EnumValues;
  /** In characters. */
  readonly minLength?: number;
  /** In characters. Default: 65,536; with a `pattern`, which may take the square of the length, 2,048. */
  readonly maxLength?: number;
  /** A regular expression of JavaScript, with its flag `u`; anywhere in the text, unless it says `^` and `$`. */
  readonly pattern?: string;
  readonly format?: TextFormat;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minItems?: number;
  /** Default: 1,000. */
  readonly maxItems?: number;
  /** Of a `Buffer` or `Uint8Array`, which travels as base64. Default: 49,152. */
  readonly maxBytes?: number;
  /** A Standard Schema, of zod, valibot or arktype, which says all of it: it checks, and the method gets what it makes. */
  readonly schema?: StandardSchema;
  /**
   * A JSON Schema, which says all of it. Alone, it is what the value is checked by, and what cannot be checked here is an
   * error; beside `schema`, it is what the model reads where that library cannot say it.
   */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
}

/** What `@AIToolParam` and `defineTool` take besides name and description. */
export interface ParameterOptions extends ElementOptions {
  /** The model may leave it out; the method then gets `undefined`. Default: false. */
  readonly optional?: boolean;
  /** `null` is a value that the method takes. Default: false; `null` is then absence. */
  readonly nullable?: boolean;
  /** What the method gets where the model leaves it out: checked now, made anew for each call. */
  readonly default?: unknown;
}

/**
 * Checks one declaration.
 * What is wrong is pushed to `problems`, each with what to write instead.
 */
export function declareParameter(
  where: string,
  name: string,
  description: string | undefined,
  options: ParameterOptions,
  emitted: EmittedType,
  problems: string[],
): Parameter | undefined {
  const before = problems.length;
  const known = [...(emitted.from === 'handmade' ? ['description'] : []), ...PARAMETER_OPTIONS];
  for (const problem of unknownOptions(where, options, known)) problems.push(problem);
  if (problems.length > before) return undefined;
  problems.push(...parameterNameProblems(where, name));
  if (typeof description !== 'string' || description.trim() === '')
    problems.push(
      `${where}: the description is blank; say in a few words what the value is, the model reads nothing else`,
    );
  for (const flag of ['optional', 'nullable'] as const)
    if (options[flag] !== undefined && typeof options[flag] !== 'boolean')
      problems.push(`${where}: ${flag} must be true or false, found ${describeKind(options[flag])}`);
  const read = problems.length > before ? undefined : declaredShape(where, options, emitted, problems);
  if (read === undefined) return undefined;
  for (const problem of callLimitProblems(where, read.shape)) problems.push(problem);
  if (read.nullable && options.nullable === false)
    problems.push(`${where}: nullable is false, but the schema takes null; leave nullable out, or mend the schema`);
  const shape =
    read.shape.kind === 'standard' && options.nullable === true && !read.nullable
      ? Object.freeze({ ...read.shape, passesNull: true as const })
      : read.shape;
  const nullable = options.nullable === true || read.nullable;
  const hasDefault = options.default !== undefined;
  if (hasDefault && options.optional === false)
    problems.push(`${where}: what has a default may be left out, so optional: false does not hold; leave one out`);
  if (hasDefault && !(nullable && options.default === null)) problems.push(...defaultProblems(where, shape, options));
  if (problems.length > before) return undefined;
  const kept = defaultOf(shape, options.default);
  return Object.freeze({
    name,
    description: description ?? '',
    shape,
    optional: options.optional === true || hasDefault,
    nullable,
    ...(hasDefault && { makeDefault: () => defaultOf(shape, kept) }),
  });
}

function defaultProblems(where: string, shape: Shape, { default: value }: ParameterOptions): string[] {
  if (shape.kind === 'standard')
    return [
      `${where}: default is not checked by schema; give it there, z.number().default(10), and write optional: true here`,
    ];
  if (finisherOf(shape) !== undefined)
    return [`${where}: an instance of a class cannot be a default; write optional: true, and make it in the method`];
  return isOfShape(shape, value)
    ? []
    : [
        `${where}: default is ${describeKind(value)} that the declaration itself would refuse; write a value that the method takes, within the bounds`,
      ];
}
