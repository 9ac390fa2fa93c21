import type { EmbeddedParameter, EmbeddedTool, EmbeddedTurn } from './embedded-request.js';

/*
 * The offline stand-in's rules. They read the request and nothing else: what may be called comes from its schema or its
 * functions, what a tool is for from its description, what was found from its results. So the stand-in too cannot name
 * what is not on offer.
 */

const NOTHING_FITS = 'I am the offline stand-in, not a language model, and no tool on offer fits this question.';
const NO_TYPES = 'I am the offline stand-in, not a language model, and fill in no types.';

/** What the stand-in does: it answers, calls one tool, or refuses to. No typed answer is made up. */
export type EmbeddedDecision =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'call'; readonly name: string; readonly values: readonly EmbeddedValue[] };

/** An argument, in the characters that the question has it in. */
export interface EmbeddedValue {
  readonly parameter: EmbeddedParameter;
  readonly text: string;
}

/** What to do in a turn. */
export function decide({ isTyped, mustCall, question: asked, tools, offered, result }: EmbeddedTurn): EmbeddedDecision {
  if (isTyped) return { kind: 'refusal', text: NO_TYPES };
  const question = asked.slice(0, 2_000);
  if (result !== undefined)
    return {
      kind: 'answer',
      text: `${result.tool} says: ${result.result}${uncovered(question, tools, result.result)}`,
    };
  const call = chooseCall(
    question,
    tools.filter(({ name }) => offered.includes(name)),
  );
  if (call !== undefined) return { kind: 'call', ...call };
  return mustCall ? { kind: 'refusal', text: NOTHING_FITS } : { kind: 'answer', text: NOTHING_FITS };
}

/** What the question asks for that neither a tool nor the result speaks of. */
function uncovered(question: string, tools: readonly EmbeddedTool[], result: string): string {
  const covered = new Set([...tools.flatMap((tool) => [...wordsOf(tool)]), ...words(result)]);
  const rest = [...words(question)].filter((word) => !covered.has(word));
  return rest.length === 0 ? '' : ` (I found no tool for: ${rest.join(', ')}.)`;
}

/** What a tool is about; the class in its name says little. */
function wordsOf({ name, description }: EmbeddedTool): ReadonlySet<string> {
  return words(`${name.replace(/^[^_]*_/, '')} ${description}`);
}

/** The tool that shares most words with the question and whose arguments the question holds. */
function chooseCall(
  question: string,
  tools: readonly EmbeddedTool[],
): { readonly name: string; readonly values: readonly EmbeddedValue[] } | undefined {
  const asked = words(question);
  const asksToLook = /\b(where|what|which|when|who|how|show|list|find|look)\b/i.test(question);
  let best: { readonly score: number; readonly name: string; readonly values: readonly EmbeddedValue[] } | undefined;
  for (const tool of tools) {
    const own = wordsOf(tool);
    const shared = [...asked].filter((word) => own.has(word)).length;
    const values = fill(tool, question);
    if (shared === 0 || values === undefined) continue;
    const looks = asksToLook && ['find', 'look', 'list', 'get', 'show', 'search'].some((word) => own.has(word));
    const score = shared + (looks ? 0.5 : 0) + values.length + shared / (own.size + 1);
    if (best === undefined || score > best.score) best = { score, name: tool.name, values };
  }
  return best && { name: best.name, values: best.values };
}

/** What no question holds as such. */
const STRUCTURES = new Set(['JSON', 'array', 'object']);

/** The arguments, as far as the question holds them; `undefined` where a required one is missing. */
function fill({ parameters }: EmbeddedTool, question: string): readonly EmbeddedValue[] | undefined {
  const numbers = question.match(/-?\d+(?:\.\d+)?/g) ?? [];
  const quoted = /["“]([^"”]+)["”]/.exec(question)?.[1];
  const email = /[^\s<>"]+@[^\s<>"?,]+/.exec(question)?.[0].replace(/\.$/, '');
  const values: EmbeddedValue[] = [];
  for (const parameter of parameters) {
    const { name, type, members, optional, description } = parameter;
    const text =
      type === 'integer' || type === 'number'
        ? numbers.shift()
        : members.length > 0
          ? members.find((member) => question.toLowerCase().includes(member.toLowerCase()))
          : type === 'boolean'
            ? /\b(true|false)\b/i.exec(question)?.[0].toLowerCase()
            : STRUCTURES.has(type)
              ? undefined
              : /e-?mail/i.test(`${name} ${description}`)
                ? email
                : quoted;
    if (text !== undefined) values.push({ parameter, text });
    else if (!optional) return undefined;
  }
  return values;
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
