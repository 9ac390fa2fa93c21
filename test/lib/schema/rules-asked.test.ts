import { type ArgumentKey, areSame } from '../../../lib/schema/call-key.js';
import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Expose, Transform, Type } from 'class-transformer';
import {
  Allow,
  IsEmail,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Matches,
  Min,
  registerDecorator,
  ValidateNested,
} from 'class-validator';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { compileArguments, type Conversion } from '../../../lib/schema/convert.js';
import { declareParameter, type ParameterOptions } from '../../../lib/schema/parameter.js';
import type { Parameter } from '../../../lib/schema/shape.js';
import { settled } from '../../settled.js';

/** Converts a parameter `p`. */
async function convert(options: ParameterOptions, sent: Readonly<Record<string, unknown>>): Promise<Conversion> {
  const problems: string[] = [];
  const parameter = declareParameter('T.m, parameter p', 'p', 'A thing', options, { from: 'handmade' }, problems);
  expect(problems).toEqual([]);
  return compileArguments([parameter as Parameter])(sent);
}
const told = async (options: ParameterOptions, sent: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
  const conversion = await convert(options, sent);
  return conversion.ok ? [] : conversion.lines;
};
const value = async (options: ParameterOptions, sent: Readonly<Record<string, unknown>>): Promise<unknown> => {
  const conversion = await convert(options, sent);
  return conversion.ok ? conversion.values['p'] : conversion.lines;
};

function rule(name: string, validate: (value: unknown) => boolean | Promise<boolean>): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: property as string,
      validator: { validate },
    });
  };
}
const down = async (): Promise<boolean> => {
  await Promise.resolve();
  throw new Error('the database is down');
};
const throwsAt = (bad: unknown) => (sent: unknown) => {
  if (sent === bad) throw new Error('a bug');
  return true;
};

describe('a required argument that is left out', () => {
  it.each<[string, ParameterOptions]>([
    ['zod, a union', { schema: z.union([z.string(), z.number()]) }],
    ['zod, a discriminated union', { schema: z.discriminatedUnion('k', [z.object({ k: z.literal('a') })]) }],
    ['zod, an open object', { schema: z.looseObject({ a: z.string() }) }],
    ['zod, a tuple', { schema: z.tuple([z.string()]) }],
    ['zod, a literal', { schema: z.literal(true) }],
    ['arktype', { schema: type('string | number') as never }],
    ['valibot', { schema: v.union([v.string(), v.number()]) as never, jsonSchema: { anyOf: [{ type: 'string' }] } }],
  ])('is refused: %s', async (_title, options) => {
    const lines = await told(options, {});
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^p: expected .*, got nothing$/);
  });

  it('is asked of the schema where it may be left out, and a rule that throws is told', async () => {
    expect(await value({ schema: z.number().default(3), optional: true }, {})).toBe(3);
    expect(await value({ schema: z.number(), optional: true }, {})).toBeUndefined();
    const broken = { '~standard': { version: 1, vendor: 'own', validate: throwsAt(undefined) } };
    const options = { schema: broken as never, jsonSchema: { type: 'string' }, optional: true };
    expect(await convert(options, {})).toMatchObject({
      ok: false,
      lines: ['p: this value could not be checked'],
      error: new Error('a bug'),
    });
  });
});

