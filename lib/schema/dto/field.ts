import { describeKind, isClass, parameterNameProblems } from '../../declaration.js';
import type { Constructor, DtoLibraries, RuleMetadata, TypeMetadata } from './libraries.js';
import { memberOf } from '../from-json-schema.js';
import { listBounds, numberBounds, textBounds } from './bounds.js';
import { KINDS, type Kind, membersOf as enumMembersOf } from '../kinds.js';
import { impliedKind, wordsOf } from './rule-words.js';
import type { Field, ObjectShape, Rule, Shape, UnionShape } from '../shape.js';

/** One property of a class with rules. */
export interface DtoProperty {
  readonly type: Constructor;
  readonly property: string;
  /** What the wire calls it. */
  readonly name: string;
  readonly rules: readonly RuleMetadata[];
  readonly libraries: DtoLibraries;
  /** The classes that are being read, for one that holds itself. */
  readonly open: Map<Constructor, ObjectShape>;
  readonly dtoShape: (
    where: string,
    type: Constructor,
    problems: string[],
    open: Map<Constructor, ObjectShape>,
  ) => ObjectShape | undefined;
}

/** Rules that a shape says in full, or that say nothing of a value that is there. */
const STRUCTURAL: ReadonlySet<string> = new Set([
  ...[
    'nestedValidation',
    'whitelistValidation',
    'conditionalValidation',
    'isOptional',
    'isDefined',
    'isArray',
    'isObject',
  ],
  ...['isString', 'isInt', 'isBoolean', 'isDate', 'isEnum', 'min', 'max', 'isPositive', 'isNegative', 'isDivisibleBy'],
  ...['minLength', 'maxLength', 'isLength', 'arrayMinSize', 'arrayMaxSize', 'arrayNotEmpty'],
]);

/** What a property takes, and its rules as they are told; what is wrong goes to `problems`. */
export function dtoField(
  where: string,
  property: DtoProperty,
  problems: string[],
): { readonly field: Field; readonly rules: readonly Rule[] } | undefined {
  const { name, rules } = property;
  problems.push(...parameterNameProblems(where, name));
  const optional =
    rules.some(({ type }) => type === 'conditionalValidation') && !rules.some(({ name: rule }) => rule === 'isDefined');
  const told = rules.flatMap((rule) => toldRule(rule, property.libraries));
  // Rules that apply on a condition are class-validator's alone: where it does not hold, they must not refuse.
  const isConditional = rules.some(({ type, name: rule }) => type === 'conditionalValidation' && rule === undefined);
  const read = propertyShape(where, { ...property, rules: isConditional ? withoutBounds(rules) : rules }, problems);
  if (read === undefined) return undefined;
  const isWord = read.shape.kind === 'enum';
  const hints = told.flatMap(({ name: rule, expected }) =>
    STRUCTURAL.has(rule) || expected === undefined || (isWord && rule === 'isIn') ? [] : [expected],
  );
  return {
    rules: told,
    field: {
      name,
      shape: Object.freeze(read.shape),
      optional,
      nullable: false,
      ...(hints.length > 0 && { hint: hints.join(', ') }),
      ...(property.property !== name && { property: property.property }),
      ...(read.becomes && { becomes: read.becomes }),
    },
  };
}

function withoutBounds(rules: readonly RuleMetadata[]): readonly RuleMetadata[] {
  return rules.map((rule) => (rule.type === 'customValidation' ? { ...rule, constraints: [] } : rule));
}

function toldRule(rule: RuleMetadata, { nameOf }: DtoLibraries): Rule[] {
  const { type, constraints = [], each, message } = rule;
  const name = nameOf(rule);
  if (type !== 'customValidation') return [];
  const words = wordsOf(name, constraints);
  return [
    Object.freeze({
      name,
      ...(words !== undefined && { expected: each === true ? `${words} in each item` : words }),
      ...(typeof message === 'string' && { message: withTokens(message, constraints) }),
    }),
  ];
}

