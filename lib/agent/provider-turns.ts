import { onAbort, untilAborted } from '../abort.js';
import { type ModelReply, type ModelRequest, readReply } from '../model/chat-model.js';
import { completeWithRetry } from '../model/retry.js';
import { copyOfMetadata } from '../schema/copy.js';
import type { AgentDefinition, RunEnvironment } from './agent.js';
import type { Question } from './loop.js';
import { type TurnContext, turnThroughMiddleware } from './middleware.js';
import type { ThrownErrors } from '../tool/thrown.js';
import type { Observers } from './observer.js';
import type { RunState } from './run-state.js';

/** What the turns of one run have in common. */
interface ProviderTurnsContext {
  readonly agent: AgentDefinition;
  readonly question: Question;
  readonly environment: RunEnvironment;
  readonly signal: AbortSignal;
  readonly state: RunState;
  readonly observers: Observers;
  /** What a middleware throws itself is noted here. */
  readonly thrown: ThrownErrors;
}

/** The model's side of a run's turns: a request goes through the middleware and the retry, and is counted and told of. */
export class ProviderTurns {
  readonly #context: ProviderTurnsContext;

  constructor(context: ProviderTurnsContext) {
    this.#context = context;
  }

  async complete(request: ModelRequest): Promise<ModelReply> {
    const { agent, environment, signal, state, observers } = this.#context;
    const { settings } = agent;
    const turn = state.turns + 1;
    const begun = performance.now();
    const before = state.attempts;
    observers.tell('turnStarted', { turn, tools: request.tools });
    const reply = await this.#throughMiddleware(
      frozen(Object.keys(settings).length === 0 ? request : { ...request, settings }),
      turn,
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

  async #throughMiddleware(request: ModelRequest, turn: number): Promise<ModelReply> {
    const { agent, question, environment, signal, state } = this.#context;
    const { model, middleware } = environment;
    if (middleware.length === 0) return this.#send(request, turn, signal);
    // The turn's own: what a middleware leaves under way when it replies in the model's place ends with the turn.
    const controller = new AbortController();
    const stop = onAbort(signal, () => {
      controller.abort(signal.reason);
    });
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
        () => this.#send(request, turn, controller.signal),
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

  async #send(request: ModelRequest, turn: number, signal: AbortSignal): Promise<ModelReply> {
    const { agent, environment, state, observers } = this.#context;
    return completeWithRetry(environment.model, request, {
      signal,
      maxAttempts: agent.maxAttempts,
      retry: environment.retry,
      sending: () => state.attempts++,
      retrying: (retrying) => {
        observers.tell('modelRetried', { turn, ...retrying });
      },
    });
  }
}

/** Nobody on its way edits a request in passing: what is in it that others share is frozen already. */
function frozen(request: ModelRequest): ModelRequest {
  for (const message of request.messages) Object.freeze(message);
  Object.freeze(request.messages);
  Object.freeze(request.tools);
  Object.freeze(request.responseSchema);
  return Object.freeze(request);
}
