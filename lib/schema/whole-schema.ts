import { compileArguments, type ArgumentsConverter } from './convert.js';
import { callKeys } from './call-key.js';
import { callLimitProblems } from './call-limits.js';
import { describeKind, parameterNameProblems } from '../declaration.js';
import { Findings } from './findings.js';
import type { Unchecked } from './finish.js';
import { isJsonObject } from './json.js';
import { shapeFromJsonSchema } from './from-json-schema.js';
import { mapReferences, referencesIn } from './json-schema.js';
import { outlineOf } from './outline.js';
import type { Field, Parameter, Shape, StandardSchema, StandardShape } from './shape.js';
import { convertByStandard, standardShape } from './standard.js';

type Schema = Readonly<Record<string, unknown>>;

/** All arguments of a tool, as one schema of an object says them. */
export interface WholeArguments {
  readonly parameters: readonly Parameter[];
  readonly convert: ArgumentsConverter;
}

/**
 * Reads a schema that says all arguments at once; `json` is what the model is told, where its library does not say.
 * What arrives is read by its outline, as each parameter is that was declared by itself, and checked by that library.
 */
export function wholeArguments(
  where: string,
  schema: StandardSchema,
  json: unknown,
  problems: string[],
): WholeArguments | undefined {
  const before = problems.length;
  const read = standardShape(where, schema, json, problems);
  if (read === undefined) return undefined;
  const told = read.shape.json;
  // Open or not, what it does not name the model cannot send.
  const { additionalProperties: _, ...closed } = told;
  const outline = isJsonObject(told['properties']) ? outlineOf(closed).shape : read.shape.outline;
  if (outline.kind !== 'object' || read.nullable) {
    problems.push(
      `${where}: parameters must say an object, z.object({ query: z.string() }); found a schema of ${describeKind(told['type'] ?? told)}`,
    );
    return undefined;
  }
  const whole: StandardShape = Object.freeze({ ...read.shape, outline });
  problems.push(...callLimitProblems(where, whole));
  for (const { name } of outline.fields) problems.push(...parameterNameProblems(`${where}, parameter ${name}`, name));
  if (problems.length > before) return undefined;
  return Object.freeze({
    parameters: Object.freeze(parametersOf(whole, outline.fields)),
    convert: converter(whole, outline.fields),
  });
}

/** Each property as the library says it, for the model to read. */
function parametersOf({ schema, json }: StandardShape, fields: readonly Field[]): readonly Parameter[] {
  const { properties, $defs } = withOwnRoot(json);
  return fields.map((field) => {
    const said = properties[field.name] ?? {};
    const { description } = said;
    return Object.freeze({
      ...field,
      description: typeof description === 'string' ? description : '',
      shape:
        simpleShape(said) ??
        Object.freeze({
          kind: 'standard' as const,
          schema,
          json: Object.freeze({ ...said, ...(referencesIn(said).length > 0 && { $defs }) }),
          outline: field.shape,
        }),
    });
  });
}

const SIMPLE: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'enum']);

/** What one word and its bounds say in full, said so: `integer from 1 to 50` is less to read than its schema. */
function simpleShape(said: Schema): Shape | undefined {
  const { minimum, maximum, default: _, ...rest } = said;
  // zod says of each integer that it is a safe one.
  const bounds = {
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  };
  const read = shapeFromJsonSchema('', { ...rest, ...bounds }, []);
  return read !== undefined && SIMPLE.has(read.shape.kind) ? read.shape : undefined;
}

const ROOT = 'Arguments';

/** What refers into the whole keeps its target when its properties stand alone. */
function withOwnRoot({ $defs, ...root }: Schema): {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly $defs: Schema;
} {
  const move = (schema: unknown): Schema =>
    mapReferences(schema, (path) => ({
      $ref: path.startsWith('#/$defs/') ? path : `#/$defs/${ROOT}${path.slice(1)}`,
    })) as Schema;
  const whole = move(root);
  const isReferredTo = [root, $defs].some((part) => referencesIn(part).some((path) => !path.startsWith('#/$defs/')));
  return {
    properties: (whole['properties'] ?? {}) as Readonly<Record<string, Schema>>,
    $defs: Object.freeze({ ...move($defs ?? {}), ...(isReferredTo && { [ROOT]: whole }) }),
  };
}

function converter(shape: StandardShape, fields: readonly Field[]): ArgumentsConverter {
  const all: Parameter = { name: 'arguments', description: '', shape, optional: false, nullable: false };
  const readFields = compileArguments(fields.map((field) => ({ ...field, description: '' })));
  return async (sent) => {
    const read = await readFields(sent);
    if (!read.ok) return read;
    const given = Object.fromEntries(Object.entries(read.values).filter(([, value]) => value !== undefined));
    const findings = new Findings();
    const unchecked: Unchecked[] = [];
    const { value } = await convertByStandard(shape, { value: given, optional: false }, '', findings, unchecked);
    if (findings.count > 0)
      return { ok: false, lines: findings.lines, ...(unchecked[0] !== undefined && { error: unchecked[0].error }) };
    if (!isJsonObject(value)) {
      const error = new Error(`the schema makes ${describeKind(value)} of the arguments, and the tool takes an object`);
      return { ok: false, lines: ['these arguments could not be checked'], error };
    }
    return {
      ok: true,
      values: value,
      keys: () => callKeys([all], { arguments: given }, { arguments: value }),
    };
  };
}
