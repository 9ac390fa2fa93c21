import { isObject } from '../declaration.js';
import type { JsonSchema } from './chat-model.js';

/** What no grammar can be made of, and where it stands. */
export class GrammarError extends Error {}

/**
 * A schema as node-llama-cpp takes one. Of JSON Schema it knows a part, and what it does not know it makes into something
 * else without a word: a node with `anyOf` into the literal null, a list of types into those without a structure, any
 * format but three into the empty text. So every node is written anew here, and one that cannot be said is an error.
 *
 * What stays is the structure: types, names, enumerations, alternatives. Lengths, bounds and patterns are left to those
 * who read the reply: as a grammar they can be too large to decode by.
 *
 * Throws a `GrammarError`.
 */
export function grammarSchema(schema: JsonSchema): JsonSchema {
  const { $defs = {} } = schema;
  const parts = isObject($defs) ? $defs : {};
  const written = node(schema, '#', parts);
  if (Object.keys(parts).length === 0) return written;
  return { ...written, $defs: mapped(parts, (part, name) => node(part, `#/$defs/${name}`, parts)) };
}

type Parts = Readonly<Record<string, unknown>>;

/** Any JSON: where a schema says nothing. */
const ANY: JsonSchema = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'object', additionalProperties: true },
    { type: 'array' },
  ],
};

/** Words that narrow a node and that no grammar here says. */
const BUT_NARROWED = ['allOf', 'not', 'if', 'dependentSchemas', 'patternProperties', 'contains'];

function node(schema: unknown, at: string, parts: Parts): JsonSchema {
  if (schema === true) return ANY;
  if (!isObject(schema)) throw new GrammarError(`${at}: nothing matches it`);
  const unsaid = BUT_NARROWED.find((word) => word in schema);
  if (unsaid !== undefined) throw new GrammarError(`${at}: "${unsaid}" cannot be said in a grammar`);
  const { $ref, const: literal, enum: members, type } = schema;
  if ($ref !== undefined) return reference($ref, at, parts);
  for (const word of ['anyOf', 'oneOf'])
    if (schema[word] !== undefined) return { oneOf: nodes(schema[word], `${at}/${word}`, parts) };
  if (literal !== undefined) return { enum: literals([literal], at) };
  if (members !== undefined) return { enum: literals(members, at) };
  if (Array.isArray(type)) {
    const one = type.map((each: unknown) => typed(schema, each, at, parts));
    return one.length === 1 ? (one[0] as JsonSchema) : { oneOf: one };
  }
  if (type !== undefined) return typed(schema, type, at, parts);
  if ('properties' in schema) return typed(schema, 'object', at, parts);
  if ('items' in schema || 'prefixItems' in schema) return typed(schema, 'array', at, parts);
  return ANY;
}

/** In a place of its own: only parts of the whole schema are referred to. */
function reference($ref: unknown, at: string, parts: Parts): JsonSchema {
  const name = typeof $ref === 'string' && $ref.startsWith('#/$defs/') ? $ref.slice('#/$defs/'.length) : undefined;
  if (name === undefined || !Object.hasOwn(parts, name))
    throw new GrammarError(`${at}: it refers to ${String($ref)}, which is no part of the schema`);
  return { $ref };
}

function nodes(list: unknown, at: string, parts: Parts): JsonSchema[] {
  if (!Array.isArray(list) || list.length === 0) throw new GrammarError(`${at}: it lists nothing`);
  return list.map((each: unknown, index) => node(each, `${at}/${index.toString()}`, parts));
}

function literals(list: unknown, at: string): unknown[] {
  if (!Array.isArray(list) || list.length === 0) throw new GrammarError(`${at}: its enumeration is empty`);
  if (list.some((value) => typeof value === 'object' && value !== null))
    throw new GrammarError(`${at}: its enumeration holds an object or an array; a grammar takes texts and numbers`);
  return list as unknown[];
}

const FORMATS: readonly unknown[] = ['date', 'time', 'date-time'];

function typed(schema: Readonly<Record<string, unknown>>, type: unknown, at: string, parts: Parts): JsonSchema {
  const { format, properties, additionalProperties, items, prefixItems } = schema;
  switch (type) {
    case 'string':
      return { type, ...(FORMATS.includes(format) && { format }) };
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return { type };
    case 'object': {
      const named = isObject(properties) ? properties : {};
      const isFree = Object.keys(named).length === 0 && additionalProperties === undefined;
      return {
        type,
        properties: mapped(named, (property, name) => node(property, `${at}/properties/${name}`, parts)),
        additionalProperties: isObject(additionalProperties)
          ? node(additionalProperties, `${at}/additionalProperties`, parts)
          : isFree || additionalProperties === true,
      };
    }
    case 'array':
      return {
        type,
        ...(Array.isArray(prefixItems) && { prefixItems: nodes(prefixItems, `${at}/prefixItems`, parts) }),
        ...(isObject(items) && { items: node(items, `${at}/items`, parts) }),
      };
    default:
      throw new GrammarError(`${at}: ${JSON.stringify(type)} is no type`);
  }
}

function mapped(parts: Parts, each: (part: unknown, name: string) => JsonSchema): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, each(part, name)]));
}
