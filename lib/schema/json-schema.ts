import { isJsonObject } from './json.js';
import { innerShapes, namedShapes, taggedBranches } from './inner-shapes.js';
import { resolveReference } from './json-pointer.js';
import { PartNames } from './part-names.js';
import type { Field, Parameter, Shape, StandardShape } from './shape.js';

/** The JSON Schema of a tool's arguments: every keyword that was declared, in declared order. */
export interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ParameterSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
  /** What holds itself, and what occurs more than once, by name. */
  readonly $defs?: Readonly<Record<string, JsonSchemaObject>>;
}

/** The JSON Schema of one argument: what the model reads of it, and what its value is checked by. */
export interface ParameterSchema {
  readonly type?: string | readonly string[];
  readonly description: string;
  readonly [keyword: string]: unknown;
}

/** JSON Schema, draft 2020-12. */
export type JsonSchemaObject = Readonly<Record<string, unknown>>;

/** With every keyword of JSON Schema that says what was declared; what no provider need support. */
export function argumentsSchema(parameters: readonly Parameter[]): ArgumentsSchema {
  const writer = new SchemaWriter(namedShapes(parameters.map(({ shape }) => shape)));
  const { properties, required } = writer.fields(parameters);
  // Own properties only, whatever a part is called.
  const $defs = Object.fromEntries(writer.parts);
  const schema: ArgumentsSchema = {
    type: 'object',
    properties: properties as ArgumentsSchema['properties'],
    required,
    additionalProperties: false,
    ...(Object.keys($defs).length > 0 && { $defs }),
  };
  if (!parameters.every(({ shape }) => isShapeReadBack(shape))) notReadBack.add(schema);
  return schema;
}

/** A schema does not say who checks what it describes. */
const notReadBack = new WeakSet<ArgumentsSchema>();

/**
 * Whether what a strict form makes of "may be left out", and of a map, is read back wherever it may come. Where another
 * library alone looks, it would refuse the `null` that the model was made to send.
 */
export function isReadBack(schema: ArgumentsSchema): boolean {
  return !notReadBack.has(schema);
}

function isShapeReadBack(shape: Shape): boolean {
  return [...innerShapes(shape)].every(
    (inner) =>
      inner.kind !== 'standard' ||
      [...innerShapes(inner.outline)].every((part) => part.kind !== 'any' || part.notStrict !== true),
  );
}

/** With padding, and nothing left over in the last character: one text for the same bytes. */
const BASE64 = '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$';

/** Writes shapes; what has a name is written once, and referred to. */
class SchemaWriter {
  readonly parts = new Map<string, JsonSchemaObject>();
  readonly #named: ReadonlySet<Shape>;
  readonly #written = new Map<Shape, string>();
  readonly #names = new PartNames();

  constructor(named: ReadonlySet<Shape>) {
    this.#named = named;
  }

  fields(fields: readonly (Field & { readonly description?: string })[]): {
    readonly properties: Readonly<Record<string, JsonSchemaObject>>;
    readonly required: readonly string[];
  } {
    return {
      // Own properties only, whatever a field is called.
      properties: Object.fromEntries(
        fields.map(({ name, shape, nullable, hint, description = hint }) => {
          const schema = this.shape(shape);
          return [name, { ...(nullable ? orNull(schema) : schema), ...(description !== undefined && { description }) }];
        }),
      ),
      required: fields.filter(({ optional }) => !optional).map(({ name }) => name),
    };
  }

  shape(shape: Shape): JsonSchemaObject {
    if (!this.#named.has(shape)) return this.#body(shape);
    const name =
      this.#written.get(shape) ??
      this.#part(
        shape.kind === 'object' ? shape.dto?.name : undefined,
        (taken) => this.#written.set(shape, taken),
        () => this.#body(shape),
      );
    return reference(name);
  }

