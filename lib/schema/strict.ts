import { isJsonObject } from './json.js';
import { type ArgumentsSchema, isReadBack, type JsonSchemaObject, orNull } from './json-schema.js';

/*
 * The subset of JSON Schema that OpenAI's strict mode enforces while it decodes: closed objects, every property required,
 * so that "may be left out" is written as a union with null, and few keywords. What it lacks goes into the description,
 * and is enforced here all the same. openai's own helper refuses a schema that is not strict already; nothing there makes
 * one of another.
 */

/** Keywords on a value that the strict mode enforces. */
const KEPT: ReadonlySet<string> = new Set([
  ...['enum', 'const', 'description', 'multipleOf', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems'],
]);
const FORMATS: ReadonlySet<unknown> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
]);
/** Keywords of structure, which are written anew. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...['properties', 'required', 'additionalProperties', 'items', 'anyOf', 'oneOf', 'allOf', '$ref', '$defs'],
]);
/** Of these, what a value has by itself: beside another schema both count, and one would be lost. */
const STRUCTURED = ['properties', 'additionalProperties', 'items', 'prefixItems'];
/** Keywords that say nothing of the value. */
const SILENT: ReadonlySet<string> = new Set(['$schema', '$id', '$comment', 'title', 'examples', 'discriminator']);
/** A longer keyword is no note. In characters. */
const MAX_NOTE = 200;

/** Something that no strict schema can say. */
class NotStrictError extends Error {}

/** The strict form of a tool's arguments; `undefined` where there is none, and a provider must be asked without. */
export function strictArguments(argumentsSchema: ArgumentsSchema): JsonSchemaObject | undefined {
  if (!isReadBack(argumentsSchema)) return undefined;
  const { $defs, ...schema } = argumentsSchema;
  try {
    const defs = Object.entries($defs ?? {}).map(([name, inner]) => [name, strict(inner)] as const);
    return { ...strict(schema), ...(defs.length > 0 && { $defs: Object.fromEntries(defs) }) };
  } catch (error) {
    if (error instanceof NotStrictError) return undefined;
    throw error;
  }
}

function strict(schema: unknown): JsonSchemaObject {
  if (!isJsonObject(schema)) throw new NotStrictError('a schema that is no object');
  const notes: string[] = [];
  const kept: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (STRUCTURE.has(keyword) || SILENT.has(keyword)) continue;
    if (keyword === 'type') kept[keyword] = nullLast(value);
    else if (isKept(keyword, value)) kept[keyword] = value;
    else notes.push(note(keyword, value));
  }
  const structure = structureOf(schema, kept, notes);
  const description = [kept['description'], notes.length > 0 && `(${notes.join(', ')})`].filter(Boolean).join(' ');
  const { description: _, ...rest } = { ...kept, ...structure };
  if ('$ref' in rest && Object.keys(rest).length > 1) throw new NotStrictError('more than a reference');
  if (Object.keys(rest).length === 0) throw new NotStrictError('a schema that says nothing');
  if (description === '') return rest;
  // Beside a reference nothing may stand (camel-ai/camel#3001).
  return '$ref' in rest ? { anyOf: [rest], description } : { ...rest, description };
}

