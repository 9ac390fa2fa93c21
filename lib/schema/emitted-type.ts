import { describeKind, isClass } from '../declaration.js';
import type { Kind } from './kinds.js';
import type { Shape } from './shape.js';

/** What is known of a parameter besides its declaration. */
export type EmittedType =
  /** The compiler's `design:paramtypes` entry. */
  | { readonly from: 'compiler'; readonly type: unknown }
  /** A decorated method, of which the compiler emitted nothing. */
  | { readonly from: 'nowhere' }
  /** No method at all: a tool made by hand. */
  | { readonly from: 'handmade' };

/** What the compiler emits for a method that takes one. */
const EMITTED: Readonly<Partial<Record<Kind, readonly unknown[]>>> = {
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
  // Of no class: what a JSON Schema describes.
  object: [Object],
};

/** Whether a method takes something else than was declared. */
export function contradicts(
  shape: Shape,
  emitted: EmittedType,
): emitted is Extract<EmittedType, { readonly from: 'compiler' }> {
  // What is no class says nothing: swc and vite give an imported enum as it is.
  if (emitted.from !== 'compiler' || emitted.type === Object || typeof emitted.type !== 'function') return false;
  if (shape.kind === 'standard') return false;
  if (shape.kind === 'object' && shape.dto !== undefined) {
    const { type } = shape.dto;
    return !(type === emitted.type || (isClass(emitted.type) && type.prototype instanceof emitted.type));
  }
  const types =
    shape.kind === 'enum'
      ? [...new Set(shape.members.map(({ value }) => (typeof value === 'string' ? String : Number)))]
      : (EMITTED[shape.kind] ?? []);
  return !types.includes(emitted.type);
}

export function nameOf(shape: Shape): string {
  if (shape.kind === 'object' && shape.dto !== undefined) return shape.dto.name;
  return shape.kind === 'enum' ? 'an enum of other values' : shape.kind;
}

export function describeType(type: unknown): string {
  if (typeof type === 'function')
    return type === Number || type === String || type === Boolean ? type.name.toLowerCase() : type.name;
  return typeof type === 'string' ? `'${type}'` : describeKind(type);
}
