import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, Type } from 'class-transformer';
import * as validator from 'class-validator';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  Equals,
  IsArray,
  IsBoolean,
  IsDefined,
  IsDivisibleBy,
  IsEmpty,
  IsEnum,
  IsIn,
  IsInstance,
  IsInt,
  IsNotEmpty,
  IsNotIn,
  IsNumber,
  IsObject,
  IsOptional,
  IsPositive,
  IsString,
  IsUrl,
  Matches,
  Max,
  MaxDate,
  MaxLength,
  Min,
  MinDate,
  MinLength,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { kindsTaken, type ValueKind, written } from '../../../lib/schema/dto/rule-kinds.js';
import { isBuiltIn, wordsOf } from '../../../lib/schema/dto/rule-words.js';
import { compileArguments } from '../../../lib/schema/convert.js';
import { argumentsSchema } from '../../../lib/schema/json-schema.js';
import { declareParameter } from '../../../lib/schema/parameter.js';
import type { ObjectShape, Parameter } from '../../../lib/schema/shape.js';

function read(type: unknown): { parameter?: Parameter; problems: readonly string[] } {
  const problems: string[] = [];
  const parameter = declareParameter('T.m, parameter p', 'p', 'd', {}, { from: 'compiler', type }, problems);
  return { problems, ...(parameter && { parameter }) };
}

function declare(type: unknown): Parameter {
  const { parameter, problems } = read(type);
  expect(problems).toEqual([]);
  return parameter!;
}

async function convert(type: unknown, sent: unknown): Promise<unknown> {
  const conversion = await compileArguments([declare(type)])({ p: sent });
  return conversion.ok ? conversion.values['p'] : conversion.lines.join('\n');
}

/** The schema of property `x`. */
function schemaOf(type: unknown): unknown {
  const { p } = argumentsSchema([declare(type)]).properties as Record<string, { properties?: Record<string, unknown> }>;
  return p?.properties?.['x'];
}

enum Level {
  Low,
  High,
}
enum Size {
  S = 's',
  // eslint-disable-next-line @typescript-eslint/no-duplicate-enum-values
  Small = 's',
  L = 'l',
}
class Part {
  @IsString() a!: string;
}

/** What is wrong, and the same class as the problem says to write it, which takes `sent`. */
interface Mended {
  readonly wrong: unknown;
  readonly problem: RegExp;
  readonly right: unknown;
  readonly sent: object;
}

const mended: Record<string, Mended> = {};

