import type { Findings } from '../findings.js';
import type { Finished, Unchecked } from '../finish.js';
import { innerShapes } from '../inner-shapes.js';
import type { Dto, ObjectShape, Shape } from '../shape.js';
import { type Constructor, dtoLibraries, type DtoLibraries } from './libraries.js';
import { tellFailures } from './failures.js';
import type { RuleFailure } from './validation.js';

/**
 * An instance of a class with rules, from an object that its shape has checked, after class-validator has looked at it
 * too; a promise only where one of its rules is asynchronous.
 */
export function instanceOf(
  shape: ObjectShape,
  { type }: Dto,
  plain: object,
  path: string,
  findings: Findings,
  unchecked: Unchecked[],
): Finished | Promise<Finished> {
  const tell = (instance: object, failures: readonly RuleFailure[]): Finished => {
    if (failures.length > 0) tellFailures(failures, shape, { instance, plain }, path, findings);
    return { value: instance };
  };
  // A rule or a @Transform that throws is the application's own, and not for the model.
  const thrown = (error: unknown): Finished => {
    findings.add(`${path}: this value could not be checked`);
    unchecked.push({ error: error ?? new Error('a rule threw nothing') });
    return { value: undefined };
  };
  try {
    const libraries = dtoLibraries();
    if (typeof libraries === 'string') throw new Error(libraries);
    const instance = make(libraries, shape, type, plain);
    const failures = libraries.validate(instance);
    return failures instanceof Promise
      ? failures.then((found) => tell(instance, found)).catch(thrown)
      : tell(instance, failures);
  } catch (error) {
    return thrown(error);
  }
}

/** Makes the instance; `plain` is afterwards as it was. */
function make(libraries: DtoLibraries, shape: ObjectShape, type: Constructor, plain: object): object {
  const needs = needsOf(libraries, shape);
  if (!needs.maps && !needs.look) return transformed(libraries, type, plain);
  const hidden = new Hidden(libraries);
  const before = needs.maps ? hidden.hide(shape, plain) : plain;
  try {
    const instance = transformed(libraries, type, before);
    complete(libraries, shape, instance, hidden);
    return instance;
  } finally {
    hidden.show();
  }
}

function transformed(libraries: DtoLibraries, type: Constructor, plain: object): object {
  const instance = libraries.toInstance(type, plain);
  if (!(instance instanceof type)) throw new Error(`class-transformer made no ${type.name}`);
  return instance;
}

type Members = Record<string, unknown>;

interface Needs {
  /** There is a Map in it: class-transformer would lose keys that a Map has methods of, and rename others. */
  readonly maps: boolean;
  /** There is a Set or a Map to make, or a @Transform that may have given a promise. */
  readonly look: boolean;
}

const known = new WeakMap<ObjectShape, Needs>();

/** Most classes need none of it. */
function needsOf(libraries: DtoLibraries, shape: ObjectShape): Needs {
  let needs = known.get(shape);
  if (needs === undefined) {
    const objects = [...innerShapes(shape)].filter((inner) => inner.kind === 'object');
    const has = (test: (field: ObjectShape['fields'][number], type: Constructor | undefined) => boolean): boolean =>
      objects.some(({ fields, dto }) => fields.some((field) => test(field, dto?.type)));
    needs = {
      maps: has(({ becomes }) => becomes === 'map'),
      look: has(
        ({ becomes, name, property = name }, type) =>
          becomes !== undefined || (type !== undefined && libraries.isTransformed(type, property)),
      ),
    };
    known.set(shape, needs);
  }
  return needs;
}

/** Stands in the place of what becomes a Map while class-transformer is at work, which hands on what is no object. */
class Hidden {
  readonly #entries = new Map<symbol, object>();
  readonly #undo: (() => void)[] = [];
  readonly #libraries: DtoLibraries;

  constructor(libraries: DtoLibraries) {
    this.#libraries = libraries;
  }

