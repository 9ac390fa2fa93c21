import type { Parameter } from './parameter.js';

/** The JSON Schema of a tool's arguments, as a reviewer reads it: every keyword that was declared, in declared order. */
export interface ArgumentsSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ParameterSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** One argument: what the model reads of it, and what its value is checked by. */
export interface ParameterSchema {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly description: string;
}

export function argumentsSchema(parameters: readonly Parameter[]): ArgumentsSchema {
  return {
    type: 'object',
    // Own properties only, whatever a parameter is called.
    properties: Object.fromEntries(
      parameters.map(({ name, kind, values, description }) => [
        name,
        { type: kind, ...(values && { enum: values }), description },
      ]),
    ),
    required: parameters.filter(({ optional }) => !optional).map(({ name }) => name),
    additionalProperties: false,
  };
}