{
  class Wrong {
    @IsArray() @IsArray({ each: true }) @IsString({ each: true }) x!: string[][];
  }
  class Row {
    @IsArray() @IsString({ each: true }) cells!: string[];
  }
  class Right {
    @ValidateNested({ each: true }) @Type(() => Row) x!: Row[];
  }
  mended['a list of lists'] = {
    wrong: Wrong,
    problem:
      /Wrong\.x: @IsArray\(\{ each: true \}\) says that its items are lists, .* schema, .* or make the items a class/,
    right: Right,
    sent: { x: [{ cells: ['a'] }] },
  };
}
{
  class Wrong {
    @IsInt({ each: true }) @Min(1) x!: number[];
  }
  class Right {
    @IsInt({ each: true }) @Min(1, { each: true }) x!: number[];
  }
  mended['a rule of numbers on a list'] = {
    wrong: Wrong,
    problem: /Wrong\.x: @Min\(\) refuses every array; for its items, write @Min\(…, \{ each: true \}\)$/,
    right: Right,
    sent: { x: [1] },
  };
}
{
  class Wrong {
    @IsArray() @IsString() x!: string[];
  }
  class Right {
    @IsArray() @IsString({ each: true }) x!: string[];
  }
  mended['a rule of texts on a list'] = {
    wrong: Wrong,
    problem: /Wrong\.x: @IsString\(\) refuses every array; for its items, write @IsString\(\{ each: true \}\)$/,
    right: Right,
    sent: { x: ['a'] },
  };
}
{
  class Wrong {
    @IsArray() @IsIn(['a']) x!: string[];
  }
  class Right {
    @IsArray() @IsIn(['a'], { each: true }) x!: string[];
  }
  mended['values on a list'] = {
    wrong: Wrong,
    problem: /@IsIn\(\) refuses every array/,
    right: Right,
    sent: { x: ['a'] },
  };
}
{
  class Wrong {
    @IsInt({ each: true }) @ArrayMinSize(1) @IsArray() x!: Set<number>;
  }
  class Right {
    @IsInt({ each: true }) @ArrayMinSize(1) @IsArray() x!: number[];
  }
  mended['rules of arrays on a Set'] = {
    wrong: Wrong,
    problem: /Wrong\.x: .*@ArrayMinSize\(\).* refuses every Set; take it away, or make it an array$/,
    right: Right,
    sent: { x: [1] },
  };
}
{
  class Wrong {
    @IsInt({ each: true }) @ArrayMaxSize(1) x!: Map<string, number>;
  }
  class Right {
    @IsInt({ each: true }) x!: Map<string, number>;
  }
  mended['rules of arrays on a Map'] = {
    wrong: Wrong,
    problem: /@ArrayMaxSize\(\) refuses every Map; take it away/,
    right: Right,
    sent: { x: { a: 1 } },
  };
}
{
  class Wrong {
    @IsObject() @ValidateNested() @Type(() => Part) x!: Part[];
  }
  class Right {
    @IsObject({ each: true }) @ValidateNested() @Type(() => Part) x!: Part[];
  }
  mended['a rule of objects on an array'] = {
    wrong: Wrong,
    problem: /@IsObject\(\) refuses every array; for its items, write @IsObject\(\{ each: true \}\)$/,
    right: Right,
    sent: { x: [{ a: 'a' }] },
  };
}
{
  class Wrong {
    @MaxLength(3, { each: true }) x!: string;
  }
  class Right {
    @MaxLength(3) x!: string;
  }
  mended['{ each: true } on a text'] = {
    wrong: Wrong,
    problem:
      /is a string, but @MaxLength\(…, \{ each: true \}\) looks at the items of a list; take { each: true } away/,
    right: Right,
    sent: { x: 'a' },
  };
}
{
  class Wrong {
    @MinLength(70_000) x!: string;
    @Matches(/a/) @MinLength(3_000) y!: string;
    @IsInt({ each: true }) @ArrayMinSize(2_000) z!: number[];
  }
  class Right {
    @MinLength(70_000) @MaxLength(80_000) x!: string;
    @Matches(/a/) @MinLength(3_000) @MaxLength(4_000) y!: string;
    @IsInt({ each: true }) @ArrayMinSize(2_000) @ArrayMaxSize(3_000) z!: number[];
  }
  mended['more than is taken'] = {
    wrong: Wrong,
    problem: /x: no text of 70000 characters is taken where nothing says how long it may be; write @MaxLength\(\) too/,
    right: Right,
    sent: { x: 'a'.repeat(70_000), y: 'a'.repeat(3_000), z: Array.from({ length: 2_000 }, () => 1) },
  };
}
{
  class Wrong {
    @IsString() a!: string;
    @ValidateNested() @Type(() => Wrong) x!: Wrong;
  }
  class Right {
    @IsString() a!: string;
    @IsOptional() @ValidateNested() @Type(() => Right) x?: Right;
  }
  mended['an object without an end'] = {
    wrong: Wrong,
    problem: /Wrong\.x: one Wrong must hold another, without an end, .* write @IsOptional\(\) there$/,
    right: Right,
    sent: { a: 'a' },
  };
}
{
  class Wrong {
    @Expose({ name: 'b' }) @IsString() a!: string;
    @IsString() b!: string;
  }
  class Right {
    @Expose({ name: 'other_name' }) @IsString() a!: string;
    @IsString() b!: string;
  }
  mended['one name for two properties'] = {
    wrong: Wrong,
    problem: /Wrong\.b: what comes in as b would be a too; give one of them another name, @Expose/,
    right: Right,
    sent: { other_name: 'a', b: 'b' },
  };
}
{
  class Wrong {
    @IsString() get x(): string {
      return 'x';
    }
    @IsString() y!: string;
  }
  class Right {
    @Exclude() @IsString() get x(): string {
      return 'x';
    }
    @IsString() y!: string;
  }
  mended['a getter'] = {
    wrong: Wrong,
    problem: /Wrong\.x: has a getter and no setter, .* keep it from the model with @Exclude\(\)$/,
    right: Right,
    sent: { y: 'y' },
  };
}
{
  class Base {
    get x(): string {
      return 'x';
    }
  }
  class Wrong extends Base {
    @IsString() y!: string;
  }
  IsString()(Wrong.prototype, 'x');
  class Right {
    held = '';
    @IsString() get x(): string {
      return this.held;
    }
    set x(value: string) {
      this.held = value;
    }
  }
  mended['a getter of a base'] = {
    wrong: Wrong,
    problem: /x: has a getter and no setter/,
    right: Right,
    sent: { x: 'a' },
  };
}
{
  class Wrong {
    @IsString() y!: string;
    @Allow() x(): string {
      return 'x';
    }
  }
  class Right {
    @IsString() y!: string;
    x(): string {
      return 'x';
    }
  }
  mended['a method'] = { wrong: Wrong, problem: /Wrong\.x: is a method/, right: Right, sent: { y: 'y' } };
}
{
  class Wrong {
    @IsString() y!: string;
    @Exclude() @IsString() x(): string {
      return 'x';
    }
  }
  mended['a hidden method'] = { wrong: Wrong, problem: /Wrong\.x: is a method/, right: Part, sent: { a: 'a' } };
}
{
  class Base {
    set x(_: string) {
      // nothing is kept
    }
  }
  class Wrong extends Base {
    @IsString() y!: string;
  }
  IsString()(Wrong.prototype, 'x');
  mended['a setter'] = { wrong: Wrong, problem: /x: has a setter and no getter/, right: Part, sent: { a: 'a' } };
}
for (const name of ['toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf']) {
  class Wrong {
    [name: string]: unknown;
  }
  IsString()(Wrong.prototype, name);
  class Right {
    @Expose({ name: 'as_text' }) @IsString() asText!: string;
  }
  mended[`a property called ${name}`] = {
    wrong: Wrong,
    problem: /every object has a member of that name already, .* call the property otherwise$/,
    right: Right,
    sent: { as_text: 'a' },
  };
}
{
  class Wrong {
    @Expose({ name: 'toString' }) @IsString() text!: string;
  }
  class Right {
    @Expose({ name: 'note' }) @IsString() text!: string;
  }
  mended['a wire name that every object has'] = {
    wrong: Wrong,
    problem: /Wrong\.text: "toString" is no name that a key can have; .* @Expose\(\{ name: 'note' \}\)$/,
    right: Right,
    sent: { note: 'a' },
  };
}
{
  class Wrong {
    @IsString() größe!: string;
  }
  class Right {
    @Expose({ name: 'note' }) @IsString() größe!: string;
  }
  mended['a name that no provider takes'] = {
    wrong: Wrong,
    problem: /"größe" is no name that a key can have/,
    right: Right,
    sent: { note: 'a' },
  };
}
{
  class Wrong {
    @Matches(/ab/y) x!: string;
  }
  class Right {
    @Matches(/^ab/) x!: string;
  }
  mended['a sticky pattern'] = {
    wrong: Wrong,
    problem: /Wrong\.x: \/ab\/y goes on from where it last matched, .* take the flag y away, and begin with \^$/,
    right: Right,
    sent: { x: 'abc' },
  };
}
{
  const key = Symbol('key');
  class Wrong {
    @IsString() [key]!: string;
    @IsString() a!: string;
  }
  mended['a symbol'] = {
    wrong: Wrong,
    problem: /Wrong\[Symbol\(key\)\]: the wire has texts for names, .* take its rules away$/,
    right: Part,
    sent: { a: 'a' },
  };
}
for (const [title, later] of [
  [
    'throws',
    () => {
      throw new ReferenceError('Cannot access Later before initialization');
    },
  ],
  ['gives nothing', () => undefined],
] as const) {
  class Wrong {
    x: unknown;
  }
  Type(later as () => typeof Part)(Wrong.prototype, 'x');
  ValidateNested()(Wrong.prototype, 'x');
  class Right {
    @ValidateNested() @Type(() => Part) x: unknown;
  }
  mended[`a @Type() that ${title}`] = {
    wrong: Wrong,
    problem: /Wrong\.x: the function in @Type\(\) gives no class, .* write the class in a file of its own/,
    right: Right,
    sent: { x: { a: 'a' } },
  };
}
{
  class Wrong {
    @IsDefined() x!: URL;
  }
  class Right {
    @IsUrl() x!: string;
  }
  mended['a URL'] = {
    wrong: Wrong,
    problem:
      /Wrong\.x: a URL is no kind of value here; write a text with @IsUrl\(\), and make the URL of it in the method$/,
    right: Right,
    sent: { x: 'https://example.com' },
  };
}
{
  class Wrong {
    @ValidateNested() @Type(() => RegExp) x!: RegExp;
  }
  class Right {
    @IsString() x!: string;
  }
  mended['a RegExp'] = {
    wrong: Wrong,
    problem: /a RegExp is no kind of value here; write a text/,
    right: Right,
    sent: { x: 'a' },
  };
}
{
  class Wrong {
    @IsOptional() x?: Promise<string>;
  }
  class Right {
    @IsOptional() @IsString() x?: string;
  }
  mended['a Promise'] = {
    wrong: Wrong,
    problem: /a Promise is no kind of value here; write the type of what it gives/,
    right: Right,
    sent: {},
  };
}
{
  class Wrong {
    @IsObject() x!: Record<string, string>;
  }
  class Right {
    @IsString({ each: true }) x!: Map<string, string>;
  }
  mended['an object of any keys'] = {
    wrong: Wrong,
    problem: /nobody says what is in this object; .* make it a Map/,
    right: Right,
    sent: { x: { a: 'a' } },
  };
}

