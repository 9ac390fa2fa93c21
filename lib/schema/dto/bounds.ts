import { MAX_ITEMS } from '../call-limits.js';
import { describeKind } from '../../declaration.js';
import { MAX_PATTERN_TEXT, MAX_TEXT } from '../convert-text.js';
import type { RuleMetadata } from './libraries.js';
import { written } from './rule-kinds.js';

/* Rules of class-validator that are bounds of JSON Schema. What no value could keep to goes to `problems`. */

type Read = Readonly<Record<string, (constraints: readonly unknown[]) => Readonly<Record<string, unknown>>>>;
type Bounds = Readonly<Record<string, number | undefined>>;

export function textBounds(where: string, rules: readonly RuleMetadata[], problems: string[]): object {
  const read = bounds(
    where,
    rules,
    {
      minLength: ([minLength]) => ({ minLength }),
      maxLength: ([maxLength]) => ({ maxLength }),
      isLength: ([minLength, maxLength]) => ({ minLength, ...(maxLength !== undefined && { maxLength }) }),
      isNotEmpty: () => ({ minLength: 1 }),
      isEmpty: () => ({ maxLength: 0 }),
      isByteLength: ([minBytes, maxBytes]) => ({ minBytes, ...(maxBytes !== undefined && { maxBytes }) }),
    },
    problems,
  );
  const hasPattern = rules.some(({ name }) => name === 'matches');
  const { minLength, maxLength, ...open } = counts(read, 'minLength', 'maxLength');
  const { minBytes, maxBytes } = open;
  const limit = hasPattern ? MAX_PATTERN_TEXT : MAX_TEXT;
  if (isCrossed(minLength, maxLength) || isCrossed(minBytes, maxBytes)) none(where, 'text', rules, problems);
  else if (maxLength === undefined && minLength !== undefined && minLength > limit)
    problems.push(
      `${where}: no text of ${minLength.toString()} characters is taken where nothing says how long it may be; write @MaxLength() too`,
    );
  // A pattern may take the square of the length, so that a text of any length must not reach it.
  return defined({ minLength, maxLength: maxLength ?? (hasPattern ? MAX_PATTERN_TEXT : undefined) });
}

export function numberBounds(
  where: string,
  kind: 'number' | 'integer',
  rules: readonly RuleMetadata[],
  problems: string[],
): object {
  const read = bounds(
    where,
    rules,
    {
      min: ([minimum]) => ({ minimum }),
      max: ([maximum]) => ({ maximum }),
      isPositive: () => ({ exclusiveMinimum: 0 }),
      isNegative: () => ({ exclusiveMaximum: 0 }),
    },
    problems,
  );
  const multipleOf = divisor(where, rules, problems);
  if (!isReachable(read, multipleOf ?? (kind === 'integer' ? 1 : undefined))) none(where, kind, rules, problems);
  return defined({ ...read, multipleOf });
}

export function listBounds(where: string, rules: readonly RuleMetadata[], problems: string[]): object {
  const read = bounds(
    where,
    rules,
    {
      arrayMinSize: ([minItems]) => ({ minItems }),
      arrayMaxSize: ([maxItems]) => ({ maxItems }),
      arrayNotEmpty: () => ({ minItems: 1 }),
    },
    problems,
  );
  const { minItems, maxItems } = counts(read, 'minItems', 'maxItems');
  if (isCrossed(minItems, maxItems)) none(where, 'array', rules, problems);
  else if (maxItems === undefined && minItems !== undefined && minItems > MAX_ITEMS)
    problems.push(
      `${where}: no array of ${minItems.toString()} items is taken where nothing says how many may come; write @ArrayMaxSize() too`,
    );
  return defined({ minItems, maxItems });
}

/** Moments have no bounds in a shape; bounds that are functions are asked at each call. */
export function checkDates(where: string, rules: readonly RuleMetadata[], problems: string[]): void {
  const at = { minDate: -Infinity, maxDate: Infinity };
  for (const { name, constraints: [bound] = [] } of rules) {
    if ((name !== 'minDate' && name !== 'maxDate') || typeof bound === 'function') continue;
    const time = bound instanceof Date ? bound.getTime() : Number.NaN;
    if (Number.isNaN(time)) {
      const found = bound instanceof Date ? 'one that is no moment' : describeKind(bound);
      problems.push(`${where}: ${written({ name })} needs a Date, or a function that gives one, found ${found}`);
    } else at[name] = name === 'minDate' ? Math.max(at.minDate, time) : Math.min(at.maxDate, time);
  }
  if (at.minDate > at.maxDate) none(where, 'date', rules, problems);
}

