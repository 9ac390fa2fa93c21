import type { Shape } from './shape.js';

/** The shapes that hold themselves, at any depth: what is written of them must refer instead of repeating. */
export function recursiveShapes(shapes: readonly Shape[]): ReadonlySet<Shape> {
  const found = new Set<Shape>();
  const open = new Set<Shape>();
  const done = new Set<Shape>();
  const visit = (shape: Shape): void => {
    if (open.has(shape)) found.add(shape);
    if (open.has(shape) || done.has(shape)) return;
    open.add(shape);
    for (const inner of partsOf(shape)) visit(inner);
    open.delete(shape);
    done.add(shape);
  };
  for (const shape of shapes) visit(shape);
  return found;
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
      // Written with its tag, a branch is no object of its own.
      return shape.branches.flatMap((branch) => branch.shape.fields.map((field) => field.shape));
    default:
      return [];
  }
}
