import { describeKind, PARAMETER_OPTIONS, parameterNameProblems, unknownOptions } from '../declaration.js';

/** The kinds of value a parameter can have on the wire. */
export type ParameterKind = 'string' | 'number' | 'integer' | 'boolean';

/** How a parameter's type may be written. */
export type ParameterType = ParameterKind | StringConstructor | NumberConstructor | BooleanConstructor;

/** What `@AIToolParam` and `defineTool` take besides name and description. */
export interface ParameterOptions {
  /** Needed where the compiler says nothing, or too little: an integer, a union with `undefined`. */
  readonly type?: ParameterType;
  /** The allowed values: a list of texts, or a TypeScript string enum. */
  readonly enum?: readonly string[] | Readonly<Record<string, string>>;
  /** The model may leave it out; the method then gets `undefined`. Default: false. */
  readonly optional?: boolean;
}

/** A parameter as it was declared, checked and frozen: what the model reads of it and what its value is checked by. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly kind: ParameterKind;
  /** The values of an enum, in declared order. */
  readonly values?: readonly string[];
  readonly optional: boolean;
}

const KINDS: ReadonlyMap<unknown, ParameterKind> = new Map<unknown, ParameterKind>([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'integer'],
  ['boolean', 'boolean'],
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
]);

const CHOICES = `type: 'string' | 'number' | 'integer' | 'boolean', or enum: ['a', 'b']`;
const OPTIONAL = 'and optional: true where the model may leave it out';

/** What is known of a parameter besides its declaration. */
export type EmittedType =
  /** The compiler's `design:paramtypes` entry. */
  | { readonly from: 'compiler'; readonly type: unknown }
  /** A decorated method, of which the compiler emitted nothing. */
  | { readonly from: 'nowhere' }
  /** No method at all: a tool made by hand. */
  | { readonly from: 'handmade' };

/**
 * Checks one declaration.
 * What is wrong is pushed to `problems`, each with what to write instead.
 */
export function declareParameter(
  where: string,
  name: string,
  description: string | undefined,
  options: ParameterOptions,
  emitted: EmittedType,
  problems: string[],
): Parameter | undefined {
  const before = problems.length;
  problems.push(
    ...unknownOptions(where, options, [...(emitted.from === 'handmade' ? ['description'] : []), ...PARAMETER_OPTIONS]),
  );
  if (problems.length > before) return undefined;
  problems.push(...parameterNameProblems(where, name));
  if (typeof description !== 'string' || description.trim() === '')
    problems.push(
      `${where}: the description is blank; say in a few words what the value is, the model reads nothing else`,
    );
  if (options.optional !== undefined && typeof options.optional !== 'boolean')
    problems.push(`${where}: optional must be true or false, found ${describeKind(options.optional)}`);
  if (problems.length > before) return undefined;
  const values = options.enum === undefined ? undefined : enumValues(where, options.enum, problems);
  if (problems.length > before) return undefined;
  const kind = kindOf(where, options, emitted, problems);
  if (kind === undefined || problems.length > before) return undefined;
  return Object.freeze({
    name,
    description: description ?? '',
    kind,
    ...(values && { values }),
    optional: options.optional === true,
  });
}

function kindOf(
  where: string,
  options: ParameterOptions,
  emitted: EmittedType,
  problems: string[],
): ParameterKind | undefined {
  const said = options.type === undefined ? undefined : KINDS.get(options.type);
  if (options.type !== undefined && said === undefined) {
    problems.push(`${where}: found type ${describeType(options.type)}; write ${CHOICES}`);
    return undefined;
  }
  if (said !== undefined && options.enum !== undefined && said !== 'string') {
    problems.push(`${where}: type '${said}' and enum exclude each other; the values of enum are texts`);
    return undefined;
  }
  const kind = options.enum === undefined ? (said ?? emittedKind(emitted)) : 'string';
  if (kind === undefined) problems.push(`${where}: ${unknownType(emitted)}`);
  else if (contradicts(kind, emitted))
    problems.push(`${where}: declared as ${kind}, but the method takes ${describeType(emitted.type)}; make them agree`);
  return kind;
}

function emittedKind(emitted: EmittedType): ParameterKind | undefined {
  return emitted.from === 'compiler' ? KINDS.get(emitted.type) : undefined;
}

/** `Object` is what the compiler says where it cannot say: it contradicts nothing. */
function contradicts(
  kind: ParameterKind,
  emitted: EmittedType,
): emitted is Extract<EmittedType, { readonly from: 'compiler' }> {
  if (emitted.from !== 'compiler' || emitted.type === Object || emitted.type === undefined) return false;
  return KINDS.get(emitted.type) !== (kind === 'integer' ? 'number' : kind);
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
        : `the method takes ${describeType(emitted.type)}, which no parameter can be yet; take a string, number or boolean, and make the ${describeType(emitted.type)} in the method`;
  }
}

function enumValues(where: string, declared: unknown, problems: string[]): readonly string[] | undefined {
  if (typeof declared !== 'object' || declared === null) {
    problems.push(
      `${where}: found enum ${describeKind(declared)}; write enum: ['a', 'b'] or the enum itself, enum: Status`,
    );
    return undefined;
  }
  const values: unknown[] = Array.isArray(declared) ? declared : Object.values(declared);
  if (values.length === 0) problems.push(`${where}: the enum is empty; name at least one value`);
  else if (values.some((value) => typeof value !== 'string'))
    problems.push(
      `${where}: the enum has values that are no texts; use a string enum (Open = 'OPEN') or a list of texts`,
    );
  else if (new Set(values).size !== values.length) problems.push(`${where}: the enum names a value twice`);
  return Object.freeze([...(values as string[])]);
}

function describeType(type: unknown): string {
  return typeof type === 'function'
    ? (KINDS.get(type) ?? type.name)
    : typeof type === 'string'
      ? `'${type}'`
      : describeKind(type);
}

/** The type as the model reads it: `integer`, `"price" | "name"`. */
export function typeText(parameter: Parameter): string {
  return parameter.values === undefined
    ? parameter.kind
    : parameter.values.map((value) => JSON.stringify(value)).join(' | ');
}