/** The strictest of what several rules say, as all of them hold. */
function bounds(where: string, rules: readonly RuleMetadata[], read: Read, problems: string[]): Bounds {
  const result: Record<string, number> = {};
  for (const rule of rules)
    for (const [bound, value] of Object.entries(read[rule.name ?? '']?.(rule.constraints ?? []) ?? {})) {
      if (typeof value !== 'number' || Number.isNaN(value)) {
        const found = typeof value === 'number' ? 'NaN' : describeKind(value);
        problems.push(`${where}: ${written({ ...rule, each: false })} needs a number, found ${found}`);
        continue;
      }
      const other = result[bound] ?? value;
      result[bound] = isLeast(bound) ? Math.max(other, value) : Math.min(other, value);
    }
  return result;
}

function isLeast(bound: string): boolean {
  return /^(min|exclusiveMin)/.test(bound);
}

/** How many: JSON Schema takes whole numbers from 0 on. */
function counts(read: Bounds, least: string, most: string): Bounds {
  const { [least]: from, [most]: to, ...rest } = read;
  return {
    ...rest,
    ...(from !== undefined && from > 0 && { [least]: Math.ceil(from) }),
    ...(to !== undefined && { [most]: Math.floor(to) }),
  };
}

function isCrossed(least: number | undefined, most: number | undefined): boolean {
  return Math.max(least ?? 0, 0) > (most ?? Infinity) || least === Infinity;
}

/** class-validator cuts a divisor to a whole number. Of several, a value must be a multiple of all. */
function divisor(where: string, rules: readonly RuleMetadata[], problems: string[]): number | undefined {
  let all: number | undefined;
  for (const { name, constraints: [divisor] = [] } of rules) {
    if (name !== 'isDivisibleBy') continue;
    if (!Number.isSafeInteger(divisor) || (divisor as number) < 1) {
      const found = typeof divisor === 'number' ? divisor.toString() : describeKind(divisor);
      problems.push(`${where}: @IsDivisibleBy() needs a whole number from 1 on, found ${found}`);
    } else
      all =
        all === undefined ? (divisor as number) : (all * (divisor as number)) / commonDivisor(all, divisor as number);
  }
  return all;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** Whether a number is between the bounds: one of those that are `step` apart, where they are. */
function isReachable(read: Bounds, step: number | undefined): boolean {
  const { minimum = -Infinity, maximum = Infinity } = read;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = read;
  const least = Math.max(minimum, exclusiveMinimum);
  const most = Math.min(maximum, exclusiveMaximum);
  const isLeastOut = exclusiveMinimum >= minimum && exclusiveMinimum !== -Infinity;
  const isMostOut = exclusiveMaximum <= maximum && exclusiveMaximum !== Infinity;
  if (least === Infinity || most === -Infinity) return false;
  if (step === undefined) return least < most || (least === most && !isLeastOut && !isMostOut);
  let first = Math.ceil(Math.max(least, Number.MIN_SAFE_INTEGER) / step);
  let last = Math.floor(Math.min(most, Number.MAX_SAFE_INTEGER) / step);
  if (isLeastOut && first * step === least) first++;
  if (isMostOut && last * step === most) last--;
  return first <= last;
}

/** What is infinite bounds nothing, and no schema can say it. */
function defined(read: Bounds): object {
  return Object.fromEntries(Object.entries(read).filter(([, value]) => Number.isFinite(value)));
}

const BOUNDS =
  /^(min|max|minLength|maxLength|isLength|isEmpty|isNotEmpty|isByteLength|isInt|isPositive|isNegative|isDivisibleBy|arrayMinSize|arrayMaxSize|arrayNotEmpty|minDate|maxDate)$/;

function none(where: string, what: string, rules: readonly RuleMetadata[], problems: string[]): void {
  // The last decorator is the first to be applied.
  const named = rules.filter(({ name = '' }) => BOUNDS.test(name)).reverse();
  const names = named.map((rule) => written({ ...rule, each: false }));
  problems.push(
    `${where}: no ${what} keeps to ${[...new Set(names)].join(' and ')} at once, so every call would be refused; change their bounds`,
  );
}