describe('a mistake in a class is found when it is scanned', () => {
  it.each(Object.entries(mended))(
    '%s, and what is said to write works',
    async (_title, { wrong, problem, right, sent }) => {
      const { problems } = read(wrong);
      expect(problems.filter((line) => problem.test(line))).toHaveLength(1);
      for (const line of problems) expect(line).toMatch(/^T\.m, parameter p, Wrong/);
      expect(await convert(right, sent)).toBeInstanceOf(right);
    },
  );

  class Impossible {
    @IsString() @IsInt() kinds: unknown;
    @Min(5) @Max(1) numbers!: number;
    @IsInt() @Min(1.2) @Max(1.8) integers!: number;
    @IsPositive() @Max(0) positive!: number;
    @IsDivisibleBy(10) @Min(1) @Max(9) multiples!: number;
    @IsDivisibleBy(0) divisor!: number;
    @Min(NaN) least!: number;
    @MaxLength('5' as unknown as number) most!: string;
    @MinLength(10) @MaxLength(2) texts!: string;
    @IsEmpty() @IsNotEmpty() empty!: string;
    @ArrayMinSize(3) @ArrayMaxSize(1) @IsInt({ each: true }) lists!: number[];
    @MinDate(new Date(2e12)) @MaxDate(new Date(1e12)) dates!: Date;
    @MinDate(new Date('soon')) date!: Date;
    @MaxDate('2026' as unknown as Date) until!: Date;
    @IsEnum({}) enumeration!: string;
    @IsIn([]) values!: string;
    @IsIn(['a', 'b']) @IsIn(['c']) disjoint!: string;
    @IsEnum(Size) @IsNotIn(['s', 'l']) excluded!: Size;
    @IsIn([1, 2]) @Min(3) bounded!: number;
    @IsIn(['a']) text!: number;
    @IsIn([1, '1']) ambiguous: unknown;
    @Equals(null) nothing!: string;
    @IsInstance(Date) @ValidateNested() @Type(() => Part) instance!: Part;
    @IsString() @ValidateNested() @Type(() => Part) object!: Part;
    @ValidateIf(() => true) @Min(5) @Max(1) conditional!: number;
  }

  it('rules that no value keeps to', () => {
    expect(read(Impossible).problems.map((line) => line.replace('T.m, parameter p, Impossible.', ''))).toEqual([
      'kinds: is a number by @IsInt(), but @IsString() takes texts only, so every call would be refused; make them agree',
      'numbers: no number keeps to @Min() and @Max() at once, so every call would be refused; change their bounds',
      'integers: no integer keeps to @IsInt() and @Min() and @Max() at once, so every call would be refused; change their bounds',
      'positive: no number keeps to @IsPositive() and @Max() at once, so every call would be refused; change their bounds',
      'multiples: no number keeps to @IsDivisibleBy() and @Min() and @Max() at once, so every call would be refused; change their bounds',
      'divisor: @IsDivisibleBy() needs a whole number from 1 on, found 0',
      'least: @Min() needs a number, found NaN',
      'most: @MaxLength() needs a number, found a string',
      'texts: no text keeps to @MinLength() and @MaxLength() at once, so every call would be refused; change their bounds',
      'empty: no text keeps to @IsEmpty() and @IsNotEmpty() at once, so every call would be refused; change their bounds',
      'lists: no array keeps to @ArrayMinSize() and @ArrayMaxSize() at once, so every call would be refused; change their bounds',
      'dates: no date keeps to @MinDate() and @MaxDate() at once, so every call would be refused; change their bounds',
      'date: @MinDate() needs a Date, or a function that gives one, found one that is no moment',
      'until: @MaxDate() needs a Date, or a function that gives one, found a string',
      'enumeration: @IsEnum() names no value, so every call would be refused; name at least one',
      'values: @IsIn() names no value, so every call would be refused; name at least one',
      'disjoint: no value of @IsIn() and @IsIn() is one that its other rules take, so every call would be refused; make them agree',
      'excluded: no value of @IsEnum() is one that its other rules take, so every call would be refused; make them agree',
      'bounded: no value of @IsIn() is one that its other rules take, so every call would be refused; make them agree',
      'text: is a number, but @IsIn() takes texts only, so every call would be refused; make them agree',
      'ambiguous: "1" would stand for two values, a text and a number; leave one of them out',
      'nothing: is a string, but @Equals() takes nothing that comes as JSON, so every call would be refused; make them agree',
      'instance: is a Part, but @IsInstance() takes dates only, so every call would be refused; make them agree',
      'object: is a Part, but @IsString() takes texts only, so every call would be refused; make them agree',
      'conditional: no number keeps to @Min() and @Max() at once, so every call would be refused; change their bounds',
    ]);
  });
});

