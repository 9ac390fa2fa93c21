import type { JsonSchema, ModelReply, ResponseSchema } from '../model/chat-model.js';
import { isJsonObject, JsonTextError, parseJson, writeJson } from '../schema/json.js';
import type { Toolset } from '../tool/toolset.js';
import { jsonAnswerText, plainAnswerText } from './answer-text.js';
import { empty, failureOf, malformed } from './reply.js';
import { ANSWER, structuredEncoder } from './structured.js';
import type { Decoded, Wire, WireCall, WireTurn } from './wire.js';

/**
 * The envelope: one schema for every turn, `{ tool, arguments: [{ name, value }], answer }`, in which `tool` is an
 * enumeration of the tools on offer and `ANSWER`. It needs nothing of a server but structured output. Arguments are
 * texts, since a strict schema cannot have keys that differ by tool; they are converted and checked here.
 */
export const envelope: Wire = {
  name: 'envelope',
  encode: structuredEncoder({
    wire: 'envelope',
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
  }),
  decode,
  answerText: ({ toolset }) => (toolset.tools.length === 0 ? plainAnswerText() : jsonAnswerText(1)),
};

/** With no name left but `ANSWER`, the schema holds the answer alone. */
function schema({ names }: Toolset, mustCall: boolean): ResponseSchema {
  const pair = object({ name: TEXT, value: TEXT });
  const words = mustCall ? names : [...names, ANSWER];
  return Object.freeze({
    name: 'turn',
    schema: object({
      tool: Object.freeze({ type: 'string', enum: Object.freeze(words) }),
      ...(names.length > 0 && { arguments: Object.freeze({ type: 'array', items: pair }) }),
      answer: TEXT,
    }),
  });
}

/** Frozen: every agent with these tools shares it, and a model of the application's own gets it in hand. */
function object(properties: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.freeze({
    type: 'object',
    properties: Object.freeze(properties),
    required: Object.freeze(Object.keys(properties)),
    additionalProperties: false,
  });
}

const TEXT: JsonSchema = Object.freeze({ type: 'string' });

function decode(reply: ModelReply, { toolset }: Pick<WireTurn, 'toolset'>): Decoded {
  const failure = failureOf(reply, answerIn);
  if (failure !== undefined) return failure;
  return toolset.tools.length === 0 ? { kind: 'answer', text: reply.text } : decodeEnvelope(reply.text);
}

/** What there is to show of a reply that is not used: its answer where it is whole, else the text as it came. */
function answerIn(text: string): string {
  const decoded = decodeEnvelope(text);
  return decoded.kind === 'failure' || decoded.text === '' ? text : decoded.text;
}

function decodeEnvelope(text: string): Decoded {
  let envelope: unknown;
  try {
    // A number in place of a text keeps the characters that it was written in.
    envelope = parseJson(text, { numbers: 'as-text' });
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return malformed(text, `it ${error.message}`);
  }
  if (!isJsonObject(envelope)) return malformed(text, 'it is no JSON object');
  const { tool, arguments: pairs, answer: said, ...others } = envelope;
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
