/**
 * What it costs to check and convert the arguments of one call, beside the check alone by ajv, and beside
 * class-transformer and class-validator alone for a class with rules; all in one run, interleaved. Exits with 1 where a
 * bound does not hold. `npm run bench:schema`
 */
import 'reflect-metadata';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { plainToInstance, Type } from 'class-transformer';
import { IsEmail, IsInt, IsOptional, IsString, MaxLength, Min, validate, ValidateNested } from 'class-validator';
import { compileArguments } from '#lib/schema/convert.js';
import { argumentsSchema } from '#lib/schema/json-schema.js';
import { declareParameter, type ParameterOptions } from '#lib/schema/parameter.js';
import type { Parameter } from '#lib/schema/shape.js';

class Sku {
  @IsString() code!: string;
  @IsOptional() @IsString() colour?: string;
}
class Line {
  @ValidateNested() @Type(() => Sku) sku!: Sku;
  @IsInt() @Min(1) quantity!: number;
}
class Address {
  @IsString() @MaxLength(80) street!: string;
  @IsString() city!: string;
}
class Order {
  @IsEmail() email!: string;
  @ValidateNested() @Type(() => Address) to!: Address;
  @ValidateNested({ each: true }) @Type(() => Line) lines!: Line[];
}

function declare(name: string, options: ParameterOptions): Parameter {
  const problems: string[] = [];
  const parameter = declareParameter(name, name, 'd', options, { from: 'handmade' }, problems);
  if (parameter === undefined) throw new Error(problems.join('\n'));
  return parameter;
}

const simple = [
  declare('orderId', { type: 'integer', minimum: 1 }),
  declare('note', { type: 'string', maxLength: 200 }),
];
const convertSimple = compileArguments(simple);
const checkSimple = new Ajv2020().compile(argumentsSchema(simple));
const convertOrder = compileArguments([declare('order', { type: Order })]);

// Many, so that nothing is known of the next: a compiler that knows the value measures nothing.
const COUNT = 64;
const calls = Array.from({ length: COUNT }, (_, i) => ({
  orderId: i + 1,
  note: `please look at number ${i.toString()}`,
}));
const wrongCalls = Array.from({ length: COUNT }, (_, i) => ({ orderId: -i, note: 'x' }));
const orders = Array.from({ length: COUNT }, (_, i) => ({
  email: `user${i.toString()}@example.test`,
  to: { street: `${i.toString()} High Street`, city: 'Utrecht' },
  lines: [1, 2, 3].map((n) => ({ sku: { code: `A${n.toString()}` }, quantity: n + i })),
}));

/** As they are given here. */
const OPTIONS = {
  forbidUnknownValues: true,
  validationError: { target: false, value: false },
};

/** So that no result is thrown away before it is made. */
let kept = 0;
const sync: Readonly<Record<string, (i: number) => void>> = {
  'two primitives: ajv, check alone': (i) => {
    if (checkSimple(calls[i])) kept++;
  },
  'two primitives: check and conversion': (i) => {
    if ('ok' in convertSimple(calls[i] as never)) kept++;
  },
  'two primitives: refused, with its line': (i) => {
    if ('ok' in convertSimple(wrongCalls[i] as never)) kept++;
  },
};
const asynchronous: Readonly<Record<string, (i: number) => Promise<unknown>>> = {
  'nested class: class-transformer and class-validator alone': (i) =>
    validate(plainToInstance(Order, orders[i]), OPTIONS),
  'nested class: check, conversion and both': async (i) => convertOrder({ order: orders[i] }),
};

const ROUNDS = 40;
const times = new Map<string, number[]>();

function note(name: string, begun: bigint, count: number, round: number): void {
  const time = Number(process.hrtime.bigint() - begun) / count;
  if (round >= 0) times.set(name, [...(times.get(name) ?? []), time]);
}

for (let round = -10; round < ROUNDS; round++)
  for (const [name, once] of Object.entries(sync)) {
    const begun = process.hrtime.bigint();
    for (let n = 0; n < 800; n++) for (let i = 0; i < COUNT; i++) once(i);
    note(name, begun, 800 * COUNT, round);
  }
