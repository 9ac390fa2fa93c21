import { describe, expect, it } from '@jest/globals';
import { canonical } from '../../../lib/schema/canonical.js';
import { copyOf } from '../../../lib/schema/copy.js';
import { typeText } from '../../../lib/schema/type-text.js';
import { declareParameter, type ParameterOptions } from '../../../lib/schema/parameter.js';
import type { Parameter } from '../../../lib/schema/shape.js';
import { convertArguments } from './converting.js';

enum Status {
  Open = 'OPEN',
  Closed = 'CLOSED',
}
enum Level {
  Low,
  High,
  Mid = -1,
}
/** As an enum of texts and numbers is compiled. */
const Mixed = { A: 'a', B: 7, 7: 'B' } as const;

function declare(options: ParameterOptions): Parameter {
  const problems: string[] = [];
  const parameter = declareParameter('T.m, parameter p', 'p', 'd', options, { from: 'handmade' }, problems);
  expect(problems).toEqual([]);
  return parameter!;
}

const refused = (options: ParameterOptions): readonly string[] => {
  const problems: string[] = [];
  declareParameter('T.m, parameter p', 'p', 'd', options, { from: 'handmade' }, problems);
  return problems;
};

/** What reaches the method, or the lines that the model is told. */
function convert(options: ParameterOptions, sent: unknown): unknown {
  const conversion = convertArguments([declare(options)], { p: sent });
  return conversion.ok ? conversion.values['p'] : conversion.lines.join('\n');
}

const DATE = 'a date-time like "2026-03-01T09:30:00Z" or a date like "2026-03-01"';
const DIGITS = 'a whole number in decimal digits, sent as a string, of at most 100 digits';
const map = (entries: readonly (readonly [string, unknown])[]): object =>
  Object.assign(Object.create(null) as object, Object.fromEntries(entries));

/** Each as it is sent, both as typed JSON and as the text that the envelope carries, and what then reaches the method. */
const accepted: readonly (readonly [options: ParameterOptions, sent: unknown, value: unknown])[] = [
  [{ type: BigInt }, '2512292042121000001', 2512292042121000001n],
  [{ type: BigInt }, 2512292042121000001n, 2512292042121000001n],
  [{ type: BigInt }, -7, -7n],
  [{ type: BigInt }, '9'.repeat(100), BigInt('9'.repeat(100))],
  [{ type: Date }, '2026-03-01', new Date('2026-03-01T00:00:00Z')],
  [{ type: Date }, '2026-03-01T09:30:00Z', new Date('2026-03-01T09:30:00Z')],
  [{ type: Date }, '2026-03-01T09:30:00.250+02:00', new Date('2026-03-01T07:30:00.250Z')],
  [{ type: Date }, '2024-02-29', new Date('2024-02-29T00:00:00Z')],
  [{ enum: Status }, 'OPEN', 'OPEN'],
  [{ enum: Status }, 'open', 'OPEN'],
  [{ enum: Level }, 'High', 1],
  [{ enum: Level }, 'high', 1],
  [{ enum: Level }, 1, 1],
  [{ enum: Level }, '1', 1],
  [{ enum: Level }, 'Mid', -1],
  [{ enum: Mixed }, 'B', 7],
  [{ enum: Mixed }, 'a', 'a'],
  [{ enum: [1, 2] }, '2', 2],
  [{ items: 'integer' }, [1, '2', -3], [1, 2, -3]],
  [{ items: 'integer' }, '[1,2]', [1, 2]],
  [{ items: BigInt }, '[2512292042121000001]', [2512292042121000001n]],
  [{ items: { items: 'string' } }, [['a'], '["b"]'], [['a'], ['b']]],
  [{ type: Set, items: 'string' }, ['a', 'b', 'a'], new Set(['a', 'b'])],
  [
    { type: Map, values: Number },
    { eur: 1.5, usd: '2' },
    new Map([
      ['eur', 1.5],
      ['usd', 2],
    ]),
  ],
  [{ type: Map, values: Number }, [{ key: 'eur', value: 1 }], new Map([['eur', 1]])],
  [{ values: Date }, { a: '2026-03-01' }, map([['a', new Date('2026-03-01T00:00:00Z')]])],
  [{ values: 'string' }, '{"then":"x"}', map([['then', 'x']])],
  [{ type: Buffer }, 'aGk=', Buffer.from('hi')],
  [{ type: Buffer }, '', Buffer.alloc(0)],
  [{ type: 'string', minLength: 2, maxLength: 3 }, '👍👍👍', '👍👍👍'],
  [{ type: 'string', pattern: '^[^<>]*$' }, 'a b', 'a b'],
  [{ type: 'string', format: 'email' }, 'a.b+c@example.test', 'a.b+c@example.test'],
  [{ type: 'string', format: 'uuid' }, '0d0f4f0e-6a0b-4b8e-9d0e-3a1f6f8f2c11', '0d0f4f0e-6a0b-4b8e-9d0e-3a1f6f8f2c11'],
  [{ type: 'string', format: 'ipv6' }, '::1', '::1'],
  [{ type: 'string', format: 'uri' }, 'https://example.test/a?b', 'https://example.test/a?b'],
  [{ type: 'string', format: 'time' }, '09:30:00+01:00', '09:30:00+01:00'],
  [{ type: 'integer', minimum: 1, maximum: 50 }, '50', 50],
  [{ type: 'number', exclusiveMinimum: 0, multipleOf: 0.1 }, 0.3, 0.3],
  [{ type: Date, nullable: true }, null, null],
  [{ type: Date, nullable: true }, 'null', null],
  [{ type: 'string', nullable: true, optional: true }, undefined, undefined],
  [{ type: 'integer', default: 10 }, undefined, 10],
  [{ type: 'integer', default: 10 }, null, 10],
  [{ type: 'integer', default: 10, nullable: true }, null, null],
  [{ type: 'integer', default: 10 }, 3, 3],
];

