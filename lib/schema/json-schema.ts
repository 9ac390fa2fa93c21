import type { Parameter, Shape } from './shape.js';

/** The JSON Schema of a tool's arguments: every keyword that was declared, in declared order. */
export interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ParameterSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** The JSON Schema of one argument: what the model reads of it, and what its value is checked by. */
export interface ParameterSchema {
  readonly type?: string | readonly string[];
  readonly description: string;
  readonly [keyword: string]: unknown;
}

/** With every keyword of JSON Schema that says what was declared; what no provider need support. */
export function argumentsSchema(parameters: readonly Parameter[]): ArgumentsSchema {
  return {
    type: 'object',
    // Own properties only, whatever a parameter is called.
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, parameterSchema(parameter)])),
    required: parameters.filter(({ optional }) => !optional).map(({ name }) => name),
    additionalProperties: false,
  };
}

function parameterSchema({ shape, nullable, description }: Parameter): ParameterSchema {
  const schema = shapeSchema(shape);
  return { ...(nullable ? orNull(schema) : schema), description };
}

type Schema = Readonly<Record<string, unknown>>;

/** An enumeration lists its `null`: one that only the type allows is refused. */
function orNull(schema: Schema): Schema {
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }),
  };
}

function shapeSchema(shape: Shape): Schema {
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
      return { type: 'array', items: shapeSchema(items), ...(kind === 'set' && { uniqueItems: true }), ...keywords };
    }
    case 'map':
    case 'record':
      return { type: 'object', additionalProperties: shapeSchema(shape.values) };
    case 'bytes':
      return { type: 'string', contentEncoding: 'base64' };
  }
}