// What is compared by its difference is measured in short turns, each with the other one beside it, now before, now after.
for (let round = -40; round < 4 * ROUNDS; round++) {
  const pair = Object.entries(asynchronous);
  for (const [name, once] of round % 2 === 0 ? pair : pair.reverse()) {
    const begun = process.hrtime.bigint();
    for (let n = 0; n < 3; n++) for (let i = 0; i < COUNT; i++) await once(i);
    note(name, begun, 3 * COUNT, round);
  }
}

function median(values: readonly number[] = []): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

console.log(`Node ${process.version}, ${ROUNDS.toString()} rounds, interleaved; nanoseconds for one call, median`);
for (const [name, measured] of times) console.log(`${median(measured).toFixed(0).padStart(8)}  ${name}`);

/** What a hostile model could send in the 256 KiB that a call may hold. */
const SIZE = 262_000;
const hostile: readonly (readonly [string, ParameterOptions, unknown])[] = [
  ['text', { type: 'string', maxLength: SIZE }, 'x'.repeat(SIZE)],
  ['text of surrogates', { type: 'string', maxLength: SIZE }, '👍'.repeat(SIZE / 2)],
  ['a pattern that looks back', { type: 'string', pattern: '^.*a.*b$' }, 'a'.repeat(SIZE)],
  ['digits for an integer', { type: 'integer' }, '9'.repeat(SIZE)],
  ['digits for a bigint', { type: BigInt }, '9'.repeat(SIZE)],
  ['a date', { type: Date }, `2026-03-01T${'0'.repeat(SIZE)}`],
  ['a member', { enum: ['a', 'b'] }, 'A'.repeat(SIZE)],
  ['base64', { type: Buffer, maxBytes: SIZE }, 'A'.repeat(SIZE)],
  ['wrong items', { items: 'integer', maxItems: 10_000 }, Array.from({ length: 9_000 }, () => 'x'.repeat(20))],
  ['lists as text', { items: { items: 'integer' } }, Array.from({ length: 1_000 }, () => `[${'1,'.repeat(100)}1]`)],
  ['lists as broken text', { items: { items: 'integer' } }, Array.from({ length: 1_000 }, () => '['.repeat(250))],
  [
    'unknown keys',
    { type: Order },
    Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`key${i.toString()}`, 1])),
  ],
  [
    'keys of a map',
    { type: Map, values: 'integer' },
    Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`key${i.toString()}`, 1])),
  ],
  [
    'pairs of a map',
    { type: Map, values: 'integer' },
    Array.from({ length: 256 }, () => ({ key: 'k', value: 'x'.repeat(500) })),
  ],
  ['an email address', { type: 'string', format: 'email', maxLength: SIZE }, `${'a.'.repeat(SIZE / 2)}@b`],
  ['a URI', { type: 'string', format: 'uri', maxLength: SIZE }, `https://${'a.'.repeat(SIZE / 2)}`],
];
console.log('\nmilliseconds for 256 KiB, the longest of 5');
let slowest = 0;
for (const [name, options, value] of hostile) {
  const convert = compileArguments([declare('p', options)]);
  let longest = 0;
  for (let run = 0; run < 5; run++) {
    const begun = process.hrtime.bigint();
    await convert({ p: value });
    longest = Math.max(longest, Number(process.hrtime.bigint() - begun) / 1e6);
  }
  slowest = Math.max(slowest, longest);
  console.log(`${longest.toFixed(1).padStart(8)}  ${name}`);
}

const ratio =
  median(times.get('two primitives: check and conversion')) / median(times.get('two primitives: ajv, check alone'));
const alone = times.get('nested class: class-transformer and class-validator alone') ?? [];
const share = median(
  times.get('nested class: check, conversion and both')?.map((whole, round) => 1 - (alone[round] ?? 0) / whole),
);
const bounds = [
  [`two primitives convert in ${ratio.toFixed(1)} times ajv’s check alone, of 5`, ratio <= 5],
  [`our share of a nested class is ${(100 * share).toFixed(1)} %, of 10`, share < 0.1],
  [`256 KiB take ${slowest.toFixed(1)} ms at most, of 50`, slowest < 50],
] as const;
console.log('');
for (const [text, holds] of bounds) console.log(`${holds ? 'holds' : 'FAILS'}: ${text}`);
if (kept === 0 || bounds.some(([, holds]) => !holds)) process.exitCode = 1;
