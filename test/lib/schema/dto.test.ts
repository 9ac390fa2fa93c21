import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDate,
  IsEmail,
  IsEnum,
  IsHash,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsNumber,
  IsOptional,
  IsPositive,
  IsString,
  Matches,
  MaxLength,
  Min,
  registerDecorator,
  Validate,
  ValidateIf,
  ValidateNested,
  ValidatorConstraint,
} from 'class-validator';
import { compileArguments } from '../../../lib/schema/convert.js';
import { argumentsSchema } from '../../../lib/schema/json-schema.js';
import { declareParameter, type ParameterOptions } from '../../../lib/schema/parameter.js';
import type { Parameter } from '../../../lib/schema/shape.js';
import { strictArguments } from '../../../lib/schema/strict.js';
import { typeText } from '../../../lib/schema/type-text.js';
import { strictModeProblems } from './strict-mode.js';

enum Status {
  Open = 'OPEN',
  Closed = 'CLOSED',
}
enum Level {
  Low,
  High,
}

class Line {
  @IsString() sku!: string;
  @IsInt() @Min(1) quantity!: number;
}

class NewOrder {
  @IsEmail() email!: string;
  @ValidateNested({ each: true }) @Type(() => Line) @ArrayMaxSize(3) lines!: Line[];
  @IsOptional() @MaxLength(10) note?: string;
}

class Everything {
  @IsDate() @Type(() => Date) typed!: Date;
  @IsDate() date!: Date;
  @Allow() big!: bigint;
  @Allow() bytes!: Buffer;
  @IsEnum(Status) status!: Status;
  @IsEnum(Level) level!: Level;
  @IsIn(['price', 'name']) sort!: string;
  @IsNumber() @IsPositive() price!: number;
  @IsBoolean() now!: boolean;
  @IsString({ each: true }) tags!: string[];
  @IsInt({ each: true }) ids!: Set<number>;
  @IsInt({ each: true }) stock!: Map<string, number>;
  @ValidateNested({ each: true }) @Type(() => Line) byName!: Map<string, Line>;
  @ValidateNested({ each: true }) @Type(() => Line) all!: Set<Line>;
  @ValidateNested() @Type(() => Line) one!: Line;
  @Expose({ name: 'due_on' }) @IsString() dueOn!: string;
  @Exclude() @IsOptional() @IsBoolean() isAdmin?: boolean;
}

class Named {
  @IsString() name!: string;
}
class Person extends Named {
  @IsInt() age!: number;
}

class Tree {
  @IsString() value!: string;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Tree) children?: Tree[];
}

abstract class Pet {
  @IsString() name!: string;
}
class Cat extends Pet {
  @IsInt() lives!: number;
}
class Dog extends Pet {
  @IsBoolean() barks!: boolean;
  @IsOptional()
  @ValidateNested()
  @Type(() => Object, {
    discriminator: {
      property: 'kind',
      subTypes: [
        { name: 'cat', value: Cat },
        { name: 'dog', value: Dog },
      ],
    },
  })
  friend?: Pet;
}
class Owner {
  @ValidateNested()
  @Type(() => Object, {
    discriminator: {
      property: 'kind',
      subTypes: [
        { name: 'cat', value: Cat },
        { name: 'dog', value: Dog },
      ],
    },
  })
  pet!: Pet;
}

function read(type: unknown, options: ParameterOptions = {}): { parameter?: Parameter; problems: readonly string[] } {
  const problems: string[] = [];
  const parameter = declareParameter('T.m, parameter p', 'p', 'd', options, { from: 'compiler', type }, problems);
  return { problems, ...(parameter && { parameter }) };
}

function declare(type: unknown, options?: ParameterOptions): Parameter {
  const { parameter, problems } = read(type, options);
  expect(problems).toEqual([]);
  return parameter!;
}

/** What reaches the method, or the lines that the model is told. */
async function convert(type: unknown, sent: unknown): Promise<unknown> {
  const conversion = await compileArguments([declare(type)])({ p: sent });
  return conversion.ok ? conversion.values['p'] : conversion.lines.join('\n');
}

