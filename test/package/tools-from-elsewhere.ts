/** Functions, toolsets, the registry, core tools, agents as tools, MCP. */
import 'reflect-metadata';
import { Container } from 'inversify';
import { z } from 'zod';
import {
  AI,
  AIService,
  AITool,
  AIToolSourceError,
  Mutating,
  ReadOnly,
  ToolRegistry,
  createAIService,
  defineTool,
  embeddedModel,
  installAI,
  toolset,
  type AIHandle,
  type Tool,
  type ToolCallContext,
  type Toolset,
} from 'inversify-ai';
import { mcpServer, mcpTools } from 'inversify-ai/mcp';
import { httpGet, now } from 'inversify-ai/tools';
import { toolContract } from 'inversify-ai/testing';

export const searchKB = defineTool({
  name: 'searchKB',
  description: 'Searches the knowledge base',
  group: ReadOnly,
  parameters: {
    query: { type: 'string', description: 'What to look for' },
    maxResults: { type: 'integer', description: 'How many at most', optional: true },
  },
  execute: (args: { query: string; maxResults?: number | undefined }, context: ToolCallContext) =>
    `${args.query} ${args.maxResults ?? 5} ${context.callId}`,
});
export const typed = defineTool({
  name: 'lookup',
  description: 'Looks up a customer',
  group: [ReadOnly],
  parameters: z.object({ id: z.string() }),
  execute: async ({ id }) => ({ id }),
});

export class Counter implements Tool {
  readonly name = 'count';
  readonly description = 'Counts up';
  readonly groups = [Mutating];
  readonly parameters = { by: { type: 'integer', description: 'By how much' } } as const;
  #sum = 0;
  execute(args: { by: number }): number {
    return (this.#sum += args.by);
  }
}

class WeatherTools {
  @ReadOnly @AITool('The weather here') getWeather(): string {
    return 'sun';
  }
}

export const crm: Toolset = toolset(searchKB, typed, WeatherTools)
  .only(ReadOnly)
  .except('lookup')
  .rename({ searchKB: 'search' })
  .prefix('crm')
  .describe({ crm_search: 'Searches the CRM', 'crm_search.query': 'Words' });

export class Desk {
  @AI({
    tools: [
      'lookup@crm',
      'now',
      WeatherTools,
      typed,
      crm,
      mcpTools(
        {
          url: 'http://127.0.0.1:9/mcp',
          headers: (get) => ({ 'x-user': get<{ email: string }>('user').email, authorization: 'Bearer x' }),
        },
        {
          server: 'kb',
          tools: ['find', 'save'],
          groups: { find: ReadOnly },
          trustAnnotations: false,
          trustErrors: false,
          timeoutMs: 10_000,
          required: false,
        },
      ),
    ],
  })
  readonly agent!: AIService;
}

export function registered(container: Container): ToolRegistry {
  const ai: AIHandle = installAI(container, { model: embeddedModel() });
  const registry: ToolRegistry = ai.registry;
  registry.register(typed, { module: 'crm' });
  registry.register(now({ timeZone: 'UTC', clock: () => new Date(0) }));
  registry.register(httpGet({ hosts: ['docs.example.test'], allowHttp: false, maxBytes: 100_000, timeoutMs: 5_000 }), {
    replace: true,
  });
  registry.scan(WeatherTools, 'weather'); // getWeather@weather, offered as weather_getWeather
  const found: Tool = registry.get('lookup@crm');
  const keys: readonly string[] = registry
    .list()
    .map((entry) => `${entry.key} ${entry.name} ${entry.module ?? ''} ${entry.description}`);
  registry.unregister('lookup@crm');
  registry.unregisterModule('weather');
  return found.name && keys.length ? registry : ai.registry;
}

export async function served(ai: AIHandle): Promise<void> {
  const helper = createAIService({ model: embeddedModel(), tools: [new Counter()] }).asTool({
    name: 'helper',
    description: 'Counts for you',
    maxDepth: 3,
  });
  await toolContract(helper, { valid: [{ task: 'count' }], invalid: [{}] });
  const server = mcpServer(ai, crm, {
    name: 'crm',
    version: '1.0.0',
    authenticate: async (headers) => (container) => {
      container.bind('user').toConstantValue(headers['authorization']);
    },
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  await server.close();
  throw new AIToolSourceError('kb', 'is down');
}
