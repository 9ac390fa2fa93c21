import { isJsonObject } from './json.js';
import { recursiveShapes } from './inner-shapes.js';
import type { Field, ObjectShape, Parameter, Shape, StandardShape, UnionShape } from './shape.js';

/** The JSON Schema of a tool's arguments: every keyword that was declared, in declared order. */
export interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ParameterSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
  /** What holds itself, by name. */
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
  const writer = new SchemaWriter(recursiveShapes(parameters.map(({ shape }) => shape)));
  const { properties, required } = writer.fields(parameters);
  const { $defs } = writer;
  return {
    type: 'object',
    properties: properties as ArgumentsSchema['properties'],
    required,
    additionalProperties: false,
    ...(Object.keys($defs).length > 0 && { $defs }),
  };
}

/** With padding, and nothing left over in the last character: one text for the same bytes. */
const BASE64 = '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$';

/** Writes shapes; one that holds itself is written once, under a name. */
class SchemaWriter {
  readonly $defs: Record<string, JsonSchemaObject> = {};
  readonly #recursive: ReadonlySet<Shape>;
  readonly #names = new Map<Shape, string>();

  constructor(recursive: ReadonlySet<Shape>) {
    this.#recursive = recursive;
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
    if (!this.#recursive.has(shape)) return this.#body(shape);
    let name = this.#names.get(shape);
    if (name === undefined) {
      name = this.#free(shape.kind === 'object' ? (shape.dto?.name ?? 'Part') : 'Choice');
      this.#names.set(shape, name);
      this.$defs[name] = {}; // taken, while what is in it is written
      this.$defs[name] = this.#body(shape);
    }
    return { $ref: `#/$defs/${name}` };
  }

  #free(wanted: string): string {
    const name = wanted.replace(/[^A-Za-z0-9_-]/g, '_') || 'Part';
    let free = name;
    for (let n = 2; Object.hasOwn(this.$defs, free); n++) free = `${name}${n.toString()}`;
    return free;
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
        const { kind, items, ...keywords } = shape;
        return { type: 'array', items: this.shape(items), ...(kind === 'set' && { uniqueItems: true }), ...keywords };
      }
      case 'map':
      case 'record':
        return { type: 'object', additionalProperties: this.shape(shape.values) };
      case 'bytes':
        return {
          type: 'string',
          contentEncoding: 'base64',
          pattern: BASE64,
          ...(shape.maxBytes !== undefined && { maxLength: Math.ceil(shape.maxBytes / 3) * 4 }),
        };
      case 'object':
        return this.#object(shape.fields);
      case 'union':
        return { anyOf: shape.branches.map(({ word, shape: branch }) => this.#branch(shape, word, branch)) };
      case 'standard':
        return this.#foreign(shape);
      case 'any':
        return {}; // only ever inside what another library says itself
    }
  }

  #object(fields: readonly Field[], tag: JsonSchemaObject = {}): JsonSchemaObject {
    const { properties, required } = this.fields(fields);
    return {
      type: 'object',
      properties: { ...tag, ...properties },
      required: [...Object.keys(tag), ...required],
      additionalProperties: false,
    };
  }

  #branch({ tag }: UnionShape, word: string, { fields }: ObjectShape): JsonSchemaObject {
    return this.#object(
      fields.filter(({ name }) => name !== tag),
      { [tag]: { type: 'string', enum: [word] } },
    );
  }

  /** What another library wrote refers to itself from its own root, which is not ours. */
  #foreign({ json }: StandardShape): JsonSchemaObject {
    if (!JSON.stringify(json).includes('"$ref"')) return json;
    const { $defs, definitions, ...root } = json;
    const names = new Map<string, string>();
    const take = (pointer: string, wanted: string): string => {
      const name = this.#free(wanted);
      this.$defs[name] = {};
      names.set(pointer, `#/$defs/${name}`);
      return name;
    };
    const parts = [...defined('$defs', $defs), ...defined('definitions', definitions)].map(
      ({ pointer, name, schema }) => ({ name: take(pointer, name), schema }),
    );
    const rootName = take('#', 'Schema');
    for (const { name, schema } of parts) this.$defs[name] = renamed(schema, names) as JsonSchemaObject;
    this.$defs[rootName] = renamed(root, names) as JsonSchemaObject;
    return { $ref: `#/$defs/${rootName}` };
  }
}

function defined(
  keyword: string,
  schemas: unknown,
): readonly { readonly pointer: string; readonly name: string; readonly schema: unknown }[] {
  if (!isJsonObject(schemas)) return [];
  return Object.entries(schemas).map(([name, schema]) => ({ pointer: `#/${keyword}/${name}`, name, schema }));
}

function renamed(schema: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => renamed(item, names));
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === '$ref' && typeof value === 'string' ? (names.get(value) ?? value) : renamed(value, names),
    ]),
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
