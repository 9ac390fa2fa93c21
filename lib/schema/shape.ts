/*
 * What a value is: the one internal form of a declaration, made once when a class is scanned. Its schema, the text that
 * the model reads and the conversion are all made from it, so that they cannot disagree.
 */
export type Shape =
  | TextShape
  | NumberShape
  | { readonly kind: 'boolean' }
  | { readonly kind: 'bigint' }
  | { readonly kind: 'date' }
  | EnumShape
  | ListShape
  | MapShape
  | BytesShape;

export interface TextShape {
  readonly kind: 'string';
  /** In characters, as JSON Schema counts them: code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: TextFormat;
}

/** The formats of JSON Schema that are checked here. */
export type TextFormat = 'date' | 'date-time' | 'email' | 'hostname' | 'ipv4' | 'ipv6' | 'time' | 'uri' | 'uuid';

export interface NumberShape {
  readonly kind: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

/** The values of an enum in declared order, each by the word that the model uses for it. */
export interface EnumShape {
  readonly kind: 'enum';
  readonly members: readonly EnumMember[];
}

export interface EnumMember {
  /** The value of a string enum, the name of a numeric one. */
  readonly word: string;
  readonly value: string | number;
}

export interface ListShape {
  readonly kind: 'array' | 'set';
  readonly items: Shape;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Texts to values: a `Map`, or an object without a prototype. */
export interface MapShape {
  readonly kind: 'map' | 'record';
  readonly values: Shape;
}

export interface BytesShape {
  readonly kind: 'bytes';
  /** Of the bytes themselves, not of the text that carries them. */
  readonly maxBytes?: number;
}

/** A parameter as it was declared, checked and frozen. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly shape: Shape;
  /** The model may leave it out; it is then `undefined`, or its default. */
  readonly optional: boolean;
  /** `null` is a value of its own; elsewhere it is absence. */
  readonly nullable: boolean;
  /** Makes the default, anew for each call; absent where there is none. */
  readonly makeDefault?: () => unknown;
}