describe('a rule that rejects', () => {
  it('is told without its words, and leaves nothing unhandled: zod', async () => {
    const schema = z.string().refine(down);
    expect(await convert({ schema }, { p: 'x' })).toMatchObject({
      lines: ['p: this value could not be checked'],
      error: new Error('the database is down'),
    });
    await settled();
  });

  it('is asked once a call: zod', async () => {
    const asked = jest.fn(() => Promise.resolve(true));
    expect(await value({ schema: z.string().refine(asked) }, { p: 'x' })).toBe('x');
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('leaves nothing unhandled where another rule throws at once: class-validator', async () => {
    class Both {
      @IsString() @rule('exists', down) a!: string;
      @IsString() @rule('throws', throwsAt('bad')) b!: string;
    }
    expect(await told({ type: Both }, { p: { a: 'x', b: 'bad' } })).toEqual(['p: this value could not be checked']);
    await settled();
  });

  it('leaves nothing unhandled where the rule of a later item throws at once', async () => {
    class Items {
      @IsString({ each: true })
      @rule('exists', throwsAt('never'))
      list!: string[];
    }
    registerDecorator({
      name: 'known',
      target: Items,
      propertyName: 'list',
      options: { each: true },
      validator: {
        validate: (sent: unknown) => {
          if (sent === 'second') throw new Error('a bug');
          return down();
        },
      },
    });
    expect(await told({ type: Items }, { p: { list: ['first', 'second'] } })).toEqual([
      'p: this value could not be checked',
    ]);
    await settled();
  });

  it('and a @Transform that gives a promise is refused, not handed to the method', async () => {
    class Later {
      @Allow() @Transform(down) a!: string;
    }
    const conversion = await convert({ type: Later }, { p: { a: 'x' } });
    expect(conversion).toMatchObject({ ok: false, lines: ['p: this value could not be checked'] });
    expect((conversion as { error: Error }).error.message).toMatch(/@Transform on a gave a promise/);
    await settled();
  });

  it('that throws nothing is an error all the same', async () => {
    class Odd {
      @IsString()
      @rule('odd', () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- it happens
        throw undefined;
      })
      a!: string;
    }
    expect(await convert({ type: Odd }, { p: { a: 'x' } })).toHaveProperty('error');
  });
});

describe('what a schema makes', () => {
  it('is not awaited, whatever it is', async () => {
    const query = { then: jest.fn() };
    const conversion = await convert({ schema: z.string().transform(() => query) as never }, { p: 'x' });
    expect(conversion.ok && conversion.values['p'] === query).toBe(true);
    expect(query.then).not.toHaveBeenCalled();
  });

  it('a text that it refuses may be JSON: on the envelope all is text', async () => {
    const union = { schema: z.union([z.enum(['auto']), z.number()]) };
    expect(await value(union, { p: 'auto' })).toBe('auto');
    expect(await value(union, { p: '5' })).toBe(5);
    expect(await told(union, { p: 'other' })).toEqual(['p: Invalid input']);
    expect(await value({ schema: type("'a' | 'b' | number") as never }, { p: '5' })).toBe(5);
    const listed = { schema: z.union([z.literal('all'), z.array(z.number())]) };
    expect(await value(listed, { p: '[1,2]' })).toEqual([1, 2]);
    expect(await told(listed, { p: '{"__proto__":1}' })).toEqual(['p: Invalid input']);
  });
});

describe('an instance of a class', () => {
  it('keeps what its class gives it, and what has no rule', async () => {
    class Given {
      @IsString() query!: string;
      source = 'ai';
      tenantId?: string;
    }
    const given = (await value({ type: Given }, { p: { query: 'x' } })) as Given;
    expect(given).toBeInstanceOf(Given);
    expect(given.source).toBe('ai');
    expect(await told({ type: Given }, { p: { query: 'x', source: 'me' } })).toEqual([
      'p.source: no such key; the keys are query',
    ]);
  });

  it('is told of by what was sent, never by what was made of it', async () => {
    class Decrypted {
      @Transform(() => 'sk-live-SECRET') @IsEmail() email!: string;
      @IsOptional() @IsEmail() fallback = 'SECRET-DEFAULT';
      @IsInt() @Min(1) n!: number;
    }
    const lines = await told({ type: Decrypted }, { p: { email: 'abc', n: 1 } });
    expect(lines).toEqual([
      'p.email: expected an email address, got "abc"',
      'p.fallback: expected an email address, got nothing',
    ]);
  });

  class Line {
    @Expose({ name: 'due_on' }) @IsString() dueOn!: string;
    @IsOptional() @IsInt() size?: number;
  }
  class Maps {
    @IsInt({ each: true }) counts!: Map<string, number>;
    @ValidateNested({ each: true }) @Type(() => Line) lines!: Map<string, Line>;
  }

  it('has every entry of a Map, whatever its key', async () => {
    const keys = ['size', 'get', 'toString', 'due_on', 'dueOn', 'hasOwnProperty'];
    const p = {
      counts: Object.fromEntries(keys.map((key, index) => [key, index])),
      lines: Object.fromEntries(keys.map((key) => [key, { due_on: key }])),
    };
    const maps = (await value({ type: Maps }, { p })) as Maps;
    expect(maps.counts).toEqual(new Map(keys.map((key, index) => [key, index])));
    expect([...maps.lines.keys()]).toEqual(keys);
    for (const [key, line] of maps.lines) {
      expect(line).toBeInstanceOf(Line);
      expect(line.dueOn).toBe(key);
    }
  });

  it('has the rules of a Map’s values, told by its keys', async () => {
    class Strict {
      @ValidateNested({ each: true }) @Type(() => Mailed) mails!: Map<string, Mailed>;
    }
    expect(await told({ type: Strict }, { p: { mails: { size: { to: 'x' } } } })).toEqual([
      'p.mails["size"].to: expected an email address, got "x"',
    ]);
  });
});

class Mailed {
  @IsEmail() to!: string;
}

class Patterned {
  @Matches(/\s+$/) text!: string;
}

describe('what would take the memory or the stack', () => {
  it('thousands of faults are not all written down', async () => {
    const lines = await told({ items: 'integer' }, { p: Array.from({ length: 1_000 }, () => 'x') });
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe('and at least 90 more');
  });

  it('one long line is cut and told, not left out', async () => {
    const lines = await told(
      { enum: Array.from({ length: 19 }, (_, n) => `${n.toString()}${'x'.repeat(300)}`) },
      { p: 'y' },
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]!.length).toBeLessThan(700);
    expect(lines[0]).toMatch(/^p: expected one of "0xxx/);
  });

  it.each<[string, ParameterOptions]>([
    ['pattern', { type: 'string', pattern: '\\s+$' }],
    ['zod', { schema: z.string().regex(/\s+$/) }],
    ['class-validator', { type: Patterned }],
  ])('a pattern looks at no more than 2,048 characters: %s', async (_title, options) => {
    const long = `${' '.repeat(60_000)}x`;
    const sent = options.type === Patterned ? { text: long } : long;
    const lines = await told(options, { p: sent });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/expected a string of (at most|0 to) 2048 characters/);
  });

  it('texts in texts share one bound on values and one on depth', async () => {
    // Each level is a text again; a text for itself may be 32 levels deep.
    const nest = (levels: number): string => {
      let text = '[]';
      for (let level = 0; level < levels; level++) text = JSON.stringify([text]);
      return text;
    };
    const lists: ParameterOptions = {
      jsonSchema: [0, 1, 2, 3, 4, 5, 6].reduce<Record<string, unknown>>((items) => ({ type: 'array', items }), {
        type: 'array',
        items: { type: 'integer' },
      }),
    };
    expect(await told(lists, { p: nest(7) })).toEqual([]);
    const many = JSON.stringify(
      Array.from({ length: 3 }, () => JSON.stringify(Array.from({ length: 900 }, () => '[1,2,3,4,5]'))),
    );
    const deep: ParameterOptions = { items: { items: { items: 'integer' } } };
    const lines = await told(deep, { p: many });
    expect(lines).toHaveLength(11);
    expect(lines[0]).toMatch(/^p\[1\]\[465\]: expected an array, got text that holds more than 10000 values$/);
  });
});

