import { describe, expect, it } from '@jest/globals';
import { defineTool, type ToolParameters } from 'inversify-ai';
import { argumentsSchema } from '../../../lib/schema/json-schema.js';
import { declareParameter, type ParameterOptions } from '../../../lib/schema/parameter.js';
import { strictArguments } from '../../../lib/schema/strict.js';
import { strictModeProblems } from './strict-mode.js';

function strictly(options: ParameterOptions): Readonly<Record<string, unknown>> {
  const problems: string[] = [];
  const parameter = declareParameter('T.m, parameter p', 'p', 'd', options, { from: 'handmade' }, problems);
  expect(problems).toEqual([]);
  const schema = strictArguments(argumentsSchema([parameter!]))!;
  expect(strictModeProblems(schema)).toEqual([]);
  return (schema['properties'] as Readonly<Record<string, Readonly<Record<string, unknown>>>>)['p']!;
}

describe('the strict form', () => {
  it.each<[string, ParameterOptions, object]>([
    [
      'an optional value is required, and may be null',
      { type: 'integer', optional: true },
      { type: ['integer', 'null'], description: 'd (null when unknown)' },
    ],
    [
      'an enumeration lists its null',
      { enum: ['a'], optional: true },
      { type: ['string', 'null'], enum: ['a', null], description: 'd (null when unknown)' },
    ],
    [
      'lengths are words',
      { type: 'string', minLength: 2, maxLength: 5 },
      { type: 'string', description: 'd (minLength 2, maxLength 5)' },
    ],
    [
      'bounds of numbers stay',
      { type: 'number', minimum: 1, multipleOf: 2 },
      { type: 'number', minimum: 1, multipleOf: 2, description: 'd' },
    ],
    [
      'formats that are known stay',
      { type: 'string', format: 'email' },
      { type: 'string', format: 'email', description: 'd' },
    ],
    ['others are words', { type: 'string', format: 'uri' }, { type: 'string', description: 'd (format "uri")' }],
    [
      'a pattern that looks around is words',
      { type: 'string', pattern: '^(?!x)' },
      { type: 'string', description: 'd (pattern "^(?!x)")' },
    ],
    [
      'a set is a list',
      { type: Set, items: 'string' },
      { type: 'array', items: { type: 'string' }, description: 'd (uniqueItems true)' },
    ],
    [
      'a map is a list of pairs',
      { type: Map, values: 'integer', nullable: true },
      {
        type: ['array', 'null'],
        items: {
          type: 'object',
          properties: { key: { type: 'string' }, value: { type: 'integer' } },
          required: ['key', 'value'],
          additionalProperties: false,
        },
        description: 'd (each key with its value)',
      },
    ],
  ])('%s', (_title, options, schema) => {
    expect(strictly(options)).toEqual(schema);
  });
});

describe('the limits of the strict mode', () => {
  const tool = (parameters: ToolParameters) =>
    defineTool({ name: 'big', description: 'd', parameters, execute: () => 1 });
  const words = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_, i) => i.toString().padStart(length, 'w'));
  const object = (properties: object): object => ({
    type: 'object',
    properties,
    required: [],
    additionalProperties: false,
  });

  it.each<[string, ToolParameters, string]>([
    [
      'values',
      { a: { enum: words(600, 5), description: 'd' }, b: { enum: words(401, 5), description: 'd' } },
      '1001 values in enumerations, and providers take 1000',
    ],
    [
      'one long enumeration',
      { a: { enum: words(251, 60), description: 'd' } },
      '15060 characters in one enumeration of more than 250 values, and providers take 15000',
    ],
    [
      'characters',
      { a: { enum: words(201, 600), description: 'd' } },
      '120601 characters in names and enumerations, and providers take 120000',
    ],
    [
      'properties',
      {
        a: {
          jsonSchema: object(Object.fromEntries(words(5_000, 4).map((name) => [name, { type: 'boolean' }]))) as never,
          description: 'd',
        },
      },
      '5001 properties, and providers take 5000',
    ],
  ])('are said with the number: %s', (_title, parameters, problem) => {
    expect(() => tool(parameters)).toThrow(
      `tool big: its arguments have ${problem}; declare less, or make several tools of it`,
    );
  });

  it('nesting, which lists and objects add to', () => {
    const nested = (depth: number): object => (depth === 0 ? { type: 'boolean' } : object({ a: nested(depth - 1) }));
    const parameters = (depth: number): ToolParameters => ({
      a: { items: { jsonSchema: nested(depth) as never }, description: 'd' },
    });
    expect(() => tool(parameters(8))).not.toThrow();
    const list = (depth: number): ToolParameters => ({
      a: { items: { items: { jsonSchema: nested(depth) as never } }, description: 'd' },
    });
    expect(() => tool(list(8))).toThrow('tool big: its arguments have 11 levels of nesting, and providers take 10');
  });
});
