/*
 * The offline stand-in's rules. They read the request and nothing else: what may be called comes from its schema, what a
 * tool is for from its manifest, what was found from its results. So the stand-in too cannot name what is not on offer.
 */

/** The part of a Chat Completions body that is read. */
export interface EmbeddedRequest {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: {
    readonly json_schema: {
      readonly name: string;
      readonly schema: { readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>> };
    };
  };
}

interface ManifestTool {
  readonly name: string;
  readonly words: ReadonlySet<string>;
  readonly parameters: readonly ManifestParameter[];
}

interface ManifestParameter {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly description: string;
}

const NOTHING_FITS = 'I am the offline stand-in, not a language model, and no tool on offer fits this question.';

/** What a reply holds: a text, or the words of a refusal. */
export interface EmbeddedReply {
  readonly content: string | null;
  readonly refusal: string | null;
}

const NO_TYPES = 'I am the offline stand-in, not a language model, and fill in no types.';

/** The reply to a request: an envelope as text, or plain text where no schema asks for one. No typed answer is made up. */
export function embeddedReply(request: EmbeddedRequest): EmbeddedReply {
  return request.response_format?.json_schema.name === 'answer'
    ? { content: null, refusal: NO_TYPES }
    : { content: turnText(request), refusal: null };
}

function turnText(request: EmbeddedRequest): string {
  const { properties } = request.response_format?.json_schema.schema ?? { properties: undefined };
  if (properties === undefined) return NOTHING_FITS;
  const names = properties.tool?.enum ?? [];
  const answer = (text: string): string =>
    JSON.stringify({ tool: 'ANSWER', ...('arguments' in properties && { arguments: [] }), answer: text });
  const [asked = '', ...later] = request.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const question = asked.slice(0, 2_000);
  const result = later.map(readResult).findLast((found) => found !== undefined);
  const tools = manifestTools(request);
  if (result !== undefined)
    return answer(`${result.tool} says: ${result.result}${uncovered(question, tools, result.result)}`);
  const call = chooseCall(
    question,
    tools.filter(({ name }) => names.includes(name)),
  );
  return call === undefined
    ? answer(NOTHING_FITS)
    : JSON.stringify({ tool: call.name, arguments: call.pairs, answer: '' });
}

type Pair = { readonly name: string; readonly value: string };

/** A result travels as a JSON object on a line of its own. */
function readResult(content: string): { readonly tool: string; readonly result: string } | undefined {
  try {
    const value: unknown = JSON.parse(content.split('\n')[0] ?? '');
    return typeof value === 'object' && value !== null && 'tool' in value && 'result' in value
      ? { tool: String(value.tool), result: String(value.result) }
      : undefined;
  } catch {
    return undefined;
  }
}

/** What the question asks for that neither a tool nor the result speaks of. */
function uncovered(question: string, tools: readonly ManifestTool[], result: string): string {
  const covered = new Set([...tools.flatMap((tool) => [...tool.words]), ...words(result)]);
  const rest = [...words(question)].filter((word) => !covered.has(word));
  return rest.length === 0 ? '' : ` (I found no tool for: ${rest.join(', ')}.)`;
}

function manifestTools({ messages }: EmbeddedRequest): readonly ManifestTool[] {
  const system = messages.find(({ role }) => role === 'system')?.content ?? '';
  const lines = system.matchAll(/^- ([A-Za-z0-9_-]+)\(((?:[^")]|"(?:[^"\\]|\\.)*")*)\) -> (.*)$/gm);
  return [...lines].map(([, name = '', parameters = '', description = '']) => ({
    name,
    words: words(`${name.replace(/^[^_]*_/, '')} ${description}`),
    parameters: readParameters(parameters),
  }));
}

/** `orderId: integer "The order id", sort?: "price" | "name" "Order of the results"` */
function readParameters(text: string): readonly ManifestParameter[] {
  const string = '"(?:[^"\\\\]|\\\\.)*"';
  const pattern = new RegExp(`([A-Za-z0-9_-]+)(\\?)?: ([a-z]+|${string}(?: \\| ${string})*) (${string})`, 'g');
  return [...text.matchAll(pattern)].map(([, name = '', optional, type = '', description = '']) => ({
    name,
    type,
    optional: optional !== undefined,
    description: JSON.parse(description) as string,
  }));
}

/** The tool that shares most words with the question and whose arguments the question holds. */
function chooseCall(
  question: string,
  tools: readonly ManifestTool[],
): { readonly name: string; readonly pairs: readonly Pair[] } | undefined {
  const asked = words(question);
  const asksToLook = /\b(where|what|which|when|who|how|show|list|find|look)\b/i.test(question);
  let best: { readonly score: number; readonly name: string; readonly pairs: readonly Pair[] } | undefined;
  for (const tool of tools) {
    const shared = [...asked].filter((word) => tool.words.has(word)).length;
    const pairs = fill(tool, question);
    if (shared === 0 || pairs === undefined) continue;
    const looks = asksToLook && ['find', 'look', 'list', 'get', 'show', 'search'].some((word) => tool.words.has(word));
    const score = shared + (looks ? 0.5 : 0) + pairs.length + shared / (tool.words.size + 1);
    if (best === undefined || score > best.score) best = { score, name: tool.name, pairs };
  }
  return best;
}

/** The arguments, as far as the question holds them; `undefined` where a required one is missing. */
function fill({ parameters }: ManifestTool, question: string): readonly Pair[] | undefined {
  const numbers = question.match(/-?\d+(?:\.\d+)?/g) ?? [];
  const quoted = /["“]([^"”]+)["”]/.exec(question)?.[1];
  const email = /[^\s<>"]+@[^\s<>"?,]+/.exec(question)?.[0].replace(/\.$/, '');
  const pairs: Pair[] = [];
  for (const { name, type, optional, description } of parameters) {
    const members = type.startsWith('"') ? (JSON.parse(`[${type.replaceAll('" | "', '","')}]`) as string[]) : [];
    const value =
      type === 'integer' || type === 'number'
        ? numbers.shift()
        : members.length > 0
          ? members.find((member) => question.toLowerCase().includes(member.toLowerCase()))
          : type === 'boolean'
            ? /\b(true|false)\b/i.exec(question)?.[0].toLowerCase()
            : /e-?mail/i.test(`${name} ${description}`)
              ? email
              : quoted;
    if (value !== undefined) pairs.push({ name, value });
    else if (!optional) return undefined;
  }
  return pairs;
}

const STOP_WORDS = new Set(
  'a an and are at be by can do does for from he her his i id in is it its me my of on or please she than that the their them they this to up us was we what when where which who will with you your'.split(
    ' ',
  ),
);

/** The words that say something, in one form for singular and plural, present and past. */
function words(text: string): ReadonlySet<string> {
  const parts =
    text
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]+/g) ?? [];
  return new Set(parts.filter((part) => !STOP_WORDS.has(part)).map((part) => part.replace(/(?:ing|ed|es|s)$/, '')));
}
