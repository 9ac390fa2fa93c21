import 'reflect-metadata';
import { createReadStream } from 'node:fs';
import { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, jest } from '@jest/globals';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import { resultText } from '../../../lib/tool/result.js';
import { UnsupportedResultError } from '../../../lib/tool/unsupported.js';

const tell = (value: unknown, notFound?: string, maxResultChars = 20_000) =>
  resultText(value, { notFound, maxResultChars });

describe('a result is told', () => {
  class Plain {
    #secret = 'hidden';
    constructor(
      readonly id: number,
      readonly note: string,
    ) {}
    reveal(): string {
      return this.#secret;
    }
  }
  class Named {
    readonly password = 'pw';
    toString(): string {
      return 'a named thing';
    }
  }
  class Json {
    readonly password = 'pw';
    toJSON(): unknown {
      return { shown: 1n };
    }
  }
  class Account {
    readonly name = 'alice';
    @Exclude() readonly password = 'pw';
  }

  it.each<[string, unknown, string]>([
    ['a text', 'In transit', 'In transit'],
    ['an empty list', [], '[]'],
    ['zero', 0, '0'],
    ['false', false, 'false'],
    ['a bigint', 2512292042121000001n, '2512292042121000001'],
    ['NaN', NaN, 'NaN'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    [
      'dates within',
      { at: new Date(0), n: Infinity, big: 5n },
      '{"at":"1970-01-01T00:00:00.000Z","n":"Infinity","big":5}',
    ],
    ['a map', new Map([['a', 1]]), '{"a":1}'],
    ['a map with other keys', new Map([[1, 'a']]), '[[1,"a"]]'],
    ['a set', new Set([1, 2]), '[1,2]'],
    ['a buffer', Buffer.alloc(1_000_000), '[binary data, 1000000 bytes]'],
    ['a typed array', new Uint8Array(3), '[binary data, 3 bytes]'],
    ['a buffer within', { photo: Buffer.alloc(3) }, '{"photo":"[binary data, 3 bytes]"}'],
    [
      'functions, symbols and nothing within',
      { f: () => 1, s: Symbol('s'), u: undefined, n: null, list: [() => 1, undefined] },
      '{"n":null,"list":[null,null]}',
    ],
    ['an error within', { e: new TypeError('secret') }, '{"e":"TypeError"}'],
    ['an instance that says nothing of itself', new Plain(1, 'x'), '{"id":1,"note":"x"}'],
    ['an instance with a text of its own', new Named(), 'a named thing'],
    ['an instance with toJSON', new Json(), '{"shown":1}'],
    ['an instance with something excluded', new Account(), '{"name":"alice"}'],
    [
      'such instances in a list',
      [new Account(), { account: new Account() }],
      '[{"name":"alice"},{"account":{"name":"alice"}}]',
    ],
    ['the same object twice', ((o: object) => [o, o])({ a: 1 }), '[{"a":1},{"a":1}]'],
    ['an address', new URL('http://x.test/a'), 'http://x.test/a'],
  ])('%s', async (_title, value, text) => {
    expect(await tell(value)).toBe(text);
  });

  it.each([[undefined], [null], ['']])('%p as a fixed phrase, or what the tool says', async (value) => {
    expect(await tell(value)).toBe('Done. There is no result to show.');
    expect(await tell(value, 'No order found with that id.')).toBe('No order found with that id.');
  });

  it('cut, with a mark that says how much is missing', async () => {
    expect(await tell('x'.repeat(30), undefined, 10)).toBe(`${'x'.repeat(10)} … [20 more characters left out]`);
  });

  it.each([
    ['😀'.repeat(10), 5, '😀😀 … [16 more characters left out]'],
    ['😀'.repeat(10), 4, '😀😀 … [16 more characters left out]'],
    ['😀😀', 1, ' … [4 more characters left out]'],
    ['a\ud83db', 2, 'a\ufffd … [1 more characters left out]'],
    ['a\ud83d', 2, 'a\ufffd'],
    ['caf\ud83d', 20, 'caf\ufffd'],
  ])('%j cut at %d without half a character', async (text, limit, told) => {
    expect(await tell(text, undefined, limit)).toBe(told);
  });

  it('well-formed, within as well', async () => {
    const half = new Map([['\udc00', new Headers()]]);
    const text = await tell({
      '\ud800': ['\ud800'],
      half,
      own: new (class Own {
        toString = () => '\ud800';
      })(),
    });
    expect(text).toBe('{"\ufffd":["\ufffd"],"half":{"\ufffd":{}},"own":"\ufffd"}');
  });
});

describe('a result that is none', () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;

  it.each<[string, unknown, RegExp]>([
    ['a function', () => 1, /a function is no result/],
    ['a symbol', Symbol('s'), /a symbol is no result/],
    ['an error that is returned', new Error('SQL'), /an Error was returned \(Error\); throw it instead/],
    ['a cycle', circular, /the result holds itself/],
  ])('%s is a failed tool', async (_title, value, message) => {
    await expect(tell(value)).rejects.toThrow(message);
    await expect(tell(value)).rejects.toBeInstanceOf(UnsupportedResultError);
  });

  it('a stream is closed', async () => {
    const stream = new Readable({ read: () => undefined });
    await expect(tell(stream)).rejects.toThrow(/a stream is no result/);
    expect(stream.destroyed).toBe(true);
  });

  it('a generator is ended', async () => {
    const ended = jest.fn();
    async function* numbers(): AsyncGenerator<number> {
      try {
        yield 1;
      } finally {
        ended();
      }
    }
    const generator = numbers();
    await generator.next();
    await expect(tell(generator)).rejects.toThrow(/a generator is no result/);
    expect(ended).toHaveBeenCalledTimes(1);
  });
});

