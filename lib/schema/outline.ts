import { memberOf, type ReadSchema } from './from-json-schema.js';
import { isJsonObject } from './json.js';
import type { Field, Shape } from './shape.js';

type Schema = Readonly<Record<string, unknown>>;

const ANY: ReadSchema = { shape: { kind: 'any' }, nullable: false };
/** Deeper, or in a schema that holds itself, the other library alone looks. */
const MAX_DEPTH = 8;

/**
 * What a JSON Schema says of structure: enough to read a text for what it stands for, to refuse what is unknown and to
 * leave out what is `null` for "absent". Bounds are not looked at, since the library that made the schema enforces them;
 * where a value may be of several kinds, it goes to that library as it is.
 */
export function outlineOf(schema: Schema, depth = 0): ReadSchema {
  const { type, anyOf, oneOf } = schema;
  const choices = anyOf ?? oneOf;
  if (depth > MAX_DEPTH) return ANY;
  if (Array.isArray(choices)) return outlineOfChoice(choices.filter(isJsonObject), depth);
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const [single, ...others] = types.filter((name) => name !== 'null');
  const nullable = types.includes('null');
  if (others.length > 0 || '$ref' in schema || 'allOf' in schema) return { ...ANY, nullable };
  return { shape: outlineShape(single, schema, depth), nullable };
}

/** One choice beside `null` is that one. */
function outlineOfChoice(choices: readonly Schema[], depth: number): ReadSchema {
  const [single, ...others] = choices.filter(({ type }) => type !== 'null');
  const nullable = choices.some(({ type }) => type === 'null');
  if (single === undefined || others.length > 0) return { ...ANY, nullable };
  const outline = outlineOf(single, depth + 1);
  return { shape: outline.shape, nullable: nullable || outline.nullable };
}

function outlineShape(type: unknown, schema: Schema, depth: number): Shape {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (Array.isArray(values))
    return values.length > 0 && values.every((value) => typeof value === 'string' || typeof value === 'number')
      ? { kind: 'enum', members: values.map(memberOf) }
      : ANY.shape;
  switch (type) {
    case 'string':
      // Said, it may be longer than what nobody said.
      return { kind: 'string', ...count(schema, 'maxLength') };
    case 'number':
    case 'integer':
    case 'boolean':
      return { kind: type };
    case 'array': {
      const { items } = schema;
      return isJsonObject(items) && !('prefixItems' in schema)
        ? { kind: 'array', items: notNull(outlineOf(items, depth + 1)), ...count(schema, 'maxItems') }
        : ANY.shape;
    }
    case 'object':
      return outlineOfObject(schema, depth);
    default:
      return ANY.shape;
  }
}

function outlineOfObject(
  { properties, required, additionalProperties, patternProperties }: Schema,
  depth: number,
): Shape {
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  if (patternProperties !== undefined || additionalProperties === true) return ANY.shape;
  if (isJsonObject(additionalProperties))
    return named.length === 0 && Object.keys(additionalProperties).length > 0
      ? { kind: 'record', values: notNull(outlineOf(additionalProperties, depth + 1)) }
      : ANY.shape;
  const fields = named.map(([name, schema]): Field => {
    const isRequired = Array.isArray(required) && required.includes(name);
    return { name, ...(isJsonObject(schema) ? outlineOf(schema, depth + 1) : ANY), optional: !isRequired };
  });
  return { kind: 'object', fields };
}

/** Inside a list there is no field to say that `null` is a value. */
function notNull({ shape, nullable }: ReadSchema): Shape {
  return nullable ? ANY.shape : shape;
}

function count(schema: Schema, keyword: string): object {
  return Number.isSafeInteger(schema[keyword]) ? { [keyword]: schema[keyword] } : {};
}