const rejected: readonly (readonly [options: ParameterOptions, sent: unknown, lines: string])[] = [
  ...['', '0x1', '12n', '1e3', ' 1', 1.5, true, '9'.repeat(101)].map(
    (sent) =>
      [
        { type: BigInt },
        sent,
        `p: expected ${DIGITS}, got ${typeof sent === 'string' && sent.length > 80 ? `"${'9'.repeat(80)}…" of 101 characters` : JSON.stringify(sent)}`,
      ] as const,
  ),
  ...['2026-03-01T09:30:00', '2026', 'Feb 3 2026', '', 5, true, '2026-03-01T24:00:00Z', '2026-03-01 09:30:00Z'].map(
    (sent) => [{ type: Date }, sent, `p: expected ${DATE}, got ${JSON.stringify(sent)}`] as const,
  ),
  [{ type: Date }, '2026-02-30', 'p: expected a date that exists in the calendar, got "2026-02-30"'],
  [
    { type: Date },
    '2026-02-30T10:00:00Z',
    'p: expected a date that exists in the calendar, got "2026-02-30T10:00:00Z"',
  ],
  [{ enum: Status }, 'Reopened', 'p: expected one of "OPEN", "CLOSED", got "Reopened"'],
  [{ enum: Level }, 2, 'p: expected one of "Low", "High", "Mid", got 2'],
  [{ enum: Level }, 'constructor', 'p: expected one of "Low", "High", "Mid", got "constructor"'],
  [{ items: 'integer' }, [1, 'x', null], 'p[1]: expected an integer, got "x"\np[2]: expected an integer, got null'],
  [{ items: 'integer' }, 'x', 'p: expected an array, got "x"'],
  [{ items: 'integer' }, '{"0":1}', 'p: expected an array, got "{\\"0\\":1}"'],
  [
    { items: 'integer', minItems: 1, maxItems: 2 },
    [1, 2, 3],
    'p: expected an array of 1 to 2 items, got an array of 3',
  ],
  [
    { items: 'integer' },
    Array.from({ length: 1001 }, () => 1),
    'p: expected an array of at most 1000 items, got an array of 1001',
  ],
  [{ items: { items: 'integer' } }, [[1], ['x']], 'p[1][0]: expected an integer, got "x"'],
  [{ values: 'integer' }, { a: 'x' }, 'p["a"]: expected an integer, got "x"'],
  [{ values: 'integer' }, [1], 'p: expected an object, got an array of 1'],
  [{ values: 'integer' }, '{"__proto__":1}', 'p: the key "__proto__" is not allowed'],
  [{ type: Map, values: 'integer' }, [{ key: 'constructor', value: 1 }], 'p: the key "constructor" is not allowed'],
  [
    { type: Map, values: 'integer' },
    [
      { key: 'a', value: 1 },
      { key: 'a', value: 2 },
    ],
    'p: the key "a" is not allowed',
  ],
  ...['!!!!', 'aGk', 'aGl=', 'aGk= ', 5].map(
    (sent) =>
      [{ type: Buffer }, sent, `p: expected base64 text of at most 49152 bytes, got ${JSON.stringify(sent)}`] as const,
  ),
  [{ type: Buffer, maxBytes: 2 }, 'aGkh', 'p: expected base64 text of at most 2 bytes, got "aGkh"'],
  [{ type: 'string', minLength: 2, maxLength: 3 }, '👍', 'p: expected a string of 2 to 3 characters, got "👍"'],
  [{ type: 'string', maxLength: 3 }, 'abcd', 'p: expected a string of at most 3 characters, got "abcd"'],
  [
    { type: 'string' },
    'x'.repeat(65_537),
    `p: expected a string of at most 65536 characters, got "${'x'.repeat(80)}…" of 65537 characters`,
  ],
  [{ type: 'string', pattern: '^[^<>]*$' }, '<b>', 'p: expected a string that matches ^[^<>]*$, got "<b>"'],
  [{ type: 'string', format: 'email' }, 'a@b@c', 'p: expected an email address, got "a@b@c"'],
  [{ type: 'string', format: 'date' }, '2026-02-30', 'p: expected a date like "2026-03-01", got "2026-02-30"'],
  [
    { type: 'string', format: 'date-time' },
    '2026-03-01T09:30:00',
    'p: expected a date-time like "2026-03-01T09:30:00Z", got "2026-03-01T09:30:00"',
  ],
  [{ type: 'string', format: 'hostname' }, '-a.test', 'p: expected a host name, got "-a.test"'],
  [{ type: 'string', format: 'ipv4' }, '1.2.3', 'p: expected an IPv4 address, got "1.2.3"'],
  [{ type: 'string', format: 'uri' }, 'no scheme', 'p: expected a URI with its scheme, got "no scheme"'],
  [{ type: 'integer', minimum: 1, maximum: 50 }, 51, 'p: expected an integer from 1 to 50, got 51'],
  [
    { type: 'integer', minimum: 1 },
    2512292042121000001n,
    'p: expected an integer of at least 1, got 2512292042121000001',
  ],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0, 'p: expected a number above 0 and below 1, got 0'],
  [{ type: 'integer', multipleOf: 5 }, 7, 'p: expected an integer that is a multiple of 5, got 7'],
  [{ type: Date, nullable: true }, undefined, `p: expected ${DATE}, got nothing`],
];

