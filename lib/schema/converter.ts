import type { Findings } from './findings.js';
import { quote } from './quote.js';

/**
 * Checks and converts one value. What is wrong is added to the findings, with the path to it; what is returned is then of
 * no use. Made once for a shape, since a call should cost a check and no more.
 *
 * Why our own: class-transformer's implicit conversion makes the text "false" true and "" zero, zod's coercion the
 * same, and ajv converts nothing and words its errors for programmers. The model needs each mistake said in the form
 * that it can correct: which argument, what was expected, what it sent.
 */
export type Converter = (sent: unknown, path: string, findings: Findings) => unknown;

export function wrong(findings: Findings, path: string, expected: string, sent: unknown): unknown {
  findings.add(`${path}: expected ${expected}, got ${quote(sent)}`);
  return undefined;
}
