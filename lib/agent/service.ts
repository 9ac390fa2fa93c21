import type { AILogger } from '../logger.js';
import type { ChatModel } from '../model/chat-model.js';
import type { AIRun } from '../run.js';
import type { ModelPrices, RetryOptions, RunOptions } from '../run-options.js';
import type { ToolGroup } from '../tool/group.js';
import type { Tool } from '../tool/tool.js';
import type { AgentToolOptions } from './agent-tool.js';
import type { ChatOptions } from './chat-options.js';
import type { AIEvent } from './event-stream.js';
import type { AIMiddleware } from './middleware.js';
import type { AIObserver } from './observer.js';
import type { AnswerType, AnswerValue } from './typed-answer.js';

/** What narrows the tools of `withTools`. */
export interface WithToolsOptions {
  /** Only the tools in one of these groups. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
}

/**
 * An agent, as it is injected: asks the model, lets it call this agent's tools, gives back the answer. It keeps no
 * history; each question is a run of its own, and any number may run at once.
 *
 * `chat` and `run` reject with an `AIError` (its `run` tells how far it came), or with the signal's reason, unchanged.
 */
export abstract class AIService {
  /** The answer. */
  abstract chat(message: string, options?: ChatOptions): Promise<string>;
  /**
   * The answer as a value: an instance of a class with class-validator's rules, or what a Standard Schema makes. The
   * model answers in a turn of its own, after the calls; what does not fit is told to it once, and then rejects with an
   * `AIResponseError`. No call is made again for it.
   */
  abstract chat<T>(message: string, type: AnswerType<T>, options?: ChatOptions): Promise<AnswerValue<T>>;
  /** The answer with all that led to it: calls, usage, transcript. */
  abstract run(message: string, options?: ChatOptions): Promise<AIRun>;
  /**
   * The run while it goes on: its events, the answer’s text as it is written, and the finished run at the end. It begins
   * when the first is asked for, in the scope that was there when `stream` was called; leaving the loop aborts it. A
   * failure rejects `next()`. Text is shown before the reply is whole: where a run fails or goes on, what was shown of
   * that turn is no answer.
   */
  abstract stream(message: string, options?: ChatOptions): AsyncIterable<AIEvent>;
  /**
   * This agent as a tool of another: it is given a `task` and answers in text. It runs in the caller's scope, within what
   * is left of the caller's tokens, turns and time, and what it costs is a part of what the caller's run costs. It only
   * looks (`ReadOnly`) where all of its tools do. An agent that would be asked within itself, or deeper than `maxDepth`,
   * is not: the model is told so.
   * Throws an `AIDefinitionError` for a name or a description that no tool may have.
   */
  abstract asTool(options: AgentToolOptions): Tool;
  /** A new service with these tools in place of this one's; this one is not changed. */
  abstract withTools(tools: readonly object[], options?: WithToolsOptions): AIService;
}

/** What `createAIService` takes. */
export interface AIServiceOptions extends RunOptions {
  /** The model that is asked. */
  readonly model: ChatModel;
  /** Instances of decorated classes and `Tool`s. Without any, the service is a plain model. */
  readonly tools?: readonly object[];
  /** Only the tools in one of these groups. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
  /** How a provider call is repeated. */
  readonly retry?: RetryOptions;
  /** What tokens cost: gives `usage.cost`. Default: no cost. */
  readonly prices?: ModelPrices;
  /** Told what happens in every run. Default: none. */
  readonly observers?: readonly AIObserver[];
  /** Around every turn and every call, the first outermost. Default: none. */
  readonly middleware?: readonly AIMiddleware[];
  /** Default: the console. */
  readonly logger?: AILogger;
  /** Whether an exception means "not yours": the model is then told what it is told of a thing that does not exist. */
  readonly isDenial?: (error: unknown) => boolean;
}
