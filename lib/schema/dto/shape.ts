import { dtoField } from './field.js';
import { type Constructor, dtoLibraries, type DtoLibraries, PLAIN_TO_CLASS, type RuleMetadata } from './libraries.js';
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
  const libraries = dtoLibraries();
  if (typeof libraries === 'string') {
    problems.push(`${where}: ${type.name} is a class, and ${libraries}; or write schema or jsonSchema`);
    return undefined;
  }
  // What a base has comes first.
  const rules = [...libraries.rulesOf(type)].sort((a, b) => Number(a.target === type) - Number(b.target === type));
  if (rules.length === 0) {
    problems.push(
      `${where}: the installed class-validator knows no rule of ${type.name}, so nothing would be checked; write rules on its properties, @IsString(), see that there is one copy of class-validator (npm ls class-validator), or write schema or jsonSchema`,
    );
    return undefined;
  }
  const fields: Field[] = [];
  const told = new Map<string, readonly Rule[]>();
  const shape: ObjectShape = { kind: 'object', fields, dto: { type, name: type.name, rules: told } };
  const isOutermost = open.size === 0;
  const before = problems.length;
  open.set(type, shape);
  for (const [property, propertyRules] of byProperty(rules)) {
    const read = readProperty(
      `${where}, ${type.name}.${property}`,
      type,
      property,
      propertyRules,
      libraries,
      problems,
      open,
    );
    if (read === undefined) continue;
    fields.push(Object.freeze(read.field));
    told.set(property, read.rules);
  }
  if (fields.length === 0 && problems.length === before)
    problems.push(`${where}: every property of ${type.name} is hidden from the model; take the parameter away`);
  if (isOutermost && problems.length === before) for (const [key, value] of open) compiled.set(key, freeze(value));
  return problems.length > before ? undefined : shape;
}

function freeze(shape: ObjectShape): ObjectShape {
  Object.freeze(shape.fields);
  return Object.freeze(shape);
}

function byProperty(rules: readonly RuleMetadata[]): ReadonlyMap<string, readonly RuleMetadata[]> {
  const grouped = new Map<string, RuleMetadata[]>();
  for (const rule of rules) grouped.set(rule.propertyName, [...(grouped.get(rule.propertyName) ?? []), rule]);
  return grouped;
}

function readProperty(
  where: string,
  type: Constructor,
  property: string,
  rules: readonly RuleMetadata[],
  libraries: DtoLibraries,
  problems: string[],
  open: Map<Constructor, ObjectShape>,
): { readonly field: Field; readonly rules: readonly Rule[] } | undefined {
  const { store } = libraries;
  const exposed = store.findExposeMetadata(type, property)?.options;
  const isExposed = store.getExposedProperties(type, PLAIN_TO_CLASS).includes(property);
  const isHidden =
    store.getExcludedProperties(type, PLAIN_TO_CLASS).includes(property) ||
    (isExposed && (exposed?.groups?.length ?? 0) > 0) ||
    (store.getStrategy(type) === 'excludeAll' && !isExposed);
  if (isHidden) {
    // Kept from the model, it is never there, and then a rule that wants it refuses every call.
    if (!rules.some(({ type: kind }) => kind === 'conditionalValidation'))
      problems.push(
        `${where}: class-transformer keeps it from what comes in, and its rules then refuse every call; write @IsOptional(), or @Exclude({ toPlainOnly: true })`,
      );
    return undefined;
  }
  const name = (isExposed && exposed?.toPlainOnly !== true && exposed?.name) || property;
  return dtoField(where, { type, property, name, rules, libraries, open, dtoShape }, problems);
}