  /** The name is taken, and known, before what it names is written: that may hold itself. */
  #part(wanted: string | undefined, take: (name: string) => void, write: () => JsonSchemaObject): string {
    const name = this.#names.take(wanted);
    take(name);
    this.parts.set(name, {});
    this.parts.set(name, write());
    return name;
  }

  #body(shape: Shape): JsonSchemaObject {
    switch (shape.kind) {
      case 'boolean':
        return { type: 'boolean' };
      case 'string':
      case 'number':
      case 'integer': {
        const { kind, ...keywords } = shape;
        return { type: kind, ...keywords };
      }
      case 'bigint':
        return { type: 'string', pattern: '^-?[0-9]{1,100}$' };
      case 'date':
        return { type: 'string', format: 'date-time' };
      case 'enum':
        return { type: 'string', enum: shape.members.map(({ word }) => word) };
      case 'array':
      case 'set': {
        const { kind, items, itemHint, ...keywords } = shape;
        return {
          type: 'array',
          items: hinted(this.shape(items), itemHint),
          ...(kind === 'set' && { uniqueItems: true }),
          ...keywords,
        };
      }
      case 'map':
      case 'record':
        return { type: 'object', additionalProperties: hinted(this.shape(shape.values), shape.valueHint) };
      case 'bytes':
        return {
          type: 'string',
          contentEncoding: 'base64',
          pattern: BASE64,
          ...(shape.maxBytes !== undefined && { maxLength: Math.ceil(shape.maxBytes / 3) * 4 }),
        };
      case 'object':
        return { type: 'object', ...this.fields(shape.fields), additionalProperties: false };
      case 'union':
        return { anyOf: taggedBranches(shape).map((branch) => this.shape(branch)) };
      case 'standard':
        return this.#foreign(shape);
      case 'any':
        return {}; // only ever inside what another library says itself
    }
  }

  /** What another library wrote refers to itself from its own root, which is not ours. */
  #foreign({ json }: StandardShape): JsonSchemaObject {
    const references = referencesIn(json);
    if (references.length === 0) return json;
    const names = new Map<unknown, string>();
    const { $defs: _, definitions: __, ...root } = json;
    const write = (schema: unknown): JsonSchemaObject =>
      mapReferences(schema, (path) => reference(part(path))) as JsonSchemaObject;
    const part = (path: string): string => {
      const target = resolveReference(json, path) ?? {};
      const wanted = path === '#' ? 'Schema' : path.slice(path.lastIndexOf('/') + 1);
      return (
        names.get(target) ??
        this.#part(
          wanted,
          (taken) => names.set(target, taken),
          () => write(target === json ? root : target),
        )
      );
    };
    return references.some((path) => resolveReference(json, path) === json) ? reference(part('#')) : write(root);
  }
}

function reference(name: string): JsonSchemaObject & { readonly $ref: string } {
  return { $ref: `#/$defs/${name}` };
}

function hinted(schema: JsonSchemaObject, hint: string | undefined): JsonSchemaObject {
  return hint === undefined ? schema : { ...schema, description: hint };
}

/** Keywords that hold values, in which nothing refers to anything. */
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);

/** The same schema with other references. */
export function mapReferences(schema: unknown, of: (path: string) => { readonly $ref: string }): unknown {
  if (Array.isArray(schema)) return schema.map((item) => mapReferences(item, of));
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === '$ref' && typeof value === 'string') return [keyword, of(value).$ref];
      return [keyword, VALUES.has(keyword) && !isJsonObject(value) ? value : mapReferences(value, of)];
    }),
  );
}

export function referencesIn(schema: unknown): readonly string[] {
  const found = new Set<string>();
  mapReferences(schema, ($ref) => {
    found.add($ref);
    return { $ref };
  });
  return [...found];
}

/** A problem for each reference of a schema that leads out of it: nobody could say what is meant. */
export function referenceProblems(where: string, schema: JsonSchemaObject): string[] {
  return referencesIn(schema)
    .filter((path) => !isJsonObject(resolveReference(schema, path)))
    .map(
      (path) =>
        `${where}: its JSON Schema refers to ${JSON.stringify(path)}, which it does not hold; write jsonSchema beside it, with all that it refers to under its own $defs`,
    );
}

/** An enumeration lists its `null`: one that only the type allows is refused. */
export function orNull(schema: JsonSchemaObject): JsonSchemaObject {
  const { type, enum: members, anyOf } = schema;
  if (acceptsNull(schema)) return schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...(anyOf as unknown[]), { type: 'null' }] };
  if (typeof type !== 'string' || 'const' in schema) return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(members) && { enum: [...(members as unknown[]), null] }),
  };
}

function acceptsNull({ type, anyOf }: JsonSchemaObject): boolean {
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return true;
  return Array.isArray(anyOf) && anyOf.some((choice) => isJsonObject(choice) && acceptsNull(choice));
}
