import { counted } from '../declaration.js';
import { INVISIBLE } from './one-line.js';

/*
 * How the model's own words come back to it: never more than a line, well-formed, and nothing but what it sent.
 */

const MAX_QUOTE = 80;

/** At most a line of the model's own text, well-formed, without line breaks of its own, and read from left to right. */
export function cut(text: string, most = MAX_QUOTE): string {
  const line = text.length > most ? `${text.slice(0, most)}…` : text;
  return line.toWellFormed().replace(INVISIBLE, ' ');
}

/** What was sent, said so that the model knows its own value again. */
export function quote(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') {
    const text = JSON.stringify(cut(value));
    return value.length > MAX_QUOTE ? `${text} of ${value.length.toString()} characters` : text;
  }
  if (Array.isArray(value)) return `an array of ${value.length.toString()}`;
  if (typeof value === 'object' && value !== null) return `an object with ${counted(Object.keys(value).length, 'key')}`;
  return value === null ? 'null' : cut((value as number | bigint | boolean).toString());
}
