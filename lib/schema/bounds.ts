import { MAX_ITEMS } from './call-limits.js';
import { describeKind, shortly } from '../declaration.js';
import { MAX_PATTERN_TEXT, MAX_TEXT } from './convert-text.js';
import { FORMATS } from './format.js';
import { hasValue } from './number-range.js';
import type { ElementOptions } from './parameter.js';
import type { NumberShape, Shape, TextFormat } from './shape.js';

/** Which bounds a kind has. */
const BOUNDS: Readonly<Partial<Record<Shape['kind'], readonly (keyof ElementOptions)[]>>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['minItems', 'maxItems'],
  set: ['minItems', 'maxItems'],
  bytes: ['maxBytes'],
};
const ALL = [...new Set(Object.values(BOUNDS).flat())];
const COUNTS: readonly string[] = ['minLength', 'maxLength', 'minItems', 'maxItems', 'maxBytes'];

/** The bounds that a declaration gives, checked; one that its kind does not have would never be enforced. */
export function readBounds(where: string, kind: Shape['kind'], options: ElementOptions, problems: string[]): object {
  const before = problems.length;
  const own = BOUNDS[kind] ?? [];
  const bounds: Partial<Record<keyof ElementOptions, unknown>> = {};
  for (const bound of ALL) {
    const value: unknown = options[bound];
    if (value === undefined) continue;
    if (!own.includes(bound))
      problems.push(
        `${where}: ${bound} is no bound of ${kind}${own.length === 0 ? ', which has none' : `; those are ${own.join(', ')}`}`,
      );
    else problems.push(...boundProblems(where, bound, value));
    bounds[bound] = value;
  }
  if (problems.length === before) problems.push(...emptyProblems(where, kind, bounds));
  return bounds;
}

/** How many characters a text of a format has, where that is known. */
const LENGTHS: Readonly<Partial<Record<TextFormat, readonly [least: number, most: number]>>> = {
  date: [10, 10],
  'date-time': [20, 35],
  time: [9, 24],
  email: [3, 318],
  hostname: [1, 253],
  ipv4: [7, 15],
  ipv6: [2, 45],
  uri: [2, Infinity],
  uuid: [36, 36],
};

type Bounds = Readonly<Partial<Record<keyof ElementOptions, unknown>>>;

/** A problem where no value could be right, so that every call would be refused. */
function emptyProblems(where: string, kind: Shape['kind'], bounds: Bounds): string[] {
  switch (kind) {
    case 'string':
      return textProblems(where, bounds as Pick<ElementOptions, 'minLength' | 'maxLength' | 'pattern' | 'format'>);
    case 'array':
    case 'set':
      return countProblems(where, bounds, ['minItems', 'maxItems'], MAX_ITEMS);
    case 'number':
    case 'integer':
      return numberProblems(where, { kind, ...(bounds as Omit<NumberShape, 'kind'>) });
    default:
      return [];
  }
}

function countProblems(
  where: string,
  bounds: Bounds,
  [least, most]: readonly ['minLength', 'maxLength'] | readonly ['minItems', 'maxItems'],
  usual: number,
): string[] {
  const found = Number(bounds[least] ?? 0);
  if (found <= Number(bounds[most] ?? usual)) return [];
  if (bounds[most] !== undefined) return [`${where}: ${least} is above ${most}, so no value could be right`];
  return [
    `${where}: ${least} ${found.toString()} is above ${usual.toString()}, which is the most where no ${most} says otherwise; write ${most} as well`,
  ];
}

function textProblems(
  where: string,
  bounds: Pick<ElementOptions, 'minLength' | 'maxLength' | 'pattern' | 'format'>,
): string[] {
  const usual = bounds.pattern === undefined ? MAX_TEXT : MAX_PATTERN_TEXT;
  const counts = countProblems(where, bounds, ['minLength', 'maxLength'], usual);
  const { format, minLength = 0, maxLength = Infinity } = bounds;
  if (counts.length > 0 || format === undefined) return counts;
  const [least, most] = LENGTHS[format] ?? [0, Infinity];
  return minLength > most || maxLength < least
    ? [
        `${where}: no text of the format ${format} has that many characters, so no value could be right; leave minLength and maxLength out`,
      ]
    : [];
}

function numberProblems(where: string, shape: NumberShape): string[] {
  const { kind, minimum, maximum } = shape;
  if (minimum !== undefined && maximum !== undefined && minimum > maximum)
    return [`${where}: minimum is above maximum, so no value could be right`];
  if (hasValue(shape)) return [];
  const said = Object.entries(shape).filter(([bound]) => bound !== 'kind');
  // Beyond it, a conversion would round.
  const isFar = kind === 'integer' && said.some(([, value]) => Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER);
  const exact = isFar ? ` up to ${Number.MAX_SAFE_INTEGER.toString()}` : '';
  return [
    `${where}: no ${kind}${exact} is within ${said.map(([bound, value]) => `${bound} ${String(value)}`).join(', ')}, so no value could be right; write bounds that leave one`,
  ];
}

function boundProblems(where: string, bound: string, value: unknown): string[] {
  if (bound === 'pattern') return patternProblems(where, value);
  if (bound === 'format')
    return typeof value === 'string' && Object.hasOwn(FORMATS, value)
      ? []
      : [
          `${where}: there is no format ${typeof value === 'string' ? `'${value}'` : describeKind(value)}; the formats are ${Object.keys(FORMATS).join(', ')}`,
        ];
  if (COUNTS.includes(bound))
    return Number.isSafeInteger(value) && (value as number) >= 0
      ? []
      : [`${where}: ${bound} must be a whole number of at least 0, found ${shortly(value)}`];
  return Number.isFinite(value) && (bound !== 'multipleOf' || (value as number) > 0)
    ? []
    : [`${where}: ${bound} must be a number${bound === 'multipleOf' ? ' above 0' : ''}, found ${shortly(value)}`];
}

function patternProblems(where: string, value: unknown): string[] {
  if (typeof value !== 'string') return [`${where}: pattern must be a text, '^[a-z]+$', found ${describeKind(value)}`];
  try {
    new RegExp(value, 'u');
    return [];
  } catch {
    return [`${where}: pattern is no regular expression of JavaScript with the flag u: ${value}`];
  }
}
