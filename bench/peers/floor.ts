import { type Ask, BASE_URL, type Library } from './library.js';
import { CAP, findOrder, ORDER_ID, SYSTEM, type ToolArguments, type ToolSpec, WITH_LINES } from './work.js';

interface Message {
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

interface Completion {
  readonly choices: readonly { readonly message: Message }[];
}

/** A loop written by hand for these tools: it checks the arguments, and does nothing else that can be left out. */
export function handWritten(specs: readonly ToolSpec[], send: (body: object) => PromiseLike<unknown>): Ask {
  const parameters = {
    type: 'object',
    properties: {
      orderId: { type: 'integer', description: ORDER_ID },
      withLines: { type: 'boolean', description: WITH_LINES },
    },
    required: ['orderId', 'withLines'],
    additionalProperties: false,
  };
  const tools = specs.map(({ name, description }) => ({
    type: 'function',
    function: { name, description, parameters, strict: true },
  }));
  const known = new Map(specs.map(({ name }) => [name, findOrder]));
  const run = (name: string, text: string): string => {
    const { orderId, withLines } = JSON.parse(text) as Partial<ToolArguments>;
    if (!Number.isInteger(orderId) || typeof withLines !== 'boolean') return 'wrong arguments';
    return known.get(name)?.(orderId as number, withLines) ?? 'unknown tool';
  };
  return async (question) => {
    const messages: object[] = [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: question },
    ];
    for (let turn = 0; turn <= CAP; turn++) {
      const { choices } = (await send({ model: 'scripted', messages, tools })) as Completion;
      const message = choices[0]?.message;
      if (message === undefined) throw new Error('no message');
      messages.push(message);
      if (message.tool_calls === undefined) return message.content ?? '';
      for (const { id, function: called } of message.tool_calls)
        messages.push({ role: 'tool', tool_call_id: id, content: run(called.name, called.arguments) });
    }
    throw new Error('no answer');
  };
}

/** Sends a body with nothing between. */
export async function post(fetch: typeof globalThis.fetch, body: object): Promise<unknown> {
  const response = await fetch(`${BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify(body),
  });
  return response.json();
}

export const floor: Library = {
  name: 'floor',
  version: () => '',
  packages: [],
  imports: [],
  prepare: (specs, fetch) => Promise.resolve(handWritten(specs, (body) => post(fetch, body))),
};
