import { answerAfter, resultOf } from './work.js';

const FIRST_ORDER = 42;

interface Body {
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly response_format?: {
    readonly json_schema: { readonly schema: { readonly properties: { readonly next?: unknown } } };
  };
}

/**
 * The scripted server: Chat Completions behind a fetch, without a socket. How many calls it makes is said in the question;
 * it insists that each result came back, and speaks the wire of the request.
 */
export async function scriptedFetch(_url: unknown, init?: RequestInit): Promise<Response> {
  const sent = init?.body;
  const text = typeof sent === 'string' ? sent : await new Response(sent).text();
  return new Response(JSON.stringify(completion(text)), {
    status: 200,
    headers: { 'content-type': 'application/json' },
  });
}

let served = 0;

/** How many requests there were since this was last asked. */
export function servedRequests(): number {
  const requests = served;
  served = 0;
  return requests;
}

function completion(text: string): object {
  const body = JSON.parse(text) as Body;
  const calls = Number(/Look up (\d+) orders/.exec(text)?.[1]);
  const made = body.messages.filter(({ role }) => role === 'assistant').length;
  if (made > 0 && !text.includes(resultOf(FIRST_ORDER + made - 1)))
    throw new Error(`the result of call ${made} did not come back`);
  served++;
  return {
    id: `chatcmpl-${served}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'scripted',
    choices: [{ index: 0, logprobs: null, ...choice(body, made < calls ? made : undefined, calls) }],
    usage: { prompt_tokens: 120, completion_tokens: 20, total_tokens: 140 },
  };
}

/** @param next which call comes next; none where it is time for the answer */
function choice(body: Body, next: number | undefined, calls: number): object {
  const stop = (content: string): object => ({
    finish_reason: 'stop',
    message: { role: 'assistant', content, refusal: null },
  });
  const structured = body.response_format?.json_schema.schema;
  if (structured !== undefined) {
    const write = structured.properties.next === undefined ? envelope : union;
    return stop(JSON.stringify(write(next, answerAfter(calls))));
  }
  if (next === undefined) return stop(answerAfter(calls));
  const name = body.tools?.[0]?.function.name;
  const call = { id: `call_${served}`, type: 'function', function: { name, arguments: JSON.stringify(args(next)) } };
  return {
    finish_reason: 'tool_calls',
    message: { role: 'assistant', content: null, refusal: null, tool_calls: [call] },
  };
}

const args = (call: number): object => ({ orderId: FIRST_ORDER + call, withLines: true });

/** On the structured wires the names are in a schema, each in its own place; all sets have this one. */
const TOOL = 'find_order_0';

function envelope(next: number | undefined, answer: string): object {
  if (next === undefined) return { tool: 'ANSWER', arguments: [], answer };
  const pairs = Object.entries(args(next)).map(([name, value]) => ({ name, value: String(value) }));
  return { tool: TOOL, arguments: pairs, answer: '' };
}

function union(next: number | undefined, answer: string): object {
  return { next: next === undefined ? { tool: 'ANSWER', answer } : { tool: TOOL, arguments: args(next) } };
}
