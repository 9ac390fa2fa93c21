import { childController, untilAborted } from '../abort.js';
import type { Abortable } from '../cancellation.js';
import { type ModelReply, type ModelRequest, readReply } from '../model/chat-model.js';
import { completeWithRetry } from '../model/retry.js';
import { copyOfMetadata } from '../schema/copy.js';
import type { RunningAgent, RunEnvironment } from './agent.js';
import type { Question } from './question.js';
import { AIMiddleware, type TurnContext, turnThroughMiddleware } from './middleware.js';
import type { ThrownErrors } from '../tool/thrown.js';
import type { AnswerText } from '../wire/answer-text.js';
import type { Observers } from './observer.js';
import type { RunState } from './run-state.js';

/** What the turns of one run have in common. */
interface ProviderTurnsContext {
  readonly agent: RunningAgent;
  readonly question: Question;
  readonly environment: RunEnvironment;
  readonly signal: Abortable;
  readonly state: RunState;
  readonly observers: Observers;
  /** What a middleware throws itself is noted here. */
  readonly thrown: ThrownErrors;
  /** Takes what may be shown of an answer while it is written; none where nobody looks. */
  readonly say: ((turn: number, delta: string) => void) | undefined;
}

/** The model's side of a run's turns: a request goes through the middleware and the retry, and is counted and told of. */
export class ProviderTurns {
  /** What was shown of the turn so far. */
  #said = '';
  readonly #context: ProviderTurnsContext;

  constructor(context: ProviderTurnsContext) {
    this.#context = context;
  }

  /** @param answerText what may be shown of the reply while it is written; nothing where it may not be shown */
  async complete(request: ModelRequest, answerText?: () => AnswerText): Promise<ModelReply> {
    const { agent, environment, signal, state, observers } = this.#context;
    const { settings } = agent;
    const turn = state.turns + 1;
    const begun = performance.now();
    const before = state.attempts;
    observers.tell('turnStarted', { turn, tools: request.tools });
    this.#said = '';
    const reply = await this.#reply(
      frozen(Object.keys(settings).length === 0 ? request : { ...request, settings }),
      turn,
      answerText,
    );
    signal.throwIfAborted();
    state.replied(reply.usage);
    const { text, refusal, calls, finish, usage, requestId } = reply;
    observers.tell('modelReplied', {
      turn,
      model: environment.model.name,
      text,
      ...(refusal !== undefined && { refusal }),
      ...(calls !== undefined && { calls: Object.freeze(calls.map((call) => Object.freeze({ ...call }))) }),
      finish,
      usage: Object.freeze({ ...usage }),
      attempts: state.attempts - before,
      ...(requestId !== undefined && { requestId }),
      durationMs: performance.now() - begun,
    });
    // An observer may have ended the run just now.
    signal.throwIfAborted();
    return reply;
  }

  /** Shows what is left of a text of the last turn: all of it where the model was not asked piece by piece. */
  sayRest(text: string): void {
    if (text.startsWith(this.#said)) this.#say(text.slice(this.#said.length), this.#context.state.turns);
  }

  /** Shows a text that no model wrote. */
  sayInPlace(text: string): void {
    const { say, state } = this.#context;
    if (text !== '') say?.(this.#said === '' ? state.turns : state.turns + 1, text);
  }

  #say(text: string, turn: number): void {
    if (text === '') return;
    this.#said += text;
    this.#context.say?.(turn, text);
  }

  #reply(request: ModelRequest, turn: number, answerText?: () => AnswerText): Promise<ModelReply> {
    const { middleware } = this.#context.environment;
    if (middleware.length === 0) return this.#send(request, turn, this.#context.signal, answerText);
    // What a middleware around turns has yet to see, nobody is shown.
    return this.#throughMiddleware(request, turn, middleware.some(standsAroundTurns) ? undefined : answerText);
  }

  async #throughMiddleware(request: ModelRequest, turn: number, shown?: () => AnswerText): Promise<ModelReply> {
    const { agent, question, environment, signal, state } = this.#context;
    const { model, middleware } = environment;
    // The turn's own: what a middleware leaves under way when it replies in the model's place ends with the turn.
    const { controller, stop } = childController(signal);
    const context: TurnContext = Object.freeze({
      runId: state.runId,
      site: agent.site,
      turn,
      request,
      signal: controller.signal,
      question: question.text,
      metadata: copyOfMetadata(question.metadata),
      transcript: Object.freeze([...state.transcript]),
    });
    try {
      const reply = turnThroughMiddleware(
        middleware,
        context,
        () => this.#send(request, turn, controller, shown),
        (error, by) => {
          this.#context.thrown.note(error, by);
        },
      );
      return readReply(model, await untilAborted(signal, reply));
    } finally {
      stop();
      controller.abort(new Error('the turn is over'));
    }
  }

  #send(
    request: ModelRequest,
    turn: number,
    signal: Abortable,
    answerText: (() => AnswerText) | undefined,
  ): Promise<ModelReply> {
    const { agent, environment, state, observers, say } = this.#context;
    let scanner: AnswerText | undefined;
    return completeWithRetry(environment.model, request, {
      signal,
      maxAttempts: agent.maxAttempts,
      retry: environment.retry,
      sending: () => {
        state.sent();
      },
      retrying: (retrying) => {
        observers.tell('modelRetried', { turn, ...retrying });
      },
      ...(say !== undefined &&
        answerText !== undefined && {
          shown: {
            begin: () => {
              scanner = answerText();
            },
            take: (delta) => {
              if (delta.type === 'text') this.#say(scanner?.push(delta.text) ?? '', turn);
            },
            hasShown: () => this.#said !== '',
          },
        }),
    });
  }
}

/** Whether a middleware does anything with a turn. */
function standsAroundTurns(middleware: AIMiddleware): boolean {
  const own: unknown = Reflect.get(middleware, 'turn');
  return typeof own === 'function' && own !== Reflect.get(AIMiddleware.prototype, 'turn');
}

/** Nobody on its way edits a request in passing: what is in it that others share is frozen already. */
function frozen(request: ModelRequest): ModelRequest {
  for (const message of request.messages) Object.freeze(message);
  Object.freeze(request.messages);
  Object.freeze(request.tools);
  Object.freeze(request.responseSchema);
  return Object.freeze(request);
}
