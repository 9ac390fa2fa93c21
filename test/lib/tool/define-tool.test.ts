import 'reflect-metadata';
import { IsInt } from 'class-validator';
import { describe, expect, it } from '@jest/globals';
import { AIDefinitionError, createAIService, defineTool, Mutating, ReadOnly } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';

describe('defineTool', () => {
  it('makes a tool whose arguments are typed by its declaration', async () => {
    const got: unknown[] = [];
    const tool = defineTool({
      name: 'search',
      description: 'Searches',
      group: ReadOnly,
      parameters: {
        query: { type: 'string', description: 'What' },
        sort: { enum: ['price', 'name'], description: 'Order' },
        limit: { type: 'integer', description: 'How many', optional: true },
      },
      execute: ({ query, sort, limit }, { callId }) => {
        const typed: [string, 'price' | 'name', number | undefined, string] = [query, sort, limit, callId];
        got.push(typed);
        return 'found';
      },
    });
    const model = scriptedModel([call('search', { query: 'x', sort: 'name' }), text('ok')]);
    await createAIService({ model, tools: [tool] }).chat('q');
    expect(got).toEqual([['x', 'name', undefined, 'call_1']]);
    expect(model.requests[0]!.body).toContain(
      '- search(query: string \\"What\\", sort: \\"price\\" | \\"name\\" \\"Order\\", limit?: integer \\"How many\\") -> Searches',
    );
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /^defineTool: expected an options object, found undefined/],
    [
      'an unknown option',
      { name: 'x', run: () => 1 },
      /^defineTool x: there is no option "run"; the options are name, description, parameters, group, execute/,
    ],
    [
      'no execute',
      { name: 'x', description: 'd', parameters: {} },
      /^defineTool x: execute must be a function \(args, context\) => …/,
    ],
    ['no name', { description: 'd', parameters: {}, execute: () => 1 }, /the tool has no name/],
    [
      'a blank description',
      { name: 'x', description: '', parameters: {}, execute: () => 1 },
      /tool x: the description is blank/,
    ],
    [
      'no parameters',
      { name: 'x', description: 'd', execute: () => 1 },
      /tool x: parameters must be an object, .*; \{\} for none/,
    ],
    [
      'a parameter that is a text',
      { name: 'x', description: 'd', parameters: { a: 'string' }, execute: () => 1 },
      /^tool x, parameter a: expected an options object, found a string$/,
    ],
    [
      'a parameter without a type',
      { name: 'x', description: 'd', parameters: { a: { description: 'd' } }, execute: () => 1 },
      /^tool x, parameter a: no type is given; write type: 'string' \| 'number'/,
    ],
    [
      'a parameter without a description',
      { name: 'x', description: 'd', parameters: { a: { type: 'string' } }, execute: () => 1 },
      /^tool x, parameter a: the description is blank/,
    ],
    [
      'a misspelt option of a parameter',
      { name: 'x', description: 'd', parameters: { a: { type: 'string', desc: 'd' } }, execute: () => 1 },
      /there is no option "desc"; the options are description, type, items, values, enum, optional, /,
    ],
    [
      'a group that is none',
      { name: 'x', description: 'd', parameters: {}, group: 'ReadOnly', execute: () => 1 },
      /groups holds something that is no group; use ReadOnly, Mutating or AIToolGroup/,
    ],
    [
      'both effects',
      { name: 'x', description: 'd', parameters: {}, group: [ReadOnly, Mutating], execute: () => 1 },
      /marked both ReadOnly and Mutating/,
    ],
    [
      'a timeout that is none',
      { name: 'x', description: 'd', parameters: {}, timeoutMs: -1, execute: () => 1 },
      /timeoutMs must be a whole number from 1/,
    ],
  ])('refuses %s', (_title, definition, message) => {
    expect(() => defineTool(definition as never)).toThrow(AIDefinitionError);
    expect(() => defineTool(definition as never)).toThrow(message);
  });
});

describe('the types of arguments', () => {
  enum Level {
    Low,
    High,
  }
  class Line {
    @IsInt() quantity!: number;
  }

  it('are those that the method gets: enums by number, lists and maps of classes, bytes', () => {
    const tool = defineTool({
      name: 'typed',
      description: 'Typed',
      parameters: {
        level: { enum: Level, description: 'A level' },
        levels: { items: { enum: Level }, description: 'Levels' },
        lines: { items: Line, description: 'Lines' },
        byName: { type: Map, values: Line, description: 'Lines by name' },
        bytes: { items: Buffer, description: 'Bytes' },
      },
      execute: ({ level, levels, lines, byName, bytes }) => {
        const typed: readonly [Level, Level[], Line[], Map<string, Line>, Buffer[]] = [
          level,
          levels,
          lines,
          byName,
          bytes,
        ];
        // @ts-expect-error -- a level is no text
        const wrong: string = level;
        return [typed, wrong];
      },
    });
    expect(tool.name).toBe('typed');
  });
});
