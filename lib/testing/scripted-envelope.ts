import { jsonTokens, JsonTextError } from '../schema/json.js';

/** An answer on the envelope. An empty text stays an empty reply. */
export function envelopeText(text: string): string {
  return text === '' ? '' : JSON.stringify({ tool: 'ANSWER', arguments: [], answer: text });
}

/**
 * A call on the envelope. Argument text that is a JSON object becomes name/value pairs without loss, each value in the
 * characters it was written in; empty text becomes no arguments; any other text stands as it is in place of the pairs.
 */
export function envelopeCall(tool: string, raw: string, text: string): string {
  const members = raw.trim() === '' ? [] : rawMembers(raw);
  const pairs = members === undefined ? raw : JSON.stringify(members.map(([name, value]) => ({ name, value })));
  return `{"tool":${JSON.stringify(tool)},"arguments":${pairs},"answer":${JSON.stringify(text)}}`;
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
