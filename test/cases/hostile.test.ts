import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { Type } from 'class-transformer';
import { AITool, AIToolParam } from 'inversify-ai';
import { call, text } from 'inversify-ai/testing';
import { z } from 'zod';
import { play, toldBefore } from './cases.js';

class Tree {
  @IsInt() value!: number;
  @IsOptional() @ValidateNested() @Type(() => Tree) child?: Tree;
  @IsOptional() @IsString() note?: string;
}

class Tools {
  readonly ran: unknown[] = [];
  @AITool('Takes a class')
  tree(@AIToolParam('p', 'A tree') p: Tree): void {
    this.ran.push(p);
  }
  @AITool('Takes a list')
  list(@AIToolParam('p', 'Numbers', { items: Number }) p: number[]): void {
    this.ran.push(p);
  }
  @AITool('Takes any names')
  record(@AIToolParam('p', 'Values', { values: Number }) p: Record<string, number>): void {
    this.ran.push(p);
  }
  @AITool('Takes what zod takes')
  schema(@AIToolParam('p', 'Anything', { schema: z.looseObject({}) }) p: object): void {
    this.ran.push(p);
  }
  @AITool('Takes a number')
  number(@AIToolParam('p', 'A number') p: number): void {
    this.ran.push(p);
  }
  @AITool('Takes text')
  text(@AIToolParam('p', 'Text') p: string): void {
    this.ran.push(p);
  }
}

/** The value of the one argument, as the model writes it into the envelope. */
async function send(tool: string, value: string): Promise<{ told: string; tools: Tools; outcome: string }> {
  const tools = new Tools();
  const { ask, model } = play([tools], [call(`Tools_${tool}`, JSON.stringify({ p: value })), text('done')]);
  const { run } = await ask();
  expect(run?.text).toBe('done');
  return { told: toldBefore(model, 1).split('\n')[1] ?? '', tools, outcome: run!.calls[0]!.outcome };
}

describe('what a hostile model sends as JSON', () => {
  const OBJECT = 'p: expected an object with value, child, note, got';

  it.each<[string, string, string, string]>([
    [
      'nested lists',
      'list',
      '['.repeat(50_000) + ']'.repeat(50_000),
      'p: expected an array, got text that is nested deeper than 32 levels',
    ],
    [
      'nested objects',
      'tree',
      '{"value":1,"child":'.repeat(40) + 'null' + '}'.repeat(40),
      `${OBJECT} text that is nested deeper than 32 levels`,
    ],
    [
      'many values',
      'list',
      `[${'1,'.repeat(20_000)}1]`,
      'p: expected an array, got text that holds more than 10000 values',
    ],
    [
      'many items',
      'list',
      `[${'1,'.repeat(2_000)}1]`,
      'p: expected an array of at most 1000 items, got an array of 2001',
    ],
    [
      'many keys',
      'record',
      JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [i, 1]))),
      'p: expected an object of at most 256 keys, got "{',
    ],
    [
      'many unknown keys',
      'tree',
      JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i.toString()}`, 1]))),
      'p.k0: no such key; the keys are value, child, note',
    ],
    ['a key given twice', 'tree', '{"value":1,"value":2}', `${OBJECT} text that gives a key twice`],
    ['__proto__', 'tree', '{"value":1,"__proto__":{"note":"x"}}', 'p.__proto__: no such key'],
    ['__proto__ as a name', 'record', '{"__proto__":1}', 'p: the key "__proto__" is not allowed'],
    ['constructor as a name', 'record', '{"constructor":1}', 'p: the key "constructor" is not allowed'],
    [
      'constructor, for another library',
      'schema',
      '{"a":{"constructor":{"prototype":1}}}',
      'p: the key "constructor" is not allowed',
    ],
    ['then', 'tree', '{"value":1,"then":"x"}', 'p.then: no such key'],
    ['toString', 'tree', '{"value":1,"toString":"x"}', 'p.toString: no such key'],
    ['nothing but what every object has', 'tree', '{}', 'p.value: expected an integer, got nothing'],
    [
      'a lone surrogate',
      'tree',
      String.raw`{"value":1,"note":"\ud800"}`,
      'p.note: expected text without unpaired surrogate characters, got "\ufffd"',
    ],
    ['a lone surrogate in a name', 'record', String.raw`{"\ud800":1}`, 'p: the key "\ufffd" is not allowed'],
    [
      'a lone surrogate, for another library',
      'schema',
      String.raw`{"a":["\udfff"]}`,
      'p: expected text without unpaired surrogate characters',
    ],
    ['a number beyond all numbers', 'list', '[1e400]', 'p[0]: expected a finite number, got "1e400"'],
    [
      'a number that would be rounded',
      'tree',
      '{"value":9007199254740993}',
      'p.value: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740993',
    ],
    [
      'a number of a million digits',
      'list',
      `[${'9'.repeat(60_000)}]`,
      'p: expected an array, got text that holds a number of more than 100 characters',
    ],
    ...['True', '.5', '0x10', '+1', "'1'", 'NaN', 'Infinity', '-', '1_000', '1,5', ''].map(
      (word): [string, string, string, string] => [
        `the number ${word}`,
        'number',
        word,
        `p: expected a finite number, got "${word}"`,
      ],
    ),
    ...[
      '{value:1}',
      "{'value':1}",
      '{"value":1,}',
      '{"value":1}//',
      '{"value":01}',
      '{"value":1e400}',
      '\ufeff{"value":1}',
      '```json\n{"value":1}\n```',
      'Sure: {"value":1}',
      '{"value":1} {"value":2}',
      '"{}"',
      '42',
      'null',
      '[]',
      '{"note":"\n"}',
    ].map((json): [string, string, string, string] => [`the object ${JSON.stringify(json)}`, 'tree', json, 'p']),
  ])('%s: refused, and nothing is run', async (_title, tool, value, line) => {
    const { told, tools, outcome } = await send(tool, value);
    expect(outcome).toBe('invalid-arguments');
    expect(told.slice(0, line.length)).toBe(line);
    expect(told.length).toBeLessThan(300);
    expect(tools.ran).toEqual([]);
  });

  it('takes -0 as 0, and a control character as text', async () => {
    expect(Object.is((await send('number', '-0')).tools.ran[0], 0)).toBe(true);
    expect((await send('text', 'a\u0000b')).tools.ran).toEqual(['a\u0000b']);
  });

  it('is never found in prose, nor in what looks like it in text', async () => {
    expect((await send('text', '{"a":1}')).tools.ran).toEqual(['{"a":1}']);
  });

  it('leaves no prototype changed', async () => {
    for (const json of ['{"value":1,"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}']) {
      await send('tree', json);
      await send('record', json);
      await send('schema', json);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
