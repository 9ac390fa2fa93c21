import type { RuleMetadata } from './libraries.js';

/* Rules that apply on a condition: which of a property's rules always hold, and what stands for its absence. */

export interface Conditions {
  /** Rules that a shape may enforce; those on a condition are class-validator's alone, or they would refuse without it. */
  readonly firm: readonly RuleMetadata[];
  /** Rules that hold together, if at all: no value keeps to them if they contradict one another. */
  readonly together: readonly RuleMetadata[];
  readonly optional: boolean;
  readonly nullable: boolean;
}

export function conditionsOf(property: string, rules: readonly RuleMetadata[]): Conditions {
  const conditions = rules.filter(({ type, name }) => type === 'conditionalValidation' && name === undefined);
  const together = rules.filter((rule) => !isConditional(rule));
  const firm = conditions.length > 0 ? [] : together;
  const isOptional = rules.some(({ name }) => name === 'isOptional');
  const isDefined = firm.some(({ name }) => name === 'isDefined');
  const mayBeAbsent = !firm.some(({ type }) => REFUSING.has(type));
  return {
    firm,
    together,
    optional: (isOptional || mayBeAbsent) && !isDefined,
    // A condition may ask for null itself, so that class-validator must see it.
    nullable: mayBeAbsent && !isOptional && !isDefined && !isNullAbsence(property, conditions),
  };
}

const REFUSING: ReadonlySet<string> = new Set([
  'customValidation',
  'nestedValidation',
  'isDefined',
  'whitelistValidation',
]);

/** On a condition of its own: `@Min(1, { validateIf })`. */
function isConditional(rule: RuleMetadata): boolean {
  return 'validateIf' in rule && typeof rule.validateIf === 'function';
}

/**
 * `@ValidateIf((o) => o.x !== undefined)` takes absence and refuses null, which is all that a strict schema has for
 * absence. It is tried out, as nothing says so.
 */
function isNullAbsence(property: string, conditions: readonly RuleMetadata[]): boolean {
  const holds = (value: unknown): boolean =>
    conditions.every(({ constraints: [condition] = [] }) =>
      (condition as (object: object, value: unknown) => unknown)({ [property]: value }, value),
    );
  try {
    return conditions.length > 0 && !holds(undefined) && holds(null);
  } catch {
    return false;
  }
}
