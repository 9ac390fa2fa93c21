import { FORMATS } from './format.js';
import { nameText, oneLineJson } from './one-line.js';
import type { EnumShape, ListShape, NumberShape, ObjectShape, TextShape } from './shape.js';

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
export function boundsText({
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
  const shown = members.slice(0, MAX_MEMBERS).map(({ word }) => oneLineJson(word));
  return `one of ${shown.join(', ')}${members.length > MAX_MEMBERS ? ', …' : ''}`;
}

export function expectedList({ minItems, maxItems }: ListShape): string {
  const length = range(minItems, maxItems, 'item');
  return length === '' ? 'an array' : `an array of ${length}`;
}

export function expectedObject({ fields }: ObjectShape): string {
  if (fields.length === 0) return 'an empty object';
  const shown = fields.slice(0, MAX_MEMBERS).map(({ name }) => nameText(name));
  return `an object with ${shown.join(', ')}${fields.length > MAX_MEMBERS ? ', …' : ''}`;
}

/** `2 to 80 characters`, `at least 1 item`. */
export function range(least: number | undefined, most: number | undefined, unit: string): string {
  const many = (count: number): string => `${count.toString()} ${unit}${count === 1 ? '' : 's'}`;
  if (least !== undefined && most !== undefined)
    return least === most ? many(most) : `${least.toString()} to ${many(most)}`;
  if (least !== undefined) return `at least ${many(least)}`;
  return most === undefined ? '' : `at most ${many(most)}`;
}
