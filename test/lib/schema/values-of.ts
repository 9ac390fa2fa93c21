import fc from 'fast-check';

type Schema = Readonly<Record<string, unknown>>;

/** Values that a JSON Schema allows, as a model whose server enforces it would send them. */
export function valuesOf(schema: Schema, root: Schema = schema): fc.Arbitrary<unknown> {
  const { $ref, oneOf, anyOf = oneOf, enum: members, type } = schema;
  if ('const' in schema) return fc.constant(schema['const']);
  if (typeof $ref === 'string') {
    const [, , name = ''] = $ref.split('/');
    const target = (root['$defs'] as Readonly<Record<string, Schema>>)[name]!;
    return fc.constant(null).chain(() => valuesOf(target, root));
  }
  if (Array.isArray(anyOf)) return choice((anyOf as Schema[]).map((one) => () => valuesOf(one, root)));
  if (Array.isArray(members)) return fc.constantFrom(...(members as unknown[]));
  if (Array.isArray(type))
    return choice((type as string[]).map((one) => () => valuesOf({ ...schema, type: one }, root)));
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return numbers(schema);
    case 'string':
      return texts(schema);
    case 'array':
      return lists(schema, root);
    default:
      return objects(schema, root);
  }
}

/** Null, or what ends soonest, is likelier: a schema may hold itself. */
function choice(choices: readonly (() => fc.Arbitrary<unknown>)[]): fc.Arbitrary<unknown> {
  return fc.oneof({ withCrossShrink: true }, ...choices.map((make) => fc.constant(null).chain(make)));
}

function numbers({
  type,
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
  multipleOf,
}: Schema): fc.Arbitrary<number> {
  const least = (minimum ?? exclusiveMinimum ?? -1e6) as number;
  const most = (maximum ?? exclusiveMaximum ?? 1e6) as number;
  const isOpen = (value: number): boolean => value !== exclusiveMinimum && value !== exclusiveMaximum;
  if (typeof multipleOf === 'number')
    return fc
      .integer({ min: Math.ceil(least / multipleOf), max: Math.floor(most / multipleOf) })
      .map((count) => count * multipleOf)
      .filter(isOpen);
  if (type === 'integer') return fc.integer({ min: Math.ceil(least), max: Math.floor(most) }).filter(isOpen);
  return fc.double({ min: least, max: most, noNaN: true }).filter(isOpen);
}

function texts({ pattern, format, contentEncoding, minLength = 0, maxLength = 20 }: Schema): fc.Arbitrary<string> {
  if (contentEncoding === 'base64')
    return fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('base64'));
  if (format === 'date-time')
    return fc
      .date({ noInvalidDate: true, min: new Date('1970-01-01'), max: new Date('2100-01-01') })
      .map((date) => date.toISOString());
  if (format === 'uuid') return fc.uuid();
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' });
  return fc.string({ unit: 'binary', minLength: minLength as number, maxLength: maxLength as number });
}

function lists({ items, minItems = 0, maxItems = 3, uniqueItems }: Schema, root: Schema): fc.Arbitrary<unknown[]> {
  const length = { minLength: minItems as number, maxLength: maxItems as number };
  const item = valuesOf(items as Schema, root);
  return uniqueItems === true
    ? fc.uniqueArray(item, { ...length, selector: (one) => JSON.stringify(one) })
    : fc.array(item, length);
}

const keys = fc.string({ maxLength: 5 }).filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key));

function objects(
  { properties = {}, required = [], additionalProperties }: Schema,
  root: Schema,
): fc.Arbitrary<unknown> {
  if (typeof additionalProperties === 'object')
    return fc.dictionary(keys, valuesOf(additionalProperties as Schema, root), { maxKeys: 3, noNullPrototype: true });
  const record = Object.fromEntries(
    Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, schema]) => [
      name,
      valuesOf(schema, root),
    ]),
  );
  return fc.record(record, { requiredKeys: required as string[], noNullPrototype: true });
}
