import type { JsonSchema } from '../model/chat-model.js';
import { mapReferences } from '../schema/json-schema.js';
import { isJsonObject, writeJson } from '../schema/json.js';
import { PartNames } from '../schema/part-names.js';
import { strictExcess } from '../schema/strict.js';
import type { CompiledTool } from '../tool/tool.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import { argumentsText } from './arguments-text.js';
import { empty, malformed, readJson } from './reply.js';
import { ANSWER, closedObject, structuredWire } from './structured.js';
import type { Decoded, Wire } from './wire.js';

/**
 * The union: one schema with a branch for each tool, its arguments typed, and one for the answer,
 * `{ next: { tool, arguments } | { tool: 'ANSWER', answer } }`. The tool comes first, so that the grammar knows it before
 * the arguments, and an answer can be shown while it is written. A union may not stand at the root of a strict schema.
 */
export const union: Wire = structuredWire({
  name: 'union',
  rules:
    'Reply with one JSON object, {"next": …}. To call a tool, put its name in "tool" and its arguments in "arguments"; an argument marked ? that is not needed is null. ' +
    `To answer, put "${ANSWER}" in "tool" and the answer in "answer". Call one tool at a time.`,
  schema,
  excess: strictExcess,
  call: ({ tool, arguments: args }) => `{"next":{"tool":${JSON.stringify(tool)},"arguments":${writeJson(args)}}}`,
  answer: (text) => JSON.stringify({ next: { tool: ANSWER, answer: text } }),
  decode,
  answerDepth: 2,
});

/** With no tool on offer, the schema holds the answer alone. */
function schema({ tools }: CompiledToolset, mustCall: boolean): JsonSchema {
  const names = new PartNames();
  const $defs: Record<string, JsonSchema> = {};
  const branches = tools.map((tool) =>
    closedObject({ tool: word(tool.name), arguments: argumentsIn(tool, names, $defs) }, tool.description),
  );
  if (!mustCall) branches.push(closedObject({ tool: word(ANSWER), answer: { type: 'string' } }));
  const next = branches.length === 1 ? (branches[0] as JsonSchema) : { anyOf: branches };
  return { ...closedObject({ next }), ...(Object.keys($defs).length > 0 && { $defs }) };
}

/** What a strict schema cannot say travels as JSON text: the tool's name is still the grammar's to keep. */
function argumentsIn(tool: CompiledTool, names: PartNames, $defs: Record<string, JsonSchema>): JsonSchema {
  const { strictSchema } = tool;
  if (strictSchema === undefined) return { type: 'string', description: 'The arguments, as the text of a JSON object' };
  const { $defs: parts, ...own } = strictSchema as JsonSchema & {
    readonly $defs?: Readonly<Record<string, JsonSchema>>;
  };
  // Two tools may each have a part of the same name.
  const renamed = new Map(Object.keys(parts ?? {}).map((name) => [`#/$defs/${name}`, names.take(name)]));
  const moved = (schema: JsonSchema): JsonSchema =>
    mapReferences(schema, (path) => ({ $ref: `#/$defs/${renamed.get(path) ?? path}` })) as JsonSchema;
  for (const [name, part] of Object.entries(parts ?? {})) $defs[renamed.get(`#/$defs/${name}`) as string] = moved(part);
  return moved(own);
}

const word = (name: string): JsonSchema => ({ type: 'string', enum: [name] });

function decode(text: string): Decoded {
  const read = readJson(text);
  if ('problem' in read) return malformed(text, `it ${read.problem}`);
  const turn = read.value;
  if (!isJsonObject(turn) || !isJsonObject(turn['next']) || Object.keys(turn).length > 1)
    return malformed(text, 'it is no JSON object whose only key is "next"');
  const { tool, ...rest } = turn['next'];
  if (typeof tool !== 'string') return malformed(text, '"tool" is missing or no text');
  return tool === ANSWER ? decodeAnswer(text, rest) : decodeCall(text, tool, rest);
}

function decodeAnswer(text: string, { answer, ...others }: Readonly<Record<string, unknown>>): Decoded {
  if (typeof answer !== 'string') return malformed(text, '"answer" is missing or no text');
  if (Object.keys(others).length > 0) return malformed(text, 'an answer has no keys besides "tool" and "answer"');
  return answer.trim() === '' ? empty(text) : { kind: 'answer', text: answer };
}

function decodeCall(text: string, tool: string, rest: Readonly<Record<string, unknown>>): Decoded {
  const { arguments: args, ...others } = rest;
  if (Object.keys(others).length > 0) return malformed(text, 'a call has no keys besides "tool" and "arguments"');
  if (typeof args === 'string') return { kind: 'calls', text: '', calls: [{ tool, ...argumentsText(args) }] };
  if (args !== undefined && args !== null && !isJsonObject(args)) return malformed(text, '"arguments" is no object');
  const nothing = args === undefined || args === null ? ({ nothing: true } as const) : {};
  return { kind: 'calls', text: '', calls: [{ tool, sent: args ?? {}, ...nothing }] };
}
