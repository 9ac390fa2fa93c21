import { describe, expect, it } from '@jest/globals';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { compileArguments } from '../../../lib/schema/convert.js';
import { argumentsSchema } from '../../../lib/schema/json-schema.js';
import { declareParameter, type ParameterOptions } from '../../../lib/schema/parameter.js';
import type { Parameter, StandardSchema } from '../../../lib/schema/shape.js';
import { strictArguments } from '../../../lib/schema/strict.js';
import { typeText } from '../../../lib/schema/type-text.js';
import { strictModeProblems } from './strict-mode.js';

function read(options: ParameterOptions): { parameter?: Parameter; problems: readonly string[] } {
  const problems: string[] = [];
  const parameter = declareParameter('T.m, parameter p', 'p', 'd', options, { from: 'handmade' }, problems);
  return { problems, ...(parameter && { parameter }) };
}

function declare(options: ParameterOptions): Parameter {
  const { parameter, problems } = read(options);
  expect(problems).toEqual([]);
  return parameter!;
}

/** What reaches the method, or the lines that the model is told. */
async function convert(options: ParameterOptions, sent: unknown): Promise<unknown> {
  const conversion = await compileArguments([declare(options)])({ p: sent });
  return conversion.ok ? conversion.values['p'] : conversion.lines.join('\n');
}

const filter = z.object({
  colour: z.string().max(10).optional(),
  size: z.number().int().nullable(),
  sort: z.enum(['price', 'name']).default('price'),
  tags: z.array(z.string()).optional(),
  stock: z.record(z.string(), z.number()).optional(),
});
const shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), radius: z.number() }),
  z.object({ kind: z.literal('square'), side: z.number() }),
]);
interface Node {
  value: string;
  next?: Node | undefined;
}
const node: z.ZodType<Node> = z.object({ value: z.string(), next: z.lazy(() => node).optional() });
const valibotLine = v.object({ sku: v.string(), quantity: v.pipe(v.number(), v.integer(), v.minValue(1)) });
const lineJson = {
  type: 'object',
  properties: { sku: { type: 'string' }, quantity: { type: 'integer', minimum: 1 } },
  required: ['sku', 'quantity'],
  additionalProperties: false,
};

