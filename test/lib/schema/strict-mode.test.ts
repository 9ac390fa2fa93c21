import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { toStrictJsonSchema } from 'openai/lib/transform';
import { strictModeProblems } from './strict-mode.js';

type Schema = Record<string, unknown>;

const text: Schema = { type: 'string' };

/** An object as it must be written, with what is to be added or put in another way. */
const object = (properties: Schema, other: Schema = {}): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...other,
});
/** What is looked at, as the one property of a root. */
const p = (schema: unknown, other: Schema = {}): Schema => object({ p: schema }, other);
const without = (schema: Schema, keyword: string): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== keyword));

const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `x${index.toString()}`);
const named = (count: number): Schema => Object.fromEntries(texts(count).map((name) => [name, text]));
/** Different texts, so many characters together. */
const textsOf = (count: number, characters: number): string[] => {
  const [first = '', ...others] = texts(count);
  return [first.padEnd(characters - others.join('').length, '-'), ...others];
};
/** So many levels around a text, objects and arrays in turn. */
const levels = (count: number, level = 1): Schema => {
  if (level > count) return text;
  const inside = { anyOf: [levels(count, level + 1)] };
  return level % 2 === 1 ? p(inside) : { type: 'array', items: inside };
};
const endless: Schema = { type: 'array' };
endless['items'] = { anyOf: [endless] };

const right: readonly (readonly [what: string, schema: Schema])[] = [
  ['no properties', object({})],
  ['every type', object({ a: text, b: { type: 'number' }, c: { type: 'integer' }, d: { type: 'boolean' } })],
  ['a union with null', p({ anyOf: [text, { type: 'null' }], description: 'd' })],
  ['a type or null', p({ type: ['string', 'null'], description: 'd' })],
  ['an object or null', p(object({ a: text }, { type: ['object', 'null'] }))],
  ['an enum with the null of its type', p({ type: ['string', 'null'], enum: ['a', 'b', null] })],
  ['an enum and a const without a type', object({ a: { enum: ['a', 1, '1', true, null] }, b: { const: 'a' } })],
  ['an enum of whole numbers', p({ type: 'integer', enum: [0, 1, -1] })],
  ['a union by tag', p({ anyOf: [object({ k: { const: 'a' } }), object({ k: { type: 'string', const: 'b' } })] })],
  ['a pattern that only looks like lookaround', p({ type: 'string', pattern: '^(?:[(?=]|\\(?=a)$' })],
  ['bounds of numbers', p({ type: 'number', minimum: -0.5, maximum: 9, exclusiveMinimum: -1, exclusiveMaximum: 10 })],
  ['a multiple, or null', p({ type: ['integer', 'null'], multipleOf: 5 })],
  ['bounds of arrays', p({ type: 'array', items: { type: 'array', items: text }, minItems: 0, maxItems: 3 })],
  ['a definition', p({ anyOf: [{ $ref: '#/$defs/A' }], description: 'd' }, { $defs: { A: object({ a: text }) } })],
  ['a definition by a chain', p({ $ref: '#/$defs/A' }, { $defs: { A: { $ref: '#/$defs/B' }, B: text } })],
  ['a definition with a name to escape', p({ $ref: '#/$defs/A~1~01' }, { $defs: { 'A/~1': text } })],
  ['the root in itself', p({ anyOf: [{ $ref: '#' }, { type: 'null' }] })],
  ['a definition in itself', p(text, { $defs: { A: { type: 'array', items: { $ref: '#/$defs/A' } } } })],
  ['properties called as keywords are', object({ type: text, $ref: text, oneOf: text, constructor: text })],
  ['10 levels', levels(10)],
  ['5000 properties', object(named(5_000))],
  ['1000 enum values', object({ a: { enum: texts(999) }, b: { enum: ['a'] }, c: { const: 'a' } })],
  ['250 enum values of any length', p({ type: 'string', enum: textsOf(250, 15_001) })],
  ['251 enum values of 15000 characters', p({ type: 'string', enum: textsOf(251, 15_000) })],
  ['120000 characters', p({ const: 'x'.repeat(119_999) })],
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'].map(
    (format) => [`a ${format}`, p({ type: 'string', format })] as const,
  ),
];

