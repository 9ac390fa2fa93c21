import { dtoLibraries, type RuleFailure } from './libraries.js';
import type { Unchecked } from '../finish.js';
import { cut, quote } from '../quote.js';
import { innerShapes } from '../inner-shapes.js';
import { isBuiltIn } from './rule-words.js';
import type { Dto, ObjectShape, Shape } from '../shape.js';

/**
 * An instance of a class with rules, from an object that its shape has checked, after class-validator has looked at it
 * too: always `validate` and never `validateSync`, which passes over every asynchronous rule.
 */
export async function instanceOf(
  shape: ObjectShape,
  { type }: Dto,
  plain: object,
  path: string,
  lines: string[],
  unchecked: Unchecked[],
): Promise<unknown> {
  try {
    const libraries = dtoLibraries();
    if (typeof libraries === 'string') throw new Error(libraries);
    const instance = libraries.toInstance(type, plain);
    if (!(instance instanceof type)) throw new Error(`class-transformer made no ${type.name}`);
    if (needsCompletion(shape)) complete(shape, instance);
    tell(await libraries.validate(instance), shape, instance, path, lines);
    return instance;
  } catch (error) {
    // A rule or a @Transform that throws is the application's own, and not for the model.
    lines.push(`${path}: this value could not be checked`);
    unchecked.push({ error });
    return undefined;
  }
}

type Members = Record<string, unknown>;

const incomplete = new WeakMap<ObjectShape, boolean>();

/** Whether there is a Set or a Map without @Type anywhere in it; most classes have none. */
function needsCompletion(shape: ObjectShape): boolean {
  let needs = incomplete.get(shape);
  if (needs === undefined) {
    needs = [...innerShapes(shape)].some(
      (inner) => inner.kind === 'object' && inner.fields.some(({ becomes }) => becomes !== undefined),
    );
    incomplete.set(shape, needs);
  }
  return needs;
}

/** Without @Type, class-transformer makes no Set and no Map. */
function complete(shape: Shape, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (shape.kind === 'object')
    for (const { name, property = name, shape: inner, becomes } of shape.fields) {
      const members = value as Members;
      const held = members[property];
      if (typeof held !== 'object' || held === null) continue;
      if (becomes === undefined) complete(inner, held);
      else members[property] = becomes === 'set' ? new Set(held as unknown[]) : new Map(Object.entries(held));
    }
  else if (shape.kind === 'union') complete(branchOf(shape, value), value);
  else if (shape.kind === 'array' && Symbol.iterator in value)
    for (const item of value as Iterable<unknown>) complete(shape.items, item);
  else if (shape.kind === 'record')
    for (const held of value instanceof Map ? value.values() : Object.values(value)) complete(shape.values, held);
}

/** The lines for what class-validator found, by the names that the model uses. */
function tell(failures: readonly RuleFailure[], shape: Shape, held: unknown, path: string, lines: string[]): void {
  const actual = branchOf(shape, held);
  for (const { property, constraints = {}, children = [] } of failures) {
    const inner = part(actual, property, path);
    const value = memberOf(held, property);
    for (const [rule, text] of Object.entries(constraints))
      lines.push(`${inner.path}: ${said(actual, property, rule, text, value)}`);
    tell(children, inner.shape, value, inner.path, lines);
  }
}

function said(shape: Shape, property: string, rule: string, text: string, value: unknown): string {
  const told = shape.kind === 'object' ? shape.dto?.rules.get(property)?.find(({ name }) => name === rule) : undefined;
  if (told?.message !== undefined) return cut(told.message, MAX_MESSAGE);
  if (told?.expected !== undefined) return `expected ${told.expected}, got ${quoteHeld(value)}`;
  // A rule of the application's own says what it means; a text of class-validator's names what the model does not know.
  return text !== '' && told !== undefined && !isBuiltIn(rule) ? cut(text, MAX_MESSAGE) : 'this value is not accepted';
}

const MAX_MESSAGE = 200;

/** As it was sent, as far as it still shows. */
function quoteHeld(value: unknown): string {
  if (value instanceof Date) return JSON.stringify(value);
  return value instanceof Set || value instanceof Map ? quote([...(value as Iterable<unknown>)]) : quote(value);
}

function part(shape: Shape, property: string, path: string): { readonly shape: Shape; readonly path: string } {
  switch (shape.kind) {
    case 'object': {
      const field = shape.fields.find(({ name, property: own = name }) => own === property);
      return { shape: field?.shape ?? ANY, path: `${path}.${field?.name ?? cut(property)}` };
    }
    case 'array':
      return { shape: shape.items, path: `${path}[${property}]` };
    case 'record':
      return { shape: shape.values, path: `${path}[${quote(property)}]` };
    default:
      return { shape: ANY, path: `${path}.${cut(property)}` };
  }
}

const ANY: Shape = { kind: 'any', mayBeText: true };

function memberOf(held: unknown, property: string): unknown {
  if (held instanceof Map) return held.get(property);
  const members = held instanceof Set ? [...held] : held;
  return typeof members === 'object' && members !== null ? (members as Members)[property] : undefined;
}

function branchOf(shape: Shape, held: unknown): Shape {
  if (shape.kind !== 'union') return shape;
  return shape.branches.find(({ shape: { dto } }) => dto !== undefined && held instanceof dto.type)?.shape ?? ANY;
}