describe('what a parameter may be declared as', () => {
  it.each(accepted)('%j takes %p', (options, sent, value) => {
    expect(convert(options, sent)).toEqual(value);
  });

  // On the envelope every value is a text.
  it.each(accepted.filter(([, sent]) => typeof sent === 'object' && sent !== null))(
    '%j takes %p as text',
    (options, sent, value) => {
      expect(convert(options, JSON.stringify(sent))).toEqual(value);
    },
  );

  it.each(rejected)('%j refuses %p', (options, sent, lines) => {
    expect(convert(options, sent)).toBe(lines);
  });

  it('gives an object without a prototype, so that no key is anything but data', () => {
    expect(Object.getPrototypeOf(convert({ values: 'integer' }, { a: 1 }))).toBeNull();
  });

  it('makes a default anew for each call', () => {
    const parameter = declare({ items: 'integer', default: [1] });
    const [first, second] = [1, 2].map(() => {
      const conversion = convertArguments([parameter], {});
      return conversion.ok ? conversion.values['p'] : undefined;
    });
    expect(first).toEqual([1]);
    expect(second).toEqual([1]);
    expect(first).not.toBe(second);
  });

  it.each<[ParameterOptions, string]>([
    [{ type: 'integer' }, 'integer'],
    [{ type: 'integer', minimum: 1, maximum: 50 }, 'integer from 1 to 50'],
    [{ type: 'string', minLength: 2, maxLength: 80 }, 'string of 2 to 80 characters'],
    [{ type: 'string', format: 'email' }, 'email'],
    [{ enum: Level }, '"Low" | "High" | "Mid"'],
    [{ items: { type: 'integer', minimum: 1 }, maxItems: 20 }, 'JSON array of integer of at least 1, at most 20 items'],
    [{ type: Map, values: Number }, 'JSON object of number by name'],
    [{ type: Buffer, maxBytes: 10 }, 'base64 of at most 10 bytes'],
  ])('%j is told as %s', (options, text) => {
    expect(typeText(declare(options).shape)).toBe(text);
  });
});

