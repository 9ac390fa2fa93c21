import { describeKind, parameterNameProblems } from '../declaration.js';
import { readBounds } from './bounds.js';
import { isJsonObject } from './json.js';
import type { EnumMember, Field, Shape } from './shape.js';

/*
 * Reads a JSON Schema as the internal form, so that what a model sends is checked by it whatever a provider enforces.
 * ajv would check it as well, but takes 5 ms to compile one, converts nothing and words its errors for programmers. What
 * is not read here is an error: a keyword that nobody enforces would only look like a check.
 */

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that say nothing of the value. */
const SILENT: ReadonlySet<string> = new Set(['$schema', 'title', 'description', 'examples', '$comment']);
const TEXT = ['minLength', 'maxLength', 'pattern', 'format'];
const NUMBER = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const LIST = ['minItems', 'maxItems'];
const MAX_DEPTH = 8;
const OTHERWISE = 'use schema, of zod, valibot or arktype';

/** A schema as a shape, and whether it takes `null`, which no shape says. */
export interface ReadSchema {
  readonly shape: Shape;
  readonly nullable: boolean;
}

/** The shape that a JSON Schema means; what is wrong, or not read here, goes to `problems`. */
export function shapeFromJsonSchema(
  where: string,
  schema: unknown,
  problems: string[],
  depth = 0,
): ReadSchema | undefined {
  const before = problems.length;
  if (!isJsonObject(schema)) {
    problems.push(`${where}: a JSON Schema is an object, found ${describeKind(schema)}`);
    return undefined;
  }
  if (depth > MAX_DEPTH) {
    problems.push(`${where}: nested deeper than ${MAX_DEPTH.toString()} levels; declare less`);
    return undefined;
  }
  const { type, ...rest } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const nullable = types.includes('null');
  const shape =
    'enum' in rest || 'const' in rest
      ? readEnum(where, type === undefined ? undefined : types, rest, problems)
      : readType(
          where,
          types.filter((name) => name !== 'null'),
          rest,
          problems,
          depth,
        );
  return shape === undefined || problems.length > before ? undefined : { shape: Object.freeze(shape), nullable };
}

function readType(
  where: string,
  [type, ...others]: readonly unknown[],
  rest: Schema,
  problems: string[],
  depth: number,
): Shape | undefined {
  if (others.length > 0) {
    problems.push(`${where}: a value of several types is not read; name one, beside 'null', or ${OTHERWISE}`);
    return undefined;
  }
  switch (type) {
    case 'string':
      checkOnly(where, rest, TEXT, problems);
      return { kind: 'string', ...readBounds(where, 'string', picked(rest, TEXT), problems) };
    case 'number':
    case 'integer':
      checkOnly(where, rest, NUMBER, problems);
      return { kind: type, ...readBounds(where, type, picked(rest, NUMBER), problems) };
    case 'boolean':
      checkOnly(where, rest, [], problems);
      return { kind: 'boolean' };
    case 'array': {
      checkOnly(where, rest, ['items', ...LIST], problems);
      const items = shapeFromJsonSchema(`${where}, items`, rest['items'], problems, depth + 1);
      if (items?.nullable === true) problems.push(`${where}, items: null in a list is not read; ${OTHERWISE}`);
      const itemHint = hintOf(rest['items']);
      return (
        items && {
          kind: 'array',
          items: items.shape,
          ...(itemHint !== undefined && { itemHint }),
          ...readBounds(where, 'array', picked(rest, LIST), problems),
        }
      );
    }
    case 'object':
      return readObject(where, rest, problems, depth);
    default:
      problems.push(
        type === undefined
          ? `${where}: the JSON Schema has no type, so anything would be taken; write type, or ${OTHERWISE}`
          : `${where}: there is no type ${typeof type === 'string' ? `'${type}'` : describeKind(type)} in JSON Schema`,
      );
      return undefined;
  }
}