describe('an instance is told by what its decorators say, and nothing of it is run', () => {
  class User {
    readonly name = 'alice';
    @Exclude() readonly passwordHash = 'S3CRET';
  }
  class Login {
    readonly password = 'hunter2';
    toJSON(): unknown {
      return { user: 'alice' };
    }
  }
  class Money {
    readonly #cents: number;
    constructor(cents: number) {
      this.#cents = cents;
    }
    toString(): string {
      return `${(this.#cents / 100).toFixed(2)} EUR`;
    }
  }
  class Holder {
    constructor(readonly held: unknown) {}
  }
  class Base {
    readonly id = 1;
  }
  class Sub extends Base {
    @Exclude() readonly secret = 'SUBSECRET';
  }
  class Parent {
    @Type(() => Base) readonly child: Base = new Sub();
  }
  @Exclude()
  class Closed {
    readonly secret = 'S3CRET';
    @Expose() readonly open = 'yes';
  }
  class StillClosed extends Closed {
    readonly more = 'S3CRET';
  }
  class Account {
    readonly #balance = 42;
    readonly email = 'alice@example.test';
    @Expose({ name: 'balance' }) get total(): number {
      return this.#balance;
    }
    @Expose() iban(): string {
      return 'NL…99';
    }
    @Expose({ groups: ['admin'] }) get ssn(): string {
      return 'S3CRET';
    }
    @Transform(({ value }: { value: Base }) => value.id) readonly base = new Base();
  }
  const run = jest.fn(() => 'S3CRET');
  class Acting {
    readonly id = 42;
    refund = run;
    later = async (): Promise<string> => Promise.resolve(run());
  }

  it.each<[string, unknown, string]>([
    ['a map of instances', new Holder(new Map([['lead', new User()]])), '{"held":{"lead":{"name":"alice"}}}'],
    ['a set of instances', new Holder(new Set([new User()])), '{"held":[{"name":"alice"}]}'],
    ['a toJSON within', new Holder(new Login()), '{"held":{"user":"alice"}}'],
    ['a toString within', new Holder(new Money(1250)), '{"held":"12.50 EUR"}'],
    [
      'an error within',
      new Holder(Object.assign(new TypeError('x'), { config: 'Bearer sk-live' })),
      '{"held":"TypeError"}',
    ],
    ['bytes within', new Holder(new Uint8Array(3)), '{"held":"[binary data, 3 bytes]"}'],
    ['a map with other keys within', new Holder(new Map([[{ a: 1 }, 2]])), '{"held":[[{"a":1},2]]}'],
    ['a subclass where a base is declared', new Parent(), '{"child":{"id":1}}'],
    ['a class that hides all but what it exposes', new StillClosed(), '{"open":"yes"}'],
    [
      'exposed accessors and methods, other names, transformations',
      new Account(),
      '{"email":"alice@example.test","base":1,"balance":42,"iban":"NL…99"}',
    ],
    ['functions that it holds', [new Acting(), new Acting()], '[{"id":42},{"id":42}]'],
    ['a sparse list', Object.assign([1], { 2: 3, length: 3 }), '[1,null,3]'],
  ])('%s', async (_title, value, text) => {
    expect(await tell(value)).toBe(text);
    expect(run).not.toHaveBeenCalled();
  });

  class Row {
    @Exclude() readonly passwordHash: string = '';
    readonly name: string = '';
  }
  class Order {
    readonly id = 42;
    @Type(() => Row) customer!: Row;
    @Type(() => Row) others!: Row[];
  }
  class Packet {
    constructor(values: object) {
      Object.assign(this, values);
    }
  }
  @Exclude()
  class Sealed {
    readonly secret = 'S3CRET';
    @Expose() readonly open = 'yes';
  }
  class Masked {
    @Exclude() readonly name = 'S3CRET';
    readonly more = 1;
  }
  class Reflected {
    @Type() owner!: Row;
  }
  class Pay {
    readonly kind: string = '';
  }
  class Card extends Pay {
    @Exclude() readonly number: string = '';
  }
  class Wallet {
    @Type(() => Pay, { discriminator: { property: 'kind', subTypes: [{ name: 'card', value: Card }] } }) pays!: Pay[];
  }
  class SafeMap extends Map<string, string> {
    toJSON(): unknown {
      return Object.fromEntries([...this].filter(([key]) => key !== 'pw'));
    }
  }
  class SafeList extends Array<string> {
    toJSON(): unknown {
      return ['masked'];
    }
  }
  const row = { passwordHash: 'S3CRET', name: 'al' };

  it.each<[string, unknown, string]>([
    [
      'rows of a database laid over an entity',
      Object.assign(new Order(), { customer: row, others: [row, new Row()] }),
      '{"id":42,"customer":{"name":"al"},"others":[{"name":"al"},{"name":""}]}',
    ],
    [
      'a map that says itself what it shows',
      new SafeMap([
        ['pw', 's'],
        ['u', 'a'],
      ]),
      '{"u":"a"}',
    ],
    ['a list that says itself what it shows', [SafeList.from(['s3cret'])], '[["masked"]]'],
    [
      'an object whose toJSON gives itself',
      {
        a: 1,
        toJSON(): unknown {
          return this;
        },
      },
      '{"a":1}',
    ],
    [
      'such rows that have a class of their own',
      Object.assign(new Order(), { customer: new Packet(row) }),
      '{"id":42,"customer":{"name":"al"}}',
    ],
    [
      'such rows that come out of a toJSON',
      Object.assign(new Order(), { customer: { toJSON: () => row } }),
      '{"id":42,"customer":{"name":"al"}}',
    ],
    [
      'such rows where the compiler says the type',
      Object.assign(new Reflected(), { owner: row }),
      '{"owner":{"name":"al"}}',
    ],
    [
      'such rows of several kinds in a list',
      Object.assign(new Wallet(), {
        pays: [
          { kind: 'card', number: 'S3CRET' },
          { kind: 'cash', sum: 1 },
        ],
      }),
      '{"pays":[{"kind":"card"},{"kind":"cash","sum":1}]}',
    ],
    [
      'such rows of a class that hides all of itself',
      Object.assign(new Order(), { customer: new Sealed() }),
      '{"id":42,"customer":{"open":"yes"}}',
    ],
    [
      'such rows of a class that hides something else',
      Object.assign(new Order(), { customer: new Masked() }),
      '{"id":42,"customer":{"more":1}}',
    ],
    ['boxed values', [Object(5), Object(false), Object('x')], '[5,false,"x"]'],
    ['a plain object of another realm', runInNewContext('({ a: { b: 1 } })'), '{"a":{"b":1}}'],
    ['an error of another realm within', runInNewContext('[new TypeError("dsn=postgres://u:p@h")]'), '["TypeError"]'],
    [
      'a property called constructor',
      Object.assign(new Order(), { constructor: 1, customer: row }),
      '{"id":42,"customer":{"name":"al"},"constructor":1}',
    ],
  ])('%s, too', async (_title, value, text) => {
    expect(await tell(value)).toBe(text);
  });

  it('an error of another realm is none', async () => {
    await expect(tell(runInNewContext('new TypeError("dsn=postgres://u:p@h")'))).rejects.toThrow(
      /an Error was returned/,
    );
  });

  it.each([
    { toJSON: () => '' },
    { toJSON: () => undefined },
    { toJSON: () => null },
    new (class Empty {
      toString(): string {
        return '';
      }
    })(),
  ])('an object that says it is nothing is told as nothing', async (value) => {
    expect(await tell(value, 'No order found.')).toBe('No order found.');
  });

  it('nothing waits for a stream or a generator that does not close', async () => {
    const stream = new ReadableStream({ cancel: () => new Promise(() => undefined) });
    await expect(tell(stream)).rejects.toThrow(/a stream is no result/);
    async function* stuck(): AsyncGenerator<number> {
      await new Promise(() => undefined);
      yield 1;
    }
    const generator = stuck();
    void generator.next();
    await expect(tell(generator)).rejects.toThrow(/a generator is no result/);
  });

  it('what is shared many times over is refused before it takes all the time', async () => {
    let value: unknown = 1;
    for (let i = 0; i < 40; i++) value = [value, value];
    await expect(tell(value)).rejects.toThrow(/more than 100000 values; return a page of it/);
  });

  it('an object that only looks like a stream is told', async () => {
    const close = jest.fn();
    expect(await tell({ pipe: () => 1, destroy: close, getReader: () => 1, cancel: close, id: 1 })).toBe('{"id":1}');
    expect(close).not.toHaveBeenCalled();
    const web = new ReadableStream();
    await expect(tell(web)).rejects.toThrow(/a stream is no result/);
  });
});

