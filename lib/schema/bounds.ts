import { describeKind } from '../declaration.js';
import { FORMATS } from './format.js';
import type { ElementOptions } from './parameter.js';
import type { Shape } from './shape.js';

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
  for (const [least, most] of [
    ['minLength', 'maxLength'],
    ['minItems', 'maxItems'],
    ['minimum', 'maximum'],
  ] as const)
    if (typeof bounds[least] === 'number' && typeof bounds[most] === 'number' && bounds[least] > bounds[most])
      problems.push(`${where}: ${least} is above ${most}, so no value could be right`);
  return bounds;
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
      : [`${where}: ${bound} must be a whole number of at least 0, found ${shown(value)}`];
  return Number.isFinite(value) && (bound !== 'multipleOf' || (value as number) > 0)
    ? []
    : [`${where}: ${bound} must be a number${bound === 'multipleOf' ? ' above 0' : ''}, found ${shown(value)}`];
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

function shown(value: unknown): string {
  return typeof value === 'number' ? value.toString() : describeKind(value);
}
