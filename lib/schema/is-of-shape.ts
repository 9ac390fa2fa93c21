import { compileShape } from './compile-shape.js';
import { Findings } from './findings.js';
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
        Array.isArray(value) &&
        isWithin(shape, value.length) &&
        // With its holes, which `every` passes over.
        Array.from(value as unknown[]).every((item) => isOfShape(shape.items, item))
      );
    case 'set':
      return (
        value instanceof Set && isWithin(shape, value.size) && [...value].every((item) => isOfShape(shape.items, item))
      );
    case 'map':
      return (
        value instanceof Map &&
        [...(value as Map<unknown, unknown>)].every(([key, held]) => isKey(key) && isOfShape(shape.values, held))
      );
    case 'record':
      return (
        isPlainObject(value) &&
        Object.entries(value).every(([key, held]) => isKey(key) && isOfShape(shape.values, held))
      );
    case 'bytes':
      return value instanceof Uint8Array && value.length <= (shape.maxBytes ?? Infinity);
    case 'object':
      return isPlainObject(value) && hasFields(shape, value);
    case 'union':
    case 'standard':
    case 'any':
      // What a class or another library makes cannot be told from here.
      return false;
  }
}

/** A date, a list or a map has no keys that anybody meant. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** As no call may have it either. */
function isKey(key: unknown): boolean {
  return typeof key === 'string' && key.isWellFormed() && !['__proto__', 'constructor', 'prototype'].includes(key);
}

function converts(shape: Shape, value: unknown): boolean {
  const findings = new Findings();
  compileShape(shape)(value, '', findings);
  return findings.count === 0;
}

function hasFields({ fields, dto }: ObjectShape, value: Readonly<Record<string, unknown>>): boolean {
  return (
    dto === undefined &&
    Object.keys(value).every((key) => fields.some(({ name }) => name === key)) &&
    fields.every(({ name, shape, optional, nullable }) => {
      const held = Object.hasOwn(value, name) ? value[name] : undefined;
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