describe('an Error within is told by its name alone', () => {
  class AxiosLike extends Error {
    override readonly name: string = 'AxiosError';
    readonly config = { headers: { Authorization: 'S3CRET' } };
    toJSON(): unknown {
      return { message: this.message, stack: this.stack, config: this.config };
    }
  }
  const failure = (): AxiosLike => new AxiosLike('connect 10.0.0.5, S3CRET');
  const named = (name: unknown): Error => Object.defineProperty(new Error('S3CRET'), 'name', { value: name });
  function Legacy(this: object): void {
    Object.assign(this, { message: 'S3CRET' });
    Error.captureStackTrace(this);
  }

  it.each<[string, () => unknown, string]>([
    ['with a toJSON', () => ({ ok: false, error: failure() }), '{"ok":false,"error":"AxiosError"}'],
    [
      'of a promise that was settled',
      () => Promise.allSettled([Promise.resolve(1), Promise.reject(failure())]),
      '[{"status":"fulfilled","value":1},{"status":"rejected","reason":"AxiosError"}]',
    ],
    ['that a toJSON returns', () => ({ toJSON: failure }), 'AxiosError'],
    ['that a toJSON within returns', () => [{ toJSON: () => [failure()] }], '[["AxiosError"]]'],
    ['as a key and as a value', () => new Map([[failure(), new Set([failure()])]]), '[["AxiosError",["AxiosError"]]]'],
    ['behind a proxy', () => [new Proxy(failure(), {})], '["AxiosError"]'],
    ["that is another one's heir", () => [Object.create(failure()) as unknown], '["AxiosError"]'],
    [
      'of another realm',
      () => runInNewContext('[Object.assign(new RangeError("S"), { toJSON: () => "S" })]') as unknown,
      '["RangeError"]',
    ],
    [
      'of another realm, behind a proxy',
      () => [new Proxy(runInNewContext('new TypeError("S")') as object, {})],
      '["TypeError"]',
    ],
    ['that is one by its tag', () => [{ [Symbol.toStringTag]: 'Error', message: 'S3CRET' }], '["Error"]'],
    ['that is one by its trace', () => [new (Legacy as unknown as new () => object)()], '["Error"]'],
    ['of the platform', () => [new DOMException('S3CRET', 'AbortError')], '["AbortError"]'],
    ['with an object for a name', () => [named({ secret: 'S3CRET' })], '["Error"]'],
    ['with a sentence for a name', () => [named('S3CRET is wrong')], '["Error"]'],
    ['with an endless name', () => [named('x'.repeat(100_000))], '["Error"]'],
    ['without a name', () => [named(undefined)], '["Error"]'],
    [
      'with a name that throws',
      () => [
        Object.defineProperty(new Error('S'), 'name', {
          get: () => {
            throw new Error('S3CRET');
          },
        }),
      ],
      '["Error"]',
    ],
  ])('%s', async (_title, value, text) => {
    expect(await tell(await value())).toBe(text);
  });

  it('a row with a column called stack is none', async () => {
    expect(await tell([{ name: 'a', message: 'm', stack: 'prod' }])).toBe(
      '[{"name":"a","message":"m","stack":"prod"}]',
    );
  });

  it('one that is returned keeps its odd name from the log, too', async () => {
    await expect(tell(named({ toString: () => 'S3CRET' }))).rejects.toThrow(/^an Error was returned \(Error\)/);
  });
});