describe('what makes two calls the same call', () => {
  const keys = async (options: ParameterOptions, p: unknown): Promise<readonly ArgumentKey[]> => {
    const conversion = await convert(options, { p });
    if (!conversion.ok) throw new Error(conversion.lines.join());
    return conversion.keys();
  };
  const isSame = async (options: ParameterOptions, one: unknown, other: unknown): Promise<boolean> =>
    areSame(await keys(options, one), await keys(options, other));

  class Card {
    @IsInt() id!: number;
  }
  class Transfer {
    @IsInt() id!: number;
  }
  class Payment {
    @ValidateNested()
    @Type(() => Object, {
      discriminator: {
        property: 'by',
        subTypes: [
          { name: 'card', value: Card },
          { name: 'transfer', value: Transfer },
        ],
      },
    })
    means!: Card | Transfer;
  }
  class Timed {
    @IsInt() orderId!: number;
    @IsOptional() @IsNumber() at = Math.random();
  }
  class Private {
    #amount = 0;
    @IsInt()
    get amount(): number {
      return this.#amount;
    }
    set amount(amount: number) {
      this.#amount = amount;
    }
  }
  class Trimmed {
    @Transform(({ value: text }: { value: string }) => text.trim()) @IsString() name!: string;
  }
  class Masked {
    readonly #pan: string;
    constructor(pan: string) {
      this.#pan = pan;
    }
    toJSON(): string {
      return `****${this.#pan.slice(-4)}`;
    }
  }
  class Priced {
    readonly currency = 'EUR';
    readonly #cents: number;
    constructor(cents: number) {
      this.#cents = cents;
    }
    get cents(): number {
      return this.#cents;
    }
  }
  class OrderId {
    constructor(readonly id: string) {}
  }
  class Stamped {
    readonly at = Math.random();
    constructor(readonly n: number) {}
  }
  class Money {
    readonly #amount: number;
    constructor(amount: number) {
      this.#amount = amount;
    }
    get amount(): number {
      return this.#amount;
    }
  }

  it.each<[string, ParameterOptions, unknown, unknown]>([
    [
      'branches that hold the same',
      { type: Payment },
      { means: { by: 'card', id: 1 } },
      { means: { by: 'transfer', id: 1 } },
    ],
    ['what only an accessor shows', { type: Private }, { amount: 1 }, { amount: 900 }],
    ['what masks what it holds', { schema: z.string().transform((pan) => new Masked(pan)) }, '1111', '21111'],
    ['what shows a part of it', { schema: z.number().transform((n) => new Priced(n)) as never }, 10, 500],
    ['what hides what it holds', { schema: z.number().transform((n) => new Money(n)) as never }, 1, 900],
    ['numbers beyond all numbers', { schema: z.looseObject({}) }, { a: null }, { a: 1 }],
    ['a text and a list', { schema: z.union([z.string(), z.array(z.number())]) }, 'x', [1]],
    ['lists in another order', { items: 'integer' }, [1, 2], [2, 1]],
  ])('others: %s', async (_title, options, one, other) => {
    expect(await isSame(options, one, other)).toBe(false);
    expect(await isSame(options, one, one)).toBe(true);
    expect(await isSame(options, other, other)).toBe(true);
  });

  it.each<[string, ParameterOptions, unknown, unknown]>([
    ['what a class fills in', { type: Timed }, { orderId: 1 }, '{"orderId":1}'],
    ['what a @Transform makes equal', { type: Trimmed }, { name: ' a' }, { name: 'a ' }],
    ['what a schema makes equal', { schema: z.string().trim() }, ' a', 'a'],
    ['an object that shows what it holds', { schema: z.string().transform((v) => new OrderId(v.trim())) }, '42', ' 42'],
    [
      'an object that says what it is',
      { schema: z.string().transform((url) => new URL(url)) },
      'https://a.b',
      'https://A.b/',
    ],
    ['an object that is another each time', { schema: z.number().transform((n) => new Stamped(n)) as never }, 1, 1],
    ['keys in another order', { values: 'integer' }, { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['sets in another order', { type: Set, items: 'integer' }, [1, 2], [2, 1]],
  ])('the same: %s', async (_title, options, one, other) => {
    expect(await isSame(options, one, other)).toBe(true);
  });
});