describe('a schema of another library', () => {
  it.each<[string, ParameterOptions, unknown, unknown]>([
    ['zod', { schema: filter }, { size: null }, { size: null, sort: 'price' }],
    [
      'zod, as text',
      { schema: filter },
      '{"size":"3","colour":null,"tags":"[\\"a\\"]"}',
      { size: 3, sort: 'price', tags: ['a'] },
    ],
    ['zod, a record', { schema: filter }, { size: 1, stock: { a: 1 } }, { size: 1, sort: 'price', stock: { a: 1 } }],
    [
      'zod, a record as pairs',
      { schema: filter },
      { size: 1, stock: [{ key: 'a', value: 1 }] },
      { size: 1, sort: 'price', stock: { a: 1 } },
    ],
    ['zod, a union', { schema: shape }, { kind: 'circle', radius: 1 }, { kind: 'circle', radius: 1 }],
    [
      'zod, one that holds itself',
      { schema: node },
      { value: 'a', next: { value: 'b' } },
      { value: 'a', next: { value: 'b' } },
    ],
    ['zod, a union, as text', { schema: shape }, '{"kind":"circle","radius":1}', { kind: 'circle', radius: 1 }],
    ['zod, any keys, as text', { schema: z.looseObject({}) }, '{"a":"[1]"}', { a: '[1]' }],
    ['zod, one that holds itself, as text', { schema: node }, '{"value":"a"}', { value: 'a' }],
    ['zod, numbers or truth values, as text', { schema: z.union([z.number(), z.boolean()]) }, 'true', true],
    ['zod, a text or a number, as text', { schema: z.union([z.string(), z.number()]) }, '5', '5'],
    ['zod, a number as text', { schema: z.number().int().min(1) }, '5', 5],
    ['zod, text of digits', { schema: z.string() }, 2512292042121000001n, '2512292042121000001'],
    ['zod, transformed', { schema: z.string().transform((text) => text.length) }, 'abc', 3],
    ['zod, asynchronous', { schema: z.string().refine((text) => Promise.resolve(text === 'free')) }, 'free', 'free'],
    [
      'zod, nullable',
      {
        schema: z
          .string()
          .nullable()
          .transform((text) => text ?? 'none'),
      },
      null,
      'none',
    ],
    ['zod, null besides it', { schema: z.number(), nullable: true }, null, null],
    ['zod, a default where it is left out', { schema: z.number().default(10), optional: true }, undefined, 10],
    ['zod, nothing where it is left out', { schema: z.number(), optional: true }, null, undefined],
    ['zod, in a list', { items: { schema: filter } }, [{ size: 2 }], [{ size: 2, sort: 'price' }]],
    ['zod, in a list with null', { items: { schema: z.number().nullable() } }, [1, null], [1, null]],
    ['zod, a Map', { type: Map, values: { schema: z.number() } }, { a: 1 }, new Map([['a', 1]])],
    ['valibot', { schema: valibotLine, jsonSchema: lineJson }, { sku: 'A', quantity: 1 }, { sku: 'A', quantity: 1 }],
    ['arktype', { schema: type({ sku: 'string', 'quantity?': 'number.integer' }) }, { sku: 'A' }, { sku: 'A' }],
  ])('converts: %s', async (_title, options, sent, value) => {
    expect(await convert(options, sent)).toEqual(value);
  });

  it.each<[string, ParameterOptions, unknown, RegExp]>([
    [
      'a bound',
      { schema: filter },
      { size: 1, colour: 'x'.repeat(11) },
      /^p\.colour: expected a string of at most 10 characters, got "xxxxxxxxxxx"$/,
    ],
    ['a kind', { schema: filter }, { size: 'x' }, /^p\.size: expected an integer, got "x"$/],
    ['a key that is missing', { schema: filter }, {}, /^p\.size: expected an integer, got nothing$/],
    [
      'a key that it would drop',
      { schema: filter },
      { size: 1, role: 'ADMIN' },
      /^p\.role: no such key; the keys are colour, size, sort, tags, stock$/,
    ],
    [
      'a key that reaches a prototype',
      { schema: z.looseObject({ kind: z.string() }) },
      JSON.parse('{"kind":"circle","__proto__":{"a":1}}'),
      /^p: the key "__proto__" is not allowed$/,
    ],
    [
      'broken text',
      { schema: z.looseObject({}) },
      { kind: '\ud800' },
      /^p: expected text without unpaired surrogate characters/,
    ],
    ['a branch', { schema: shape }, { kind: 'cow' }, /^p\.kind: /],
    [
      'an asynchronous rule',
      { schema: z.string().refine((text) => Promise.resolve(text === 'free')) },
      'taken',
      /^p: Invalid input$/,
    ],
    ['a rule of its own', { schema: z.object({ to: z.email() }) }, { to: 'nobody' }, /^p\.to: Invalid email address$/],
    [
      'valibot',
      { schema: valibotLine, jsonSchema: lineJson },
      { sku: 'A', quantity: 0 },
      /^p\.quantity: Invalid value/,
    ],
    ['arktype', { schema: type({ sku: 'string' }) }, { sku: 5.5 }, /^p\.sku: expected a string, got 5\.5$/],
    [
      'in a list',
      { items: { schema: filter } },
      [{ size: 1 }, { size: 1, sort: 'x' }],
      /^p\[1\]\.sort: expected one of "price", "name", got "x"$/,
    ],
  ])('refuses %s', async (_title, options, sent, line) => {
    expect(await convert(options, sent)).toMatch(line);
  });

  it('cuts what the library says of the value', async () => {
    const echo: StandardSchema = {
      '~standard': {
        version: 1,
        vendor: 'echo',
        validate: (value) => ({
          issues: [{ message: `received ${String(value)}\nand more`, path: [{ key: 'a' }, 0] }],
        }),
      },
    };
    const told = await convert({ schema: echo, jsonSchema: { type: 'string' } }, 'x'.repeat(5_000));
    expect(told).toBe(`p.a[0]: received ${'x'.repeat(191)}…`);
  });

  it('shows nothing of what it throws', async () => {
    const error = new Error('SELECT secret');
    const throwing = z.string().transform(() => {
      throw error;
    });
    expect(await compileArguments([declare({ schema: throwing })])({ p: 'x' })).toEqual({
      ok: false,
      lines: ['p: this value could not be checked'],
      error,
    });
  });

  it('is told as what goes in, once, without its $schema', () => {
    const { properties } = argumentsSchema([declare({ schema: filter })]);
    expect(properties['p']).toMatchObject({ type: 'object', required: ['size'], description: 'd' });
    expect(JSON.stringify(properties)).not.toContain('$schema');
    expect(typeText(declare({ schema: z.number().int().min(1).max(9) }).shape)).toBe(
      'JSON of the schema {"type":"integer","minimum":1,"maximum":9}',
    );
  });

  it('that refers to itself is told under a name of its own', () => {
    const { properties, $defs } = argumentsSchema([
      declare({ schema: node }),
      { ...declare({ schema: node }), name: 'q' },
    ]);
    expect(properties['p']).toEqual({ $ref: '#/$defs/Schema', description: 'd' });
    expect(JSON.stringify($defs)).toContain('"next":{"$ref":"#/$defs/Schema"}');
    expect(JSON.stringify($defs)).not.toContain('"$ref":"#"');
  });

  it.each<[string, StandardSchema]>([
    ['an object', filter],
    ['a union', shape],
    ['one that holds itself', node],
    ['a number', z.number().min(1)],
    ['of arktype', type({ sku: 'string', 'quantity?': 'number' })],
  ])('as a strict schema: %s', (_title, schema) => {
    expect(strictModeProblems(strictArguments(argumentsSchema([declare({ schema })])))).toEqual([]);
  });

  it('has no strict form where there is none', () => {
    for (const schema of [z.looseObject({ a: z.string() }), z.tuple([z.string(), z.number()])])
      expect(strictArguments(argumentsSchema([declare({ schema })]))).toBeUndefined();
  });
});