describe('what no parameter can be', () => {
  it.each<[ParameterOptions, string]>([
    [
      { type: Array },
      "nobody says what is in the array; write items: 'integer', items: { type: 'string', maxLength: 80 }, or items: () => Line",
    ],
    [{ type: Map }, "nobody says what is in the Map; write type: Map and values: 'integer'"],
    [{ type: Object }, "nobody says what is in the object; write values: 'integer'"],
    [
      { type: 'integer', minLength: 1 },
      'minLength is no bound of integer; those are minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf',
    ],
    [{ type: Date, minimum: 1 }, 'minimum is no bound of date, which has none'],
    [{ type: 'integer', minimum: 5, maximum: 1 }, 'minimum is above maximum, so no value could be right'],
    [{ type: 'string', maxLength: -1 }, 'maxLength must be a whole number of at least 0, found -1'],
    [{ type: 'number', multipleOf: 0 }, 'multipleOf must be a number above 0, found 0'],
    [{ type: 'string', pattern: '[' }, 'pattern is no regular expression of JavaScript with the flag u: ['],
    [
      { type: 'string', format: 'phone' as 'email' },
      "there is no format 'phone'; the formats are date, date-time, time, email, hostname, ipv4, ipv6, uri, uuid",
    ],
    [
      { type: 'integer', default: 'x' },
      'default is a string that the declaration itself would refuse; write a value that the method takes, within the bounds',
    ],
    [
      { type: 'integer', maximum: 5, default: 6 },
      'default is a number that the declaration itself would refuse; write a value that the method takes, within the bounds',
    ],
    [
      { enum: Level, default: 'High' },
      'default is a string that the declaration itself would refuse; write a value that the method takes, within the bounds',
    ],
    [
      { type: Boolean, enum: ['a'] },
      "type 'boolean' and enum exclude each other; the values of enum are texts or numbers",
    ],
    [{ type: 'string', nullable: 1 as never }, 'nullable must be true or false, found a number'],
  ])('%j: %s', (options, problem) => {
    expect(refused(options)).toEqual([`T.m, parameter p: ${problem}`]);
  });

  it('says where, inside a list', () => {
    expect(refused({ items: { values: { type: 'integer', maxLength: 1 } } })).toEqual([
      'T.m, parameter p, items, values: maxLength is no bound of integer; those are minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf',
    ]);
    expect(refused({ items: { typo: 1 } as never })[0]).toMatch(/^T\.m, parameter p, items: there is no option "typo"/);
  });
});

