import type { RuleMetadata } from './libraries.js';

/* Rules of class-validator that are bounds of JSON Schema. */

/** The strictest of what several rules say, as all of them hold. */
function bounds(
  rules: readonly RuleMetadata[],
  read: Readonly<Record<string, (constraints: readonly unknown[]) => Readonly<Record<string, unknown>>>>,
): Readonly<Record<string, number>> {
  const result: Record<string, number> = {};
  for (const { name, constraints = [] } of rules)
    for (const [bound, value] of Object.entries(read[name ?? '']?.(constraints) ?? {})) {
      if (typeof value !== 'number' || !Number.isFinite(value)) continue;
      const other = result[bound] ?? value;
      result[bound] = /^(min|exclusiveMin)/.test(bound) ? Math.max(other, value) : Math.min(other, value);
    }
  return result;
}

export const textBounds = (rules: readonly RuleMetadata[]): object =>
  bounds(rules, {
    minLength: ([minLength]) => ({ minLength }),
    maxLength: ([maxLength]) => ({ maxLength }),
    isLength: ([minLength, maxLength]) => ({ minLength, maxLength }),
    isNotEmpty: () => ({ minLength: 1 }),
  });

export const numberBounds = (rules: readonly RuleMetadata[]): object =>
  bounds(rules, {
    min: ([minimum]) => ({ minimum }),
    max: ([maximum]) => ({ maximum }),
    isPositive: () => ({ exclusiveMinimum: 0 }),
    isNegative: () => ({ exclusiveMaximum: 0 }),
    isDivisibleBy: ([multipleOf]) => ({ multipleOf }),
  });

export const listBounds = (rules: readonly RuleMetadata[]): object =>
  bounds(rules, {
    arrayMinSize: ([minItems]) => ({ minItems }),
    arrayMaxSize: ([maxItems]) => ({ maxItems }),
    arrayNotEmpty: () => ({ minItems: 1 }),
  });