const line = { sku: 'A', quantity: 2 };
const order = { email: 'a@example.test', lines: [line] };
const everything = {
  typed: '2026-03-01',
  date: '2026-03-01T10:00:00Z',
  big: '2512292042121000001',
  bytes: 'aGk=',
  status: 'open',
  level: 'High',
  sort: 'price',
  price: 1.5,
  now: 'true',
  tags: ['a'],
  ids: [1, '2', 1],
  stock: { a: 1 },
  byName: { a: line },
  all: [line],
  one: line,
  due_on: 'monday',
};

describe('a class with rules', () => {
  it('arrives as an instance, with instances inside', async () => {
    const value = (await convert(NewOrder, order)) as NewOrder;
    expect(value).toBeInstanceOf(NewOrder);
    expect(value.lines[0]).toBeInstanceOf(Line);
    expect(JSON.parse(JSON.stringify(value))).toEqual(order);
  });

  it('has values of every kind', async () => {
    const value = (await convert(Everything, everything)) as Everything;
    expect(value).toBeInstanceOf(Everything);
    expect(value.typed).toEqual(new Date('2026-03-01T00:00:00Z'));
    expect(value.date).toEqual(new Date('2026-03-01T10:00:00Z'));
    expect(value.big).toBe(2512292042121000001n);
    expect(value.bytes).toEqual(Buffer.from('hi'));
    expect([value.status, value.level, value.sort, value.now]).toEqual(['OPEN', 1, 'price', true]);
    expect(value.ids).toEqual(new Set([1, 2]));
    expect(value.stock).toEqual(new Map([['a', 1]]));
    expect(value.byName.get('a')).toBeInstanceOf(Line);
    expect([...value.all][0]).toBeInstanceOf(Line);
    expect(value.one).toBeInstanceOf(Line);
    expect(value.dueOn).toBe('monday');
  });

  it.each<[string, unknown, unknown, string]>([
    [
      'a bound',
      NewOrder,
      { ...order, lines: [{ sku: 'A', quantity: 0 }] },
      'p.lines[0].quantity: expected an integer of at least 1, got 0',
    ],
    ['a rule', NewOrder, { ...order, email: 'nobody' }, 'p.email: expected an email address, got "nobody"'],
    ['a missing value', NewOrder, { lines: [] }, 'p.email: expected a string, got nothing'],
    ['an unknown key', NewOrder, { ...order, role: 'ADMIN' }, 'p.role: no such key; the keys are email, lines, note'],
    [
      'an unknown key inside',
      NewOrder,
      { ...order, lines: [{ ...line, free: true }] },
      'p.lines[0].free: no such key; the keys are sku, quantity',
    ],
    [
      'a hidden key',
      Everything,
      { ...everything, isAdmin: true },
      'p.isAdmin: no such key; the keys are typed, date, big, ',
    ],
    [
      'the name of a property that the wire calls otherwise',
      Everything,
      { ...everything, dueOn: 'x' },
      'p.dueOn: no such key; the keys are typed, date, big, ',
    ],
    ['a list for an object', NewOrder, [order], 'p: expected an object with email, lines, note, got an array of 1'],
    [
      'an object for a list',
      NewOrder,
      { ...order, lines: line },
      'p.lines: expected an array of at most 3 items, got an object with 2 keys',
    ],
    [
      'null inside',
      NewOrder,
      { ...order, lines: [null] },
      'p.lines[0]: expected an object with sku, quantity, got null',
    ],
    [
      'too many',
      NewOrder,
      { ...order, lines: [line, line, line, line] },
      'p.lines: expected an array of at most 3 items, got an array of 4',
    ],
    [
      'a list where an object is declared',
      Everything,
      { ...everything, one: [] },
      'p.one: expected an object with sku, quantity, got an array of 0',
    ],
    [
      'what a prototype is reached by',
      NewOrder,
      JSON.parse('{"email":"a@example.test","lines":[],"__proto__":{"isAdmin":true}}'),
      'p.__proto__: no such key; the keys are email, lines, note',
    ],
    [
      'constructor',
      NewOrder,
      { ...order, constructor: 'x' },
      'p.constructor: no such key; the keys are email, lines, note',
    ],
    ['then', NewOrder, { ...order, then: 'x' }, 'p.then: no such key; the keys are email, lines, note'],
    ['text that is no JSON', NewOrder, 'order', 'p: expected an object with email, lines, note, got "order"'],
  ])('refuses %s', async (_title, type, sent, lines) => {
    const told = await convert(type, sent);
    expect(String(told).startsWith(lines)).toBe(true);
  });

  it('takes text for what it stands for, and null for what may be left out', async () => {
    const value = await convert(NewOrder, JSON.stringify({ ...order, lines: JSON.stringify([line]), note: null }));
    expect(value).toEqual(Object.assign(new NewOrder(), { ...order, lines: [Object.assign(new Line(), line)] }));
  });

  it('keeps what a class has from the start', async () => {
    class Search {
      @IsOptional() @IsInt() limit = 10;
    }
    expect(await convert(Search, {})).toEqual(Object.assign(new Search(), { limit: 10 }));
    expect(await convert(Search, { limit: null })).toEqual(Object.assign(new Search(), { limit: 10 }));
    expect(await convert(Search, { limit: 3 })).toEqual(Object.assign(new Search(), { limit: 3 }));
  });

  it('takes over the rules of its base', async () => {
    expect(await convert(Person, { name: 'Ann', age: 3 })).toBeInstanceOf(Person);
    expect(await convert(Person, { age: 3 })).toBe('p.name: expected a string, got nothing');
  });

  it('may hold itself', async () => {
    const value = (await convert(Tree, { value: 'a', children: [{ value: 'b', children: [{ value: 'c' }] }] })) as Tree;
    expect(value.children![0]!.children![0]).toBeInstanceOf(Tree);
    expect(await convert(Tree, { value: 'a', children: [{ value: 'b', children: [{}] }] })).toBe(
      'p.children[0].children[0].value: expected a string, got nothing',
    );
  });

  it('may hold one of several, told by a tag', async () => {
    const value = (await convert(Owner, {
      pet: { kind: 'dog', name: 'Rex', barks: true, friend: { kind: 'cat', name: 'Tom', lives: 7 } },
    })) as Owner;
    expect(value.pet).toBeInstanceOf(Dog);
    expect((value.pet as Dog).friend).toBeInstanceOf(Cat);
    expect(await convert(Owner, { pet: { kind: 'cow', name: 'x' } })).toBe(
      'p.pet.kind: expected one of "cat", "dog", got "cow"',
    );
    expect(await convert(Owner, { pet: { name: 'x' } })).toBe('p.pet.kind: expected one of "cat", "dog", got nothing');
    expect(await convert(Owner, { pet: { kind: 'cat', name: 'x', barks: true } })).toBe(
      'p.pet.barks: no such key; the keys are name, lives\np.pet.lives: expected an integer, got nothing',
    );
  });
});

