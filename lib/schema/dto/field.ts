import { parameterNameProblems } from '../../declaration.js';
import { conditionsOf } from './conditions.js';
import type { Constructor, DtoLibraries, RuleMetadata } from './libraries.js';
import { propertyShape } from './property-shape.js';
import type { Field, ObjectShape, Rule } from '../shape.js';
import { hintOf, toldRules } from './told.js';

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

/** What a property takes, and its rules as they are told; what is wrong goes to `problems`. */
export function dtoField(
  where: string,
  property: DtoProperty,
  problems: string[],
): { readonly field: Field; readonly rules: readonly Rule[] } | undefined {
  const { name, rules, libraries } = property;
  if (parameterNameProblems(where, name).length > 0 || name in Object.prototype)
    problems.push(
      `${where}: ${JSON.stringify(name)} is no name that a key can have; use letters, digits, _ and -, at most 64, and none that every object has, as in @Expose({ name: 'note' })`,
    );
  const conditions = conditionsOf(property.property, rules);
  const read = propertyShape(where, property, conditions, problems);
  if (read === undefined) return undefined;
  const hint = hintOf(rules, conditions.firm, read.shape, libraries);
  return {
    rules: toldRules(rules, libraries),
    field: {
      name,
      shape: Object.freeze(read.shape),
      optional: conditions.optional,
      nullable: conditions.nullable,
      ...(hint !== undefined && { hint }),
      ...(property.property !== name && { property: property.property }),
      ...(read.becomes && { becomes: read.becomes }),
    },
  };
}
