import { isClass } from '../../declaration.js';
import { wireName } from './exposure.js';
import type { DtoProperty } from './field.js';
import { isOfShape } from '../is-of-shape.js';
import type { Constructor, RuleMetadata, TypeMetadata } from './libraries.js';
import type { ObjectShape, UnionShape } from '../shape.js';

/* Properties that hold an instance of a class, or one of several classes. */

/** A class may have a static member called `name`. */
export function className(type: Constructor): string {
  const name: unknown = type.name;
  return typeof name === 'string' && name !== '' ? name : 'class without a name';
}

/** Why a class of the language or of the platform can hold no rules, and what to write for it. */
export function platformProblem(type: unknown): string | undefined {
  if (typeof type !== 'function' || (globalThis as Record<string, unknown>)[type.name] !== type) return undefined;
  const { name } = type;
  if (name === 'Promise')
    return 'a Promise is no kind of value here; write the type of what it gives, with rules for that';
  const rule = name === 'URL' ? '@IsUrl()' : '@IsString()';
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name} is no kind of value here; write a text with ${rule}, and make the ${name} of it in the method`;
}

export function classShape(
  where: string,
  { dtoShape, open }: DtoProperty,
  type: Constructor,
  { rules, isDeclared }: { readonly rules: readonly RuleMetadata[]; readonly isDeclared: boolean },
  problems: string[],
): ObjectShape | undefined {
  const name = className(type);
  const other = rules.find(
    ({ name: rule, constraints: [wanted] = [] }) => rule === 'isInstance' && !isKindOf(type, wanted),
  );
  if (!rules.some(({ type: kind }) => kind === 'nestedValidation'))
    problems.push(`${where}: nothing checks what is in a ${name}; write @ValidateNested() beside @Type(() => ${name})`);
  else if (!isDeclared)
    problems.push(`${where}: class-transformer does not know that it is a ${name}; write @Type(() => ${name})`);
  else if (other !== undefined)
    problems.push(`${where}: @Type makes a ${name} of it, which @IsInstance() refuses; name one class in both`);
  else return dtoShape(where, type, problems, open);
  return undefined;
}

function isKindOf(type: Constructor, wanted: unknown): boolean {
  return typeof wanted === 'function' && (type === wanted || type.prototype instanceof wanted);
}

type Discriminator = NonNullable<NonNullable<TypeMetadata['options']>['discriminator']>;

export function unionShape(
  where: string,
  property: DtoProperty,
  { property: tag, subTypes = [] }: Discriminator,
  { keepsTag, isNested }: { readonly keepsTag: boolean; readonly isNested: boolean },
  problems: string[],
): UnionShape | undefined {
  if (!isNested) problems.push(`${where}: nothing checks what is in it; write @ValidateNested() beside @Type`);
  if (subTypes.length === 0)
    problems.push(`${where}: subTypes names no class; name at least one, { name: 'card', value: Card }`);
  const classes = new Map<string, Constructor>();
  for (const { name: word, value } of subTypes)
    if (typeof word !== 'string' || !isClass(value))
      problems.push(`${where}: each of subTypes needs a class, and a text as its name`);
    else if (!classes.has(word)) classes.set(word, value as unknown as Constructor);
    else if (classes.get(word) !== value)
      problems.push(`${where}: two of subTypes are called ${JSON.stringify(word)}; give each class a name of its own`);
  const branches = [...classes].flatMap(([word, type]) => {
    const shape = branchShape(where, property, { tag, word, type, keepsTag }, problems);
    return shape === undefined ? [] : [Object.freeze({ word, shape })];
  });
  return branches.length === 0 ? undefined : { kind: 'union', tag, branches };
}

function branchShape(
  where: string,
  { libraries, dtoShape, open }: DtoProperty,
  branch: { readonly tag: string; readonly word: string; readonly type: Constructor; readonly keepsTag: boolean },
  problems: string[],
): ObjectShape | undefined {
  const { tag, word, type, keepsTag } = branch;
  const ownsTag = libraries
    .rulesOf(type)
    .some(({ propertyName }) => wireName(libraries.store, type, propertyName) === tag);
  if (ownsTag && !keepsTag)
    problems.push(
      `${where}: class-transformer takes ${tag} away, and its rules on ${className(type)} then refuse every call; write keepDiscriminatorProperty: true`,
    );
  const shape = dtoShape(where, type, problems, open);
  const own = shape?.fields.find(({ name }) => name === tag)?.shape;
  if ((own?.kind === 'string' || own?.kind === 'enum') && !isOfShape(own, word))
    problems.push(
      `${where}: ${className(type)} is told by the ${tag} ${JSON.stringify(word)}, which its own rules refuse; make them agree`,
    );
  return shape;
}
