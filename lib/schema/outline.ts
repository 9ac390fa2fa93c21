import { memberOf, type ReadSchema } from './from-json-schema.js';
import { isJsonObject } from './json.js';
import type { Field, Shape } from './shape.js';

type Schema = Readonly<Record<string, unknown>>;

/** Deeper, or in a schema that holds itself, the other library alone looks. */
const MAX_DEPTH = 8;

/**
 * What a JSON Schema says of structure: enough to read a text for what it stands for, to refuse what is unknown and to
 * leave out what is `null` for "absent". Bounds are not looked at, since the library that made the schema enforces them;
 * where a value may be of several kinds, it goes to that library as it is.
 */
export function outlineOf(schema: Schema): ReadSchema {
  return new Outline(schema).of(schema, 0);
}

class Outline {
  /** What references lead into. */
  readonly #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  of(schema: Schema, depth: number): ReadSchema {
    const { type } = schema;
    const choices = choicesOf(schema);
    const types: readonly unknown[] = Array.isArray(type) ? type : [type];
    const [single, ...others] = types.filter((name) => name !== 'null');
    const nullable = types.includes('null');
    if (depth > MAX_DEPTH || others.length > 0 || '$ref' in schema || 'allOf' in schema)
      return { shape: this.#any(schema), nullable };
    if (choices !== undefined) return this.#choice(schema, choices, depth);
    return { shape: this.#shape(single, schema, depth), nullable };
  }

  /** One choice beside `null` is that one. */
  #choice(schema: Schema, choices: readonly Schema[], depth: number): ReadSchema {
    const [single, ...others] = choices.filter(({ type }) => type !== 'null');
    const nullable = choices.some(({ type }) => type === 'null');
    if (single === undefined || others.length > 0) return { shape: this.#any(schema), nullable };
    const outline = this.of(single, depth + 1);
    return { shape: outline.shape, nullable: nullable || outline.nullable };
  }

  #shape(type: unknown, schema: Schema, depth: number): Shape {
    const values = 'const' in schema ? [schema['const']] : schema['enum'];
    if (Array.isArray(values))
      return values.length > 0 && values.every((value) => typeof value === 'string' || typeof value === 'number')
        ? { kind: 'enum', members: values.map(memberOf) }
        : this.#any(schema);
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
          ? { kind: 'array', items: this.#item(items, depth), ...count(schema, 'maxItems') }
          : this.#any(schema);
      }
      case 'object':
        return this.#object(schema, depth);
      default:
        return this.#any(schema);
    }
  }

  #object(schema: Schema, depth: number): Shape {
    const { properties, required, additionalProperties, patternProperties } = schema;
    const named = isJsonObject(properties) ? Object.entries(properties) : [];
    if (patternProperties !== undefined || additionalProperties === true) return this.#any(schema);
    if (isJsonObject(additionalProperties))
      return named.length === 0 && Object.keys(additionalProperties).length > 0
        ? { kind: 'record', values: this.#item(additionalProperties, depth) }
        : this.#any(schema);
    const fields = named.map(([name, inner]): Field => {
      const isRequired = Array.isArray(required) && required.includes(name);
      const read = isJsonObject(inner) ? this.of(inner, depth + 1) : { shape: this.#any({}), nullable: false };
      return { name, ...read, optional: !isRequired };
    });
    return { kind: 'object', fields };
  }

  /** Inside a list there is no field to say that `null` is a value. */
  #item(schema: Schema, depth: number): Shape {
    const { shape, nullable } = this.of(schema, depth + 1);
    return nullable ? this.#any(schema) : shape;
  }

  #any(schema: Schema): Shape {
    return { kind: 'any', mayBeText: this.#mayBeText(schema, 0) };
  }

  #mayBeText(schema: unknown, depth: number): boolean {
    if (!isJsonObject(schema) || depth > MAX_DEPTH) return true;
    const { type, allOf, $ref } = schema;
    const values = 'const' in schema ? [schema['const']] : schema['enum'];
    if (Array.isArray(values)) return values.some((value) => typeof value === 'string');
    if (type !== undefined) return (Array.isArray(type) ? (type as unknown[]) : [type]).includes('string');
    const choices = choicesOf(schema);
    if (choices !== undefined) return choices.some((choice) => this.#mayBeText(choice, depth + 1));
    if (Array.isArray(allOf)) return allOf.every((part) => this.#mayBeText(part, depth + 1));
    return typeof $ref === 'string' ? this.#mayBeText(this.#target($ref), depth + 1) : true;
  }

  #target($ref: string): unknown {
    let target: unknown = this.#root;
    for (const step of $ref.split('/').slice(1)) target = isJsonObject(target) ? target[step] : undefined;
    return target;
  }
}

function choicesOf({ anyOf, oneOf }: Schema): readonly Schema[] | undefined {
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) ? choices.filter(isJsonObject) : undefined;
}

function count(schema: Schema, keyword: string): object {
  return Number.isSafeInteger(schema[keyword]) ? { [keyword]: schema[keyword] } : {};
}