describe('a JSON Schema', () => {
  const options: ParameterOptions = {
    jsonSchema: {
      type: 'object',
      title: 'Search',
      properties: {
        text: { type: 'string', minLength: 2, description: 'words' },
        limit: { type: ['integer', 'null'], maximum: 50 },
        sort: { enum: ['price', 'name'] },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 2 },
        stock: { type: 'object', additionalProperties: { type: 'number' } },
      },
      required: ['text', 'limit'],
      additionalProperties: false,
    },
  };

  it.each<[unknown, unknown]>([
    [
      { text: 'ab', limit: null },
      { text: 'ab', limit: null },
    ],
    [
      '{"text":"ab","limit":"5","sort":null,"tags":["a"],"stock":{"a":1}}',
      { text: 'ab', limit: 5, tags: ['a'], stock: { a: 1 } },
    ],
    [{ text: 'a', limit: 1 }, 'p.text: expected a string of at least 2 characters, got "a"'],
    [{ text: 'ab' }, 'p.limit: expected an integer of at most 50, got nothing'],
    [
      { text: 'ab', limit: 51, sort: 'x', tags: 'a' },
      'p.limit: expected an integer of at most 50, got 51\np.sort: expected one of "price", "name", got "x"\np.tags: expected an array of at most 2 items, got "a"',
    ],
    [{ text: 'ab', limit: 1, more: 1 }, 'p.more: no such key; the keys are text, limit, sort, tags, stock'],
  ])('checks %j', async (sent, value) => {
    expect(await convert(options, sent)).toEqual(value);
  });

  it('is told with its descriptions, in strict mode too', () => {
    expect(typeText(declare(options).shape)).toBe(
      'JSON object { text: string of at least 2 characters "words", limit: integer of at most 50 | null, sort?: "price" | "name", tags?: array of string, at most 2 items, stock?: object of number by name }',
    );
    const strict = strictArguments(argumentsSchema([declare(options)]));
    expect(strictModeProblems(strict)).toEqual([]);
    expect(JSON.stringify(strict)).toContain('"text":{"type":"string","description":"words (minLength 2)"}');
  });

  it('may have a default, made anew for each call', async () => {
    const withDefault = { ...options, default: { text: 'ab', limit: null } };
    const first = await convert(withDefault, undefined);
    expect(first).toEqual({ text: 'ab', limit: null });
    expect(await convert(withDefault, undefined)).not.toBe(first);
  });

  it.each<[unknown, string]>([
    [true, ', jsonSchema: a JSON Schema is an object, found a boolean'],
    [
      {},
      ', jsonSchema: the JSON Schema has no type, so anything would be taken; write type, or use schema, of zod, valibot or arktype',
    ],
    [{ type: 'text' }, ", jsonSchema: there is no type 'text' in JSON Schema"],
    [
      { type: ['string', 'number'] },
      ", jsonSchema: a value of several types is not read; name one, beside 'null', or use schema, of zod, valibot or arktype",
    ],
    [
      { type: 'string', contentEncoding: 'base64' },
      ', jsonSchema: nothing here would check contentEncoding; leave it out, or use schema, of zod, valibot or arktype',
    ],
    [{ type: 'string', minLength: 'x' }, ', jsonSchema: minLength must be a whole number of at least 0, found "x"'],
    [
      { type: 'object', properties: {} },
      ', jsonSchema: write additionalProperties: false, so that nothing comes in that no property describes',
    ],
    [
      { type: 'object', properties: {}, required: ['a'], additionalProperties: false },
      ', jsonSchema: required names a, which is not in properties',
    ],
    [{ type: 'array' }, ', jsonSchema, items: a JSON Schema is an object, found undefined'],
    [
      { type: 'array', items: { type: ['string', 'null'] } },
      ', jsonSchema, items: null in a list is not read; use schema, of zod, valibot or arktype',
    ],
    [{ enum: [true] }, ', jsonSchema: enum must list texts or numbers'],
    [
      { type: 'object', properties: { a: { anyOf: [] } }, additionalProperties: false },
      ', jsonSchema.a: the JSON Schema has no type, so anything would be taken; write type, or use schema, of zod, valibot or arktype',
    ],
  ])('is refused where nothing here would hold it: %j', (jsonSchema, problem) => {
    expect(read({ jsonSchema: jsonSchema as never }).problems[0]).toBe(`T.m, parameter p${problem}`);
  });
});

