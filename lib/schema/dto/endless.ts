import type { Field, ObjectShape, Shape } from '../shape.js';

/** A property that must hold an object which must hold an object, and so on without an end: nobody can send one. */
export function endlessProperty(
  shapes: readonly ObjectShape[],
): { readonly shape: ObjectShape; readonly field: Field } | undefined {
  const open = new Set<Shape>(shapes);
  for (let before = Infinity; open.size < before;) {
    before = open.size;
    for (const shape of shapes) if (blocking(shape, open) === undefined) open.delete(shape);
  }
  let found = shapes.find((shape) => open.has(shape));
  // From any of them, the way leads into a circle.
  const passed = new Set<Shape>();
  while (found !== undefined) {
    const field = blocking(found, open);
    if (field === undefined) return undefined;
    if (passed.has(found)) return { shape: found, field };
    passed.add(found);
    found = endlessIn(field.shape, open);
  }
  return undefined;
}

function blocking({ fields }: ObjectShape, open: ReadonlySet<Shape>): Field | undefined {
  return fields.find(({ optional, nullable, shape }) => !optional && !nullable && endlessIn(shape, open) !== undefined);
}

/** What has no end in a value of a shape, whatever is sent for it. */
function endlessIn(shape: Shape, open: ReadonlySet<Shape>): ObjectShape | undefined {
  if (shape.kind === 'object') return open.has(shape) ? shape : undefined;
  if (shape.kind === 'array') return (shape.minItems ?? 0) > 0 ? endlessIn(shape.items, open) : undefined;
  if (shape.kind !== 'union') return undefined;
  return shape.branches.every((branch) => open.has(branch.shape)) ? shape.branches[0]?.shape : undefined;
}
