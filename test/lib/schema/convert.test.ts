import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { convertArguments } from './converting.js';
import type { Parameter, Shape } from '../../../lib/schema/shape.js';

interface Rest {
  readonly values?: readonly string[];
  readonly optional?: boolean;
}

type Kind = 'string' | 'number' | 'integer' | 'boolean';

const parameter = (kind: Kind, { values, optional = false }: Rest = {}): Parameter => {
  const shape: Shape =
    values === undefined ? { kind } : { kind: 'enum', members: values.map((value) => ({ word: value, value })) };
  return { name: 'p', description: 'd', shape, optional, nullable: false };
};

const NOTHING = Symbol('not sent');

function convert(p: Parameter, sent: unknown): unknown {
  const conversion = convertArguments([p], sent === NOTHING ? {} : { p: sent });
  return conversion.ok ? { value: conversion.values.p } : conversion.lines.join('\n');
}

const RANGE = 'an integer from -9007199254740991 to 9007199254740991';

describe('an integer', () => {
  it.each<[unknown, number]>([
    [42, 42],
    ['42', 42],
    ['-7', -7],
    [-0, 0],
    ['-0', 0],
    ['007', 7],
    [9007199254740991, 9007199254740991],
  ])('takes %p', (sent, value) => {
    expect(convert(parameter('integer'), sent)).toEqual({ value });
    expect(Object.is((convert(parameter('integer'), sent) as { value: number }).value, value)).toBe(true);
  });

  it.each<[unknown, string]>([
    [5.5, 'an integer, got 5.5'],
    ['5.0', 'an integer, got "5.0"'],
    ['', 'an integer, got ""'],
    [' 12 ', 'an integer, got " 12 "'],
    ['0x10', 'an integer, got "0x10"'],
    ['12abc', 'an integer, got "12abc"'],
    ['1e3', 'an integer, got "1e3"'],
    ['+5', 'an integer, got "+5"'],
    ['５', 'an integer, got "５"'],
    [true, 'an integer, got true'],
    [null, 'an integer, got null'],
    [NOTHING, 'an integer, got nothing'],
    [['5'], 'an integer, got an array of 1'],
    [{ a: 1 }, 'an integer, got an object with 1 key'],
    [2 ** 53, `${RANGE}, got 9007199254740992`],
    ['9007199254740993', `${RANGE}, got "9007199254740993"`],
    [2512292042121000001n, `${RANGE}, got 2512292042121000001`],
    [Infinity, `${RANGE}, got Infinity`],
  ])('refuses %p', (sent, expected) => {
    expect(convert(parameter('integer'), sent)).toBe(`p: expected ${expected}`);
  });
});

describe('a number', () => {
  it.each<[unknown, number]>([
    [1.5, 1.5],
    ['1.5', 1.5],
    ['1e3', 1000],
    ['1E-7', 1e-7],
    ['-2', -2],
    [-0, 0],
  ])('takes %p', (sent, value) => {
    expect(convert(parameter('number'), sent)).toEqual({ value });
  });

  it.each<[unknown, RegExp]>([
    ['.5', /a finite number, got "\.5"/],
    ['5.', /a finite number/],
    ['1,5', /a finite number/],
    ['1_000', /a finite number/],
    [' 1', /a finite number/],
    ['', /a finite number, got ""/],
    ['0x10', /a finite number/],
    ['NaN', /a finite number/],
    ['Infinity', /a finite number/],
    ['1e400', /a finite number, got "1e400"/],
    [Infinity, /a finite number, got Infinity/],
    [true, /a finite number, got true/],
    ['9007199254740993', /a number that is exact/],
    ['9007199254740993.0', /a number that is exact/],
    [2512292042121000001n, /a number that is exact.*got 2512292042121000001/],
  ])('refuses %p', (sent, line) => {
    expect(convert(parameter('number'), sent)).toMatch(line);
  });
});

describe('a boolean', () => {
  it.each<[unknown, boolean]>([
    [true, true],
    [false, false],
    ['true', true],
    ['false', false],
  ])('takes %p', (sent, value) => {
    expect(convert(parameter('boolean'), sent)).toEqual({ value });
  });

  it.each([['True'], ['1'], [1], ['yes'], [''], [null], ['ture']])('refuses %p', (sent) => {
    expect(convert(parameter('boolean'), sent)).toMatch(/^p: expected true or false, got /);
  });
});