describe('what no schema can be', () => {
  it.each<[ParameterOptions, string]>([
    [
      { schema: {} as never },
      'schema must be a Standard Schema, as zod, valibot and arktype make them; found an object',
    ],
    [
      { schema: valibotLine },
      'valibot does not say what this schema is as JSON Schema, which the model reads; write jsonSchema beside it',
    ],
    [
      { schema: z.date() },
      'zod cannot say this schema as JSON Schema (Date cannot be represented in JSON Schema); write jsonSchema of what arrives beside it, which is JSON and holds no Date, bigint or Map: z.iso.datetime().transform((at) => new Date(at)) makes one',
    ],
    [
      { schema: z.any() },
      'zod does not say what this schema is as JSON Schema, which the model reads; write jsonSchema beside it',
    ],
    [
      { schema: filter, type: 'string', minLength: 2 },
      'schema says all of it, so type, minLength would not be looked at; leave one out',
    ],
    [
      { jsonSchema: { type: 'string' }, enum: ['a'] },
      'jsonSchema says all of it, so enum would not be looked at; leave one out',
    ],
    [
      { schema: z.number(), default: 1 },
      'default is not checked by schema; give it there, z.number().default(10), and write optional: true here',
    ],
  ])('%j', (options, problem) => {
    expect(read(options).problems).toEqual([`T.m, parameter p: ${problem}`]);
  });
});