describe('the conversion', () => {
  it('bound all texts of a call together, and the lines that come back', () => {
    const parameters = [1, 2, 3, 4, 5].map((n) => ({ ...declare({ type: 'string' }), name: `p${n.toString()}` }));
    const sent = Object.fromEntries(parameters.map(({ name }) => [name, 'x'.repeat(60_000)]));
    expect(convertArguments(parameters, sent)).toEqual({
      ok: false,
      lines: ['the arguments are longer than 262144 characters; send less'],
    });
    const lines = convertArguments([declare({ items: 'integer' })], {
      p: Array.from({ length: 900 }, () => 'x'.repeat(900)),
    });
    expect(lines.ok ? '' : lines.lines.join('\n').length).toBeLessThan(2_100);
  });
});

describe('what makes two calls the same, and what an event gets', () => {
  it('tells values apart that only look alike, and not those that are equal', () => {
    const values = [
      1,
      '1',
      1n,
      true,
      'true',
      null,
      undefined,
      [1],
      ['1'],
      [[1]],
      {},
      [],
      new Set([1]),
      new Map([['1', 1]]),
      { 1: 1 },
      new Date(1),
      Buffer.from('1'),
    ];
    expect(new Set(values.map(canonical)).size).toBe(values.length);
    expect(
      canonical(
        new Map([
          ['a', 1],
          ['b', 2],
        ]),
      ),
    ).toBe(
      canonical(
        new Map([
          ['b', 2],
          ['a', 1],
        ]),
      ),
    );
    expect(canonical({ a: 1, b: 2 })).toBe(canonical({ b: 2, a: 1 }));
    expect(canonical(new Set(['a', 'b']))).toBe(canonical(new Set(['b', 'a'])));
  });

  it('is told of what keeps to itself by what it says, or by its class', () => {
    class Money {
      readonly #cents = 1;
      toString(): string {
        return this.#cents.toString();
      }
    }
    class Bare {}
    const refuses = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no');
        },
      },
    );
    const value = { site: new URL('https://a.test/'), money: new Money(), bare: new Bare() };
    expect(copyOf(value)).toEqual({ site: 'https://a.test/', money: '1', bare: '[Bare]' });
    expect(copyOf({ refuses })).toBe('[Object]');
  });

  it('may hold itself, or the same thing a thousand times over', () => {
    const self: { me?: unknown } = {};
    self.me = self;
    const copy = copyOf(self) as typeof self;
    expect(copy.me).toBe(copy);
    let twice: unknown = [1];
    for (let level = 0; level < 40; level++) twice = [twice, twice];
    // Copied once: else it would be copied for ever.
    const [one, other] = copyOf(twice) as unknown[];
    expect(one).toBe(other);
  });

  it('keeps a key that is called as no key should be', () => {
    const copy = copyOf(JSON.parse('{"__proto__":{"admin":true}}')) as { admin?: true };
    expect(Object.keys(copy)).toEqual(['__proto__']);
    expect(copy.admin).toBeUndefined();
  });

  it('shares nothing that could be changed', () => {
    const value = {
      list: [1],
      date: new Date(0),
      set: new Set(['a']),
      map: new Map([['k', [1]]]),
      bytes: Buffer.from('x'),
    };
    const copy = copyOf(value) as typeof value;
    expect(copy).toEqual(value);
    copy.date.setTime(5);
    copy.set.add('b');
    copy.map.clear();
    copy.bytes[0] = 0;
    expect(() => copy.list.push(2)).toThrow(TypeError);
    expect(value).toEqual({
      list: [1],
      date: new Date(0),
      set: new Set(['a']),
      map: new Map([['k', [1]]]),
      bytes: Buffer.from('x'),
    });
  });
});