describe('the values of a property', () => {
  class Listed {
    @IsEnum([1, 2]) numbers!: number;
    @IsEnum(['a', 'b']) texts!: string;
    @IsEnum(Size) repeated!: Size;
    @IsEnum(Level) @IsIn([Level.High]) both!: Level;
    @IsIn([Level.High]) @IsEnum(Level) otherOrder!: Level;
    @IsIn(['a', 'b', 'a']) @IsIn(['b', 'a']) lists!: string;
    @IsEnum(Level) @IsNotIn([Level.Low]) without!: Level;
    @IsIn([1, 2, 3]) @Min(2) bounded!: number;
    @IsIn(['a', null]) nothing!: string;
  }
  const sent = {
    numbers: 1,
    texts: 'a',
    repeated: 's',
    both: 'High',
    otherOrder: 'High',
    lists: 'a',
    without: 'High',
    bounded: 2,
    nothing: 'a',
  };

  it('are those that all of its rules allow, by the names of an enum, each once', async () => {
    const { fields } = declare(Listed).shape as ObjectShape;
    const words = fields.map(({ shape }) =>
      shape.kind === 'enum' ? shape.members.map(({ word }) => word) : shape.kind,
    );
    expect(words).toEqual([
      ['1', '2'],
      ['a', 'b'],
      ['s', 'l'],
      ['High'],
      ['High'],
      ['a', 'b'],
      ['High'],
      ['2', '3'],
      ['a'],
    ]);
    expect(await convert(Listed, sent)).toEqual(
      Object.assign(new Listed(), { ...sent, both: 1, otherOrder: 1, without: 1 }),
    );
    expect(await convert(Listed, { ...sent, numbers: '1' })).toHaveProperty('numbers', 1);
  });

  it('of one class among several are told apart by their names', () => {
    const owner = (
      subTypes: { name: string; value: new () => object }[],
      keepDiscriminatorProperty = false,
    ): unknown => {
      class Owner {
        x: unknown;
      }
      Type(() => Object, { discriminator: { property: 'by', subTypes }, keepDiscriminatorProperty })(
        Owner.prototype,
        'x',
      );
      ValidateNested()(Owner.prototype, 'x');
      return Owner;
    };
    class Tagged {
      @IsIn(['t']) by!: string;
    }
    class Other {
      @IsInt() n!: number;
    }
    expect(read(owner([])).problems[0]).toMatch(/Owner\.x: subTypes names no class; name at least one/);
    expect(
      read(
        owner([
          { name: 'a', value: Part },
          { name: 'a', value: Other },
        ]),
      ).problems[0],
    ).toMatch(/two of subTypes are called "a"/);
    expect(
      JSON.stringify(
        schemaOf(
          owner([
            { name: 'a', value: Part },
            { name: 'a', value: Part },
          ]),
        ),
      ).match(/"enum":\["a"\]/g),
    ).toHaveLength(1);
    expect(read(owner([{ name: 'u', value: Tagged }], true)).problems[0]).toMatch(
      /Tagged is told by the by "u", which its own rules refuse/,
    );
    expect(read(owner([{ name: 't', value: Tagged }], true)).problems).toEqual([]);
    // The tag stays on the instance, whose class need not know it.
    expect(read(owner([{ name: 't', value: Part }], true)).problems).toEqual([]);
  });
});

