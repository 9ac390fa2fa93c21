import { describeKind, unknownOptions } from '../declaration.js';
import { readBounds } from './bounds.js';
import type { ElementOptions, ElementType, ParameterType } from './parameter.js';
import type { EnumMember, Shape } from './shape.js';

/** What is known of a parameter besides its declaration. */
export type EmittedType =
  /** The compiler's `design:paramtypes` entry. */
  | { readonly from: 'compiler'; readonly type: unknown }
  /** A decorated method, of which the compiler emitted nothing. */
  | { readonly from: 'nowhere' }
  /** No method at all: a tool made by hand. */
  | { readonly from: 'handmade' };

type Kind = Shape['kind'];

const KINDS: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'integer'],
  ['boolean', 'boolean'],
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
  [BigInt, 'bigint'],
  [Date, 'date'],
  [Array, 'array'],
  [Set, 'set'],
  [Map, 'map'],
  [Object, 'record'],
  [Buffer, 'bytes'],
  [Uint8Array, 'bytes'],
]);

/** What the compiler emits for a method that takes one. */
const EMITTED: Readonly<Record<Kind, readonly unknown[]>> = {
  string: [String],
  number: [Number],
  integer: [Number],
  boolean: [Boolean],
  bigint: [BigInt],
  date: [Date],
  enum: [String, Number],
  array: [Array],
  set: [Set],
  map: [Map],
  record: [Object],
  bytes: [Buffer, Uint8Array],
};

const CHOICES = `type: 'string' | 'number' | 'integer' | 'boolean' | BigInt | Date | Buffer, items: … for an array, values: … for a Map or an object, or enum: ['a', 'b']`;
const OPTIONAL = 'and optional: true where the model may leave it out';
const ELEMENT_OPTIONS = [
  ...['type', 'items', 'values', 'enum', 'minLength', 'maxLength', 'pattern', 'format', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'maxBytes'],
];

/** Nested deeper, nobody can say what a model sent wrong. */
const MAX_DEPTH = 8;

/** The shape that a declaration means; what is wrong goes to `problems`. */
export function declaredShape(
  where: string,
  options: ElementOptions,
  emitted: EmittedType,
  problems: string[],
  depth = 0,
): Shape | undefined {
  const before = problems.length;
  if (depth > MAX_DEPTH) {
    problems.push(`${where}: items and values are nested deeper than ${MAX_DEPTH.toString()} levels; declare less`);
    return undefined;
  }
  const kind = kindOf(where, options, emitted, problems);
  if (kind === undefined || problems.length > before) return undefined;
  const bounds = readBounds(where, kind, options, problems);
  const shape = shapeOf(where, kind, options, bounds, problems, depth);
  if (shape === undefined || problems.length > before) return undefined;
  if (contradicts(shape, emitted)) {
    problems.push(
      `${where}: declared as ${nameOf(shape)}, but the method takes ${describeType(emitted.type)}; make them agree`,
    );
    return undefined;
  }
  return Object.freeze(shape);
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
      return members && { kind, members };
    }
    case 'array':
    case 'set': {
      const items = element(`${where}, items`, options.items, problems, depth);
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
  }
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
    problems.push(...unknown);
    if (unknown.length > 0) return undefined;
  }
  return declaredShape(where, options, { from: 'handmade' }, problems, depth + 1);
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
  const kind = said ?? innerKind(options, emitted) ?? emittedKind(emitted);
  if (kind === undefined) problems.push(`${where}: ${unknownType(emitted)}`);
  else if ((kind === 'array' || kind === 'set') && options.items === undefined)
    problems.push(
      `${where}: nobody says what is in the ${kind}; write items: 'integer', or items: { type: 'string', maxLength: 80 }`,
    );
  else if ((kind === 'map' || kind === 'record') && options.values === undefined)
    problems.push(`${where}: nobody says what is in the ${kind === 'map' ? 'Map' : 'object'}; write values: 'integer'`);
  else return kind;
  return undefined;
}

/** `items` alone means an array, unless the method takes a set; `values` alone an object, unless it takes a `Map`. */
function innerKind({ items, values }: ElementOptions, emitted: EmittedType): Kind | undefined {
  const type = emitted.from === 'compiler' ? emitted.type : undefined;
  if (items !== undefined) return type === Set ? 'set' : 'array';
  if (values !== undefined) return type === Map ? 'map' : 'record';
  return undefined;
}

/** `Object` is what the compiler says where it cannot say. */
function emittedKind(emitted: EmittedType): Kind | undefined {
  return emitted.from === 'compiler' && emitted.type !== Object ? KINDS.get(emitted.type) : undefined;
}

function contradicts(
  shape: Shape,
  emitted: EmittedType,
): emitted is Extract<EmittedType, { readonly from: 'compiler' }> {
  if (emitted.from !== 'compiler' || emitted.type === Object || emitted.type === undefined) return false;
  const types =
    shape.kind === 'enum'
      ? [...new Set(shape.members.map(({ value }) => (typeof value === 'string' ? String : Number)))]
      : EMITTED[shape.kind];
  return !types.includes(emitted.type);
}

function nameOf(shape: Shape): string {
  return shape.kind === 'enum' ? 'an enum of other values' : shape.kind;
}

function unknownType(emitted: EmittedType): string {
  switch (emitted.from) {
    case 'handmade':
      return `no type is given; write ${CHOICES}`;
    case 'nowhere':
      return (
        'no type is known, since the compiler emitted none (esbuild, tsx and vite never do; tsc and swc need "emitDecoratorMetadata": true); ' +
        `turn that on, or write ${CHOICES}`
      );
    case 'compiler':
      return emitted.type === Object || emitted.type === undefined
        ? `the compiler says only Object, which does not tell what the model must send; write ${CHOICES}, ${OPTIONAL}`
        : `the method takes ${describeType(emitted.type)}, which no parameter can be yet; take one of ${CHOICES}, and make the ${describeType(emitted.type)} in the method`;
  }
}

function enumMembers(where: string, declared: unknown, problems: string[]): readonly EnumMember[] | undefined {
  if (typeof declared !== 'object' || declared === null) {
    problems.push(
      `${where}: found enum ${describeKind(declared)}; write enum: ['a', 'b'] or the enum itself, enum: Status`,
    );
    return undefined;
  }
  const members: EnumMember[] = Array.isArray(declared)
    ? (declared as unknown[]).map((value) => ({ word: String(value), value: value as string }))
    : membersOf(declared as Readonly<Record<string, string | number>>);
  if (members.length === 0) problems.push(`${where}: the enum is empty; name at least one value`);
  else if (members.some(({ value }) => typeof value !== 'string' && !Number.isFinite(value)))
    problems.push(`${where}: the enum has values that are neither texts nor numbers; use an enum, or a list of texts`);
  else if (new Set(members.map(({ word }) => word)).size !== members.length)
    problems.push(`${where}: the enum names a value twice`);
  return Object.freeze(members.map((member) => Object.freeze(member)));
}

/** Of an enum of TypeScript's, without the way back from number to name that it also has. */
function membersOf(declared: Readonly<Record<string, string | number>>): EnumMember[] {
  return Object.entries(declared)
    .filter(([name, value]) => !(/^-?\d+(\.\d+)?$/.test(name) && declared[value] === Number(name)))
    .map(([name, value]) => ({ word: typeof value === 'string' ? value : name, value }));
}

function describeType(type: unknown): string {
  if (typeof type === 'function')
    return type === Number || type === String || type === Boolean ? type.name.toLowerCase() : type.name;
  return typeof type === 'string' ? `'${type}'` : describeKind(type);
}
