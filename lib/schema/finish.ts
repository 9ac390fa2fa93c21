import { instanceOf } from './dto/instance.js';
import type { Shape } from './shape.js';
import { convertByStandard } from './standard.js';

/** What could not be checked, since a rule of the application's threw. */
export interface Unchecked {
  readonly error: unknown;
}

/**
 * What is left to do with a value that was converted by its shape: another library's check, or an instance of a class
 * with rules. What is wrong goes to `lines`; what was thrown to `unchecked`, beside a line that does not show it.
 */
export type Finisher = (value: unknown, path: string, lines: string[], unchecked: Unchecked[]) => Promise<unknown>;

/** Of a shape; most need none. */
export function finisherOf(shape: Shape): Finisher | undefined {
  // Another library may say what stands for nothing; it may make something of null, too.
  if (shape.kind === 'standard')
    return (value, path, lines, unchecked) => convertByStandard(shape, value, path, lines, unchecked);
  const finish = finisherOfParts(shape);
  if (finish === undefined) return undefined;
  return (value, path, lines, unchecked) =>
    value === undefined || value === null ? Promise.resolve(value) : finish(value, path, lines, unchecked);
}

function finisherOfParts(shape: Shape): Finisher | undefined {
  switch (shape.kind) {
    case 'object': {
      const { dto } = shape;
      return (
        dto && ((value, path, lines, unchecked) => instanceOf(shape, dto, value as object, path, lines, unchecked))
      );
    }
    case 'array':
    case 'set': {
      const finish = finisherOf(shape.items);
      return (
        finish &&
        (async (value, path, lines, unchecked) => {
          const items: unknown[] = [];
          for (const item of value as Iterable<unknown>)
            items.push(await finish(item, `${path}[${items.length.toString()}]`, lines, unchecked));
          return shape.kind === 'set' ? new Set(items) : items;
        })
      );
    }
    case 'map':
    case 'record': {
      const finish = finisherOf(shape.values);
      return (
        finish &&
        (async (value, path, lines, unchecked) => {
          const entries = value instanceof Map ? [...(value as Map<string, unknown>)] : Object.entries(value as object);
          const finished = new Map<string, unknown>();
          for (const [key, held] of entries)
            finished.set(key, await finish(held, `${path}[${JSON.stringify(key)}]`, lines, unchecked));
          return shape.kind === 'map'
            ? finished
            : Object.assign(Object.create(null) as object, Object.fromEntries(finished));
        })
      );
    }
    default:
      return undefined;
  }
}