describe('rules on a condition', () => {
  class Payment {
    @IsBoolean() now!: boolean;
    @ValidateIf((payment: Payment) => payment.now) @IsInt() @Max(500) amount?: number;
    @ValidateIf((payment: Payment) => payment.now) @IsEnum(Level) level?: Level;
    @ValidateIf((payment: Payment) => payment.now) @IsInt({ each: true }) @ArrayMaxSize(2) @IsArray() ids?: number[];
    @ValidateIf((payment: Payment) => payment.now) @ValidateNested() @Type(() => Part) part?: Part;
    @ValidateIf((payment: Payment) => payment.now) @IsDefined() @Matches(/^a*$/) word?: string;
    @IsOptional() @ValidateIf((payment: Payment) => payment.now) @IsString() note?: string;
    @IsString({ validateIf: (payment: Payment) => payment.now })
    @MinLength(2, { validateIf: () => false })
    rule?: string;
  }

  it('are told beforehand, and enforce nothing themselves', () => {
    expect(
      Object.fromEntries((declare(Payment).shape as ObjectShape).fields.map((field) => [field.name, field.hint ?? ''])),
    ).toEqual({
      now: '',
      amount: 'a number of at most 500',
      level: 'one of 0 (Low), 1 (High)',
      ids: 'an array of at most 2 items',
      part: '',
      word: 'text that matches /^a*$/',
      note: '',
      rule: 'text of at least 2 characters',
    });
  });

  it('take null and absence, and refuse in words', async () => {
    expect(await convert(Payment, { now: false })).toEqual(Object.assign(new Payment(), { now: false }));
    expect(await convert(Payment, { now: false, amount: 900, level: 7, ids: [1, 2, 3], rule: 'x' })).toHaveProperty(
      'amount',
      900,
    );
    const lines = await convert(Payment, { now: true, part: null });
    expect(lines).toContain('p.level: expected one of 0 (Low), 1 (High), got nothing');
    expect(lines).toContain('p.part: expected an object, got null');
    expect(lines).toContain('p.rule: expected a string, got nothing');
    expect(lines).not.toContain('not accepted');
    expect(await convert(Payment, { now: false, word: 'a'.repeat(2_049) })).toMatch(
      /p\.word: .* at most 2048 characters/,
    );
  });

  it('see null where they ask for it, and absence where they ask for that', async () => {
    class Asking {
      @ValidateIf((_, value) => value !== null) @IsString() x!: string | null;
      @ValidateIf((asking: Asking) => asking.y !== undefined) @IsString() y?: string;
    }
    expect(await convert(Asking, { x: null })).toEqual(Object.assign(new Asking(), { x: null }));
    expect(await convert(Asking, { x: 'a', y: 'b' })).toEqual(Object.assign(new Asking(), { x: 'a', y: 'b' }));
    // A strict schema has only null for what is left out.
    expect(await convert(Asking, { x: 'a', y: null })).toEqual(Object.assign(new Asking(), { x: 'a' }));
    expect(await convert(Asking, {})).toBe('p.x: expected a string, got nothing');
  });
});

