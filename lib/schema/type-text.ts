import { boundsText, expectedText, range } from './expected.js';
import { namedShapes, taggedBranches } from './inner-shapes.js';
import { nameText, oneLineJson } from './one-line.js';
import { PartNames } from './part-names.js';
import type { Field, Shape } from './shape.js';

/**
 * The type as the model reads it in a list of tools: `integer from 1 to 50`, `"price" | "name"`, `JSON array of date`.
 * What holds itself, or occurs more than once, is named where it is first written, and by its name from then on.
 */
export function typeText(shape: Shape): string {
  return new TypeWriter(namedShapes([shape])).whole(shape);
}

/** The types of all arguments of a tool: a name means the same in each. */
export function typeTexts(shapes: readonly Shape[]): readonly string[] {
  const writer = new TypeWriter(namedShapes(shapes));
  return shapes.map((shape) => writer.whole(shape));
}

/** Words for a value that may be null besides. */
export function orNullText(text: string, nullable: boolean): string {
  return nullable ? `${text} | null` : text;
}

/** Nothing that somebody else chose, a name, a word or a pattern, can end the line or look like another argument. */
class TypeWriter {
  readonly #named: ReadonlySet<Shape>;
  readonly #written = new Map<Shape, string>();
  readonly #names = new PartNames();

  constructor(named: ReadonlySet<Shape>) {
    this.#named = named;
  }

  /** An argument: what is not a single value comes as JSON. */
  whole(shape: Shape): string {
    const text = this.text(shape);
    return ['array', 'set', 'map', 'record', 'object', 'union'].includes(shape.kind) ? `JSON ${text}` : text;
  }

  text(shape: Shape): string {
    const known = this.#written.get(shape);
    if (known !== undefined) return known;
    if (!this.#named.has(shape)) return this.#body(shape);
    const name = this.#names.take(shape.kind === 'object' ? shape.dto?.name : undefined);
    this.#written.set(shape, name);
    return `${name}, which is ${this.#body(shape)}`;
  }

  #body(shape: Shape): string {
    switch (shape.kind) {
      case 'string': {
        const { format, pattern, ...length } = shape;
        const matches = pattern === undefined ? '' : ` that matches ${oneLineJson(pattern)}`;
        return `${format ?? 'string'}${expectedText(length).slice('a string'.length)}${matches}`;
      }
      case 'number':
      case 'integer':
        return `${shape.kind}${boundsText(shape)}`;
      case 'boolean':
        return 'boolean';
      case 'bigint':
        return 'whole number in digits';
      case 'date':
        return 'date or date-time with offset';
      case 'enum':
        return shape.members.map(({ word }) => oneLineJson(word)).join(' | ');
      case 'array':
      case 'set': {
        const length = range(shape.minItems, shape.maxItems, 'item');
        return `array of ${hinted(this.text(shape.items), shape.itemHint)}${length === '' ? '' : `, ${length}`}`;
      }
      case 'map':
      case 'record':
        return `object of ${hinted(this.text(shape.values), shape.valueHint)} by name`;
      case 'bytes':
        return `base64${shape.maxBytes === undefined ? '' : ` of at most ${shape.maxBytes.toString()} bytes`}`;
      case 'object':
        return `object ${this.#fields(shape.fields)}`;
      case 'union':
        return taggedBranches(shape)
          .map((branch) => this.text(branch))
          .join(' | ');
      case 'standard':
        return `JSON of the schema ${oneLineJson(shape.json)}`;
      case 'any':
        return 'JSON'; // only ever inside what another library says itself
    }
  }

  #fields(fields: readonly Field[]): string {
    const all = fields.map(
      ({ name, shape, optional, nullable, hint }) =>
        `${nameText(name)}${optional ? '?' : ''}: ${hinted(orNullText(this.text(shape), nullable), hint)}`,
    );
    return all.length === 0 ? '{}' : `{ ${all.join(', ')} }`;
  }
}

function hinted(text: string, hint: string | undefined): string {
  return hint === undefined ? text : `${text} ${oneLineJson(hint)}`;
}
