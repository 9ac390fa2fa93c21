import type { DtoLibraries, RuleMetadata } from './libraries.js';
import { said, wordsOf } from './rule-words.js';
import type { Rule, Shape } from '../shape.js';

/* What the model is told of a property's rules: beforehand as a hint, and where one is broken. */

/** The rules by which class-validator names them in a failure. */
export function toldRules(rules: readonly RuleMetadata[], { nameOf }: DtoLibraries): readonly Rule[] {
  return rules.flatMap((rule) => {
    const { type, constraints = [], each, message } = rule;
    if (!FAILING.has(type)) return [];
    const name = nameOf(rule);
    const words = wordsOf(name, constraints);
    return [
      Object.freeze({
        name,
        ...(words !== undefined && {
          expected: each === true && type === 'customValidation' ? `${words} in each item` : words,
        }),
        ...(typeof message === 'string' && !isLibraryMessage(rule) && { message: withTokens(message, constraints) }),
      }),
    ];
  });
}

/** The types of rules that a value can break; `isDefined` has one of its own. */
const FAILING: ReadonlySet<string> = new Set(['customValidation', 'nestedValidation', 'isDefined']);

/** What `@ValidateNested` says where the application says nothing. */
function isLibraryMessage({ type, message }: RuleMetadata): boolean {
  return type === 'nestedValidation' && /^(each value in )?nested property \$property must be/.test(String(message));
}

/** class-validator's own tokens, apart from the value itself, which would come back at full length. */
function withTokens(message: string, constraints: readonly unknown[]): string {
  return message
    .replace(/\$constraint(\d+)/g, (_, index: string) => tokenText(constraints[Number(index) - 1]))
    .replaceAll('$value', 'the value')
    .replaceAll(/\$(property|target)/g, 'this');
}

function tokenText(constraint: unknown): string {
  if (Array.isArray(constraint)) return constraint.map(tokenText).join(', ');
  return typeof constraint === 'string' || constraint instanceof RegExp ? String(constraint) : said(constraint);
}

/** Rules that say what kind of value it is, or nothing of one that is there. */
const OF_THE_KIND: ReadonlySet<string> = new Set([
  ...['isString', 'isInt', 'isBoolean', 'isDate', 'isArray', 'isObject', 'isInstance'],
  ...['isOptional', 'isDefined', 'nestedValidation'],
]);
const BOUNDS: ReadonlySet<string> = new Set([
  ...['min', 'max', 'isPositive', 'isNegative', 'isDivisibleBy', 'minLength', 'maxLength', 'isLength'],
  ...['arrayMinSize', 'arrayMaxSize', 'arrayNotEmpty', 'isNotEmpty'],
]);
const LISTED: ReadonlySet<string> = new Set(['isEnum', 'isIn', 'equals', 'isNotIn', 'notEquals']);

/** The words of the rules that the shape does not say; `firm` are those that it had to say. */
export function hintOf(
  rules: readonly RuleMetadata[],
  firm: readonly RuleMetadata[],
  shape: Shape,
  { nameOf }: DtoLibraries,
): string | undefined {
  const item = shape.kind === 'array' ? shape.items : shape.kind === 'record' ? shape.values : shape;
  const words = rules.flatMap((rule) => {
    const { type, constraints = [], each } = rule;
    const name = nameOf(rule);
    const isSaid =
      OF_THE_KIND.has(name) ||
      (name === 'isNumber' && !hasDecimalPlaces(constraints)) ||
      // Of what is no text, nothing is empty.
      (name === 'isNotEmpty' && (each === true ? item : shape).kind !== 'string') ||
      (firm.includes(rule) && (BOUNDS.has(name) || (LISTED.has(name) && item.kind === 'enum')));
    if (type !== 'customValidation' || isSaid) return [];
    const text = wordsOf(name, constraints);
    return text === undefined ? [] : [each === true ? `${text} in each item` : text];
  });
  return words.length === 0 ? undefined : [...new Set(words)].join(', ');
}

function hasDecimalPlaces([options]: readonly unknown[]): boolean {
  return typeof options === 'object' && options !== null && 'maxDecimalPlaces' in options;
}