describe('what is no mistake', () => {
  it('a class with a static name, an instance of Date, what only the class itself fills in', async () => {
    class Named {
      static readonly name = 5 as unknown as string;
      @IsInstance(Date) date!: Date;
      @IsNumber({ maxDecimalPlaces: 2 }) price!: number;
      @Exclude() @IsString() tenant = 'acme';
    }
    expect(await convert(Named, { date: '2026-03-01', price: 1 })).toHaveProperty('tenant', 'acme');
    expect(await convert(Named, { date: '2026-03-01', price: 1.234 })).toBe(
      'p.price: expected a number with at most 2 decimal places, got 1.234',
    );
  });

  it('a Map that is not empty, a Set without what is not wanted', async () => {
    class Lists {
      @IsNotEmpty() @IsObject() @IsInt({ each: true }) map!: Map<string, number>;
      @IsNotIn([1]) @IsInstance(Set) @IsInt({ each: true }) set!: Set<number>;
      @IsNotEmpty() @ArrayUnique() @IsInt({ each: true }) list!: number[];
    }
    const value = (await convert(Lists, { map: { a: 1 }, set: [1], list: [1] })) as Lists;
    expect([value.map, value.set]).toEqual([new Map([['a', 1]]), new Set([1])]);
  });

  it('a long way from one class to the next, with an end', async () => {
    class Tree {
      @IsArray() @ValidateNested({ each: true }) @Type(() => Tree) children!: Tree[];
    }
    expect(await convert(Tree, { children: [{ children: [] }] })).toBeInstanceOf(Tree);
  });

  it('a text that a pattern looks at is bounded, and the schema says so', async () => {
    class Word {
      @Matches(/^(a+)+$/) x!: string;
    }
    expect(schemaOf(Word)).toEqual({ type: 'string', maxLength: 2_048, description: 'text that matches /^(a+)+$/' });
    expect(await convert(Word, { x: `${'a'.repeat(2_048)}b` })).toMatch(
      /^p\.x: expected a string of at most 2048 characters/,
    );
    class Long {
      @Matches(/^a+$/) @MaxLength(3_000) x!: string;
    }
    expect(await convert(Long, { x: 'a'.repeat(3_000) })).toBeInstanceOf(Long);
  });
});