  hide(shape: Shape, plain: object): object {
    if (shape.kind === 'object')
      for (const { name, property = name, shape: inner, becomes } of shape.fields) {
        const members = plain as Members;
        const held = members[name];
        if (typeof held !== 'object' || held === null) continue;
        if (becomes === 'map' && !this.#isTransformed(shape, property)) {
          const mark = Symbol(name);
          this.#entries.set(mark, held);
          members[name] = mark;
          this.#undo.push(() => {
            members[name] = held;
          });
        } else this.hide(inner, held);
      }
    else if (shape.kind === 'union') {
      const branch = shape.branches.find(({ word }) => word === (plain as Members)[shape.tag]);
      if (branch !== undefined) this.hide(branch.shape, plain);
    } else if (shape.kind === 'array')
      for (const item of plain as Iterable<unknown>)
        if (typeof item === 'object' && item !== null) this.hide(shape.items, item);
    return plain;
  }

  /** A @Transform is the developer's own: it gets what it always got. */
  #isTransformed({ dto }: ObjectShape, property: string): boolean {
    return dto !== undefined && this.#libraries.isTransformed(dto.type, property);
  }

  entriesOf(mark: unknown): object | undefined {
    return this.#entries.get(mark as symbol);
  }

  show(): void {
    for (const undo of this.#undo) undo();
  }
}

/** What class-transformer does not make, or not rightly: Sets, Maps; and what it would leave unawaited. */
function complete(libraries: DtoLibraries, shape: Shape, value: unknown, hidden: Hidden): void {
  if (typeof value !== 'object' || value === null) return;
  switch (shape.kind) {
    case 'object': {
      const members = value as Members;
      for (const { name, property = name, shape: inner, becomes } of shape.fields) {
        const held = members[property];
        refusePromise(held, property);
        if (becomes === 'map') {
          const entries = hidden.entriesOf(held);
          if (entries !== undefined) members[property] = mapOf(libraries, inner, entries);
          else if (isPlainObject(held)) members[property] = new Map(Object.entries(held));
        } else {
          complete(libraries, inner, held, hidden);
          if (becomes === 'set' && Array.isArray(held)) members[property] = new Set(held as unknown[]);
        }
      }
      return;
    }
    case 'union': {
      const branch = shape.branches.find(({ shape: { dto } }) => dto !== undefined && value instanceof dto.type);
      if (branch !== undefined) complete(libraries, branch.shape, value, hidden);
      return;
    }
    case 'array':
      if (Symbol.iterator in value)
        for (const item of value as Iterable<unknown>) complete(libraries, shape.items, item, hidden);
      return;
    default:
  }
}

function mapOf(libraries: DtoLibraries, shape: Shape, entries: object): Map<string, unknown> {
  const values = shape.kind === 'record' || shape.kind === 'map' ? shape.values : shape;
  return new Map(Object.entries(entries).map(([key, held]) => [key, entryOf(libraries, values, held)]));
}

function entryOf(libraries: DtoLibraries, shape: Shape, held: unknown): unknown {
  if (typeof held !== 'object' || held === null) return held;
  if (shape.kind === 'union') {
    const { tag, branches } = shape;
    const { [tag]: word, ...rest } = held as Members;
    const branch = branches.find((one) => one.word === word);
    if (branch?.shape.dto === undefined) return held;
    const keepsTag = branch.shape.fields.some(({ name }) => name === tag);
    return make(libraries, branch.shape, branch.shape.dto.type, keepsTag ? held : rest);
  }
  return shape.kind === 'object' && shape.dto !== undefined ? make(libraries, shape, shape.dto.type, held) : held;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** class-transformer awaits nothing. */
function refusePromise(held: unknown, property: string): void {
  if (!(held instanceof Promise)) return;
  held.catch(() => undefined);
  throw new Error(
    `@Transform on ${property} gave a promise, which class-transformer does not await; make it in the method`,
  );
}