describe('what only the rules can say', () => {
  const checked: unknown[] = [];

  @ValidatorConstraint({ name: 'isFree', async: true })
  class IsFree {
    async validate(value: unknown): Promise<boolean> {
      await Promise.resolve();
      checked.push(value);
      return value !== 'taken';
    }
    defaultMessage(): string {
      return 'this name is taken; choose another';
    }
  }

  const Throws = () => (target: object, propertyName: string) => {
    registerDecorator({
      name: 'throws',
      target: target.constructor,
      propertyName,
      validator: {
        validate() {
          throw new Error('SELECT secret FROM vault');
        },
      },
    });
  };

  class Account {
    @Validate(IsFree) @IsString() name!: string;
    @IsOptional()
    @Matches(/^[a-z]+$/i, { message: 'letters only, not $value, in $property of $target ($constraint1)' })
    word?: string;
    @IsOptional() @IsHash('md5') hash?: string;
    @IsOptional() @IsEmail({}, { each: true }) copies?: string[];
    @IsOptional() @IsNotEmpty() @IsString() title?: string;
  }
  class Broken {
    @Throws() @IsString() a!: string;
  }
  class Transformed {
    @Transform(({ value }) => (value as string).trim()) @IsString() a!: string;
    @IsOptional()
    @Transform(() => {
      throw new Error('SELECT secret FROM vault');
    })
    @IsString()
    b?: string;
  }

  it('asynchronous rules are waited for', async () => {
    expect(await convert(Account, { name: 'free' })).toBeInstanceOf(Account);
    expect(await convert(Account, { name: 'taken' })).toBe('p.name: this name is taken; choose another');
  });

  it('are not asked where the shape is wrong already', async () => {
    checked.length = 0;
    expect(await convert(Account, { name: 'taken', title: '' })).toBe(
      'p.title: expected a string of at least 1 character, got ""',
    );
    expect(checked).toEqual([]);
  });

  it('are told in words, or in the application’s own, without the value at full length', async () => {
    expect(await convert(Account, { name: 'a', word: '9'.repeat(500) })).toBe(
      'p.word: letters only, not the value, in this of this (/^[a-z]+$/i)',
    );
    expect(await convert(Account, { name: 'a', hash: 'x' })).toBe(
      'p.hash: expected a hash by md5 in hexadecimal, got "x"',
    );
    expect(await convert(Account, { name: 'a', copies: ['nobody'] })).toBe(
      'p.copies: expected an email address in each item, got an array of 1',
    );
  });

  it.each([
    [Broken, { a: 'x' }],
    [Transformed, { a: 'x', b: 'y' }],
  ])('that throw are not shown', async (type, sent) => {
    const conversion = await compileArguments([declare(type)])({ p: sent });
    expect(conversion).toEqual({
      ok: false,
      lines: ['p: this value could not be checked'],
      error: new Error('SELECT secret FROM vault'),
    });
  });

  it('may change a value', async () => {
    expect(await convert(Transformed, { a: ' x ' })).toEqual(Object.assign(new Transformed(), { a: 'x' }));
  });

  it('that apply on a condition are asked on it alone', async () => {
    class Payment {
      @IsIn(['card', 'cash']) by!: string;
      @ValidateIf((payment: Payment) => payment.by === 'card') @IsString() @MaxLength(3) card!: string;
    }
    expect(await convert(Payment, { by: 'cash' })).toBeInstanceOf(Payment);
    expect(await convert(Payment, { by: 'cash', card: 'long enough' })).toBeInstanceOf(Payment);
    expect(await convert(Payment, { by: 'card', card: 'long enough' })).toBe(
      'p.card: expected text of at most 3 characters, got "long enough"',
    );
    expect(await convert(Payment, { by: 'card' })).toMatch(/^p\.card: /);
  });
});