/** Of each built-in rule, with constraints that something keeps to. */
const CONSTRAINTS: Readonly<Record<string, readonly unknown[]>> = {
  isEnum: [{ A: 'a', B: 1 }],
  ...{ isIn: [['a', 1]], isNotIn: [['q']], matches: [/./], isLength: [0, 99], minLength: [0], maxLength: [99] },
  ...{ min: [-99], max: [99], isDivisibleBy: [1], minDate: [new Date(0)], maxDate: [new Date(9e12)] },
  ...{ isInstance: [Part], arrayContains: [[]], arrayNotContains: [[]], arrayMinSize: [0], arrayMaxSize: [99] },
  ...{ equals: ['a'], notEquals: ['q'], contains: ['a'], notContains: ['q'], isHash: ['md5'], isByteLength: [0, 99] },
  ...{ isIdentityCard: ['any'], isPassportNumber: ['US'], isPostalCode: ['any'] },
};
const SAMPLES: Readonly<Record<ValueKind, readonly unknown[]>> = {
  string: ['', 'a', '1', 'true', '2024-01-01'],
  number: [0, 1, -1, 1.5],
  boolean: [true, false],
  bigint: [1n],
  date: [new Date()],
  bytes: [Buffer.from('a')],
  object: [Object.assign(new Part(), { a: 'a' })],
  array: [[], ['a'], [1]],
  set: [new Set(), new Set([1])],
  map: [new Map([['a', 1]])],
};

