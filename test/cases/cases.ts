import { jest } from '@jest/globals';
import {
  type AILogger,
  type AIObserver,
  type AIRun,
  type AIService,
  createAIService,
  type RetryOptions,
} from 'inversify-ai';
import { scriptedModel, type ScriptedModel, type ScriptedTurn } from 'inversify-ai/testing';
import { Events } from '../events.js';

export interface Played {
  readonly model: ScriptedModel;
  readonly service: AIService;
  readonly events: Events;
  readonly logger: { readonly warn: jest.Mock<AILogger['warn']>; readonly error: jest.Mock<AILogger['error']> };
  /** Asks once; the run, or what it rejected with. */
  ask(): Promise<{ readonly run?: AIRun; readonly error?: unknown }>;
}

/** An agent over instances, on a script. */
export function play(
  tools: readonly object[],
  turns: readonly ScriptedTurn[],
  options: {
    maxToolCalls?: number;
    maxAttempts?: number;
    observers?: readonly AIObserver[];
    retry?: RetryOptions;
  } = {},
): Played {
  const model = scriptedModel(turns);
  const events = new Events();
  const logger = { warn: jest.fn<AILogger['warn']>(), error: jest.fn<AILogger['error']>() };
  const service = createAIService({
    model,
    tools,
    logger,
    ...options,
    observers: [...(options.observers ?? []), events],
  });
  return {
    model,
    service,
    events,
    logger,
    ask: () =>
      service.run('q').then(
        (run) => ({ run }),
        (error: unknown) => ({ error }),
      ),
  };
}

/** The text that the model was told for the last call before request `n`. */
export function toldBefore(model: ScriptedModel, n: number): string {
  const { messages } = JSON.parse(model.requests[n]!.body) as { messages: { content: string }[] };
  return (JSON.parse(messages.at(-1)!.content.split('\n')[0]!) as { result: string }).result;
}
