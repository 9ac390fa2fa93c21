import { MAX_PATTERN_TEXT } from './convert-text.js';
import { memberOf, type ReadSchema } from './from-json-schema.js';
import { isJsonObject } from './json.js';
import { resolveReference } from './json-pointer.js';
import type { AnyShape, Field, ObjectShape, Shape, UnionShape } from './shape.js';

type Schema = Readonly<Record<string, unknown>>;

/** No JSON is read that is nested deeper; what a reference leads to begins anew. */
const MAX_DEPTH = 32;

/** Keywords that put a value together of other schemas; beside each other, or beside a structure, all of them count. */
const COMBINING = ['anyOf', 'oneOf', 'allOf', '$ref'];
const STRUCTURE = [
  ...['properties', 'additionalProperties', 'patternProperties', 'items', 'prefixItems', 'enum', 'const'],
];

/**
 * What a JSON Schema says of structure: enough to read a text for what it stands for, to refuse what is unknown and to
 * leave out what is `null` for "absent". Bounds are not looked at, since the library that made the schema enforces them;
 * where a value may be of several kinds, it goes to that library as it is.
 */
export function outlineOf(schema: Schema): ReadSchema {
  return new Outline(schema).of(schema, 0);
}

/** Of what the other library alone looks at. */
export function anyOutline(schema: Schema): AnyShape {
  return new Outline(schema).anything(schema);
}

class Outline {
  /** What references lead into. */
  readonly #root: Schema;
  /** What was read, or is being read: an object that holds itself is found here. */
  readonly #read = new Map<Schema, ReadSchema>();
  readonly #open = new Set<Schema>();

  constructor(root: Schema) {
    this.#root = root;
  }

  of(schema: Schema, depth: number): ReadSchema {
    const known = this.#read.get(schema);
    if (known !== undefined) return known;
    // It holds itself, and not in an object.
    if (this.#open.has(schema)) return { shape: this.anything(schema), nullable: false };
    this.#open.add(schema);
    const read = this.#whole(schema, depth);
    this.#open.delete(schema);
    this.#read.set(schema, read);
    return read;
  }

  anything(schema: Schema): AnyShape {
    const notStrict = this.#hasOtherForm(schema, new Set());
    return { kind: 'any', mayBeText: this.#mayBeText(schema, new Set()), ...(notStrict && { notStrict }) };
  }

  #whole(schema: Schema, depth: number): ReadSchema {
    const { type, $ref } = schema;
    const types: readonly unknown[] = Array.isArray(type) ? type : [type];
    const [single, ...others] = types.filter((name) => name !== 'null');
    const nullable = types.includes('null');
    const combining = COMBINING.filter((keyword) => keyword in schema);
    const isMixed = combining.length > 1 || (combining.length > 0 && STRUCTURE.some((keyword) => keyword in schema));
    if (depth > MAX_DEPTH || others.length > 0 || isMixed || 'allOf' in schema)
      return { shape: this.anything(schema), nullable };
    if ($ref !== undefined) {
      const target = this.#target($ref);
      return isJsonObject(target) ? this.of(target, 0) : { shape: this.anything(schema), nullable };
    }
    const choices = choicesOf(schema);
    if (choices !== undefined) return this.#choice(schema, choices, depth);
    return this.#shape(single, schema, nullable, depth);
  }

  /** One choice beside `null` is that one; several may be objects that one property tells apart. */
  #choice(schema: Schema, choices: readonly Schema[], depth: number): ReadSchema {
    const [single, ...others] = choices.filter(({ type }) => type !== 'null');
    const nullable = choices.some(({ type }) => type === 'null');
    if (single === undefined) return { shape: this.anything(schema), nullable };
    if (others.length > 0) return this.#union(schema, [single, ...others], nullable, depth);
    const outline = this.of(single, depth + 1);
    return { shape: outline.shape, nullable: nullable || outline.nullable };
  }