function isValid(
  rule: ValidatorConstraintInterface | undefined,
  value: unknown,
  constraints: readonly unknown[],
): boolean {
  return rule?.validate(value, { constraints, value } as ValidationArguments) === true;
}

describe('class-validator', () => {
  const rules = Object.entries(validator)
    .filter(([name, value]) => typeof value === 'string' && name === name.toUpperCase())
    .map(([, name]) => name as unknown as string);

  it('has no rule that is without words', () => {
    expect(rules.length).toBeGreaterThan(100);
    expect(rules.filter((name) => !isBuiltIn(name) || !wordsOf(name))).toEqual([]);
  });

  it.each(rules)('%s takes what is said here, and is written so', (name) => {
    const decorator = written({ name }).slice(1, -2);
    const make = (validator as unknown as Record<string, (...constraints: unknown[]) => PropertyDecorator>)[decorator];
    expect(make).toBeInstanceOf(Function);
    class Probe {}
    const constraints = CONSTRAINTS[name] ?? [];
    make!(...constraints)(Probe.prototype, 'p');
    const store = validator.getMetadataStorage();
    const [rule] = store.getTargetValidationMetadatas(Probe, '', true, false);
    if (rule?.type !== 'customValidation') return;
    const [constraint] = store.getTargetValidatorConstraints(rule.constraintCls);
    const taken = kindsTaken(rule as never) ?? Object.keys(SAMPLES);
    const accepted = Object.entries(SAMPLES)
      .filter(([, values]) => values.some((value) => isValid(constraint?.instance, value, constraints)))
      .map(([kind]) => kind);
    // No sample is a text of every kind.
    expect([...taken].filter((kind) => kind !== 'string')).toEqual(accepted.filter((kind) => kind !== 'string'));
    expect(taken).toEqual(expect.arrayContaining(accepted));
  });

  it.each<[string, unknown[], string]>([
    ['isNumber', [{ maxDecimalPlaces: 2 }], 'a number with at most 2 decimal places'],
    ['isUrl', [{ protocols: ['https'] }], 'a URL with https'],
    ['isUuid', ['4'], 'a UUID of version 4'],
    ['isUuid', ['all'], 'a UUID'],
    ['isDecimal', [{ decimal_digits: '2' }], 'a decimal number as text with 2 decimal places'],
    ['isDecimal', [{ decimal_digits: '1,' }], 'a decimal number as text with at least 1 decimal place'],
    ['isPostalCode', ['NL'], 'a postal code of NL'],
    [
      'isStrongPassword',
      [{ minLength: 30, minSymbols: 0 }],
      'a password of at least 30 characters with at least 1 lower case letter, 1 upper case letter, 1 digit',
    ],
    ['isByteLength', [1, 5], 'text of 1 to 5 bytes'],
    ['isByteLength', [1], 'text of at least 1 bytes'],
    ['isPhoneNumber', ['CH'], 'a phone number of CH'],
    ['isHash', ['sha256'], 'a hash by sha256 in hexadecimal'],
    ['isTaxId', [undefined], 'a tax number of en-US'],
    ['isIdentityCard', ['NO'], 'an identity card number of NO'],
    ['isEmail', [{ host_whitelist: ['corp.example'] }], 'an email address at corp.example'],
    ['isEnum', [Level], 'one of 0 (Low), 1 (High)'],
    ['isMobilePhone', [['de-DE', 'de-CH']], 'a mobile phone number of de-DE or de-CH'],
  ])('%s says its options: %j', (name, constraints, words) => {
    expect(wordsOf(name, constraints)).toBe(words);
  });
});
