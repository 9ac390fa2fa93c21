import 'reflect-metadata';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { z } from 'zod';
import { compileArguments } from '../../lib/schema/convert.js';
import { argumentsSchema } from '../../lib/schema/json-schema.js';
import { parseJson } from '../../lib/schema/json.js';
import { declareParameter, type ParameterOptions } from '../../lib/schema/parameter.js';
import { resultText } from '../../lib/tool/result.js';
import { Folder, Invoice, Level, Line, NewOrder, Payment, Status } from './shapes.js';

/** What the compiler emits for a type that a page writes. */
const EMITTED: Readonly<Record<string, unknown>> = {
  string: String,
  number: Number,
  boolean: Boolean,
  bigint: BigInt,
  Date,
  Status: String,
  Level: Number,
  "'price' | 'name'": String,
  'string[]': Array,
  'number[]': Array,
  'Line[]': Array,
  'Set<string>': Set,
  'Map<string, number>': Map,
  'Record<string, number>': Object,
  Buffer,
  NewOrder,
  Folder,
  Payment,
};

/** What one row of the page says, made from its first three cells. */
export async function row(
  type: string,
  options: string,
  sent: string,
): Promise<{ readonly schema: string; readonly value: string }> {
  const problems: string[] = [];
  const parameter = declareParameter(
    'T.m, parameter p',
    'p',
    'd',
    read(options),
    { from: 'compiler', type: EMITTED[type] },
    problems,
  );
  if (parameter === undefined) throw new Error(problems.join('\n'));
  const { properties, $defs } = argumentsSchema([parameter]);
  const { description: _, ...schema } = properties['p']!;
  const values = sent === '' ? {} : { p: parseJson(sent) };
  const conversion = await compileArguments([parameter])(values);
  return {
    schema: JSON.stringify({ ...schema, ...($defs && { $defs }) }),
    value: conversion.ok
      ? inspect(conversion.values['p'], { breakLength: Infinity, compact: 10, depth: 5 })
      : conversion.lines.join('; '),
  };
}

function read(options: string): ParameterOptions {
  return evaluate(options === '' ? '{}' : options) as ParameterOptions;
}

/** What the model is told of a value that the page writes; of one that fails, what the observer is told. */
export async function told(expression: string): Promise<string> {
  try {
    return await resultText(evaluate(expression), { notFound: undefined, maxResultChars: 20_000 });
  } catch (error) {
    return (error as Error).message;
  }
}

function evaluate(text: string): unknown {
  const names = { Status, Level, Line, NewOrder, Folder, Payment, Invoice, z, Readable };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the page's own text
  const make = new Function(...Object.keys(names), `return (${text});`);
  return (make as (...values: unknown[]) => unknown)(...Object.values(names));
}
