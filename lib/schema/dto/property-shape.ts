import { listBounds } from './bounds.js';
import type { Conditions } from './conditions.js';
import type { DtoProperty } from './field.js';
import type { Constructor, RuleMetadata } from './libraries.js';
import { kindsTaken, type ValueKind, written } from './rule-kinds.js';
import type { Shape } from '../shape.js';
import { foundType, valueShape } from './value-shape.js';

/* What a property takes, a value or a list: by its rules, by what @Type says and by what the compiler does. */

export interface PropertyShape {
  readonly shape: Shape;
  readonly becomes?: 'map' | 'set';
}

const LISTS: ReadonlyMap<unknown, 'array' | 'set' | 'map'> = new Map<unknown, 'array' | 'set' | 'map'>([
  [Array, 'array'],
  [Set, 'set'],
  [Map, 'map'],
]);

export function propertyShape(
  where: string,
  property: DtoProperty,
  conditions: Conditions,
  problems: string[],
): PropertyShape | undefined {
  const { type, rules, libraries } = property;
  const emitted = emittedType(type, property.property);
  const declared = libraries.store.findTypeMetadata(type, property.property);
  const ofItems = rules.filter((rule) => rule.each === true && rule.type !== 'conditionalValidation');
  const own = rules.filter((rule) => rule.each !== true);
  const isArray = own.some((rule) => isOfArrays(rule));
  const list = LISTS.get(emitted) ?? (emitted === undefined && isArray ? 'array' : undefined);
  if (list === undefined && ofItems.length === 0) {
    const shape = valueShape({ where, rules, declared, emitted, isItem: false, ...conditions }, property, problems);
    return shape && { shape };
  }
  const wrong =
    list === undefined ? noListProblem(ofItems, emitted) : (listProblem(list, own) ?? nestingProblem(ofItems));
  if (list === undefined || wrong !== undefined) {
    problems.push(`${where}: ${wrong ?? ''}`);
    return undefined;
  }
  const isOfItems = (rule: RuleMetadata): boolean => rule.each === true || rule.type === 'nestedValidation';
  const items = valueShape(
    {
      ...{ where: `${where}, items`, rules: rules.filter(isOfItems), declared, emitted: undefined, isItem: true },
      ...{ ...conditions, firm: conditions.firm.filter(isOfItems), together: conditions.together.filter(isOfItems) },
    },
    property,
    problems,
  );
  const isOwn = (rule: RuleMetadata): boolean => own.includes(rule);
  listBounds(where, conditions.together.filter(isOwn), problems);
  if (items === undefined) return undefined;
  // On the wire a Set is a list and a Map an object.
  if (list === 'map') return { shape: { kind: 'record', values: items }, becomes: 'map' };
  const bounds = listBounds(where, conditions.firm.filter(isOwn), []);
  return { shape: { kind: 'array', items, ...bounds }, ...(list === 'set' && { becomes: 'set' }) };
}

function isOfArrays(rule: RuleMetadata): boolean {
  const [kind, ...others] = kindsTaken(rule) ?? [];
  return kind === 'array' && others.length === 0;
}

/** What the compiler says of a property that has a decorator; nothing where it says nothing, or only Object. */
function emittedType(type: Constructor, property: string): unknown {
  const { getMetadata } = Reflect as {
    getMetadata?: (key: string, target: object, property: string) => unknown;
  };
  const emitted = getMetadata?.('design:type', type.prototype as object, property);
  return emitted === Object ? undefined : emitted;
}

function noListProblem(ofItems: readonly RuleMetadata[], emitted: unknown): string {
  // Another compiler would say Set or Map, and the wire and the property would be others.
  return emitted === undefined
    ? 'nobody says what has these items; write @IsArray() where it is an array, and turn on "emitDecoratorMetadata" for a Set or a Map'
    : `is ${foundType(emitted)}, but ${all(ofItems)} looks at the items of a list; take { each: true } away, or make it an array`;
}

/** Rules of a list as a whole that refuse every list of its kind. */
function listProblem(list: 'array' | 'set' | 'map', own: readonly RuleMetadata[]): string | undefined {
  const refusing = own.filter((rule) => kindsTaken(rule)?.includes(list) === false);
  if (refusing.length === 0) return undefined;
  const lists = list === 'array' ? 'array' : list === 'set' ? 'Set' : 'Map';
  const isOfItems = refusing.every((rule) => !isOfArrays(rule) && kindsTaken(rule)?.some(isSingle));
  return `${all(refusing)} refuses every ${lists}; ${
    isOfItems
      ? `for its items, write ${refusing.map((rule) => written({ ...rule, each: true })).join(' and ')}`
      : `take it away${list !== 'array' && refusing.every(isOfArrays) ? ', or make it an array' : ''}`
  }`;
}

function isSingle(kind: ValueKind): boolean {
  return kind !== 'object' && kind !== 'array' && kind !== 'set' && kind !== 'map';
}

function nestingProblem(ofItems: readonly RuleMetadata[]): string | undefined {
  const nesting = ofItems.filter(isOfArrays);
  return nesting.length === 0
    ? undefined
    : `${all(nesting)} says that its items are lists, and no rule says what is in those; declare the parameter with schema, of zod, valibot or arktype, or make the items a class that holds a list`;
}

function all(rules: readonly RuleMetadata[]): string {
  return [
    ...new Set(
      rules.map((rule) => (rule.type === 'nestedValidation' ? '@ValidateNested({ each: true })' : written(rule))),
    ),
  ].join(' and ');
}
