import { isClass, unknownOptions } from '../declaration.js';
import { readBounds } from './bounds.js';
import { dtoShape } from './dto/shape.js';
import type { Constructor } from './dto/libraries.js';
import { type ReadSchema, shapeFromJsonSchema } from './from-json-schema.js';
import { contradicts, describeType, type EmittedType, nameOf } from './emitted-type.js';
import { referenceProblems } from './json-schema.js';
import { enumMembers, KINDS, type Kind } from './kinds.js';
import { conflictProblems, enumTypeProblems } from './option-conflicts.js';
import { anyOutline } from './outline.js';
import type { ElementOptions, ElementType, ParameterType } from './parameter.js';
import type { Shape } from './shape.js';
import { standardShape } from './standard.js';

const CHOICES = `type: 'string' | 'number' | 'integer' | 'boolean' | BigInt | Date | Buffer, items: … for an array, values: … for a Map or an object, enum: ['a', 'b'], or schema: … of zod, valibot or arktype`;
const OPTIONAL = 'and optional: true where the model may leave it out, nullable: true where null is a value';
const ELEMENT_OPTIONS = [
  ...['type', 'items', 'values', 'enum', 'minLength', 'maxLength', 'pattern', 'format', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'maxBytes', 'schema', 'jsonSchema'],
];

/** Nested deeper, nobody can say what a model sent wrong. */
const MAX_DEPTH = 8;

/** The shape that a declaration means, and whether it takes `null` of itself; what is wrong goes to `problems`. */
export function declaredShape(
  where: string,
  declared: ElementOptions,
  emitted: EmittedType,
  problems: string[],
  depth = 0,
): ReadSchema | undefined {
  const before = problems.length;
  if (depth > MAX_DEPTH) {
    problems.push(`${where}: items and values are nested deeper than ${MAX_DEPTH.toString()} levels; declare less`);
    return undefined;
  }
  if (declared.schema !== undefined || declared.jsonSchema !== undefined)
    return schemaShape(where, declared, emitted, problems);
  const type = written(where, declared.type, problems);
  if (problems.length > before) return undefined;
  const options = { ...declared, ...(type !== undefined && { type }) };
  const conflicts = conflictProblems(where, options);
  problems.push(...conflicts);
  if (conflicts.length > 0) return undefined;
  const found = classOf(options, emitted);
  if (found !== undefined) return classShape(where, found, options, emitted, problems);
  const kind = kindOf(where, options, emitted, problems);
  if (kind === undefined || problems.length > before) return undefined;
  const bounds = readBounds(where, kind, options, problems);
  const shape = shapeOf(where, kind, options, bounds, problems, depth);
  if (shape === undefined || problems.length > before) return undefined;
  return agreed(where, Object.freeze(shape), emitted, problems);
}

function agreed(where: string, shape: Shape, emitted: EmittedType, problems: string[]): ReadSchema | undefined {
  if (!contradicts(shape, emitted)) return { shape, nullable: false };
  const container = [Set, Map].find((type) => type === emitted.type);
  const mend = container === undefined ? 'make them agree' : `write type: ${container.name}`;
  problems.push(`${where}: declared as ${nameOf(shape)}, but the method takes ${describeType(emitted.type)}; ${mend}`);
  return undefined;
}

/** What another library, or a JSON Schema, says in full: nothing else may say it as well. */
function schemaShape(
  where: string,
  options: ElementOptions,
  emitted: EmittedType,
  problems: string[],
): ReadSchema | undefined {
  const { schema, jsonSchema } = options;
  const others = ELEMENT_OPTIONS.filter(
    (option) => option !== 'schema' && option !== 'jsonSchema' && options[option as keyof ElementOptions] !== undefined,
  );
  if (others.length > 0) {
    const said = schema === undefined ? 'jsonSchema' : 'schema';
    problems.push(`${where}: ${said} says all of it, so ${others.join(', ')} would not be looked at; leave one out`);
    return undefined;
  }
  if (schema !== undefined) {
    const read = standardShape(where, schema, jsonSchema, problems);
    const dangling = read === undefined ? [] : referenceProblems(where, read.shape.json);
    for (const problem of dangling) problems.push(problem);
    return dangling.length > 0 ? undefined : read;
  }
  const read = shapeFromJsonSchema(`${where}, jsonSchema`, jsonSchema, problems);
  return read && agreed(where, read.shape, emitted, problems) && read;
}

