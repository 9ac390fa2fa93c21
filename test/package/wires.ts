/** Wires, tool choice, streams, profiles. */
import 'reflect-metadata';
import {
  createAIService,
  defineTool,
  openAI,
  type AIEvent,
  type AIRun,
  type AIService,
  type ChatModel,
} from 'inversify-ai';

const ping = defineTool({ name: 'ping', description: 'Answers pong', parameters: {}, execute: () => 'pong' });

export const models: readonly ChatModel[] = [
  openAI({ model: 'm', apiKey: 'k', api: 'responses' }),
  openAI({ model: 'm', baseURL: 'http://127.0.0.1:11434/v1', profile: 'ollama' }),
  openAI({
    model: 'm',
    apiKey: 'k',
    profile: {
      schema: 'accepted',
      wires: ['envelope', 'native'],
      maxTokensField: 'max_tokens',
      extraBody: { provider: { require_parameters: true } },
    },
  }),
];

export const native: AIService = createAIService({
  model: models[0]!,
  tools: [ping],
  wire: 'native',
  toolChoice: 'required',
  parallelToolCalls: true,
  maxParallelCalls: 4,
});
export const union: AIService = createAIService({ model: models[0]!, tools: [ping], wire: 'union' });

export async function printed(service: AIService): Promise<AIRun | undefined> {
  let run: AIRun | undefined;
  for await (const event of service.stream('ping?', {
    signal: AbortSignal.timeout(1_000),
    toolChoice: 'ping',
  }) as AsyncIterable<AIEvent>) {
    // eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- as an application would write it
    switch (event.type) {
      case 'text':
        process.stdout.write(event.delta);
        break;
      case 'tool-started':
        console.log(event.tool, event.callId);
        break;
      case 'tool-ended':
        console.log(event.tool, event.outcome);
        break;
      case 'run-ended':
        run = event.run;
        break;
    }
  }
  return run;
}