  #union(schema: Schema, choices: readonly Schema[], nullable: boolean, depth: number): ReadSchema {
    const targets = choices.map((choice) => ('$ref' in choice ? this.#target(choice['$ref']) : choice));
    const tag = depth < MAX_DEPTH && targets.every(isClosedObject) ? tagOf(targets) : undefined;
    if (tag === undefined) return { shape: this.anything(schema), nullable };
    const branches: UnionShape['branches'][number][] = [];
    const read: ReadSchema = { shape: { kind: 'union', tag: tag.name, branches }, nullable };
    this.#read.set(schema, read); // before its branches, of which one may hold it
    for (const [index, target] of targets.entries()) {
      const { shape } = this.of(target as Schema, depth + 1);
      for (const word of tag.words[index] ?? []) branches.push({ word, shape: shape as ObjectShape });
    }
    return read;
  }

  #shape(type: unknown, schema: Schema, nullable: boolean, depth: number): ReadSchema {
    const values = valuesOf(schema);
    if (values !== undefined) {
      const members = values.filter((value) => value !== null);
      return members.length > 0 && members.every((value) => typeof value === 'string' || typeof value === 'number')
        ? {
            shape: { kind: 'enum', members: members.map(memberOf) },
            nullable: nullable || members.length < values.length,
          }
        : { shape: this.anything(schema), nullable };
    }
    switch (type) {
      case 'string':
        // Said, it may be longer than what nobody said; one that a regular expression looks at may not. A format's own
        // expressions, which stand beside it, were measured and take their time in proportion.
        return { shape: { kind: 'string', ...patternBound(schema), ...count(schema, 'maxLength') }, nullable };
      case 'number':
      case 'integer':
      case 'boolean':
        return { shape: { kind: type }, nullable };
      case 'array': {
        const { items } = schema;
        const shape: Shape =
          isJsonObject(items) && !('prefixItems' in schema)
            ? { kind: 'array', items: this.#item(items, depth), ...count(schema, 'maxItems') }
            : this.anything(schema);
        return { shape, nullable };
      }
      case 'object':
        return this.#object(schema, nullable, depth);
      default:
        return { shape: this.anything(schema), nullable };
    }
  }

  #object(schema: Schema, nullable: boolean, depth: number): ReadSchema {
    const { properties, required, additionalProperties } = schema;
    const named = isJsonObject(properties) ? Object.entries(properties) : [];
    const isRecord = isJsonObject(additionalProperties) && named.length === 0 && !('patternProperties' in schema);
    if (isRecord && Object.keys(additionalProperties).length > 0)
      return { shape: { kind: 'record', values: this.#item(additionalProperties, depth) }, nullable };
    if (!isClosedObject(schema)) return { shape: this.anything(schema), nullable };
    const needed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
    const fields: Field[] = [];
    const read: ReadSchema = { shape: { kind: 'object', fields }, nullable };
    this.#read.set(schema, read); // before its fields, of which one may hold it
    for (const [name, inner] of named) {
      const field = isJsonObject(inner) ? this.of(inner, depth + 1) : { shape: this.anything({}), nullable: false };
      fields.push({ name, ...field, optional: !needed.has(name) });
    }
    return read;
  }

  /** Inside a list there is no field to say that `null` is a value. */
  #item(schema: Schema, depth: number): Shape {
    const { shape, nullable } = this.of(schema, depth + 1);
    return nullable ? this.anything(schema) : shape;
  }

  #mayBeText(schema: unknown, seen: Set<unknown>): boolean {
    if (!isJsonObject(schema)) return true;
    // Once more the same can say nothing more.
    if (seen.has(schema)) return false;
    seen.add(schema);
    const { type, allOf, $ref } = schema;
    const values = valuesOf(schema);
    if (values !== undefined) return values.some((value) => typeof value === 'string');
    if (type !== undefined) return (Array.isArray(type) ? (type as unknown[]) : [type]).includes('string');
    const choices = choicesOf(schema);
    if (choices !== undefined) return choices.some((choice) => this.#mayBeText(choice, seen));
    if (Array.isArray(allOf)) return allOf.every((part) => this.#mayBeText(part, seen));
    return $ref === undefined || this.#mayBeText(this.#target($ref), seen);
  }

  /** Whether anything in it is written otherwise in a strict schema: a property that may be left out, a map. */
  #hasOtherForm(schema: unknown, seen: Set<unknown>): boolean {
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
    seen.add(schema);
    if (isJsonObject(schema)) {
      const { properties, required, additionalProperties, $ref } = schema;
      const names = isJsonObject(properties) ? Object.keys(properties) : [];
      const needed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
      if (isJsonObject(additionalProperties) || names.some((name) => !needed.has(name))) return true;
      if ($ref !== undefined && this.#hasOtherForm(this.#target($ref), seen)) return true;
    }
    return Object.values(schema).some((inner) => this.#hasOtherForm(inner, seen));
  }

  #target($ref: unknown): unknown {
    return resolveReference(this.#root, $ref);
  }
}

/** An object whose keys are all named. What no library says is open is read as closed, as zod reads it. */
function isClosedObject(schema: unknown): schema is Schema {
  if (!isJsonObject(schema) || [schema['type']].flat().filter((type) => type !== 'null')[0] !== 'object') return false;
  const { additionalProperties } = schema;
  const isOpen = additionalProperties !== undefined && additionalProperties !== false;
  return !isOpen && ![...COMBINING, 'patternProperties', 'enum', 'const'].some((keyword) => keyword in schema);
}

/** The property that each of several objects needs, and that is another text in each. */
function tagOf(
  objects: readonly Schema[],
): { readonly name: string; readonly words: readonly (readonly string[])[] } | undefined {
  const [{ properties } = {}] = objects;
  for (const name of Object.keys(isJsonObject(properties) ? properties : {})) {
    const words = objects.map((object) => tagWords(object, name));
    const all = words.flat();
    if (words.every(({ length }) => length > 0) && new Set(all).size === all.length) return { name, words };
  }
  return undefined;
}

function tagWords({ type, properties, required }: Schema, name: string): readonly string[] {
  if (type !== 'object' || !isJsonObject(properties) || !Array.isArray(required) || !required.includes(name)) return [];
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  const values = isJsonObject(property) ? (valuesOf(property) ?? []) : [];
  return values.every((value) => typeof value === 'string') ? values : [];
}

/** The values that an `enum` or a `const` lists. */
function valuesOf(schema: Schema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']];
  return Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : undefined;
}

function choicesOf({ anyOf, oneOf }: Schema): readonly Schema[] | undefined {
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) ? choices.filter(isJsonObject) : undefined;
}

function count(schema: Schema, keyword: string): object {
  return Number.isSafeInteger(schema[keyword]) ? { [keyword]: schema[keyword] } : {};
}

function patternBound({ pattern, format, contentEncoding }: Schema): object {
  const isOwn = typeof pattern === 'string' && format === undefined && contentEncoding === undefined;
  return isOwn ? { maxLength: MAX_PATTERN_TEXT } : {};
}
