import type { JsonSchema } from '../model/chat-model.js';
import { isJsonObject, writeJson } from '../schema/json.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import { empty, malformed, readJson } from './reply.js';
import { ANSWER, closedObject, structuredWire } from './structured.js';
import type { Decoded, Wire, WireCall } from './wire.js';

/**
 * The envelope: one schema for every turn, `{ tool, arguments: [{ name, value }], answer }`, in which `tool` is an
 * enumeration of the tools on offer and `ANSWER`. It needs nothing of a server but structured output. Arguments are
 * texts, since a strict schema cannot have keys that differ by tool; they are converted and checked here.
 */
export const envelope: Wire = structuredWire({
  name: 'envelope',
  rules:
    'Reply with one JSON object. To call a tool, put its name in "tool", one {"name", "value"} pair for each argument in "arguments", every value written as text, and leave "answer" empty; an argument marked ? may be left out. ' +
    `To answer, put "${ANSWER}" in "tool" and the answer in "answer". Call one tool at a time.`,
  schema,
  call: ({ tool, arguments: args }, text) => {
    const pairs = Object.entries(args).map(([name, value]) => ({
      name,
      value: typeof value === 'string' ? value : writeJson(value),
    }));
    return JSON.stringify({ tool, arguments: pairs, answer: text });
  },
  answer: (text) => JSON.stringify({ tool: ANSWER, arguments: [], answer: text }),
  decode,
  answerDepth: 1,
});

const TEXT: JsonSchema = { type: 'string' };

/** With no name left but `ANSWER`, the schema holds the answer alone. */
function schema({ names }: CompiledToolset, mustCall: boolean): JsonSchema {
  const pair = closedObject({ name: TEXT, value: TEXT });
  return closedObject({
    tool: { type: 'string', enum: mustCall ? names : [...names, ANSWER] },
    ...(names.length > 0 && { arguments: { type: 'array', items: pair } }),
    answer: TEXT,
  });
}

function decode(text: string): Decoded {
  // A number in place of a text keeps the characters that it was written in.
  const read = readJson(text, { numbers: 'as-text' });
  if ('problem' in read) return malformed(text, `it ${read.problem}`);
  if (!isJsonObject(read.value)) return malformed(text, 'it is no JSON object');
  const { tool, arguments: pairs, answer: said, ...others } = read.value;
  const answer = said ?? '';
  if (typeof tool !== 'string') return malformed(text, '"tool" is missing or no text');
  if (typeof answer !== 'string') return malformed(text, '"answer" is no text');
  if (Object.keys(others).length > 0) return malformed(text, 'it has keys besides "tool", "arguments" and "answer"');
  if (tool === ANSWER) return answer.trim() === '' ? empty(text) : { kind: 'answer', text: answer };
  const sent = readPairs(pairs);
  return sent === undefined
    ? malformed(text, '"arguments" is no list of {"name", "value"} pairs')
    : { kind: 'calls', text: answer, calls: [{ tool, ...sent }] };
}

/** What stands for "no arguments" with one server or another; see the case of the tool that is called with nothing. */
const NOTHING: readonly unknown[] = [undefined, null, '', '{}'];

function readPairs(pairs: unknown): Omit<WireCall, 'tool'> | undefined {
  if (NOTHING.includes(pairs) || (isJsonObject(pairs) && Object.keys(pairs).length === 0)) return { sent: {} };
  if (!Array.isArray(pairs)) return undefined;
  const sent = new Map<string, unknown>();
  let problem: string | undefined;
  for (const pair of pairs as unknown[]) {
    if (!isJsonObject(pair) || typeof pair.name !== 'string' || Object.keys(pair).length > 2 || !('value' in pair))
      return undefined;
    if (typeof pair.value === 'object' && pair.value !== null) return undefined;
    if (sent.has(pair.name)) problem = `${pair.name}: given twice; send each argument once`;
    sent.set(pair.name, pair.value);
  }
  return { sent: Object.fromEntries(sent), ...(problem !== undefined && { problem }) };
}
