import { versionOf } from './folder.js';
import { peer } from './install.js';
import { BASE_URL, type Library } from './library.js';
import type { OpenAIPackage } from './run-tools.js';
import { CAP, findOrder, SYSTEM, type ToolArguments } from './work.js';
import { argumentsSchema } from './zod.js';

interface Agents {
  setTracingDisabled(disabled: boolean): void;
  tool(definition: object): object;
  readonly Agent: new (options: object) => object;
  readonly OpenAIChatCompletionsModel: new (client: object, model: string) => object;
  readonly Runner: new (options: object) => {
    run(agent: object, question: string, options: object): Promise<{ readonly finalOutput?: unknown }>;
  };
}

/** OpenAI's agents. Their traces are off: they would be sent to OpenAI. */
export const openaiAgents: Library = {
  name: '@openai/agents',
  version: () => versionOf('@openai/agents'),
  packages: ['@openai/agents', 'zod'],
  imports: ['@openai/agents'],
  prepare: async (specs, fetch) => {
    const agents = await peer<Agents>('@openai/agents');
    const { default: OpenAI } = await peer<OpenAIPackage>('openai');
    agents.setTracingDisabled(true);
    const client = new OpenAI({ apiKey: 'none', baseURL: BASE_URL, fetch, maxRetries: 0 });
    const parameters = await argumentsSchema();
    const execute = ({ orderId, withLines }: ToolArguments): string => findOrder(orderId, withLines);
    const agent = new agents.Agent({
      name: 'orders',
      instructions: SYSTEM,
      tools: specs.map((spec) => agents.tool({ ...spec, parameters, execute })),
      model: new agents.OpenAIChatCompletionsModel(client, 'scripted'),
    });
    const runner = new agents.Runner({ tracingDisabled: true });
    return async (question) => {
      const { finalOutput } = await runner.run(agent, question, { maxTurns: CAP });
      return String(finalOutput);
    };
  },
};
