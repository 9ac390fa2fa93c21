import { member, text } from './member.js';

/* The two kinds of request body, read as the offline stand-in reads them. */

/** A parameter, as far as the rules go. */
export interface EmbeddedParameter {
  readonly name: string;
  /** `integer`, `number`, `boolean`, or anything else for a text. */
  readonly type: string;
  /** The words to choose from, if any. */
  readonly members: readonly string[];
  readonly optional: boolean;
  readonly description: string;
}

export interface EmbeddedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly EmbeddedParameter[];
}

/** One turn, whichever way it came. */
export interface EmbeddedTurn {
  /** How a reply is written. */
  readonly form: 'text' | 'envelope' | 'union' | 'functions';
  readonly isTyped: boolean;
  readonly mustCall: boolean;
  readonly question: string;
  /** All tools that the request speaks of. */
  readonly tools: readonly EmbeddedTool[];
  /** The names that may be called. */
  readonly offered: readonly string[];
  /** Whether a reply on the envelope has arguments at all. */
  readonly hasArguments: boolean;
  /** The tools whose arguments travel as the text of a JSON object. */
  readonly asText: readonly string[];
  /** What was found last. */
  readonly result?: { readonly tool: string; readonly result: string } | undefined;
}

interface Said {
  readonly role: string;
  readonly content: string;
}

/** A Chat Completions body. */
export function readChatTurn(body: unknown): EmbeddedTurn {
  const messages = list(member(body, 'messages'));
  const names = new Map(
    messages
      .flatMap((message) => list(member(message, 'tool_calls')))
      .map((call) => [member(call, 'id'), text(member(member(call, 'function'), 'name')) ?? '']),
  );
  const returned = messages
    .filter((message) => member(message, 'role') === 'tool')
    .map((message) => ({
      tool: names.get(member(message, 'tool_call_id')) ?? '',
      result: text(member(message, 'content')) ?? '',
    }));
  const format = member(member(body, 'response_format'), 'json_schema');
  const functions = list(member(body, 'tools')).map((tool) => member(tool, 'function'));
  return readTurn(messages.map(said), returned, format, functions, member(body, 'tool_choice'));
}

/** A Responses body. */
export function readResponsesTurn(body: unknown): EmbeddedTurn {
  const items = list(member(body, 'input'));
  const ofType = (type: string): readonly unknown[] => items.filter((item) => member(item, 'type') === type);
  const names = new Map(
    ofType('function_call').map((call) => [member(call, 'call_id'), text(member(call, 'name')) ?? '']),
  );
  const returned = ofType('function_call_output').map((output) => ({
    tool: names.get(member(output, 'call_id')) ?? '',
    result: text(member(output, 'output')) ?? '',
  }));
  const format = member(member(body, 'text'), 'format');
  return readTurn(
    ofType('message').map(said),
    returned,
    format,
    list(member(body, 'tools')),
    member(body, 'tool_choice'),
  );
}

function readTurn(
  messages: readonly Said[],
  returned: readonly { readonly tool: string; readonly result: string }[],
  format: unknown,
  functions: readonly unknown[],
  choice: unknown,
): EmbeddedTurn {
  const [question = '', ...later] = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const system = messages.find(({ role }) => role === 'system')?.content ?? '';
  const told = later.map(readResult).findLast((found) => found !== undefined);
  const common = { question, result: told ?? returned.at(-1), isTyped: member(format, 'name') === 'answer' };
  if (functions.length > 0) {
    const tools = functions.map(readFunction);
    const named = text(member(choice, 'name')) ?? text(member(member(choice, 'function'), 'name'));
    const offered = tools.map(({ name }) => name).filter((name) => named === undefined || name === named);
    const mustCall = choice === 'required' || named !== undefined;
    return { ...common, form: 'functions', tools, offered, mustCall, hasArguments: true, asText: [] };
  }
  const properties = member(member(format, 'schema'), 'properties');
  if (common.isTyped || properties === undefined)
    return { ...common, form: 'text', tools: [], offered: [], mustCall: false, hasArguments: false, asText: [] };
  const next = member(properties, 'next');
  const branches = next === undefined ? [] : list(member(next, 'anyOf') ?? [next]);
  const words = next === undefined ? texts(member(member(properties, 'tool'), 'enum')) : branches.flatMap(wordsOf);
  return {
    ...common,
    form: next === undefined ? 'envelope' : 'union',
    tools: readManifest(system),
    offered: words.filter((name) => name !== 'ANSWER'),
    mustCall: !words.includes('ANSWER'),
    hasArguments: member(properties, 'arguments') !== undefined,
    asText: branches
      .filter((branch) => member(member(member(branch, 'properties'), 'arguments'), 'type') === 'string')
      .flatMap(wordsOf),
  };
}

