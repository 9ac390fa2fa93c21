import { FORMATS } from './format.js';
import type { EnumShape, ListShape, NumberShape, Shape, TextShape } from './shape.js';

/* What a shape wants, in the words that the model is told. */

const MAX_MEMBERS = 20;

export function expectedText(shape: TextShape): string {
  const { minLength, maxLength, pattern, format } = shape;
  const what = format === undefined ? 'a string' : FORMATS[format].expected;
  const length = range(minLength, maxLength, 'character');
  return [what, length && `of ${length}`, pattern !== undefined && `that matches ${pattern}`].filter(Boolean).join(' ');
}

export function expectedNumber({ kind, ...bounds }: NumberShape): string {
  const what = kind === 'integer' ? 'an integer' : hasBounds(bounds) ? 'a number' : 'a finite number';
  return `${what}${boundsText(bounds)}`;
}

export function hasBounds({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
}: Omit<NumberShape, 'kind'>): boolean {
  return [minimum, maximum, exclusiveMinimum, exclusiveMaximum].some((bound) => bound !== undefined);
}

/** ` from 1 to 50`, ` of at least 1`, ` above 0 and below 1`; empty without bounds. */
function boundsText({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}: Omit<NumberShape, 'kind'>): string {
  const parts: string[] = [];
  if (minimum !== undefined && maximum !== undefined) parts.push(`from ${minimum.toString()} to ${maximum.toString()}`);
  else {
    if (minimum !== undefined) parts.push(`of at least ${minimum.toString()}`);
    if (maximum !== undefined) parts.push(`of at most ${maximum.toString()}`);
  }
  if (exclusiveMinimum !== undefined) parts.push(`above ${exclusiveMinimum.toString()}`);
  if (exclusiveMaximum !== undefined) parts.push(`below ${exclusiveMaximum.toString()}`);
  if (multipleOf !== undefined) parts.push(`that is a multiple of ${multipleOf.toString()}`);
  return parts.length === 0 ? '' : ` ${parts.join(' and ')}`;
}

export function expectedMember({ members }: EnumShape): string {
  const shown = members.slice(0, MAX_MEMBERS).map(({ word }) => JSON.stringify(word));
  return `one of ${shown.join(', ')}${members.length > MAX_MEMBERS ? ', …' : ''}`;
}

export function expectedList({ minItems, maxItems }: ListShape): string {
  const length = range(minItems, maxItems, 'item');
  return length === '' ? 'an array' : `an array of ${length}`;
}

/** `2 to 80 characters`, `at least 1 item`. */
function range(least: number | undefined, most: number | undefined, unit: string): string {
  const many = (count: number): string => `${count.toString()} ${unit}${count === 1 ? '' : 's'}`;
  if (least !== undefined && most !== undefined)
    return least === most ? many(most) : `${least.toString()} to ${many(most)}`;
  if (least !== undefined) return `at least ${many(least)}`;
  return most === undefined ? '' : `at most ${many(most)}`;
}

/** The type as the model reads it in a list of tools: `integer from 1 to 50`, `"price" | "name"`, `array of date`. */
export function typeText(shape: Shape): string {
  switch (shape.kind) {
    case 'string': {
      const { format, ...rest } = shape;
      return `${format ?? 'string'}${expectedText(rest).slice('a string'.length)}`;
    }
    case 'number':
    case 'integer':
      return `${shape.kind}${boundsText(shape)}`;
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return 'whole number in digits';
    case 'date':
      return 'date or date-time with offset';
    case 'enum':
      return shape.members.map(({ word }) => JSON.stringify(word)).join(' | ');
    case 'array':
    case 'set': {
      const length = range(shape.minItems, shape.maxItems, 'item');
      return `JSON array of ${typeText(shape.items)}${length === '' ? '' : `, ${length}`}`;
    }
    case 'map':
    case 'record':
      return `JSON object of ${typeText(shape.values)} by name`;
    case 'bytes':
      return `base64${shape.maxBytes === undefined ? '' : ` of at most ${shape.maxBytes.toString()} bytes`}`;
  }
}
