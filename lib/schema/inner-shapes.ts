import type { Field, ObjectShape, Shape, UnionShape } from './shape.js';

/**
 * The objects that are written once, under a name, and referred to wherever they are meant: those that hold themselves,
 * and those that occur more than once, since a class of two classes of two classes … would be written without an end.
 */
export function namedShapes(shapes: readonly Shape[]): ReadonlySet<Shape> {
  const named = new Set<Shape>();
  const seen = new Set<Shape>();
  const visit = (shape: Shape): void => {
    if (shape.kind === 'object') {
      if (seen.has(shape)) {
        named.add(shape);
        return;
      }
      seen.add(shape);
    }
    // Only an object can hold itself, so all else comes to an end.
    for (const inner of partsOf(shape)) visit(inner);
  };
  for (const shape of shapes) visit(shape);
  return named;
}

/** A shape and all that is in it, each once. */
export function innerShapes(shape: Shape): ReadonlySet<Shape> {
  const found = new Set<Shape>([shape]);
  for (const each of found) {
    for (const inner of partsOf(each)) found.add(inner);
    if (each.kind === 'union') for (const branch of each.branches) found.add(branch.shape);
  }
  return found;
}

function partsOf(shape: Shape): readonly Shape[] {
  switch (shape.kind) {
    case 'array':
    case 'set':
      return [shape.items];
    case 'map':
    case 'record':
      return [shape.values];
    case 'object':
      return shape.fields.map((field) => field.shape);
    case 'union':
      return taggedBranches(shape);
    default:
      return [];
  }
}

const tagged = new WeakMap<ObjectShape, Map<string, ObjectShape>>();

/** The branches as they are written: each with its tag first, and one object for one class under one tag. */
export function taggedBranches({ tag, branches }: UnionShape): readonly ObjectShape[] {
  return branches.map(({ word, shape }) => {
    const known = tagged.get(shape) ?? new Map<string, ObjectShape>();
    tagged.set(shape, known);
    const key = JSON.stringify([tag, word]);
    let branch = known.get(key);
    if (branch === undefined) {
      const own: Field = {
        name: tag,
        shape: { kind: 'enum', members: [{ word, value: word }] },
        optional: false,
        nullable: false,
      };
      branch = { ...shape, fields: [own, ...shape.fields.filter(({ name }) => name !== tag)] };
      known.set(key, branch);
    }
    return branch;
  });
}