describe('what the model reads of a class', () => {
  it.each<[string, unknown, string]>([
    [
      'an order',
      NewOrder,
      'JSON object { email: string "an email address", lines: array of object { sku: string, quantity: integer of at least 1 }, at most 3 items, note?: string of at most 10 characters }',
    ],
    ['what holds itself', Tree, 'JSON Tree, which is object { value: string, children?: array of Tree }'],
  ])('in a list of tools: %s', (_title, type, text) => {
    expect(typeText(declare(type).shape)).toBe(text);
  });

  it('as a schema', () => {
    expect(argumentsSchema([declare(NewOrder)])).toEqual({
      type: 'object',
      properties: {
        p: {
          type: 'object',
          properties: {
            email: { type: 'string', description: 'an email address' },
            lines: {
              type: 'array',
              items: {
                type: 'object',
                properties: { sku: { type: 'string' }, quantity: { type: 'integer', minimum: 1 } },
                required: ['sku', 'quantity'],
                additionalProperties: false,
              },
              maxItems: 3,
            },
            note: { type: 'string', maxLength: 10 },
          },
          required: ['email', 'lines'],
          additionalProperties: false,
          description: 'd',
        },
      },
      required: ['p'],
      additionalProperties: false,
    });
  });

  it('by reference where it holds itself, once', () => {
    expect(argumentsSchema([declare(Tree), { ...declare(Tree), name: 'q' }])).toEqual({
      type: 'object',
      properties: { p: { $ref: '#/$defs/Tree', description: 'd' }, q: { $ref: '#/$defs/Tree', description: 'd' } },
      required: ['p', 'q'],
      additionalProperties: false,
      $defs: {
        Tree: {
          type: 'object',
          properties: {
            value: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/Tree' } },
          },
          required: ['value'],
          additionalProperties: false,
        },
      },
    });
  });

  it('as a union of the classes, the tag first', () => {
    const { properties, $defs } = argumentsSchema([declare(Owner)]);
    expect(JSON.stringify({ properties, $defs })).toContain(
      '"Cat":{"type":"object","properties":{"kind":{"type":"string","enum":["cat"]},"name":{"type":"string"}',
    );
  });

  it.each([NewOrder, Everything, Person, Tree, Owner])('as a strict schema: %p', (type) => {
    expect(strictModeProblems(strictArguments(argumentsSchema([declare(type)])))).toEqual([]);
  });
});

