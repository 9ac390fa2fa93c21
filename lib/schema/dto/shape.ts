import { className } from './class-shape.js';
import { endlessProperty } from './endless.js';
import { hasOwnValue, isHidden, memberProblem, wireName } from './exposure.js';
import { dtoField } from './field.js';
import { type Constructor, dtoLibraries, type DtoLibraries, type RuleMetadata } from './libraries.js';
import type { Field, ObjectShape, Rule } from '../shape.js';

/*
 * A class whose properties bear rules of class-validator, as a shape. class-validator-jsonschema would give a JSON Schema
 * of one, but for OpenAPI 3.0: it leaves references dangling and objects open, loses the types of lists and the unions
 * of class-transformer, and lets an undecorated class be anything.
 */

// By class: one that was found right is not read again, and one that holds itself is found while it is read.
const compiled = new WeakMap<Constructor, ObjectShape>();

/** The shape of a class; what is wrong with it goes to `problems`. */
export function dtoShape(
  where: string,
  type: Constructor,
  problems: string[],
  open: Map<Constructor, ObjectShape> = new Map(),
): ObjectShape | undefined {
  const known = compiled.get(type) ?? open.get(type);
  if (known !== undefined) return known;
  const name = className(type);
  const libraries = dtoLibraries();
  if (typeof libraries === 'string') {
    problems.push(`${where}: ${name} is a class, and ${libraries}; or write schema or jsonSchema`);
    return undefined;
  }
  // What a base has comes first.
  const rules = [...libraries.rulesOf(type)].sort((a, b) => Number(a.target === type) - Number(b.target === type));
  if (rules.length === 0) {
    problems.push(
      `${where}: the installed class-validator knows no rule of ${name}, so nothing would be checked; write rules on its properties, @IsString(), see that there is one copy of class-validator (npm ls class-validator), or write schema or jsonSchema`,
    );
    return undefined;
  }
  const fields: Field[] = [];
  const told = new Map<string, readonly Rule[]>();
  const shape: ObjectShape = { kind: 'object', fields, dto: { type, name, rules: told } };
  const isOutermost = open.size === 0;
  const before = problems.length;
  open.set(type, shape);
  for (const [property, propertyRules] of byProperty(`${where}, ${name}`, rules, problems)) {
    const at = `${where}, ${name}.${property}`;
    const read = readProperty(at, { type, property, rules: propertyRules, libraries, open }, problems);
    if (read === undefined) continue;
    const same = fields.find((field) => field.name === read.field.name);
    if (same !== undefined)
      problems.push(
        `${at}: what comes in as ${same.name} would be ${same.property ?? same.name} too; give one of them another name, @Expose({ name: 'other_name' })`,
      );
    fields.push(Object.freeze(read.field));
    told.set(property, read.rules);
  }
  if (fields.length === 0 && problems.length === before)
    problems.push(`${where}: every property of ${name} is hidden from the model; take the parameter away`);
  if (isOutermost && problems.length === before) {
    const endless = endlessProperty([...open.values()]);
    if (endless !== undefined) problems.push(`${where}, ${endlessText(endless)}`);
    else for (const [key, value] of open) compiled.set(key, freeze(value));
  }
  return problems.length > before ? undefined : shape;
}

function endlessText({ shape, field }: { readonly shape: ObjectShape; readonly field: Field }): string {
  const name = shape.dto?.name ?? '';
  return `${name}.${field.property ?? field.name}: one ${name} must hold another, without an end, so that nobody can send it; write @IsOptional() there`;
}

function freeze(shape: ObjectShape): ObjectShape {
  Object.freeze(shape.fields);
  return Object.freeze(shape);
}

function byProperty(
  where: string,
  rules: readonly RuleMetadata[],
  problems: string[],
): ReadonlyMap<string, readonly RuleMetadata[]> {
  const grouped = new Map<string, RuleMetadata[]>();
  const symbols = new Set<unknown>();
  for (const rule of rules) {
    const property: unknown = rule.propertyName;
    if (typeof property === 'string') grouped.set(property, [...(grouped.get(property) ?? []), rule]);
    else symbols.add(property);
  }
  for (const symbol of symbols)
    problems.push(
      `${where}[${String(symbol)}]: the wire has texts for names, and class-validator looks at no symbol; give the property a text as its name, or take its rules away`,
    );
  return grouped;
}

interface Property {
  readonly type: Constructor;
  readonly property: string;
  readonly rules: readonly RuleMetadata[];
  readonly libraries: DtoLibraries;
  readonly open: Map<Constructor, ObjectShape>;
}

function readProperty(
  where: string,
  { type, property, rules, libraries, open }: Property,
  problems: string[],
): { readonly field: Field; readonly rules: readonly Rule[] } | undefined {
  const { store } = libraries;
  const hidden = isHidden(store, type, property);
  const problem = memberProblem(type, property, hidden);
  if (problem !== undefined) {
    problems.push(`${where}: ${problem}`);
    return undefined;
  }
  if (hidden) {
    // Kept from the model, it is what its class makes it; where that is nothing, a rule that wants it refuses every call.
    if (!rules.some(({ type: kind }) => kind === 'conditionalValidation') && !hasOwnValue(type, property))
      problems.push(
        `${where}: class-transformer keeps it from what comes in, and its rules then refuse every call; write @IsOptional(), or @Exclude({ toPlainOnly: true })`,
      );
    return undefined;
  }
  const name = wireName(store, type, property);
  return dtoField(where, { type, property, name, rules, libraries, open, dtoShape }, problems);
}