/** `() => Line` for a class that is declared later: an arrow has no prototype, a class has. */
function written(where: string, type: unknown, problems: string[]): ParameterType | undefined {
  if (typeof type !== 'function' || type.prototype !== undefined || KINDS.has(type)) return type as ParameterType;
  let found: unknown;
  try {
    found = (type as () => unknown)();
  } catch (error) {
    problems.push(`${where}: the function in type failed: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
  if (found === undefined)
    problems.push(
      `${where}: the function in type gives undefined: check what is imported and its spelling, or whether two files import each other`,
    );
  return found as ParameterType;
}

/** The class that a value becomes an instance of. */
function classOf(
  { type, enum: members, items, values }: ElementOptions,
  emitted: EmittedType,
): Constructor | undefined {
  if (members !== undefined || items !== undefined || values !== undefined) return undefined;
  const found: unknown = type ?? (emitted.from === 'compiler' ? emitted.type : undefined);
  return isClass(found) && !KINDS.has(found) ? (found as unknown as Constructor) : undefined;
}

function classShape(
  where: string,
  type: Constructor,
  options: ElementOptions,
  emitted: EmittedType,
  problems: string[],
): ReadSchema | undefined {
  if ((type as unknown) === Function) {
    problems.push(
      `${where}: the compiler says only Function: a class that is imported with "import type", or a function, which no parameter can be; write import { … } without type, or type: () => Line`,
    );
    return undefined;
  }
  if ((globalThis as Readonly<Record<string, unknown>>)[type.name] === type) {
    problems.push(
      `${where}: the method takes ${type.name}, which no parameter can be; take one of ${CHOICES}, and make the ${type.name} in the method`,
    );
    return undefined;
  }
  const before = problems.length;
  readBounds(where, 'object', options, problems);
  const shape = dtoShape(where, type, problems);
  return shape === undefined || problems.length > before ? undefined : agreed(where, shape, emitted, problems);
}

function shapeOf(
  where: string,
  kind: Kind,
  options: ElementOptions,
  bounds: object,
  problems: string[],
  depth: number,
): Shape | undefined {
  switch (kind) {
    case 'enum': {
      const members = enumMembers(where, options.enum, problems);
      if (members !== undefined) problems.push(...enumTypeProblems(where, options.type, members));
      return members && { kind, members };
    }
    case 'array':
    case 'set': {
      const items = element(`${where}, items`, options.items, problems, depth);
      const different = kind === 'set' ? differentValues(items) : Infinity;
      if ((options.minItems ?? 0) > different)
        problems.push(
          `${where}: there are ${different.toString()} different items, fewer than minItems, so no value could be right`,
        );
      return items && { kind, items, ...bounds };
    }
    case 'map':
    case 'record': {
      const values = element(`${where}, values`, options.values, problems, depth);
      return values && { kind, values };
    }
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'bigint':
    case 'date':
    case 'bytes':
      return { kind, ...bounds };
    default:
      // No type and no option is of any other kind.
      return undefined;
  }
}

/** How many values a set of these can hold. */
function differentValues(items: Shape | undefined): number {
  if (items?.kind === 'enum') return items.members.length;
  return items?.kind === 'boolean' ? 2 : Infinity;
}

function element(
  where: string,
  declared: ElementType | undefined,
  problems: string[],
  depth: number,
): Shape | undefined {
  const isOptions = typeof declared === 'object';
  const options: ElementOptions = isOptions
    ? declared
    : { ...(declared !== undefined && { type: declared as ParameterType }) };
  if (isOptions) {
    const unknown = unknownOptions(where, options, ELEMENT_OPTIONS);
    for (const problem of unknown) problems.push(problem);
    if (unknown.length > 0) return undefined;
  }
  const read = declaredShape(where, options, { from: 'handmade' }, problems, depth + 1);
  if (read?.nullable !== true) return read?.shape;
  // Inside a list nothing says that `null` is a value: then all of it is the other library's to tell.
  if (read.shape.kind === 'standard') return Object.freeze({ ...read.shape, outline: anyOutline(read.shape.json) });
  problems.push(`${where}: null inside a list or an object is not read; use schema, of zod, valibot or arktype`);
  return undefined;
}

function kindOf(where: string, options: ElementOptions, emitted: EmittedType, problems: string[]): Kind | undefined {
  const said = options.type === undefined ? undefined : KINDS.get(options.type);
  if (options.type !== undefined && said === undefined) {
    problems.push(`${where}: found type ${describeType(options.type)}; write ${CHOICES}`);
    return undefined;
  }
  if (options.enum !== undefined) {
    if (said === undefined || said === 'string' || said === 'number' || said === 'integer') return 'enum';
    problems.push(`${where}: type '${said}' and enum exclude each other; the values of enum are texts or numbers`);
    return undefined;
  }
  const kind = said ?? innerKind(options) ?? emittedKind(emitted);
  if (kind === undefined) problems.push(`${where}: ${unknownType(emitted)}`);
  else if ((kind === 'array' || kind === 'set') && options.items === undefined)
    problems.push(
      `${where}: nobody says what is in the ${kind}; write ${kind === 'set' ? 'type: Set and ' : ''}items: 'integer', items: { type: 'string', maxLength: 80 }, or items: () => Line`,
    );
  else if ((kind === 'map' || kind === 'record') && options.values === undefined)
    problems.push(
      `${where}: nobody says what is in the ${kind === 'map' ? 'Map; write type: Map and' : 'object; write'} values: 'integer'`,
    );
  else return kind;
  return undefined;
}

/** `items` alone means an array, `values` alone an object, under every compiler: some would not say Set or Map. */
function innerKind({ items, values }: ElementOptions): Kind | undefined {
  return items === undefined ? (values === undefined ? undefined : 'record') : 'array';
}

/** `Object` is what the compiler says where it cannot say. */
function emittedKind(emitted: EmittedType): Kind | undefined {
  const isSaid = emitted.from === 'compiler' && emitted.type !== Object && typeof emitted.type === 'function';
  return isSaid ? KINDS.get(emitted.type) : undefined;
}

function unknownType(emitted: EmittedType): string {
  switch (emitted.from) {
    case 'handmade':
      return `no type is given; write ${CHOICES}`;
    case 'nowhere':
      return (
        'no type is known, since the compiler emitted none (esbuild and tsx never do; tsc and vite need "emitDecoratorMetadata": true, swc "decoratorMetadata": true); ' +
        `turn that on, or write ${CHOICES}`
      );
    case 'compiler':
      return emitted.type === Object || emitted.type === undefined
        ? `the compiler says only Object, which does not tell what the model must send; write ${CHOICES}, ${OPTIONAL}`
        : `the method takes ${describeType(emitted.type)}, which no parameter can be yet; take one of ${CHOICES}, and make the ${describeType(emitted.type)} in the method`;
  }
}
