import { versionOf } from './folder.js';
import { peer } from './install.js';
import { BASE_URL, type Library } from './library.js';
import { CAP, findOrder, SYSTEM, type ToolArguments } from './work.js';
import { argumentsSchema } from './zod.js';

export interface OpenAIClient {
  readonly chat: {
    readonly completions: {
      runTools(body: object, options: object): { finalContent(): Promise<string | null> };
    };
  };
}
export interface OpenAIPackage {
  readonly default: new (options: object) => OpenAIClient;
}
interface Helpers {
  readonly zodFunction: (tool: object) => object;
}

/** The loop that comes with openai's client. */
export const runTools: Library = {
  name: 'openai runTools',
  version: () => versionOf('openai'),
  packages: ['openai', 'zod'],
  imports: ['openai', 'openai/helpers/zod'],
  prepare: async (specs, fetch) => {
    const { default: OpenAI } = await peer<OpenAIPackage>('openai');
    const { zodFunction } = await peer<Helpers>('openai/helpers/zod');
    const client = new OpenAI({ apiKey: 'none', baseURL: BASE_URL, fetch, maxRetries: 0 });
    const parameters = await argumentsSchema();
    const tools = specs.map((spec) =>
      zodFunction({
        ...spec,
        parameters,
        function: ({ orderId, withLines }: ToolArguments) => findOrder(orderId, withLines),
      }),
    );
    return async (question) => {
      const messages = [
        { role: 'system', content: SYSTEM },
        { role: 'user', content: question },
      ];
      const runner = client.chat.completions.runTools(
        { model: 'scripted', messages, tools },
        { maxChatCompletions: CAP },
      );
      return (await runner.finalContent()) ?? '';
    };
  },
};
