import type { ModelCall, WireName } from '../model/chat-model.js';
import { jsonTokens, JsonTextError } from '../schema/json.js';

/** A call of a script, before a wire writes it. */
export interface ScriptedCall {
  readonly name: string;
  /** The argument text as a provider delivers it. */
  readonly raw: string;
  readonly id?: string | undefined;
}

/** What a reply holds on one wire. */
export interface ScriptedReply {
  readonly text: string;
  readonly calls?: readonly ModelCall[];
}

/** An answer, as each wire writes it. An empty text stays an empty reply. */
export function answerOn(wire: WireName, text: string): ScriptedReply {
  if (text === '' || wire === 'native') return { text };
  const turn =
    wire === 'union' ? { next: { tool: 'ANSWER', answer: text } } : { tool: 'ANSWER', arguments: [], answer: text };
  return { text: JSON.stringify(turn) };
}

/**
 * Calls, as each wire writes them. Where a wire has one call a turn, several stand one after the other, as a model
 * would write them: that is no reply. The union has no text beside a call.
 */
export function callsOn(wire: WireName, calls: readonly ScriptedCall[], text: string): ScriptedReply {
  if (wire === 'native')
    return {
      text,
      calls: calls.map(({ name, raw, id }) => ({ name, arguments: raw, ...(id !== undefined && { id }) })),
    };
  const write = wire === 'union' ? unionCall : (call: ScriptedCall) => envelopeCall(call, text);
  return { text: calls.map(write).join('') };
}

function unionCall({ name, raw }: ScriptedCall): string {
  return `{"next":{"tool":${JSON.stringify(name)},"arguments":${raw.trim() === '' ? '{}' : raw}}}`;
}

/**
 * A call on the envelope. Argument text that is a JSON object becomes name/value pairs without loss, each value in the
 * characters it was written in; empty text becomes no arguments; any other text stands as it is in place of the pairs.
 */
function envelopeCall({ name, raw }: ScriptedCall, text: string): string {
  const members = raw.trim() === '' ? [] : rawMembers(raw);
  const pairs = members === undefined ? raw : JSON.stringify(members.map(([name, value]) => ({ name, value })));
  return `{"tool":${JSON.stringify(name)},"arguments":${pairs},"answer":${JSON.stringify(text)}}`;
}

/** The members of a JSON object, texts as texts and everything else as its source; `undefined` for other text. */
function rawMembers(raw: string): [string, string][] | undefined {
  try {
    const tokens = [...jsonTokens(raw)];
    if (tokens[0]?.token !== '{') return undefined;
    const members: [string, string][] = [];
    let depth = 0;
    let from = 1;
    tokens.forEach(({ token, at }, index) => {
      if (depth === 1 && (token === ',' || (token === '}' && index > 1))) {
        const [name, colon] = tokens.slice(from, from + 2);
        const value = raw.slice((colon?.at ?? 0) + 1, at).trim();
        members.push([
          JSON.parse(name?.token ?? '""') as string,
          value.startsWith('"') ? (JSON.parse(value) as string) : value,
        ]);
        from = index + 1;
      }
      if (token === '{' || token === '[') depth++;
      if (token === '}' || token === ']') depth--;
    });
    return members;
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}