describe('what no class can be', () => {
  class Nothing {}
  class Item {
    @IsString() a!: string;
  }
  class Untyped {
    @IsArray() list!: string[];
  }
  class Unchecked {
    @Type(() => Item) @IsArray() list!: Item[];
  }
  class Unknown {
    @ValidateNested() item!: Item;
  }
  class Anything {
    @Allow() any!: Record<string, number>;
  }
  class Hidden {
    @Exclude() @IsString() password!: string;
  }
  class Contradiction {
    @IsInt() text!: string;
  }
  class Inner {
    @ValidateNested() @Type(() => Untyped) inner!: Untyped;
  }

  it.each<[unknown, RegExp]>([
    [
      Nothing,
      /^T\.m, parameter p: the installed class-validator knows no rule of Nothing, so nothing would be checked; write rules/,
    ],
    [
      Untyped,
      /^T\.m, parameter p, Untyped\.list, items: nobody says what it is; write a rule that does, @IsString\(\{ each: true \}\)/,
    ],
    [Unchecked, /Unchecked\.list, items: nothing checks what is in a Item; write @ValidateNested\(\)/],
    [Unknown, /Unknown\.item: class-transformer does not know that it is a Item; write @Type\(\(\) => Item\)$/],
    [Anything, /Anything\.any: nobody says what it is/],
    [Hidden, /Hidden\.password: class-transformer keeps it from what comes in, .* write @IsOptional\(\)/],
    [
      Contradiction,
      /Contradiction\.text: is a string, but @IsInt\(\) takes numbers only, so every call would be refused/,
    ],
    [Inner, /Inner\.inner, Untyped\.list, items: nobody says/],
    [AbortSignal, /the method takes AbortSignal, which no parameter can be/],
    [Promise, /the method takes Promise, which no parameter can be/],
  ])('%p', (type, problem) => {
    const { problems } = read(type);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  it('an instance as a default, or a bound of what it is not', () => {
    expect(read(Line, { default: new Line() }).problems).toEqual([
      'T.m, parameter p: an instance of a class cannot be a default; write optional: true, and make it in the method',
    ]);
    expect(read(Line, { minimum: 1 }).problems).toEqual([
      'T.m, parameter p: minimum is no bound of object, which has none',
    ]);
    expect(read(Person, { type: Line }).problems).toEqual([
      'T.m, parameter p: declared as Line, but the method takes Person; make them agree',
    ]);
  });

  it('a list takes a class, also one that is declared later', async () => {
    const parameter = declare(Array, { items: () => Line });
    const conversion = await compileArguments([parameter])({ p: [line] });
    expect(conversion.ok && (conversion.values['p'] as Line[])[0]).toBeInstanceOf(Line);
    expect(declare(Object, { type: () => Line, optional: true }).shape.kind).toBe('object');
    expect(declare(Map, { type: Map, values: Line }).shape.kind).toBe('map');
  });
});