/** class-validator's own tokens, apart from the value itself, which would come back at full length. */
function withTokens(message: string, constraints: readonly unknown[]): string {
  return message
    .replace(/\$constraint(\d+)/g, (_, index: string) => String(constraints[Number(index) - 1]))
    .replaceAll('$value', 'the value')
    .replaceAll(/\$(property|target)/g, 'this');
}

interface PropertyShape {
  readonly shape: Shape;
  readonly becomes?: 'map' | 'set';
}

function propertyShape(where: string, property: DtoProperty, problems: string[]): PropertyShape | undefined {
  const { type, rules, libraries } = property;
  const emitted = emittedType(type, property.property);
  const declared = libraries.store.findTypeMetadata(type, property.property);
  const isArray = rules.some((rule) => rule.name !== undefined && impliedKind(rule.name) === 'array');
  const isSaid = isArray || [Array, Set, Map].some((list) => list === emitted);
  const isList = isSaid || rules.some((rule) => rule.each === true);
  if (isList && !isSaid) {
    // Another compiler would say Set or Map, and the wire and the property would be others.
    problems.push(
      `${where}: nobody says what has these items; write @IsArray() where it is an array, and turn on "emitDecoratorMetadata" for a Set or a Map`,
    );
    return undefined;
  }
  if (!isList) {
    const shape = valueShape(where, property, rules, declared, emitted, problems);
    return shape && { shape };
  }
  const isNested = ({ type: kind }: RuleMetadata): boolean => kind === 'nestedValidation';
  const items = valueShape(
    `${where}, items`,
    property,
    rules.filter((rule) => rule.each === true || isNested(rule)),
    declared,
    undefined,
    problems,
  );
  if (items === undefined) return undefined;
  // As class-transformer takes them: a Set as a list, a Map as an object. It makes the Set or Map itself where @Type is.
  const own = declared === undefined;
  if (emitted === Map) return { shape: { kind: 'record', values: items }, ...(own && { becomes: 'map' }) };
  const bounds = listBounds(rules.filter((rule) => rule.each !== true));
  return { shape: { kind: 'array', items, ...bounds }, ...(own && emitted === Set && { becomes: 'set' }) };
}

/** What the compiler says of a property that has a decorator; nothing where it says nothing, or only Object. */
function emittedType(type: Constructor, property: string): unknown {
  const { getMetadata } = Reflect as {
    getMetadata?: (key: string, target: object, property: string) => unknown;
  };
  const emitted = getMetadata?.('design:type', type.prototype as object, property);
  return emitted === Object ? undefined : emitted;
}

function valueShape(
  where: string,
  property: DtoProperty,
  rules: readonly RuleMetadata[],
  declared: TypeMetadata | undefined,
  emitted: unknown,
  problems: string[],
): Shape | undefined {
  const members = membersOf(rules);
  if (members !== undefined) return { kind: 'enum', members };
  const implied = rules.flatMap(({ name }) => (name === undefined ? [] : (impliedKind(name) ?? [])));
  const isNested = rules.some(({ type }) => type === 'nestedValidation');
  let type = emitted;
  if (declared !== undefined) {
    const { discriminator, keepDiscriminatorProperty } = declared.options ?? {};
    if (discriminator !== undefined)
      return unionShape(where, property, discriminator, keepDiscriminatorProperty === true, isNested, problems);
    type = declared.typeFunction?.({ newObject: {}, object: {}, property: property.property });
  }
  const kind = KINDS.get(type);
  if (kind === undefined && isClass(type)) return nestedShape(where, property, type, declared, isNested, problems);
  if (isNested) {
    problems.push(
      `${where}: @ValidateNested() without a class; write @Type(() => Line) of class-transformer beside it`,
    );
    return undefined;
  }
  return plainShape(where, kind, implied, rules, type, problems);
}