const wordsOf = (branch: unknown): readonly string[] =>
  texts(member(member(member(branch, 'properties'), 'tool'), 'enum'));

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

function readFunction(declared: unknown): EmbeddedTool {
  const parameters = member(declared, 'parameters');
  const properties = member(parameters, 'properties');
  const required = texts(member(parameters, 'required'));
  return {
    name: text(member(declared, 'name')) ?? '',
    description: text(member(declared, 'description')) ?? '',
    parameters: Object.entries(properties ?? {}).map(([name, schema]: [string, unknown]) => {
      const types = [member(schema, 'type')].flat();
      return {
        name,
        type: text(types.find((type) => type !== 'null')) ?? '',
        members: texts(member(schema, 'enum')),
        optional: !required.includes(name) || types.includes('null'),
        description: text(member(schema, 'description')) ?? '',
      };
    }),
  };
}

/** The lines of the manifest: `- OrderTools_findOrder(orderId: integer "The order id") -> Looks up an order`. */
function readManifest(system: string): readonly EmbeddedTool[] {
  const lines = system.matchAll(/^- ([A-Za-z0-9_-]+)\(((?:[^")]|"(?:[^"\\]|\\.)*")*)\) -> (.*)$/gm);
  return [...lines].map(([, name = '', parameters = '', description = '']) => ({
    name,
    description,
    parameters: readParameters(parameters),
  }));
}

const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const PIECES = new RegExp(`${STRING}|[{}]|, |[^"{},]+|.`, 'g');
const PARAMETER = new RegExp(`^([A-Za-z0-9_-]+)(\\?)?: (${STRING}(?: \\| ${STRING})*|[A-Za-z]+)(.*)$`);
const LAST_STRING = new RegExp(`${STRING}$`);

/** `orderId: integer from 1 "The order id", sort?: "price" | "name" "Order of the results", lines: JSON array of …` */
function readParameters(line: string): readonly EmbeddedParameter[] {
  return apart(line).flatMap((written) => {
    const [, name = '', optional, type = '', rest = ''] = PARAMETER.exec(written) ?? [];
    if (name === '') return [];
    const members = type.startsWith('"') ? (JSON.parse(`[${type.replaceAll('" | "', '","')}]`) as string[]) : [];
    const description = JSON.parse(LAST_STRING.exec(rest)?.[0] ?? '""') as string;
    return [{ name, type, members, optional: optional !== undefined, description }];
  });
}

/** The parameters of a line; a comma within braces or quotes, or before what is no parameter, parts nothing. */
function apart(line: string): readonly string[] {
  const parameters: string[] = [];
  let one = '';
  let depth = 0;
  const pieces = [...line.matchAll(PIECES)].map(([piece]) => piece);
  for (const [index, piece] of pieces.entries()) {
    depth += piece === '{' ? 1 : piece === '}' ? -1 : 0;
    if (piece === ', ' && depth === 0 && /^[A-Za-z0-9_-]+\??: /.test(pieces[index + 1] ?? '')) {
      parameters.push(one);
      one = '';
    } else one += piece;
  }
  return [...parameters, one];
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const texts = (value: unknown): readonly string[] => list(value).filter((entry) => typeof entry === 'string');
const said = (message: unknown): Said => ({
  role: text(member(message, 'role')) ?? '',
  content: text(member(message, 'content')) ?? '',
});