function readObject(where: string, rest: Schema, problems: string[], depth: number): Shape | undefined {
  checkOnly(where, rest, ['properties', 'required', 'additionalProperties'], problems);
  const { properties = {}, required = [], additionalProperties } = rest;
  if (!isJsonObject(properties) || !Array.isArray(required)) {
    problems.push(`${where}: properties must be an object of schemas, and required a list of their names`);
    return undefined;
  }
  if (isJsonObject(additionalProperties) && Object.keys(properties).length === 0) {
    const values = shapeFromJsonSchema(`${where}, additionalProperties`, additionalProperties, problems, depth + 1);
    if (values?.nullable === true) problems.push(`${where}: null in an object of any names is not read; ${OTHERWISE}`);
    const valueHint = hintOf(additionalProperties);
    return values && { kind: 'record', values: values.shape, ...(valueHint !== undefined && { valueHint }) };
  }
  if (additionalProperties !== false)
    problems.push(`${where}: write additionalProperties: false, so that nothing comes in that no property describes`);
  for (const name of required as unknown[])
    if (typeof name !== 'string' || !Object.hasOwn(properties, name))
      problems.push(`${where}: required names ${String(name)}, which is not in properties`);
  const needed = new Set(required as unknown[]);
  const fields: Field[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    // A name that no call could have; any other is the schema's own affair, and is quoted where it is told.
    if (['', '__proto__', 'constructor', 'prototype'].includes(name))
      problems.push(...parameterNameProblems(`${where}, properties`, name));
    const read = shapeFromJsonSchema(`${where}.${name}`, schema, problems, depth + 1);
    const hint = hintOf(schema);
    if (read !== undefined)
      fields.push(
        Object.freeze({
          name,
          ...read,
          optional: !needed.has(name),
          ...(hint !== undefined && { hint }),
        }),
      );
  }
  return { kind: 'object', fields: Object.freeze(fields) };
}

/** What the model is told of a value besides its shape. */
function hintOf(schema: unknown): string | undefined {
  const hint = isJsonObject(schema) ? schema['description'] : undefined;
  return typeof hint === 'string' && hint.trim() !== '' ? hint : undefined;
}

const TYPES: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ['string', (value: unknown) => typeof value === 'string'],
  ['number', Number.isFinite],
  ['integer', Number.isInteger],
]);

function readEnum(
  where: string,
  types: readonly unknown[] | undefined,
  rest: Schema,
  problems: string[],
): Shape | undefined {
  checkOnly(where, rest, ['enum', 'const'], problems);
  const values: unknown = 'const' in rest ? [rest['const']] : rest['enum'];
  const isNull = (value: unknown): boolean => value === null && types?.includes('null') === true;
  const members = Array.isArray(values) ? (values as unknown[]).filter((value) => !isNull(value)) : [];
  if (members.length === 0 || members.some((value) => typeof value !== 'string' && !Number.isFinite(value))) {
    problems.push(`${where}: enum must list texts or numbers`);
    return undefined;
  }
  const other = members.find((value) => types?.every((type) => TYPES.get(type)?.(value) !== true));
  if (other !== undefined) {
    const said = types?.map(String).join(' or ') ?? '';
    problems.push(
      `${where}: enum lists ${JSON.stringify(other)}, and type says ${said === '' ? 'nothing' : said}, so no value could be both; make them agree, or leave type out`,
    );
    return undefined;
  }
  const read = (members as (string | number)[]).map(memberOf);
  const twice = twiceNamed(read);
  if (twice !== undefined) {
    problems.push(`${where}: the enum names ${JSON.stringify(twice)} twice; name each value once`);
    return undefined;
  }
  return { kind: 'enum', members: Object.freeze(read) };
}

/** The first word that stands for two members: the model could not say which it means. */
export function twiceNamed(members: readonly EnumMember[]): string | undefined {
  const seen = new Set<string>();
  return members.find(({ word }) => seen.size === seen.add(word).size)?.word;
}

/** A value that is its own word. */
export function memberOf(value: string | number): EnumMember {
  return Object.freeze({ word: String(value), value });
}

function checkOnly(where: string, rest: Schema, known: readonly string[], problems: string[]): void {
  for (const keyword of Object.keys(rest))
    if (!known.includes(keyword) && !SILENT.has(keyword))
      problems.push(`${where}: nothing here would check ${keyword}; leave it out, or ${OTHERWISE}`);
}

function picked(rest: Schema, keywords: readonly string[]): object {
  return Object.fromEntries(Object.entries(rest).filter(([keyword]) => keywords.includes(keyword)));
}
