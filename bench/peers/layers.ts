/**
 * Where the time of a step goes: the same work with one layer more each time, in one process and in turns, on the native
 * wire. `npm run bench:layers`
 */
import OpenAI from 'openai';
import {
  ChatModel,
  createAIService,
  defineTool,
  type ModelReply,
  type ModelRequest,
  openAI,
  ReadOnly,
} from 'inversify-ai';
import { floor, handWritten, post } from './floor.js';
import { BASE_URL, type Library } from './library.js';
import { measure } from './measure.js';
import { ours } from './ours.js';
import { table } from './table.js';
import { CAP, findOrder, ORDER_ID, SYSTEM, type ToolArguments, WITH_LINES } from './work.js';

const layer = (name: string, prepare: Library['prepare']): Library => ({
  name,
  version: () => '',
  packages: [],
  imports: [],
  prepare,
});

/** The floor's loop on the client in place of a fetch. */
const onClient = layer('floor on the openai client', (specs, fetch) => {
  const client = new OpenAI({ apiKey: 'none', baseURL: BASE_URL, fetch, maxRetries: 0, logLevel: 'off' });
  const send = (body: object): PromiseLike<unknown> =>
    client.chat.completions.create(body as OpenAI.ChatCompletionCreateParams, { signal: new AbortController().signal });
  return Promise.resolve(handWritten(specs, send));
});

/** A model without a client: the loop alone. */
class BareModel extends ChatModel {
  readonly name = 'bare';
  readonly profile = { schema: 'enforced', wires: ['native'] } as const;

  constructor(private readonly fetch: typeof globalThis.fetch) {
    super();
  }

  override async complete({ messages, functions = [] }: ModelRequest): Promise<ModelReply> {
    const body = {
      model: this.name,
      messages: messages.map((message) =>
        message.role === 'tool'
          ? { role: 'tool', tool_call_id: message.callId, content: message.content }
          : message.role === 'assistant'
            ? {
                role: 'assistant',
                content: message.content,
                tool_calls: message.calls?.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
              }
            : message,
      ),
      tools: functions.map((called) => ({ type: 'function', function: called })),
    };
    const { choices } = (await post(this.fetch, body)) as OpenAI.ChatCompletion;
    const { message, finish_reason: finish = 'stop' } = choices[0] ?? {};
    const calls = message?.tool_calls?.flatMap((call) =>
      call.type === 'function' ? [{ id: call.id, ...call.function }] : [],
    );
    return {
      text: message?.content ?? '',
      finish: finish === 'tool_calls' ? 'tool_calls' : 'stop',
      usage: { inputTokens: 120, outputTokens: 20, cachedInputTokens: 0, reasoningTokens: 0 },
      ...(calls !== undefined && { calls }),
    };
  }
}

/** The loop without a container. */
const alone = (name: string, modelOf: (fetch: typeof globalThis.fetch) => ChatModel): Library =>
  layer(name, (specs, fetch) => {
    const tools = specs.map((spec) =>
      defineTool({
        ...spec,
        group: ReadOnly,
        parameters: {
          orderId: { type: 'integer', description: ORDER_ID },
          withLines: { type: 'boolean', description: WITH_LINES },
        },
        execute: ({ orderId, withLines }: ToolArguments) => findOrder(orderId, withLines),
      }),
    );
    const ai = createAIService({ model: modelOf(fetch), system: SYSTEM, wire: 'native', maxToolCalls: CAP, tools });
    return Promise.resolve((question) => ai.chat(question));
  });

const LAYERS = [
  floor,
  onClient,
  alone('our loop, without client and container', (fetch) => new BareModel(fetch)),
  alone('our loop and the openai client', (fetch) =>
    openAI({ model: 'scripted', apiKey: 'none', baseURL: BASE_URL, fetch, profile: 'openai' }),
  ),
  { ...ours('native'), name: 'our loop, the client and a scope' },
];

const measured = await measure(LAYERS, { warmUp: 150, rounds: 40, batch: 15, limitMs: 60_000 });
console.log(
  table([
    ['layer', 'run of 2, µs', 'step, µs', 'step, 26 tools'],
    ...measured.map(({ library, run2Us, stepUs, step26Us, p10 }) => [
      library.name,
      `${run2Us.toFixed(0)} (${p10.run2Us.toFixed(0)})`,
      `${stepUs.toFixed(0)} (${p10.stepUs.toFixed(0)})`,
      `${step26Us.toFixed(0)} (${p10.step26Us.toFixed(0)})`,
    ]),
  ]),
);
