import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readmeBlocks } from '../readme.js';
import { row, told } from './rows.js';
import { plain, tables } from './tables.js';

const PAGE = 'docs/arguments.md';

const [declarations, refusals, results, failures] = tables(PAGE).map((rows) => rows.map((cells) => cells.map(plain)));

describe('the page on arguments shows', () => {
  it('the classes of its tables as they are', () => {
    expect(readmeBlocks('ts', PAGE)[0]).toBe(readFileSync('test/docs/shapes.ts', 'utf8'));
  });

  it.each(declarations!)('what %s with %s is', async (type, options, schema, sent, value) => {
    expect(await row(type!, options!, sent!)).toEqual({ schema, value });
  });

  it.each(refusals!)('what %s with %s refuses', async (type, options, sent, line) => {
    expect((await row(type!, options!, sent!)).value).toBe(line);
  });

  it.each([...results!, ...failures!])('what is told of %s', async (expression, text) => {
    expect(await told(expression!)).toBe(text);
  });

  it('no fewer rows than there are', () => {
    expect([declarations, refusals, results, failures].map((rows) => rows!.length)).toEqual([26, 14, 16, 6]);
  });
});
