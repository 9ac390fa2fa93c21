import { quote } from './quote.js';

/**
 * Checks and converts one value. What is wrong is a line in `lines`, with the path to it; what is returned is then of no
 * use. Made once for a shape, since a call should cost a check and no more.
 *
 * Why our own: class-transformer's implicit conversion makes the text "false" true and "" zero, zod's coercion the
 * same, and ajv converts nothing and words its errors for programmers. The model needs each mistake said in the form
 * that it can correct: which argument, what was expected, what it sent.
 */
export type Converter = (sent: unknown, path: string, lines: string[]) => unknown;

export function wrong(lines: string[], path: string, expected: string, sent: unknown): unknown {
  lines.push(`${path}: expected ${expected}, got ${quote(sent)}`);
  return undefined;
}
