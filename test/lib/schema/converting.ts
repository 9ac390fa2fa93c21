import { compileArguments, type Conversion } from '../../../lib/schema/convert.js';
import type { Parameter } from '../../../lib/schema/shape.js';

/** Converts at once: of what only the library itself looks at. */
export function convertArguments(
  parameters: readonly Parameter[],
  sent: Readonly<Record<string, unknown>>,
): Conversion {
  const conversion = compileArguments(parameters)(sent);
  if (conversion instanceof Promise) throw new Error('Rules of an application are asked; await it.');
  return conversion;
}