describe('what is built in is told, or is a failed tool', () => {
  const form = new FormData();
  form.append('name', 'alice');
  form.append('photo', new Blob(['abc']));
  class Vague {
    readonly id = 1;
    toString(): string {
      return '[object Vague]';
    }
  }
  class Silent {
    readonly id = 1;
    toString(): unknown {
      return { odd: true };
    }
  }

  it.each<[string, unknown, string]>([
    ['a pattern', { r: /a+/g }, '{"r":"/a+/g"}'],
    ['a locale', new Intl.Locale('nl-NL'), 'nl-NL'],
    ['parameters of an address', [new URLSearchParams('a=b')], '["a=b"]'],
    ['headers', new Headers({ a: 'b' }), '{"a":"b"}'],
    [
      'headers of which one comes twice',
      new Headers([
        ['set-cookie', '1'],
        ['set-cookie', '2'],
      ]),
      '[["set-cookie","1"],["set-cookie","2"]]',
    ],
    ['a form', form, '{"name":"alice","photo":"[binary data, 3 bytes]"}'],
    ['a blob', new Blob(['abc']), '[binary data, 3 bytes]'],
    ['bytes without a view', { b: new ArrayBuffer(8) }, '{"b":"[binary data, 8 bytes]"}'],
    ['bytes in a view', [new DataView(new ArrayBuffer(4))], '["[binary data, 4 bytes]"]'],
    ['a toString that says nothing', [new Vague()], '[{"id":1}]'],
    ['a toString that gives no text', [new Silent()], '[{"id":1}]'],
    ['objects that are empty', [{}, new (class Empty {})(), Object.create(null)], '[{},{},{}]'],
  ])('%s', async (_title, value, text) => {
    expect(await tell(value)).toBe(text);
  });

  it.each<[string, unknown, string]>([
    ['a response', new Response('x'), 'what this Response holds cannot be seen; read it and return what was read'],
    [
      'a request within',
      { sent: [new Request('http://x.test')] },
      'what this Request holds cannot be seen; read it and return what was read (at result.sent[0])',
    ],
    ['a weak map', new WeakMap(), 'what this WeakMap holds cannot be seen; read it and return what was read'],
    [
      'a format',
      { f: new Intl.NumberFormat() },
      'what this Intl.NumberFormat holds cannot be seen; read it and return what was read (at result.f)',
    ],
    [
      'an iterable without properties',
      { *[Symbol.iterator]() {} },
      'what this object holds cannot be seen; read it and return what was read',
    ],
  ])('%s is a failed tool', async (_title, value, message) => {
    await expect(tell(value)).rejects.toThrow(new UnsupportedResultError(message));
  });

  it('the body of a response is closed', async () => {
    const cancel = jest.fn(() => undefined);
    await expect(tell([new Response(new ReadableStream({ cancel }))])).rejects.toThrow(/this Response/);
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('no getter is asked that nobody needs', async () => {
    const asked = jest.fn();
    class Item {
      readonly id = 1;
      get next(): unknown {
        return asked();
      }
      get size(): unknown {
        return asked();
      }
      get body(): unknown {
        return asked();
      }
    }
    expect(await tell([new Item()])).toBe('[{"id":1}]');
    expect(asked).not.toHaveBeenCalled();
  });
});

describe('a promise within is a failed tool', () => {
  class Holder {
    constructor(readonly held: unknown) {}
  }
  const rejected = async (): Promise<never> => {
    await Promise.resolve();
    throw new Error('rejected');
  };
  const nested = (value: unknown, levels: number): unknown => {
    let result = value;
    for (let i = 0; i < levels; i++) result = [result];
    return result;
  };
  const PROMISE = 'a promise is no result; await it before it is returned';

  it.each<[string, () => unknown, string]>([
    ['in a list', () => [1, 2].map(rejected), `${PROMISE} (at result[0])`],
    ['in an instance', () => ({ 'a b': [new Holder(rejected())] }), `${PROMISE} (at result["a b"][0].held)`],
    ['in a map', () => new Map([['a', new Set([rejected()])]]), `${PROMISE} (at result.a[0])`],
    ['as a key', () => new Map([[rejected(), 1]]), `${PROMISE} (at result[0])`],
    [
      'of another realm',
      () => [runInNewContext('Promise.reject(new Error("x"))') as unknown],
      `${PROMISE} (at result[0])`,
    ],
    ['that a toJSON gives', () => [{ toJSON: rejected }], `${PROMISE} (at result[0])`],
    [
      'that a toString gives',
      () => [
        new (class Late {
          toString = rejected;
        })(),
      ],
      `${PROMISE} (at result[0])`,
    ],
    [
      'of a subclass',
      () => [class Own extends Promise<unknown> {}.reject(new Error('x'))],
      `${PROMISE} (at result[0])`,
    ],
    [
      'beside a stream',
      () => [new PassThrough(), rejected()],
      'a stream is no result; read it and return what was read (at result[0])',
    ],
    [
      'beside what throws',
      () => ({
        get a() {
          throw new Error('getter');
        },
        b: rejected(),
      }),
      'getter',
    ],
    ['deeper than can be told', () => nested(rejected(), 50_000), 'Maximum call stack size exceeded'],
    [
      'further on than is told',
      () => [Array(100_001).fill(0), rejected()],
      'the result holds more than 100000 values; return a page of it',
    ],
  ])('%s, and its rejection harms nobody', async (_title, value, message) => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    await expect(tell(value())).rejects.toThrow(new Error(message));
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('a query that begins with its "then" is not begun', async () => {
    const then = jest.fn();
    await expect(tell({ rows: { then } })).rejects.toThrow(
      'what has a method "then" is no result; await it before it is returned (at result.rows)',
    );
    expect(then).not.toHaveBeenCalled();
  });

  it("one that is hidden is nobody's concern", async () => {
    class Lazy {
      readonly id = 1;
      @Exclude() readonly orders = Promise.resolve([]);
    }
    expect(await tell([new Lazy()])).toBe('[{"id":1}]');
  });
});

describe('a stream or a generator within is closed, and is a failed tool', () => {
  it('wherever it is, and not only the first', async () => {
    const streams = [new PassThrough(), new PassThrough(), new PassThrough()] as const;
    const cancel = jest.fn(() => undefined);
    const abort = jest.fn(() => undefined);
    const value = {
      body: streams[0],
      more: new Map([['m', new Set([streams[1]])]]),
      web: [new ReadableStream({ cancel }), new WritableStream({ abort })],
      last: { toJSON: () => streams[2] },
    };
    await expect(tell(value)).rejects.toThrow(
      new UnsupportedResultError('a stream is no result; read it and return what was read (at result.body)'),
    );
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(abort).toHaveBeenCalledTimes(1);
  });

  it('what goes wrong with it later harms nobody', async () => {
    const stream = new Readable({
      read: () => undefined,
      destroy: (_error, callback) => setImmediate(callback, new Error('late')),
    });
    await expect(tell({ body: stream, file: createReadStream('/no/such/file') })).rejects.toThrow(/at result\.body/);
    await new Promise((resolve) => stream.once('close', resolve));
    expect(stream.errored).toMatchObject({ message: 'late' });
  });

  it('a generator is ended', async () => {
    const ended = jest.fn();
    function* numbers(): Generator<number> {
      try {
        yield 1;
      } finally {
        ended();
      }
    }
    const generator = numbers();
    generator.next();
    await expect(tell({ page: [generator] })).rejects.toThrow(
      'a generator is no result; collect it and return the list (at result.page[0])',
    );
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('a socket within is left to its pool', async () => {
    const socket = new Socket();
    await expect(tell({ pool: [socket] })).rejects.toThrow(/a stream is no result.*at result\.pool\[0\]/);
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });
});
