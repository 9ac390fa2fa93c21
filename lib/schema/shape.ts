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
  | BytesShape
  | ObjectShape
  | UnionShape
  | StandardShape
  | AnyShape;

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
  /** What the model is told of each item besides its shape. */
  readonly itemHint?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Texts to values: a `Map`, or an object without a prototype. */
export interface MapShape {
  readonly kind: 'map' | 'record';
  readonly values: Shape;
  /** What the model is told of each value besides its shape. */
  readonly valueHint?: string;
}

export interface BytesShape {
  readonly kind: 'bytes';
  /** Of the bytes themselves, not of the text that carries them. */
  readonly maxBytes?: number;
}

/** An object with these fields and no others. It may hold itself, so nothing may walk shapes without an end. */
export interface ObjectShape {
  readonly kind: 'object';
  readonly fields: readonly Field[];
  /** What it becomes an instance of; without one it stays an object. */
  readonly dto?: Dto;
}

/** What only another library can tell. */
export interface AnyShape {
  readonly kind: 'any';
  /** Where text cannot be meant, text is JSON. */
  readonly mayBeText: boolean;
  /** A strict schema would have the model write it in another form, which nothing here reads back: it has none. */
  readonly notStrict?: true;
}

/** One of several objects, told apart by the text under one key. */
export interface UnionShape {
  readonly kind: 'union';
  readonly tag: string;
  readonly branches: readonly { readonly word: string; readonly shape: ObjectShape }[];
}

/** A class whose properties bear rules of class-validator. */
export interface Dto {
  readonly type: new () => object;
  /** For a schema that must name it. */
  readonly name: string;
  /** By the name of the property; none for a property that its own shape says in full. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
}

/** One rule of a property, as the model is told of it. */
export interface Rule {
  /** By which class-validator names it: `isEmail`. */
  readonly name: string;
  /** What it wants: `an email address`; absent where only the application knows. */
  readonly expected?: string;
  /** The application's own sentence. */
  readonly message?: string;
}

/** What another library checks and converts. */
export interface StandardShape {
  readonly kind: 'standard';
  readonly schema: StandardSchema;
  /** What the model is told of it: JSON Schema of what goes in. */
  readonly json: Readonly<Record<string, unknown>>;
  /** As far as it can be read here: what comes as text is read by it, before the other library sees it. */
  readonly outline: Shape;
  /** `null` is what the parameter takes besides the schema, which is not asked about it. */
  readonly passesNull?: true;
}

/**
 * The part of Standard Schema (https://standardschema.dev, 1.1) that is used here: zod, valibot and arktype have it, an
 * arktype on a function.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> };
  };
}

export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A named value, in a call or in an object. */
export interface Field {
  readonly name: string;
  readonly shape: Shape;
  /** The model may leave it out; it is then `undefined`, or its default. */
  readonly optional: boolean;
  /** `null` is a value of its own; elsewhere it is absence. */
  readonly nullable: boolean;
  /** Makes the default, anew for each call; absent where there is none. */
  readonly makeDefault?: () => unknown;
  /** What the model is told besides the shape: the words of rules that no shape has. */
  readonly hint?: string;
  /** Of a class: the property, where the wire calls it otherwise, and what is made of the converted value. */
  readonly property?: string;
  readonly becomes?: 'map' | 'set';
}

/** A parameter as it was declared, checked and frozen. */
export interface Parameter extends Field {
  readonly description: string;
}
