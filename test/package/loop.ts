/** Limits, typed answers, observers, middleware, what a run tells. */
import 'reflect-metadata';
import { Container, injectable } from 'inversify';
import { IsString } from 'class-validator';
import OpenAI from 'openai';
import { z } from 'zod';
import {
  AILimitError,
  AIMiddleware,
  AIProviderError,
  AIResponseError,
  ArgumentGuard,
  Recorder,
  createAIService,
  defineTool,
  installAI,
  openAI,
  refuse,
  type AIRun,
  type AIService,
  type AIUsage,
  type ToolCallRecord,
  type ToolInvocation,
  type ToolOutcome,
} from 'inversify-ai';

export class Delivery {
  @IsString() carrier!: string;
}

export async function asked(service: AIService): Promise<AIRun> {
  const typed: Delivery = await service.chat('Where is order 42?', Delivery);
  const parsed: { carrier: string } = await service.chat('And 7?', z.object({ carrier: z.string() }), {
    signal: AbortSignal.timeout(1_000),
    metadata: { ticket: 'T-1' },
  });
  const run: AIRun = await service.run(`${typed.carrier} ${parsed.carrier}?`, { maxToolCalls: 2 });
  const stop: 'answer' | 'cap' = run.stop;
  const usage: AIUsage = run.usage;
  const record: ToolCallRecord | undefined = run.calls[0];
  return {
    ...run,
    text: [
      stop,
      run.runId,
      run.text,
      run.turns,
      usage.inputTokens,
      usage.outputTokens,
      usage.cachedInputTokens,
      usage.reasoningTokens,
      usage.modelCalls,
      record?.tool,
      record?.callId,
      record?.outcome,
      record?.durationMs,
    ].join(' '),
  };
}

@injectable()
export class BusinessHours extends AIMiddleware {
  override async tool(
    call: ToolInvocation,
    next: (edited?: { arguments: Record<string, unknown> }) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    if (call.effect === 'mutating' && new Date().getUTCHours() > 17) return refuse('The desk is closed.');
    return next();
  }
}

export function configured(container: Container): void {
  container.bind(AIMiddleware).to(BusinessHours);
  container.bind(AIMiddleware).toConstantValue(new ArgumentGuard({ deny: [/drop\s+table/i] }));
  container.bind(AIMiddleware).toConstantValue(new Recorder({ file: 'run.json', mode: 'record' }));
  installAI(container, {
    model: openAI({
      model: 'm',
      apiKey: 'k',
      timeoutMs: 60_000,
      headers: { 'x-team': 'desk' },
      fetch: globalThis.fetch,
    }),
    maxToolCalls: 5,
    maxAttempts: 3,
    retry: { minDelayMs: 500, maxDelayMs: 20_000, maxRetryAfterMs: 60_000, deadlineMs: 180_000 },
    limits: { deadlineMs: 120_000, maxTokens: 50_000, maxTurns: 12, perTool: { OrderTools_refundOrder: 1 } },
    prices: { inputPerMillion: 1, cachedInputPerMillion: 0.1, outputPerMillion: 4 },
  });
}

export const outside: AIService = createAIService({
  model: openAI({ model: 'm', client: new OpenAI({ apiKey: 'k' }) }),
  system: 'You help.',
  maxToolCalls: 2,
  limits: { deadlineMs: 1_000 },
  settings: { maxOutputTokens: 500, temperature: 0 },
  tools: [
    defineTool({
      name: 'now',
      description: 'The time',
      parameters: {},
      execute: async (_: object, context) => {
        context.signal.throwIfAborted();
        return new Date();
      },
    }),
  ],
});

export function told(error: unknown): string {
  if (error instanceof AIResponseError) {
    const code: 'truncated' | 'filtered' | 'refused' | 'malformed' | 'empty' = error.code;
    return `${code} ${error.text} ${error.run?.calls.length}`;
  }
  if (error instanceof AILimitError) {
    const code: 'deadline' | 'tokens' | 'turns' = error.code;
    return `${code} ${error.run?.turns}`;
  }
  if (error instanceof AIProviderError)
    return `${error.status} ${error.requestId} ${error.attempts} ${error.elapsedMs} ${error.run?.calls.length}`;
  return String(error);
}
