import { boundsText, expectedText, range } from './expected.js';
import { recursiveShapes } from './inner-shapes.js';
import type { Field, Shape } from './shape.js';

/**
 * The type as the model reads it in a list of tools: `integer from 1 to 50`, `"price" | "name"`, `JSON array of date`.
 * What holds itself is named where it is first written, and by its name from then on.
 */
export function typeText(shape: Shape): string {
  return new TypeWriter(recursiveShapes([shape])).whole(shape);
}

class TypeWriter {
  readonly #recursive: ReadonlySet<Shape>;
  readonly #names = new Map<Shape, string>();

  constructor(recursive: ReadonlySet<Shape>) {
    this.#recursive = recursive;
  }

  /** An argument: what is not a single value comes as JSON. */
  whole(shape: Shape): string {
    const text = this.text(shape);
    return ['array', 'set', 'map', 'record', 'object', 'union'].includes(shape.kind) ? `JSON ${text}` : text;
  }

  text(shape: Shape): string {
    const known = this.#names.get(shape);
    if (known !== undefined) return known;
    if (!this.#recursive.has(shape)) return this.#body(shape);
    const wanted = shape.kind === 'object' && shape.dto !== undefined ? shape.dto.name : 'Part';
    const taken = [...this.#names.values()].filter((name) => name.startsWith(wanted)).length;
    const name = taken === 0 ? wanted : `${wanted}${(taken + 1).toString()}`;
    this.#names.set(shape, name);
    return `${name}, which is ${this.#body(shape)}`;
  }

  #body(shape: Shape): string {
    switch (shape.kind) {
      case 'string': {
        const { format, ...rest } = shape;
        return `${format ?? 'string'}${expectedText(rest).slice('a string'.length)}`;
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
        return shape.members.map(({ word }) => JSON.stringify(word)).join(' | ');
      case 'array':
      case 'set': {
        const length = range(shape.minItems, shape.maxItems, 'item');
        return `array of ${this.text(shape.items)}${length === '' ? '' : `, ${length}`}`;
      }
      case 'map':
      case 'record':
        return `object of ${this.text(shape.values)} by name`;
      case 'bytes':
        return `base64${shape.maxBytes === undefined ? '' : ` of at most ${shape.maxBytes.toString()} bytes`}`;
      case 'object':
        return `object ${this.#fields(shape.fields)}`;
      case 'union':
        return shape.branches
          .map(({ word, shape: branch }) => {
            const others = branch.fields.filter(({ name }) => name !== shape.tag);
            return `object ${this.#fields(others, `${shape.tag}: ${JSON.stringify(word)}`)}`;
          })
          .join(' | ');
      case 'standard':
        return `JSON of the schema ${JSON.stringify(shape.json)}`;
      case 'any':
        return 'JSON'; // only ever inside what another library says itself
    }
  }

  #fields(fields: readonly Field[], tag?: string): string {
    const parts = fields.map(
      ({ name, shape, optional, nullable, hint }) =>
        `${name}${optional ? '?' : ''}: ${this.text(shape)}${nullable ? ' | null' : ''}${hint === undefined ? '' : ` ${JSON.stringify(hint)}`}`,
    );
    const all = tag === undefined ? parts : [tag, ...parts];
    return all.length === 0 ? '{}' : `{ ${all.join(', ')} }`;
  }
}
