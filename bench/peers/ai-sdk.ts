import { versionOf } from './folder.js';
import { peer } from './install.js';
import { BASE_URL, type Library } from './library.js';
import { CAP, findOrder, SYSTEM, type ToolArguments } from './work.js';
import { argumentsSchema } from './zod.js';

interface AI {
  readonly tool: (definition: object) => object;
  readonly stepCountIs: (count: number) => unknown;
  readonly generateText: (options: object) => Promise<{ readonly text: string }>;
}
interface Provider {
  readonly createOpenAI: (options: object) => { chat(model: string): object };
}

/** Vercel's `ai`. */
export const aiSdk: Library = {
  name: 'ai generateText',
  version: () => versionOf('ai'),
  packages: ['ai', '@ai-sdk/openai', 'zod'],
  imports: ['ai', '@ai-sdk/openai'],
  prepare: async (specs, fetch) => {
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
    const { generateText, stepCountIs, tool } = await peer<AI>('ai');
    const { createOpenAI } = await peer<Provider>('@ai-sdk/openai');
    const model = createOpenAI({ apiKey: 'none', baseURL: BASE_URL, fetch }).chat('scripted');
    const inputSchema = await argumentsSchema();
    const execute = ({ orderId, withLines }: ToolArguments): string => findOrder(orderId, withLines);
    const tools = Object.fromEntries(
      specs.map(({ name, description }) => [name, tool({ description, inputSchema, execute })]),
    );
    return async (prompt) => {
      const options = { model, system: SYSTEM, prompt, tools, maxRetries: 0, stopWhen: stepCountIs(CAP) };
      return (await generateText(options)).text;
    };
  },
};