const P = '#/properties/p';
const NO_SCHEMA = 'must be a schema, which is an object';
const NO_ROOT = '#: must be of type object and nothing else';
const NO_TYPE = `${P}/type: must be one of string, number, integer, boolean, object, array, null, or a list of one and then null`;
const NO_ENUM = `${P}/enum: must be a list of at least one text, number, truth value or null`;
const NO_CONST = `${P}/const: must be a text, number, truth value or null`;
const NO_PATTERN = `${P}/pattern: must be a regular expression without lookaround`;
const NO_FORMAT = `${P}/format: must be one of date-time, time, date, duration, email, hostname, ipv4, ipv6, uuid`;
const NO_REF = `${P}/$ref: is neither # nor #/$defs/ and the name of a definition`;
const NO_NULL = 'leaves out null, which the type beside it allows';
const TOO_DEEP = 'is at level 11 of nesting, the limit is 10';
const TOO_LONG = '#: has 120001 characters of names and values, the limit is 120000';
const TWO_LEVELS = '/properties/p/anyOf/0/items/anyOf/0';
const EMPTY = `${P}: must have type or anyOf or enum or const or $ref`;

const wrong: readonly (readonly [schema: unknown, ...problems: string[]])[] = [
  ...[undefined, null, true, 'object', []].map((schema) => [schema, `#: ${NO_SCHEMA}`] as const),
  // The root.
  [{}, NO_ROOT, '#: must have type or anyOf or enum or const or $ref'],
  ...[text, { type: 'array', items: text }, object({}, { type: ['object', 'null'] })].map((s) => [s, NO_ROOT] as const),
  [{ anyOf: [object({})] }, NO_ROOT, '#/anyOf: may not be at the root'],
  [object({}, { anyOf: [object({})] }), '#/anyOf: may not be at the root'],
  [object({}, { oneOf: [object({})] }), '#/oneOf: is not supported'],
  [{ $ref: '#/$defs/A', $defs: { A: object({}) } }, NO_ROOT, '#/$defs: may not stand beside $ref'],
  // Objects.
  [without(object({}), 'additionalProperties'), '#: must have additionalProperties'],
  [without(object({}), 'properties'), '#: must have properties'],
  [without(object({}), 'required'), '#: must have required'],
  [p(without(object({}), 'additionalProperties')), `${P}: must have additionalProperties`],
  ...[true, text].map(
    (more) => [object({}, { additionalProperties: more }), '#/additionalProperties: must be false'] as const,
  ),
  [object({}, { properties: [] }), '#/properties: must be an object of schemas'],
  ...['a', [1]].map((required) => [object({}, { required }), '#/required: must be a list of texts'] as const),
  [object({ a: text, b: text }, { required: ['b'] }), '#/required: does not list "a"'],
  [object({ a: text }, { required: ['a', 'b'] }), '#/required: lists "b", which is no property'],
  [object({ a: text }, { required: ['a', 'a'] }), '#/required: lists "a" twice'],
  [object({ '': text }), '#/properties/: has an empty name'],
  [object({ 'a/~b': {} }), '#/properties/a~1~0b: must have type or anyOf or enum or const or $ref'],
  // Arrays and unions.
  [p({ type: 'array' }), `${P}: must have items`],
  [p({ type: ['array', 'null'] }), `${P}: must have items`],
  ...[[text], true].map((items) => [p({ type: 'array', items }), `${P}/items: ${NO_SCHEMA}`] as const),
  [p({ type: 'array', items: text, minItems: -1 }), `${P}/minItems: must be a whole number from 0`],
  [p({ type: 'array', items: text, maxItems: 1.5 }), `${P}/maxItems: must be a whole number from 0`],
  ...[[], text].map((anyOf) => [p({ anyOf }), `${P}/anyOf: must be a list of at least one schema`] as const),
  [p({ anyOf: [text, true] }), `${P}/anyOf/1: ${NO_SCHEMA}`],
  // What is no schema, or says nothing.
  [p(true), `${P}: ${NO_SCHEMA}`],
  [p({}), EMPTY],
  [p({ description: 'd' }), EMPTY],
  [p({ type: 'array', items: {} }), EMPTY.replace('/p:', '/p/items:')],
  [p({ anyOf: [text, {}] }), EMPTY.replace('/p:', '/p/anyOf/1:')],
  [p(endless), `${P}/items/anyOf/0: is the same object as one around it; only a $ref can say that`],
  // Types.
  ...['text', 'Object', null, undefined, [], ['string'], ['string', 'integer'], ['null', 'string'], ['null', 'null']]
    .concat([['string', 'integer', 'null']])
    .map((type) => [p({ type, minimum: 0 }), NO_TYPE] as const),
  // Keywords that are none, that stand where they say nothing, or with a value that is none.
  ...'oneOf allOf not if then else patternProperties propertyNames minProperties maxProperties prefixItems contains uniqueItems'
    .concat(' minLength maxLength default examples title contentEncoding contentMediaType nullable dependentRequired')
    .concat(' unevaluatedProperties definitions $schema $id $comment $anchor constructor toString')
    .split(' ')
    .map((keyword) => [p({ ...text, [keyword]: 1 }), `${P}/${keyword}: is not supported`] as const),
  ...['pattern', 'format'].map(
    (keyword) => [p({ type: 'integer', [keyword]: 'date' }), `${P}/${keyword}: may be with type string only`] as const,
  ),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].flatMap((keyword) => [
    [p({ ...text, [keyword]: 1 }), `${P}/${keyword}: may be with type number or integer only`] as const,
    [p({ type: 'number', [keyword]: '1' }), `${P}/${keyword}: must be a number`] as const,
  ]),
  [p({ type: 'number', multipleOf: 0 }), `${P}/multipleOf: must be a number above 0`],
  [p({ ...text, multipleOf: 1 }), `${P}/multipleOf: may be with type number or integer only`],
  [p({ type: 'number', maximum: Infinity }), `${P}/maximum: must be a number`],
  [p({ ...text, maxItems: 1 }), `${P}/maxItems: may be with type array only`],
  [p({ ...text, items: text }), `${P}/items: may be with type array only`],
  [p({ enum: ['a'], properties: {} }), `${P}/properties: may be with type object only`],
  [p({ ...text, description: 1 }), `${P}/description: must be a text`],
  ...['uri', 'DATE', 1].map((format) => [p({ ...text, format }), NO_FORMAT] as const),
  ...['(', 1, '^(?=a)', '(?!a)', '(?<=a)', '\\\\(?<!a)'].map(
    (pattern) => [p({ ...text, pattern }), NO_PATTERN] as const,
  ),
  // Values.
  ...[[], 'a', [{}], [undefined], [NaN]].map((values) => [p({ enum: values }), NO_ENUM] as const),
  ...[{}, [], undefined].map((value) => [p({ const: value }), NO_CONST] as const),
  [p({ enum: ['a', 1, 'a', 1] }), `${P}/enum/2: is there twice`, `${P}/enum/3: is there twice`],
  [p({ ...text, enum: ['a', 1] }), `${P}/enum/1: is not string`],
  [p({ ...text, enum: ['a', null] }), `${P}/enum/1: is not string`],
  [p({ type: 'integer', enum: [1, 1.5] }), `${P}/enum/1: is not integer`],
  [p({ type: 'integer', const: '1' }), `${P}/const: is not integer`],
  [p(object({}, { const: null })), `${P}/const: is not object`],
  [p({ type: ['string', 'null'], enum: ['a', 'b'] }), `${P}/enum: ${NO_NULL}`],
  [p({ type: ['string', 'null'], const: 'a' }), `${P}/const: ${NO_NULL}`],
  // References and definitions.
  ...['#/$defs/B', '#/$defs/', '#/$defs', '#/$defs/A/items', '#/properties/p', '#A', 'A', '#/$defs/toString', '']
    .concat('https://example.test/a', '#/definitions/A', '#/$defs/A~2')
    .map(($ref) => [p({ $ref }, { $defs: { A: { type: 'array', items: text } } }), NO_REF] as const),
  [p({ $ref: '#/$defs/A' }), NO_REF],
  [p({ $ref: 1 }), `${P}/$ref: must be a text`],
  [p({ $ref: '#', type: 'string' }), `${P}/type: may not stand beside $ref`],
  [p({ $ref: '#', pattern: 'a' }), `${P}/pattern: may not stand beside $ref`],
  [p(text, { $defs: { A: { $ref: '#/$defs/A' } } }), '#/$defs/A/$ref: leads back to itself'],
  [p(text, { $defs: [] }), '#/$defs: must be an object of schemas'],
  [p(text, { $defs: { A: {}, '': text } }), EMPTY.replace(P, '#/$defs/A'), '#/$defs/: has an empty name'],
  [p(object({}, { $defs: { A: text } })), `${P}/$defs: may be at the root only`],
  // Limits.
  ...[11, 13].map((count) => [levels(count), `#${TWO_LEVELS.repeat(5)}: ${TOO_DEEP}`] as const),
  [object({}, { $defs: { A: levels(10) } }), `#/$defs/A${TWO_LEVELS.repeat(4)}/properties/p/anyOf/0: ${TOO_DEEP}`],
  [object(named(4_999), { $defs: { A: object({ a: text, b: text }) } }), '#: has 5001 properties, the limit is 5000'],
  [p({ const: 'x'.repeat(120_000) }), TOO_LONG],
  [
    object({ [`p${'x'.repeat(119_980)}`]: { enum: ['12345', 10, null] } }, { $defs: { ABCDE: { const: true } } }),
    TOO_LONG,
  ],
  [object({ a: { enum: texts(999) }, b: { enum: [1, 2] } }), '#: has 1001 enum values, the limit is 1000'],
  [
    p({ type: 'string', enum: textsOf(251, 15_001) }),
    `${P}/enum: has 15001 characters in 251 values, the limit is 15000`,
  ],
];

