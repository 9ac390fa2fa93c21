import { type Converter, wrong } from './converter.js';
import { integerConverter, numberConverter } from './convert-number.js';
import { anyConverter, listConverter, mapConverter, objectConverter, unionConverter } from './convert-structure.js';
import { bytesConverter, convertBigInt, convertDate, enumConverter, textConverter } from './convert-text.js';
import type { EnumMember, Field, ObjectShape, Shape } from './shape.js';

/** The converter of a shape. */
export function compileShape(shape: Shape): Converter {
  switch (shape.kind) {
    case 'string':
      return textConverter(shape);
    case 'number':
      return numberConverter(shape);
    case 'integer':
      return integerConverter(shape);
    case 'boolean':
      return convertBoolean;
    case 'bigint':
      return convertBigInt;
    case 'date':
      return convertDate;
    case 'enum':
      return enumConverter(shape);
    case 'bytes':
      return bytesConverter(shape);
    case 'array':
    case 'set':
      return listConverter(shape, compileShape(shape.items));
    case 'map':
    case 'record':
      return mapConverter(shape, compileShape(shape.values));
    case 'object':
      return compileObject(shape);
    case 'union':
      return unionConverter(
        shape,
        shape.branches.map((branch) => compileObject(branch.shape)),
      );
    case 'standard':
      return compileShape(shape.outline);
    case 'any':
      return anyConverter(shape);
  }
}

const convertBoolean: Converter = (sent, path, findings) => {
  if (sent === true || sent === 'true') return true;
  if (sent === false || sent === 'false') return false;
  return wrong(findings, path, 'true or false', sent);
};

const objects = new WeakMap<ObjectShape, Converter>();

/** Once for an object, however often it occurs, in itself too. */
function compileObject(shape: ObjectShape): Converter {
  let converter = objects.get(shape);
  if (converter === undefined) {
    let fields: ReadonlyMap<string, Converter> | undefined;
    converter = objectConverter(
      shape,
      () => (fields ??= new Map(shape.fields.map((field) => [field.name, compileField(field)]))),
    );
    objects.set(shape, converter);
  }
  return converter;
}

/** The converter of a named value: what stands for its absence is looked for first. */
export function compileField({ shape, optional, nullable, makeDefault }: Field): Converter {
  const convert = compileShape(shape);
  if (!optional && !nullable) return convert;
  const core = shape.kind === 'standard' ? shape.outline : shape;
  const words = wordsOf(core);
  const isNull = (sent: unknown): boolean =>
    sent === null || (sent === 'null' && !words.some((word) => word === 'null'));
  const takesEmpty = core.kind === 'string' || words.some((word) => word === '');
  return (sent, path, findings) => {
    if (nullable && isNull(sent)) return null;
    if (optional && (sent === undefined || isNull(sent) || (sent === '' && !takesEmpty))) return makeDefault?.();
    return convert(sent, path, findings);
  };
}

function wordsOf(shape: Shape): readonly EnumMember['word'][] {
  return shape.kind === 'enum' ? shape.members.map(({ word }) => word) : [];
}
