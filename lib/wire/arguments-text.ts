import { isJsonObject } from '../schema/json.js';
import { readJson } from './reply.js';
import type { WireCall } from './wire.js';

/** What stands for "no arguments" with one server or another; see the case of the tool that is called with nothing. */
const NOTHING: ReadonlySet<string> = new Set(['', 'null', '"{}"']);

/**
 * Arguments that travel as a text: one JSON object, read strictly and without losing a digit. Anything else is a bad
 * argument, which the model is told; nothing is salvaged from half an object.
 */
export function argumentsText(text: string): Pick<WireCall, 'sent' | 'problem' | 'nothing'> {
  if (text.trim() === '{}') return { sent: {} };
  if (NOTHING.has(text.trim())) return { sent: {}, nothing: true };
  const read = readJson(text);
  if ('problem' in read)
    return { sent: {}, problem: `the text of the arguments ${read.problem}; send one JSON object` };
  return isJsonObject(read.value)
    ? { sent: read.value }
    : { sent: {}, problem: 'the arguments are no JSON object; send one, with each argument under its name' };
}
