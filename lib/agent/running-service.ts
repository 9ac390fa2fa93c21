import { AIDefinitionError } from '../errors.js';
import { describeKind } from '../declaration.js';
import type { AIRun } from '../run.js';
import type { ChatOptions } from './agent.js';
import type { Answered } from './loop.js';
import { AIService } from './service.js';
import { type AnswerType, type AnswerValue, isAnswerType } from './typed-answer.js';

/** A service whose every question is one run; where it is run, its subclass says. */
export abstract class RunningService extends AIService {
  protected abstract answer(message: string, options: ChatOptions, type?: AnswerType<unknown>): Promise<Answered>;

  override chat(message: string, options?: ChatOptions): Promise<string>;
  override chat<T>(message: string, type: AnswerType<T>, options?: ChatOptions): Promise<AnswerValue<T>>;
  override async chat(message: string, ...rest: readonly unknown[]): Promise<unknown> {
    const [first, second] = rest;
    if (isAnswerType(first)) return (await this.answer(message, second ?? {}, first)).value;
    if (second !== undefined)
      throw new AIDefinitionError(
        `chat: what stands between the message and the options is the type of the answer, a class with rules or a Standard Schema; found ${describeKind(first)}`,
      );
    return (await this.answer(message, first ?? {})).run.text;
  }

  override async run(message: string, options: ChatOptions = {}): Promise<AIRun> {
    if (isAnswerType(options))
      throw new AIDefinitionError(
        'run: gives a text; for a typed answer write chat(message, Type), and an observer’s runEnded for its run',
      );
    return (await this.answer(message, options)).run;
  }
}
