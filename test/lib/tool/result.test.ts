import { Readable } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { Exclude } from 'class-transformer';
import { resultText, UnsupportedResultError } from '../../../lib/tool/result.js';

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
    expect((await tell('😀😀', undefined, 3)).isWellFormed()).toBe(true);
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
