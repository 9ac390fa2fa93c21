import { versionOf } from './folder.js';
import { peer } from './install.js';
import { BASE_URL, type Library } from './library.js';
import { CAP, findOrder, SYSTEM, type ToolArguments } from './work.js';
import { argumentsSchema } from './zod.js';

interface LangChain {
  readonly tool: (execute: (args: ToolArguments) => string, definition: object) => object;
  readonly createAgent: (options: object) => {
    invoke(input: object, options: object): Promise<{ readonly messages: readonly { readonly content: unknown }[] }>;
  };
}
interface LangChainOpenAI {
  readonly ChatOpenAI: new (options: object) => object;
}

/** LangChain's agent. */
export const langchain: Library = {
  name: 'langchain createAgent',
  version: () => versionOf('langchain'),
  packages: ['langchain', '@langchain/core', '@langchain/openai', 'zod'],
  imports: ['langchain', '@langchain/openai'],
  prepare: async (specs, fetch) => {
    const { createAgent, tool } = await peer<LangChain>('langchain');
    const { ChatOpenAI } = await peer<LangChainOpenAI>('@langchain/openai');
    const schema = await argumentsSchema();
    const tools = specs.map((spec) =>
      tool(({ orderId, withLines }) => findOrder(orderId, withLines), { ...spec, schema }),
    );
    const configuration = { baseURL: BASE_URL, fetch };
    const model = new ChatOpenAI({
      model: 'scripted',
      apiKey: 'none',
      useResponsesApi: false,
      maxRetries: 0,
      configuration,
    });
    const agent = createAgent({ model, tools, systemPrompt: SYSTEM });
    return async (question) => {
      const { messages } = await agent.invoke(
        { messages: [{ role: 'user', content: question }] },
        // A turn and its call are two steps of the graph.
        { recursionLimit: 2 * CAP + 1 },
      );
      return String(messages.at(-1)?.content);
    };
  },
};