describe('strictModeProblems', () => {
  it.each(right)('takes %s', (_what, schema) => {
    expect(strictModeProblems(schema)).toEqual([]);
  });

  it.each(wrong.map(([schema, ...problems]) => ({ problems, schema })))('tells $problems', ({ schema, problems }) => {
    expect(strictModeProblems(schema)).toEqual(problems);
  });

  it('says all that is wrong, in the order of the schema', () => {
    const inner = object({ b: { type: 'string', minLength: 1 } }, { additionalProperties: true, required: ['c'] });
    expect(strictModeProblems(object({ a: inner, d: { type: 'array' } }, { title: 'T', required: ['a'] }))).toEqual([
      '#/title: is not supported',
      '#/required: does not list "d"',
      '#/properties/a/additionalProperties: must be false',
      '#/properties/a/required: lists "c", which is no property',
      '#/properties/a/required: does not list "b"',
      '#/properties/a/properties/b/minLength: is not supported',
      '#/properties/d: must have items',
    ]);
  });

  it('never throws, and never changes what it looks at', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'anyOf',
      'enum',
      'const',
      '$ref',
      '$defs',
      'required',
    );
    const { schema: schemas } = fc.letrec((tie) => ({
      schema: fc.oneof({ maxDepth: 5 }, fc.anything(), fc.dictionary(keyword, tie('schema')), fc.array(tie('schema'))),
    }));
    fc.assert(
      fc.property(schemas, (schema) => {
        const before = fc.stringify(schema);
        expect(strictModeProblems(schema).every((line) => line.startsWith('#'))).toBe(true);
        expect(fc.stringify(schema)).toBe(before);
      }),
      { numRuns: 300 },
    );
  });
});

describe('what it takes', () => {
  const ajv = new Ajv2020({ strict: false });

  it.each(right)('is strict to the SDK of the provider, which finds nothing to mend: %s', (_what, schema) => {
    expect(toStrictJsonSchema(schema)).toEqual(schema);
  });

  it.each(right)('is JSON Schema: %s', (_what, schema) => {
    expect(ajv.validateSchema(schema)).toBe(true);
  });
});
