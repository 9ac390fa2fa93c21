import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsInt, IsOptional, IsString, MaxLength, Min, ValidateNested } from 'class-validator';
import fc from 'fast-check';
import { z } from 'zod';
import { compileArguments, type Conversion } from '../../../lib/schema/convert.js';
import { argumentsSchema } from '../../../lib/schema/json-schema.js';
import { declareParameter, type ParameterOptions } from '../../../lib/schema/parameter.js';
import type { Parameter } from '../../../lib/schema/shape.js';
import { strictArguments } from '../../../lib/schema/strict.js';
import { strictModeProblems } from './strict-mode.js';
import { valuesOf } from './values-of.js';

enum Status {
  Open = 'OPEN',
  Closed = 'CLOSED',
}
enum Level {
  Low,
  High,
}
class Line {
  @IsString() @MaxLength(5) sku!: string;
  @IsInt() @Min(1) quantity!: number;
}
class Order {
  @ValidateNested({ each: true }) @Type(() => Line) @ArrayMaxSize(2) lines!: Line[];
  @IsOptional() @IsString() note?: string;
}
class Tree {
  @IsInt() value!: number;
  @IsOptional() @ValidateNested() @Type(() => Tree) child?: Tree;
}

interface Note {
  text?: string | undefined;
  reply?: Note | undefined;
}
const note: z.ZodType<Note> = z.lazy(() => z.strictObject({ text: z.string().optional(), reply: note.optional() }));

/** One declaration of each kind, with bounds as JSON Schema has them. */
const single = fc.oneof(
  fc.constantFrom<ParameterOptions>(
    { type: 'boolean' },
    { type: BigInt },
    { type: Date },
    { type: Buffer },
    { enum: Status },
    { enum: Level },
    { enum: ['a', 'b'] },
    { type: 'string', pattern: '^[a-c]*$' },
    { type: 'string', format: 'uuid' },
    { type: Order },
    { type: Tree },
    { schema: z.object({ a: z.string(), b: z.number().optional() }) },
    { schema: note },
    {
      schema: z.discriminatedUnion('k', [
        z.strictObject({ k: z.literal('a'), b: z.boolean().optional(), n: z.number().nullish() }),
        z.strictObject({ k: z.literal(['b', 'c']), note }),
      ]),
    },
    { schema: z.union([z.strictObject({ a: z.boolean() }), z.strictObject({ b: z.boolean().optional() })]) },
    { schema: z.array(z.strictObject({ a: z.boolean().optional() }).nullable()) },
    { schema: z.array(z.number().nullable()) },
    {
      jsonSchema: {
        type: 'object',
        properties: { a: { type: ['integer', 'null'] }, b: { type: 'string', maxLength: 3 } },
        required: ['a'],
        additionalProperties: false,
      },
    },
  ),
  fc.record({
    type: fc.constant('integer' as const),
    minimum: fc.integer({ min: -9, max: 0 }),
    maximum: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ type: fc.constant('number' as const), exclusiveMaximum: fc.integer({ min: -9, max: 9 }) }),
  fc.record({ type: fc.constant('integer' as const), multipleOf: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ type: fc.constant('string' as const), minLength: fc.nat(2), maxLength: fc.integer({ min: 2, max: 4 }) }),
);
const nested: fc.Arbitrary<ParameterOptions> = fc.letrec<{ any: ParameterOptions }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    single,
    fc.record({ items: tie('any'), maxItems: fc.nat(3) }),
    tie('any').map((items): ParameterOptions => ({ type: Set, items })),
    tie('any').map((values): ParameterOptions => ({ values })),
    tie('any').map((values): ParameterOptions => ({ type: Map, values })),
  ),
})).any;
const declarations: fc.Arbitrary<ParameterOptions> = fc
  .tuple(nested, fc.constantFrom({}, { optional: true }, { nullable: true }, { optional: true, nullable: true }))
  .map(([options, rest]) => ({ ...options, ...rest }));

function declare(options: ParameterOptions): Parameter {
  const problems: string[] = [];
  const parameter = declareParameter('T.m, parameter p', 'p', 'd', options, { from: 'handmade' }, problems);
  expect(problems).toEqual([]);
  return parameter!;
}

