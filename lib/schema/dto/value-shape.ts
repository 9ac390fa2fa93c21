import { describeKind, isClass } from '../../declaration.js';
import { checkDates, numberBounds, textBounds } from './bounds.js';
import { className, classShape, platformProblem, unionShape } from './class-shape.js';
import type { Conditions } from './conditions.js';
import type { DtoProperty } from './field.js';
import type { Constructor, RuleMetadata, TypeMetadata } from './libraries.js';
import { KINDS, type Kind } from '../kinds.js';
import { membersOf } from './members.js';
import { KIND_WORDS, kindsTaken, type ValueKind, written } from './rule-kinds.js';
import type { Shape } from '../shape.js';

/* What a value is, the items of a list too: a class, one of several values, or a text, a number and the like. */

/** A value, or the items of a list, and what holds for them. */
export interface Value extends Conditions {
  readonly where: string;
  readonly rules: readonly RuleMetadata[];
  readonly declared: TypeMetadata | undefined;
  readonly emitted: unknown;
  readonly isItem: boolean;
}

export function foundType(type: unknown): string {
  const kind = KINDS.get(type);
  if (kind !== undefined) return `a ${kind}`;
  return isClass(type) ? `a ${className(type as Constructor)}` : describeKind(type);
}

export function valueShape(value: Value, property: DtoProperty, problems: string[]): Shape | undefined {
  const { where, rules, declared } = value;
  const isNested = rules.some(({ type }) => type === 'nestedValidation');
  let type = value.emitted;
  if (declared?.typeFunction !== undefined)
    try {
      type = declared.typeFunction({ newObject: {}, object: {}, property: property.property });
    } catch {
      type = undefined;
    }
  const discriminator = declared?.options?.discriminator;
  if (declared?.typeFunction !== undefined && type === undefined && discriminator === undefined) {
    problems.push(
      `${where}: the function in @Type() gives no class, as it is when files import each other; write the class in a file of its own, or above this one`,
    );
    return undefined;
  }
  const known = KINDS.get(type);
  // Of an object nobody knows what is in it.
  const kind = known === 'record' ? undefined : known;
  if (discriminator !== undefined || (known === undefined && isClass(type))) {
    const foreign = discriminator === undefined ? platformProblem(type) : undefined;
    if (foreign !== undefined) problems.push(`${where}: ${foreign}`);
    if (foreign !== undefined || isRefused(where, 'object', foundType(type), rules, problems)) return undefined;
    return discriminator === undefined
      ? classShape(where, property, type as Constructor, { rules, isDeclared: declared !== undefined }, problems)
      : unionShape(
          where,
          property,
          discriminator,
          { keepsTag: declared?.options?.keepDiscriminatorProperty === true, isNested },
          problems,
        );
  }
  if (isNested) {
    problems.push(
      `${where}: @ValidateNested() without a class; write @Type(() => Line) of class-transformer beside it`,
    );
    return undefined;
  }
  return plainShape(value, kind, type, problems);
}

/** What is no object and holds nothing else. */
function plainShape(value: Value, kind: Kind | undefined, type: unknown, problems: string[]): Shape | undefined {
  const { where, rules, firm, together } = value;
  const before = problems.length;
  const saying = rules.find((rule) => saidKind(rule) !== undefined);
  const said = kind ?? (saying && saidKind(saying));
  const found = kind !== undefined ? `a ${kind}` : saying && `a ${saidKind(saying) ?? ''} by ${written(saying)}`;
  if (said !== undefined && isRefused(where, said, found ?? '', rules, problems)) return undefined;
  const isInteger = said === 'integer' || (said === 'number' && rules.some(({ name }) => name === 'isInt'));
  const whole = simpleShape(where, isInteger ? 'integer' : said, together, problems);
  const members = membersOf(where, together, whole, problems);
  if (problems.length > before) return undefined;
  if (members !== undefined && together.every((rule) => firm.includes(rule) || !isListing(rule)))
    return { kind: 'enum', members };
  const shape = simpleShape(where, isInteger ? 'integer' : said, firm, []);
  if (shape === undefined) problems.push(`${where}: ${unsaidProblem(value, type)}`);
  if (shape?.kind === 'string' && !('maxLength' in shape)) return { ...shape, ...patternBound(where, together) };
  return shape;
}

/** Under a condition too, no text of any length may reach a pattern. */
function patternBound(where: string, rules: readonly RuleMetadata[]): object {
  return textBounds(
    where,
    rules.filter(({ name }) => name === 'matches'),
    [],
  );
}

function isListing({ name }: RuleMetadata): boolean {
  return name === 'isEnum' || name === 'isIn' || name === 'equals';
}

/** The one kind that a rule takes. */
function saidKind(rule: RuleMetadata): ValueKind | undefined {
  const [kind, ...others] = kindsTaken(rule) ?? [];
  return others.length === 0 ? kind : undefined;
}

/** Whether a rule refuses every value of the kind that another one, or the property itself, says. */
function isRefused(
  where: string,
  kind: Kind | ValueKind,
  found: string,
  rules: readonly RuleMetadata[],
  problems: string[],
): boolean {
  const own = kind === 'integer' ? 'number' : kind;
  const refusing = rules.find((rule) => kindsTaken(rule)?.some((taken) => taken === own) === false);
  if (refusing === undefined) return false;
  const taken = kindsTaken(refusing) ?? [];
  problems.push(
    `${where}: is ${found}, but ${written(refusing)} takes ${taken.length === 0 ? 'nothing that comes as JSON' : `${taken.map((one) => KIND_WORDS[one]).join(' or ')} only`}, so every call would be refused; make them agree`,
  );
  return true;
}

function simpleShape(
  where: string,
  kind: Kind | undefined,
  rules: readonly RuleMetadata[],
  problems: string[],
): Shape | undefined {
  switch (kind) {
    case 'string':
      checkPatterns(where, rules, problems);
      return { kind, ...textBounds(where, rules, problems) };
    case 'number':
    case 'integer':
      return { kind, ...numberBounds(where, kind, rules, problems) };
    case 'date':
      checkDates(where, rules, problems);
      return { kind };
    case 'boolean':
    case 'bigint':
    case 'bytes':
      return { kind };
    default:
      return undefined;
  }
}

function checkPatterns(where: string, rules: readonly RuleMetadata[], problems: string[]): void {
  for (const { name, constraints: [pattern] = [] } of rules)
    if (name === 'matches' && pattern instanceof RegExp && pattern.sticky && !pattern.global)
      problems.push(
        `${where}: ${pattern.toString()} goes on from where it last matched, so that the same text is now taken and now refused; take the flag y away, and begin with ^`,
      );
}

function unsaidProblem({ rules, isItem }: Value, type: unknown): string {
  const each = isItem ? '{ each: true }' : '';
  if (rules.some(({ name }) => name === 'isObject' || name === 'isNotEmptyObject'))
    return isItem
      ? 'nobody says what is in these objects; write @Type(() => Line) and @ValidateNested({ each: true }), for a class Line with rules'
      : 'nobody says what is in this object; write @Type(() => Line) and @ValidateNested() for a class Line with rules, or make it a Map with rules for { each: true }';
  return `nobody says what it is${type === undefined ? '' : ` (found ${describeKind(type)})`}; write a rule that does, @IsString(${each}) or @IsInt(${each}), or @Type(() => Line) and @ValidateNested(${each}) for a class`;
}