/** Regular expressions that look around are answered with 400 (vercel/ai#21037). */
function isKept(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return FORMATS.has(value);
  if (keyword !== 'pattern') return KEPT.has(keyword);
  return typeof value === 'string' && !/\(\?<?[=!]/.test(value) && isPattern(value);
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function nullLast(type: unknown): unknown {
  return Array.isArray(type)
    ? [...(type as unknown[])].sort((a, b) => Number(a === 'null') - Number(b === 'null'))
    : type;
}

/** `minLength 2`: for the model to read, since nothing makes it keep to it while it writes. */
function note(keyword: string, value: unknown): string {
  const text = `${keyword} ${JSON.stringify(value)}`;
  if (text.length > MAX_NOTE) throw new NotStrictError(keyword);
  return text;
}

function structureOf(schema: JsonSchemaObject, kept: JsonSchemaObject, notes: string[]): JsonSchemaObject {
  const { $ref, anyOf, oneOf, allOf } = schema;
  const combining = [$ref, anyOf, oneOf, allOf].filter((keyword) => keyword !== undefined);
  const types: readonly unknown[] = Array.isArray(kept['type']) ? kept['type'] : [kept['type']];
  const isPart = types.includes('object') || types.includes('array') || STRUCTURED.some((keyword) => keyword in schema);
  if (combining.length > 1 || (combining.length > 0 && isPart)) throw new NotStrictError('several structures');
  if ('patternProperties' in schema) throw new NotStrictError('patternProperties');
  if ($ref !== undefined) return { $ref };
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return { anyOf: choices.map(strict) };
  if (Array.isArray(allOf)) {
    if (allOf.length !== 1) throw new NotStrictError('allOf');
    return strict(allOf[0]);
  }
  if (types.filter((type) => type !== 'null').length > 1) throw new NotStrictError('several types');
  if (types.includes('object')) return objectOf(schema, types, notes);
  if (types.includes('array')) {
    if ('prefixItems' in schema) throw new NotStrictError('prefixItems');
    return { items: strict(schema['items']) };
  }
  return {};
}

function objectOf(schema: JsonSchemaObject, types: readonly unknown[], notes: string[]): JsonSchemaObject {
  const { properties = {}, required = [], additionalProperties } = schema;
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  if (isJsonObject(additionalProperties) && named.length === 0) {
    // No key is known, so each is a value of its own.
    notes.push('each key with its value');
    const pair = closed({ key: { type: 'string' }, value: strict(additionalProperties) });
    return { type: types.includes('null') ? ['array', 'null'] : 'array', items: pair };
  }
  if (additionalProperties !== undefined && additionalProperties !== false)
    throw new NotStrictError('additionalProperties');
  const names = new Set(required as readonly string[]);
  const all = named.map(([name, inner]) => {
    const value = strict(inner);
    return [name, names.has(name) ? value : absent(value)] as const;
  });
  return { ...closed(Object.fromEntries(all)), ...(types.includes('null') && { type: ['object', 'null'] }) };
}

function closed(properties: Readonly<Record<string, JsonSchemaObject>>): JsonSchemaObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** "May be left out", where everything is required. */
function absent(schema: JsonSchemaObject): JsonSchemaObject {
  const { description, ...rest } = schema;
  const nullable = orNull(rest);
  return { ...nullable, description: [description, '(null when unknown)'].filter(Boolean).join(' ') };
}

/** OpenAI's limits on one schema, as read in its documentation in February 2026. */
const LIMITS = { properties: 5_000, levels: 10, characters: 120_000, members: 1_000, large: 250, largeText: 15_000 };

/** What of a schema exceeds the strict mode's limits, with the numbers: `5001 properties, and providers take 5000`. */
export function strictExcess(schema: JsonSchemaObject): string[] {
  const count = { properties: 0, levels: 0, characters: 0, members: 0, largest: 0 };
  measure(schema, 1, count);
  const over = (found: number, limit: number, what: string): string[] =>
    found > limit ? [`${found.toString()} ${what}, and providers take ${limit.toString()}`] : [];
  return [
    ...over(count.levels, LIMITS.levels, 'levels of nesting'),
    ...over(count.properties, LIMITS.properties, 'properties'),
    ...over(count.members, LIMITS.members, 'values in enumerations'),
    ...over(count.characters, LIMITS.characters, 'characters in names and enumerations'),
    ...over(
      count.largest,
      LIMITS.largeText,
      `characters in one enumeration of more than ${LIMITS.large.toString()} values`,
    ),
  ];
}

function measure(
  schema: unknown,
  level: number,
  count: { properties: number; levels: number; characters: number; members: number; largest: number },
): void {
  if (!isJsonObject(schema)) return;
  const { properties, items, anyOf, $defs, enum: members, const: single, type } = schema;
  const isNested = properties !== undefined || items !== undefined || type === 'object';
  if (isNested) count.levels = Math.max(count.levels, level);
  const inner = isNested ? level + 1 : level;
  for (const [name, property] of Object.entries({ ...(isJsonObject(properties) && properties) })) {
    count.properties++;
    count.characters += name.length;
    measure(property, inner, count);
  }
  measure(items, inner, count);
  for (const choice of Array.isArray(anyOf) ? (anyOf as unknown[]) : []) measure(choice, level, count);
  for (const [name, def] of Object.entries({ ...(isJsonObject($defs) && $defs) })) {
    count.characters += name.length;
    measure(def, 2, count);
  }
  const values: readonly unknown[] = Array.isArray(members) ? members : single === undefined ? [] : [single];
  const length = values.reduce<number>((sum, value) => sum + String(value).length, 0);
  count.characters += length;
  if (Array.isArray(members)) count.members += members.length;
  if (values.length > LIMITS.large) count.largest = Math.max(count.largest, length);
}
