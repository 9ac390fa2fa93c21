import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonTextError, parseJson, writeJson } from '../../../lib/schema/json.js';

describe('parseJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        // It is a JSON text with one key twice only by chance, and then nothing is read.
        const read = (): string => {
          try {
            return writeJson(parseJson(text));
          } catch (error) {
            return (error as Error).message;
          }
        };
        expect([JSON.stringify(JSON.parse(text)), 'gives a key twice']).toContain(read());
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the digits of a long integer', () => {
    expect(parseJson('{"id":2512292042121000001,"n":[1,-9007199254740993,1.5,1e3]}')).toEqual({
      id: 2512292042121000001n,
      n: [1, -9007199254740993n, 1.5, 1000],
    });
    expect(writeJson(parseJson('{"id":2512292042121000001}'))).toBe('{"id":2512292042121000001}');
  });

  it('gives numbers as they were written, where that is asked for', () => {
    const text = '[1.0,1e3,0.9999999999999999999,9007199254740990.9,-0,"2"]';
    expect(parseJson(text, { numbers: 'as-text' })).toEqual([
      '1.0',
      '1e3',
      '0.9999999999999999999',
      '9007199254740990.9',
      '-0',
      '2',
    ]);
  });

  it('reads strings with every escape, and space between tokens', () => {
    const text = ' { "a\\"b" : [ "\\\\" , "\\\\\\"" , "\\u00e9\\n" , "\\\\\\\\" ] , "c" : { } , "d" : [ ] } ';
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('makes a key of __proto__ and touches no prototype', () => {
    const value = parseJson('{"__proto__":{"polluted":true}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    ['a key given twice', '{"a":1,"a":2}', 'gives a key twice'],
    ['also with the same value', '{"a":1,"a":1}', 'gives a key twice'],
    ['also written otherwise', '{"a":1,"\\u0061":1}', 'gives a key twice'],
    ['a fence', '```json\n{}\n```', 'is not valid JSON'],
    ['prose', 'Sure! {"a":1}', 'is not valid JSON'],
    ['two texts', '{}{}', 'is not valid JSON'],
    ['a trailing comma', '[1,]', 'is not valid JSON'],
    ['a comment', '{} // x', 'is not valid JSON'],
    ['a byte order mark', '\ufeff{}', 'is not valid JSON'],
    ['a leading zero', '01', 'is not valid JSON'],
    ['NaN', 'NaN', 'is not valid JSON'],
    ['nothing', '', 'is not valid JSON'],
    ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, 'is nested deeper than 32 levels'],
    ['a million levels', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`, 'is nested deeper than 32 levels'],
    ['10,001 values', `[${'1,'.repeat(10_000)}1]`, 'holds more than 10000 values'],
    ['a number of 101 characters', '1'.repeat(101), 'holds a number of more than 100 characters'],
    ['more than 4 Mi characters', `"${'x'.repeat(4 * 1024 * 1024)}"`, 'is too long'],
  ])('refuses %s', (_title, text, message) => {
    expect(() => parseJson(text)).toThrow(new JsonTextError(message));
  });

  it('reads a string of four million characters', () => {
    expect((parseJson(`"${'x\\"'.repeat(1_000_000)}"`) as string).length).toBe(2_000_000);
  });
});
