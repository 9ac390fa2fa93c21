import { nameText } from './one-line.js';
import type { Shape } from './shape.js';

/*
 * What a call may hold, as far as a declaration can promise more. A text that is a parameter itself raises the limit of
 * its calls; inside a list or an object there may be many, so there it cannot.
 */

/** Of a parameter of its own, in characters: no longer JSON is read. */
const MAX_TEXT = 2_000_000;
/** Inside something else: half of what a call holds, since a character may count twice. */
const MAX_INNER_TEXT = 131_072;
/** In a call, each list and object and all that is in it. */
export const MAX_VALUES = 10_000;
/** In a list, where no `maxItems` says otherwise. */
export const MAX_ITEMS = 1_000;
/** Some later merge of the application's would take them for something else, so no call may have them. */
export const UNSAFE: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** One problem for each bound that allows what every call would be refused for, and each name that no call can have. */
export function callLimitProblems(where: string, shape: Shape): string[] {
  const own = shape.kind === 'standard' ? shape.outline : shape;
  // A map takes what is added to it while it is read; each shape is there once, though a class may hold itself.
  const paths = new Map<Shape, string>([[own, where]]);
  const problems: string[] = [];
  for (const [outer, path] of paths) {
    for (const problem of limitProblems(path, outer, outer === own ? MAX_TEXT : MAX_INNER_TEXT)) problems.push(problem);
    for (const [inner, step] of stepsInto(outer)) if (!paths.has(inner)) paths.set(inner, `${path}${step}`);
  }
  return problems;
}

function limitProblems(where: string, shape: Shape, maxText: number): string[] {
  const problem = (bound: string, found: number, most: number, otherwise: string): string[] =>
    found <= most
      ? []
      : [
          `${where}: ${bound} ${found.toString()} is more than a call can hold; declare at most ${most.toString()}${otherwise}`,
        ];
  const apart = maxText === MAX_INNER_TEXT ? ', or make it a parameter of its own' : '';
  switch (shape.kind) {
    case 'string':
      return problem('maxLength', shape.maxLength ?? 0, maxText, apart);
    case 'bytes':
      return problem('maxBytes', shape.maxBytes ?? 0, (maxText / 4) * 3, apart);
    case 'array':
    case 'set':
      return problem('maxItems', shape.maxItems ?? 0, MAX_VALUES, ', and let the model call again');
    case 'object':
      return shape.fields
        .filter(({ name }) => UNSAFE.has(name))
        .map(({ name }) => `${where}: "${name}" can be no property, since no call may have it; give it another name`);
    default:
      return [];
  }
}

function stepsInto(shape: Shape): readonly (readonly [Shape, string])[] {
  switch (shape.kind) {
    case 'array':
    case 'set':
      return [[shape.items, ', items']];
    case 'map':
    case 'record':
      return [[shape.values, ', values']];
    case 'object':
      return shape.fields.map(({ name, shape: inner }) => [inner, `.${nameText(name)}`]);
    case 'union':
      return shape.branches.map((branch) => [branch.shape, '']);
    case 'standard':
      return [[shape.outline, '']];
    default:
      return [];
  }
}