describe('a string', () => {
  it.each<[unknown, string]>([
    ['', ''],
    ['null', 'null'],
    ['Null', 'Null'],
    ['[1,2]', '[1,2]'],
    ['007', '007'],
    [42, '42'],
    [2512292042121000001n, '2512292042121000001'],
  ])('takes %p', (sent, value) => {
    expect(convert(parameter('string'), sent)).toEqual({ value });
  });

  it.each<[unknown, RegExp]>([
    [1.5, /a string, got 1.5/],
    [true, /a string, got true/],
    [{}, /a string, got an object with 0 keys/],
    [null, /a string, got null/],
    ['\ud800', /text without unpaired surrogate characters/],
  ])('refuses %p', (sent, line) => {
    expect(convert(parameter('string'), sent)).toMatch(line);
  });
});

describe('an enum', () => {
  const status = parameter('string', { values: ['OPEN', 'Closed', 'closed'] });

  it.each<[unknown, string]>([
    ['OPEN', 'OPEN'],
    ['open', 'OPEN'],
    ['closed', 'closed'],
    ['Closed', 'Closed'],
  ])('takes %p', (sent, value) => {
    expect(convert(status, sent)).toEqual({ value });
  });

  it.each([['CLOSED'], ['Reopened'], [' OPEN'], ['constructor'], ['__proto__'], [null], [0]])('refuses %p', (sent) => {
    expect(convert(status, sent)).toMatch(/^p: expected one of "OPEN", "Closed", "closed", got /);
  });

  it('names at most twenty', () => {
    const many = parameter('string', { values: Array.from({ length: 30 }, (_, i) => `v${i.toString()}`) });
    expect(convert(many, 'x')).toMatch(/"v19", …, got "x"$/);
  });
});

describe('an optional parameter', () => {
  it.each<[Kind, unknown]>([
    ['string', NOTHING],
    ['string', null],
    ['string', 'null'],
    ['integer', ''],
    ['integer', 'null'],
    ['boolean', ''],
    ['number', null],
  ])('%s is absent with %p', (kind, sent) => {
    expect(convert(parameter(kind, { optional: true }), sent)).toEqual({ value: undefined });
  });

  it('keeps an empty text where text is asked for, and a member called null', () => {
    expect(convert(parameter('string', { optional: true }), '')).toEqual({ value: '' });
    expect(convert(parameter('string', { optional: true, values: ['null', 'none'] }), 'null')).toEqual({
      value: 'null',
    });
    expect(convert(parameter('string', { optional: true, values: ['a'] }), '')).toEqual({ value: undefined });
  });
});

it('is not slow to say that megabytes are no member', () => {
  const fold = jest.spyOn(String.prototype, 'toLowerCase');
  const text = 'X'.repeat(4_000_000);
  convert(parameter('string', { values: Array.from({ length: 2_000 }, (_, i) => `v${i.toString()}`) }), text);
  expect(fold.mock.contexts.filter((context) => String(context).length > 1_000)).toEqual([]);
  fold.mockRestore();
});

describe('what the model is told', () => {
  it('quotes at most a line of its own value, well-formed', () => {
    const line = convert(parameter('integer'), 'x'.repeat(1000)) as string;
    expect(line).toBe(`p: expected an integer, got "${'x'.repeat(80)}…" of 1000 characters`);
    expect(convert(parameter('integer'), 'a\nb\u2028c\ud800')).toBe('p: expected an integer, got "a b c�"');
  });

  it('names an argument that is unknown, hidden or dangerous, and those that there are', () => {
    const result = convertArguments(
      [parameter('string')],
      Object.fromEntries([
        ['p', 'x'],
        ['caller', 'bob'],
        ['__proto__', 'y'],
        ['constructor', 'z'],
      ]),
    );
    expect(result).toEqual({
      ok: false,
      lines: ['caller', '__proto__', 'constructor'].map((name) => `${name}: no such argument; the arguments are p`),
    });
  });

  it('is bounded in lines', () => {
    const sent = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i.toString()}`, i]));
    const result = convertArguments([], sent);
    expect(result.ok ? [] : result.lines).toHaveLength(11);
    expect(result).toMatchObject({ lines: expect.arrayContaining(['and 990 more']) as unknown });
  });
});

it('never throws, and gives only values of the declared kind, whatever is sent', () => {
  const kinds = fc.constantFrom<Kind>('string', 'number', 'integer', 'boolean');
  fc.assert(
    fc.property(kinds, fc.boolean(), fc.anything({ withBigInt: true }), (kind, optional, sent) => {
      const conversion = convertArguments([parameter(kind, { optional })], { p: sent });
      if (!conversion.ok) return conversion.lines.every((line) => line.length < 300 && !line.includes('\n'));
      const { p: value } = conversion.values;
      if (value === undefined) return optional;
      if (kind === 'integer') return Number.isSafeInteger(value);
      return kind === 'number' ? Number.isFinite(value) : typeof value === kind;
    }),
    { numRuns: 2000 },
  );
});
