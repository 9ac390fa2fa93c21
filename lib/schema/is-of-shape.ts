import { compileShape } from './compile-shape.js';
import { isJsonObject } from './json.js';
import type { ObjectShape, Shape } from './shape.js';

/** Whether a value is what a method gets for a shape: a default, which is written as the method sees it and not as the wire does. */
export function isOfShape(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string' && converts(shape, value);
    case 'number':
    case 'integer':
      return typeof value === 'number' && converts(shape, value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'bigint':
      return typeof value === 'bigint';
    case 'date':
      return value instanceof Date && !Number.isNaN(value.getTime());
    case 'enum':
      return shape.members.some((member) => member.value === value);
    case 'array':
      return (
        Array.isArray(value) && isWithin(shape, value.length) && value.every((item) => isOfShape(shape.items, item))
      );
    case 'set':
      return (
        value instanceof Set && isWithin(shape, value.size) && [...value].every((item) => isOfShape(shape.items, item))
      );
    case 'map':
      return (
        value instanceof Map &&
        [...value].every(([key, held]) => typeof key === 'string' && isOfShape(shape.values, held))
      );
    case 'record':
      return (
        typeof value === 'object' &&
        value !== null &&
        Object.values(value).every((held) => isOfShape(shape.values, held))
      );
    case 'bytes':
      return value instanceof Uint8Array && value.length <= (shape.maxBytes ?? Infinity);
    case 'object':
      return isJsonObject(value) && hasFields(shape, value);
    case 'union':
    case 'standard':
    case 'any':
      // What a class or another library makes cannot be told from here.
      return false;
  }
}

function converts(shape: Shape, value: unknown): boolean {
  const lines: string[] = [];
  compileShape(shape)(value, '', lines);
  return lines.length === 0;
}

function hasFields({ fields, dto }: ObjectShape, value: Readonly<Record<string, unknown>>): boolean {
  return (
    dto === undefined &&
    Object.keys(value).every((key) => fields.some(({ name }) => name === key)) &&
    fields.every(({ name, shape, optional, nullable }) => {
      const held = value[name];
      if (held === undefined) return optional;
      return held === null ? nullable : isOfShape(shape, held);
    })
  );
}

function isWithin(
  { minItems = 0, maxItems = Infinity }: { readonly minItems?: number; readonly maxItems?: number },
  length: number,
): boolean {
  return length >= minItems && length <= maxItems;
}
