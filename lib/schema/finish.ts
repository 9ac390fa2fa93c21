import { instanceOf } from './dto/instance.js';
import type { Findings } from './findings.js';
import { quote } from './quote.js';
import type { Shape } from './shape.js';
import { convertByStandard } from './standard.js';

/** What could not be checked, since a rule of the application's threw. */
export interface Unchecked {
  readonly error: unknown;
}

/** In a box: what another library makes may have a `then` of its own, and must not be awaited. */
export interface Finished {
  readonly value: unknown;
}

/**
 * What is left to do with a value that was converted by its shape: another library's check, or an instance of a class
 * with rules. What is wrong goes to `findings`; what was thrown to `unchecked`, beside a line that does not show it.
 */
export type Finisher = (
  value: unknown,
  path: string,
  findings: Findings,
  unchecked: Unchecked[],
) => Finished | Promise<Finished>;

/** Of a shape; most need none. */
export function finisherOf(shape: Shape, optional = false): Finisher | undefined {
  // Another library may say what stands for nothing; it may make something of null, too.
  if (shape.kind === 'standard')
    return (value, path, findings, unchecked) =>
      convertByStandard(shape, { value, optional }, path, findings, unchecked);
  const finish = finisherOfParts(shape);
  if (finish === undefined) return undefined;
  return (value, path, findings, unchecked) =>
    value === undefined || value === null ? { value } : finish(value, path, findings, unchecked);
}

function finisherOfParts(shape: Shape): Finisher | undefined {
  switch (shape.kind) {
    case 'object': {
      const { dto } = shape;
      return (
        dto &&
        ((value, path, findings, unchecked) => instanceOf(shape, dto, value as object, path, findings, unchecked))
      );
    }
    case 'array':
    case 'set': {
      const finish = finisherOf(shape.items);
      return (
        finish &&
        (async (value, path, findings, unchecked) => {
          const items: unknown[] = [];
          for (const item of value as Iterable<unknown>) {
            if (findings.isEnough()) break;
            items.push((await finish(item, `${path}[${items.length.toString()}]`, findings, unchecked)).value);
          }
          return { value: shape.kind === 'set' ? new Set(items) : items };
        })
      );
    }
    case 'map':
    case 'record': {
      const finish = finisherOf(shape.values);
      return (
        finish &&
        (async (value, path, findings, unchecked) => {
          const entries = value instanceof Map ? [...(value as Map<string, unknown>)] : Object.entries(value as object);
          const finished = new Map<string, unknown>();
          for (const [key, held] of entries) {
            if (findings.isEnough()) break;
            finished.set(key, (await finish(held, `${path}[${quote(key)}]`, findings, unchecked)).value);
          }
          return {
            value:
              shape.kind === 'map'
                ? finished
                : Object.assign(Object.create(null) as object, Object.fromEntries(finished)),
          };
        })
      );
    }
    default:
      return undefined;
  }
}