async function convert(parameter: Parameter, sent: object): Promise<Conversion> {
  return compileArguments([parameter])(sent as Record<string, unknown>);
}

/** JSON near what is declared: as a provider's own check would see it. */
const nearby = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    'a',
    'abc',
    'abcd',
    'OPEN',
    'High',
    '👍👍',
    '2026-03-01T00:00:00Z',
    '7',
    'aGk=',
    0,
    1,
    -1,
    5,
    10,
    0.5,
    true,
    null,
  ),
  fc.constantFrom<unknown>(
    { a: 'x' },
    { a: 1, b: 'x' },
    { value: 1 },
    { value: 1, child: { value: 'x' } },
    { lines: [] },
    { lines: [{ sku: 'A', quantity: 0 }] },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

describe('for any declaration', () => {
  const ajv = addFormats.default(new Ajv2020({ strict: false }));

  it('what its schema allows converts, and the strict form keeps to the rules of the strict mode', async () => {
    await fc.assert(
      fc.asyncProperty(
        declarations.chain((options) => {
          const parameter = declare(options);
          const loose = argumentsSchema([parameter]);
          const strict = strictArguments(loose);
          return fc.record({
            parameter: fc.constant(parameter),
            strict: fc.constant(strict),
            sent: valuesOf(loose as never),
            sentStrictly: valuesOf((strict ?? loose) as never),
          });
        }),
        async ({ parameter, strict, sent, sentStrictly }) => {
          expect(strict === undefined ? [] : strictModeProblems(strict)).toEqual([]);
          expect(await convert(parameter, sent as object)).toMatchObject({ ok: true });
          const conversion = await convert(parameter, sentStrictly as object);
          // Named exceptions: what the strict mode cannot enforce, the length of texts, and a key that comes twice.
          const lines = conversion.ok ? [] : conversion.lines;
          expect(
            lines.filter(
              (line) =>
                !/expected a string of|is not allowed$|^and (at least )?\d+ more$|^p(\.b)?: Too (big|small)/.test(line),
            ),
          ).toEqual([]);
        },
      ),
      { numRuns: 1_500 },
    );
  });

  it('ajv and the conversion agree on what is right', async () => {
    let agreed = 0;
    await fc.assert(
      fc.asyncProperty(declarations, nearby, async (options, value) => {
        const parameter = declare(options);
        const sent = value === null ? {} : { p: value };
        const isRight = ajv.compile(argumentsSchema([parameter]))(sent);
        const conversion = await convert(parameter, sent);
        if (isRight) agreed++;
        // Of what is right, only a key that no object should have is refused, and an integer that no number holds exactly.
        // Of what is wrong, only what is read for what it stands for is taken.
        if (isRight)
          return (
            conversion.ok || conversion.lines.every((line) => line.endsWith('is not allowed') || isInexact.test(line))
          );
        return !conversion.ok || standsForSomething(value);
      }),
      { numRuns: 3_000 },
    );
    expect(agreed).toBeGreaterThan(100);
  });

  const isInexact = /: expected (an integer|a number) .*, got -?(\d{16,}|\d(\.\d+)?e\+\d+)$/;

  /** Named exceptions: texts for numbers, truth values and lists; integers for texts; another letter case; null for what is not there; pairs for a map. */
  function standsForSomething(value: unknown): boolean {
    if (typeof value === 'string' || Number.isSafeInteger(value) || value === null) return true;
    if (typeof value !== 'object') return false;
    return Array.isArray(value) || Object.values(value).some(standsForSomething);
  }

  it('nothing that is sent makes the conversion throw, and every line is short', async () => {
    await fc.assert(
      fc.asyncProperty(declarations, fc.anything({ withBigInt: true, maxDepth: 4 }), async (options, sent) => {
        const conversion = await convert(declare(options), { p: sent });
        return conversion.ok || conversion.lines.every((line) => line.length < 400 && !line.includes('\n'));
      }),
      { numRuns: 3_000 },
    );
  });
});
