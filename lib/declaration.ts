/*
 * The rules that every declaration passes, whoever made it: a decorator, defineTool, an options object.
 */

import { AIDefinitionError } from './errors.js';

/**
 * One problem a line for what is wrong with an options object: not an object, or keys that are not in `known`.
 * A misspelt `toolGroup` that is silently ignored would offer every tool.
 */
export function unknownOptions(where: string, options: unknown, known: readonly string[]): string[] {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return [`${where}: expected an options object, found ${describeKind(options)}`];
  // A Standard Schema is an object with dozens of keys, none of which is meant.
  if ('~standard' in options)
    return [`${where}: found a schema where options are expected; write { schema: … } around it`];
  return Object.keys(options)
    .filter((key) => !known.includes(key))
    .map((key) => `${where}: there is no option "${key}"; the options are ${known.join(', ')}`);
}

/** The same, to be told together with other problems; throws where there is no options object to look at. */
export function optionProblems(where: string, options: unknown, known: readonly string[]): string[] {
  const problems = unknownOptions(where, options, known);
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throwProblems(problems);
  return problems;
}

/** A problem where `value` is not a whole number from 1 on; `undefined` is "not given". */
export function countProblems(where: string, option: string, value: unknown): string[] {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 1)) return [];
  return [`${where}: ${option} must be a whole number of at least 1, found ${shortly(value)}`];
}

/** A problem where an option that is a text is none; `undefined` is "not given". */
export function textProblems(where: string, option: string, value: unknown): string[] {
  return value === undefined || typeof value === 'string'
    ? []
    : [`${where}: ${option} must be a text, found ${describeKind(value)}`];
}

/** Throws all problems together, if there are any. */
export function throwProblems(problems: readonly string[]): void {
  if (problems.length > 0) throw new AIDefinitionError(problems);
}

/** The value itself where it is a number or a short text, as an option is that takes one of these; else its kind. */
export function shortly(value: unknown): string {
  if (typeof value === 'string')
    return value === '' ? 'an empty text' : value.length <= 40 ? JSON.stringify(value) : 'a longer text';
  return typeof value === 'number' ? value.toString() : describeKind(value);
}

/** `1 turn`, `2 turns`. */
export function counted(count: number, thing: string): string {
  return `${count.toString()} ${thing}${count === 1 ? '' : 's'}`;
}

/** Whether a value is an object that may hold options, neither `null` nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A word or two for what a value is, without its content. */
export function describeKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function or class ${value.name}`;
  if (typeof value === 'object') {
    const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
    return typeof name === 'string' && name !== 'Object' && name !== '' ? `an instance of ${name}` : 'an object';
  }
  return value === undefined ? 'undefined' : `a ${typeof value}`;
}

/** The wire name must pass every large provider: letters, digits, _ and -, at most 64. `ANSWER` is the wires' own word. */
export function nameProblems(origin: string, name: unknown): string[] {
  if (typeof name !== 'string' || name === '')
    return [`${origin}: the tool has no name; give it one, name: 'find_order'`];
  if (name === 'ANSWER')
    return [
      `${origin}: the name ANSWER is taken, it is how a model says that it answers; choose another, name: 'find_order'`,
    ];
  if (name.length > 64)
    return [
      `${origin}: the wire name ${name} has ${name.length.toString()} characters, 64 are allowed; give a shorter one, name: 'find_order'`,
    ];
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    return [
      `${origin}: the wire name "${name}" has characters that providers refuse; use letters, digits, _ and -, name: 'find_order'`,
    ];
  return [];
}

export function descriptionProblems(origin: string, description: unknown): string[] {
  return typeof description === 'string' && description.trim() !== ''
    ? []
    : [`${origin}: the description is blank; say in a few words what it is for, the model reads nothing else`];
}

/** What may be said of any tool besides its name and its words. */
export interface ToolOptions {
  /** After so long the call is abandoned and reported as timed out. In milliseconds; default 60,000. */
  readonly timeoutMs?: number;
  /** The same call may be made again at any time, also after it failed: it does nothing twice. Default: false. */
  readonly idempotent?: boolean;
  /** The same call may be made again after it succeeded: twice is meant. Default: false. */
  readonly repeatable?: boolean;
  /** The result is the answer, without another turn. Default: false. */
  readonly returnDirect?: boolean;
  /** What the model is told, to the byte, when the tool returns nothing. */
  readonly notFound?: string;
  /** A longer result is cut, with a mark that says how much is missing. In characters; default 20,000. */
  readonly maxResultChars?: number;
}

/** Names of the options that every kind of tool takes. */
export const TOOL_OPTIONS = [
  'timeoutMs',
  'idempotent',
  'repeatable',
  'returnDirect',
  'notFound',
  'maxResultChars',
] as const satisfies readonly (keyof ToolOptions)[];

/** The longest delay that Node's timers take: 2^31 - 1 ms; a longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** A problem where a delay is none that a timer takes; `undefined` is "not given". */
export function timerProblems(where: string, option: string, value: unknown): string[] {
  if (
    value === undefined ||
    (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= MAX_TIMER_MS)
  )
    return [];
  return [`${where}: ${option} must be a whole number from 1 to ${MAX_TIMER_MS.toString()}, found ${shortly(value)}`];
}

export function toolOptionProblems(origin: string, options: ToolOptions): string[] {
  const problems: string[] = [];
  for (const option of ['idempotent', 'repeatable', 'returnDirect'] as const)
    if (options[option] !== undefined && typeof options[option] !== 'boolean')
      problems.push(`${origin}: ${option} must be true or false, found ${describeKind(options[option])}`);
  for (const option of ['timeoutMs', 'maxResultChars'] as const)
    problems.push(...timerProblems(origin, option, options[option]));
  if (options.notFound !== undefined && (typeof options.notFound !== 'string' || options.notFound.trim() === ''))
    problems.push(`${origin}: notFound must be a sentence for the model, as 'No order found with that id.'`);
  return problems;
}

/** The options of a parameter that every kind of tool takes. */
export const PARAMETER_OPTIONS: readonly string[] = [
  ...[
    'type',
    'items',
    'values',
    'enum',
    'optional',
    'nullable',
    'default',
    'minLength',
    'maxLength',
    'pattern',
    'format',
  ],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'maxBytes'],
  ...['schema', 'jsonSchema'],
];

/** Keys that a careless copy would turn into a prototype. */
const UNSAFE_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

export function parameterNameProblems(where: string, name: unknown): string[] {
  if (typeof name === 'string' && /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name) && !UNSAFE_NAMES.has(name)) return [];
  const found = typeof name === 'string' ? `"${name}"` : describeKind(name);
  return [
    `${where}: ${found} is no name for a parameter; use letters, digits, _ and -, at most 64, as in @AIToolParam('orderId', …)`,
  ];
}

/** Classes have a prototype that cannot be replaced; functions and arrows do not. Classes compiled to ES5 count as functions. */
export function isClass(value: unknown): value is abstract new (...args: never[]) => object {
  return typeof value === 'function' && Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
}

/** Freezes plain data to its leaves. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