function plainShape(
  where: string,
  kind: Kind | undefined,
  implied: readonly string[],
  rules: readonly RuleMetadata[],
  type: unknown,
  problems: string[],
): Shape | undefined {
  const [said] = [...implied].sort((a) => (a === 'integer' ? -1 : 0));
  const other = implied.find((one) => kind !== undefined && one !== kind && !(one === 'integer' && kind === 'number'));
  if (other !== undefined) {
    problems.push(
      `${where}: is a ${String(kind)}, but a rule wants ${other}, so every call would be refused; make them agree`,
    );
    return undefined;
  }
  const result = kind === 'number' && said === 'integer' ? 'integer' : (kind ?? said);
  switch (result) {
    case 'string':
      return { kind: result, ...textBounds(rules) };
    case 'number':
    case 'integer':
      return { kind: result, ...numberBounds(rules) };
    case 'boolean':
    case 'bigint':
    case 'date':
    case 'bytes':
      return { kind: result };
    default:
      problems.push(
        `${where}: nobody says what it is${type === undefined ? '' : ` (found ${describeKind(type)})`}; write a rule that does, @IsString() or @IsInt({ each: true }), or @Type(() => Line) and @ValidateNested() for a class`,
      );
      return undefined;
  }
}

function nestedShape(
  where: string,
  { libraries: _, dtoShape, open }: DtoProperty,
  type: unknown,
  declared: TypeMetadata | undefined,
  isNested: boolean,
  problems: string[],
): Shape | undefined {
  const { name } = type as { readonly name: string };
  if (!isNested)
    problems.push(`${where}: nothing checks what is in a ${name}; write @ValidateNested() beside @Type(() => ${name})`);
  else if (declared === undefined)
    problems.push(`${where}: class-transformer does not know that it is a ${name}; write @Type(() => ${name})`);
  else return dtoShape(where, type as Constructor, problems, open);
  return undefined;
}

function unionShape(
  where: string,
  property: DtoProperty,
  { property: tag, subTypes = [] }: NonNullable<NonNullable<TypeMetadata['options']>['discriminator']>,
  keepsTag: boolean,
  isNested: boolean,
  problems: string[],
): UnionShape | undefined {
  if (!isNested) problems.push(`${where}: nothing checks what is in it; write @ValidateNested() beside @Type`);
  const branches = subTypes.flatMap(({ name: word, value }) => {
    if (typeof word !== 'string' || !isClass(value)) {
      problems.push(`${where}: each of subTypes needs a class, and a text as its name`);
      return [];
    }
    const ownsTag = property.libraries.rulesOf(value).some(({ propertyName }) => propertyName === tag);
    if (ownsTag !== keepsTag)
      problems.push(
        keepsTag
          ? `${where}: keepDiscriminatorProperty leaves ${tag} on ${value.name}, where no rule allows it; write @Allow() or @IsString() on it there`
          : `${where}: class-transformer takes ${tag} away, and its rules on ${value.name} then refuse every call; write keepDiscriminatorProperty: true`,
      );
    const shape = property.dtoShape(where, value as unknown as Constructor, problems, property.open);
    return shape === undefined ? [] : [Object.freeze({ word, shape })];
  });
  return branches.length === 0 ? undefined : { kind: 'union', tag, branches };
}

function membersOf(rules: readonly RuleMetadata[]): Extract<Shape, { kind: 'enum' }>['members'] | undefined {
  for (const { name, constraints: [values] = [] } of rules) {
    if (name === 'isEnum' && typeof values === 'object' && values !== null)
      return Object.freeze(enumMembersOf(values as Record<string, string | number>));
    const list: readonly unknown[] =
      name === 'isIn' && Array.isArray(values) ? values : name === 'equals' ? [values] : [];
    if (list.length > 0 && list.every((value) => typeof value === 'string' || Number.isFinite(value)))
      return Object.freeze((list as (string | number)[]).map(memberOf));
  }
  return undefined;
}
