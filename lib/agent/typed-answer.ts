import { deepFreeze, describeKind, isClass } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import type { ResponseSchema } from '../model/chat-model.js';
import { compileArguments, type Conversion } from '../schema/convert.js';
import { isJsonObject } from '../schema/json.js';
import { type ArgumentsSchema, argumentsSchema, type JsonSchemaObject } from '../schema/json-schema.js';
import { type ClassType, declareParameter } from '../schema/parameter.js';
import type { StandardSchema } from '../schema/shape.js';
import { isStandardSchema } from '../schema/standard.js';
import { strictArguments, strictExcess } from '../schema/strict.js';

/** What `chat` takes in order to give back a value in place of a text. */
export type AnswerType<T> = (abstract new (...args: never[]) => T) | StandardSchema<T>;

/** What an answer of that type is: of `Number` a number, and no object around one. */
export type AnswerValue<T> = T extends { valueOf(): infer P extends string | number | boolean | bigint }
  ? T extends P
    ? T
    : [P] extends [T]
      ? P
      : T
  : T;

/** A type of answer, compiled: what the model must write, and how that becomes the value. */
export interface TypedAnswer {
  readonly responseSchema: ResponseSchema;
  /** Checks and converts what the model wrote. */
  readonly convert: (written: unknown) => Conversion | Promise<Conversion>;
}

/** The name of the answer in the lines that the model is told. */
export const ANSWER_NAME = 'answer';

const compiled = new WeakMap<object, TypedAnswer>();

/** Whether what stands where `chat` takes a type or its options is a type. */
export function isAnswerType(value: unknown): value is AnswerType<unknown> {
  return typeof value === 'function' || isStandardSchema(value);
}

/**
 * Compiles a type of answer, once. Throws an `AIDefinitionError` where it is a class without rules, a schema that the
 * model cannot be told, or more than providers take.
 */
export function compileAnswer(site: string, type: AnswerType<unknown>): TypedAnswer {
  let answer = compiled.get(type);
  if (answer === undefined) {
    answer = compile(`${site}, chat, the answer`, type);
    compiled.set(type, answer);
  }
  return answer;
}

function compile(where: string, type: unknown): TypedAnswer {
  const options = isStandardSchema(type) ? { schema: type } : isClass(type) ? { type: type as ClassType } : undefined;
  if (options === undefined)
    throw new AIDefinitionError(
      `${where}: expected a class with class-validator's rules, or a Standard Schema; found ${describeKind(type)}`,
    );
  const problems: string[] = [];
  const parameter = declareParameter(where, ANSWER_NAME, 'The answer', options, { from: 'handmade' }, problems);
  if (parameter === undefined) throw new AIDefinitionError(problems.map(forAnswers));
  const loose = argumentsSchema([parameter]);
  const strictSchema = strictArguments(loose);
  if (strictSchema !== undefined)
    problems.push(...strictExcess(strictSchema).map((found) => `${where}: the type has ${found}; declare less`));
  if (problems.length > 0) throw new AIDefinitionError(problems);
  const schema = strictSchema ?? (loose as ArgumentsSchema & JsonSchemaObject);
  const root = objectWithin(schema);
  const convert = compileArguments([parameter]);
  return Object.freeze({
    responseSchema: Object.freeze({
      name: 'answer' as const,
      schema: deepFreeze(root ?? schema),
      ...(strictSchema === undefined && { strict: false }),
      ...(root === undefined && { within: ANSWER_NAME }),
    }),
    convert: (written: unknown) => {
      // What is no object at all is converted too, so that the model is told what is expected.
      const sent = root === undefined && isJsonObject(written) ? written : { [ANSWER_NAME]: written };
      return convert(sent);
    },
  });
}

/** What is said of parameters points to options that an answer does not have. */
function forAnswers(problem: string): string {
  return problem
    .replace(/,? or write schema or jsonSchema$/, ', or hand over a schema of zod or arktype')
    .replace(
      /; write jsonSchema beside it$/,
      '; hand over one that does, of zod or arktype, or what toStandardJsonSchema of @valibot/to-json-schema makes of it',
    );
}

/** A provider wants an object at the root: an answer that is one stands there itself. */
function objectWithin({ properties, $defs }: JsonSchemaObject): JsonSchemaObject | undefined {
  const declared = (properties as Readonly<Record<string, JsonSchemaObject>>)[ANSWER_NAME] ?? {};
  const { description: _, ...answer } = declared;
  const reference = typeof answer['$ref'] === 'string' ? answer['$ref'].replace('#/$defs/', '') : undefined;
  const named = (($defs ?? {}) as Readonly<Record<string, JsonSchemaObject>>)[reference ?? ''];
  const root = named ?? answer;
  return root['type'] === 'object' ? { ...root, ...($defs !== undefined && { $defs }) } : undefined;
}
