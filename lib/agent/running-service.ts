import { AIDefinitionError } from '../errors.js';
import { describeKind } from '../declaration.js';
import type { AIRun } from '../run.js';
import type { AgentDefinition, Asked } from './agent.js';
import { agentTool, type AgentToolOptions } from './agent-tool.js';
import type { ChatOptions } from './chat-options.js';
import { type AIEvent, EventStream } from './event-stream.js';
import type { Answered } from './question.js';
import type { Tool } from '../tool/tool.js';
import { AIService } from './service.js';
import { type AnswerType, type AnswerValue, isAnswerType } from './typed-answer.js';

/** Answers one question, in the place that it was taken in. */
export type Answer = (message: string, options: ChatOptions, asked?: Asked) => Promise<Answered>;

/** A service whose every question is one run; where it is run, its subclass says. */
export abstract class RunningService extends AIService {
  /** Takes the place where a question is answered, now. Throws where there is none. */
  protected abstract place(): Answer;

  /** What it is the service of. */
  protected abstract get agent(): AgentDefinition;

  override chat(message: string, options?: ChatOptions): Promise<string>;
  override chat<T>(message: string, type: AnswerType<T>, options?: ChatOptions): Promise<AnswerValue<T>>;
  override async chat(message: string, ...rest: readonly unknown[]): Promise<unknown> {
    const [first, second] = rest;
    if (isAnswerType(first)) return (await this.place()(message, second ?? {}, { type: first })).value;
    if (second !== undefined)
      throw new AIDefinitionError(
        `chat: what stands between the message and the options is the type of the answer, a class with rules or a Standard Schema; found ${describeKind(first)}`,
      );
    return (await this.place()(message, first ?? {})).run.text;
  }

  override async run(message: string, options: ChatOptions = {}): Promise<AIRun> {
    refuseType('run', options);
    return (await this.place()(message, options)).run;
  }

  override stream(message: string, options: ChatOptions = {}): AsyncIterable<AIEvent> {
    let answer: Answer;
    try {
      refuseType('stream', options);
      answer = this.place();
    } catch (error) {
      return new EventStream(async () => {
        await Promise.resolve();
        throw error;
      });
    }
    return new EventStream((watch) => answer(message, options, { watch }));
  }

  override asTool(options: AgentToolOptions): Tool {
    return agentTool(this.agent, options, (task, signal, charged) => this.place()(task, { signal }, { charged }));
  }
}

function refuseType(method: string, options: unknown): void {
  if (isAnswerType(options))
    throw new AIDefinitionError(
      `${method}: gives a text; for a typed answer write chat(message, Type), and an observer’s runEnded for its run`,
    );
}
