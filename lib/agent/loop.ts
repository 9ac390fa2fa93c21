import { untilAborted } from '../abort.js';
import type { Abortable } from '../cancellation.js';
import { type AIError, type AILimitError, isErrorOf } from '../errors.js';
import type { AIRun, TranscriptEntry } from '../run.js';
import type { Dispatcher } from '../tool/dispatcher.js';
import { ThrownErrors } from '../tool/thrown.js';
import { CompiledToolset } from '../tool/compiled-toolset.js';
import type { SourceChange } from '../tool/late-tools.js';
import { decodeTyped } from '../wire/reply.js';
import type { Decoded, Failure } from '../wire/wire.js';
import type { RunEnvironment, RunningAgent } from './agent.js';
import type { Deadline } from './deadline.js';
import { offerOf, wantsCall } from './offer.js';
import { tokenLimit, turnLimit } from './limits.js';
import { runIdentity } from './nesting.js';
import { Observers } from './observer.js';
import { ProviderTurns } from './provider-turns.js';
import { type Answered, type Question, type RunClock, watched } from './question.js';
import { responseError, uncalled, unchosen, uncheckedAnswer, unfitting, unoffered } from './response-failure.js';
import { rejection } from './rejection.js';
import { runDispatcher } from './run-dispatcher.js';
import { RunState } from './run-state.js';
import { TurnCalls } from './turn-calls.js';
import type { TypedAnswer } from './typed-answer.js';

/**
 * One run: the loop, the only one. It repeats a turn until the model answers: encode, one provider call, decode, and
 * each call to the dispatcher. All state of a run is here, so that agent, toolset and service can be shared.
 */
export class Run {
  readonly #agent: RunningAgent;
  readonly #question: Question;
  readonly #environment: RunEnvironment;
  readonly #signal: Abortable;
  readonly #deadline: Deadline;
  readonly #changes: readonly SourceChange[];
  readonly #state: RunState;
  readonly #observers: Observers;
  readonly #dispatcher: Dispatcher;
  readonly #provider: ProviderTurns;
  /** Calls used up; a corrective turn is one of them. */
  #used = 0;
  #corrected = false;
  readonly #own = new Set<unknown>();
  readonly #thrown = new ThrownErrors();
  readonly #calls: TurnCalls;
  readonly #carried = (entry: TranscriptEntry): readonly object[] | undefined => this.#state.carriedBy(entry);

  constructor(
    agent: RunningAgent,
    question: Question,
    environment: RunEnvironment,
    { signal, deadline, changes }: RunClock,
  ) {
    this.#changes = changes;
    this.#deadline = deadline;
    this.#agent = agent;
    this.#question = question;
    this.#environment = environment;
    this.#signal = signal;
    this.#state = new RunState(question.text, environment.prices, question.charged);
    const { runId } = this.#state;
    const { site } = agent;
    this.#observers = new Observers(
      watched(environment.observers, question.watch),
      environment.logger,
      runIdentity(runId, site, question.outer),
    );
    this.#provider = new ProviderTurns({
      agent,
      question,
      environment,
      signal,
      state: this.#state,
      observers: this.#observers,
      thrown: this.#thrown,
      say: question.watch?.say,
    });
    this.#dispatcher = runDispatcher({
      agent,
      question,
      environment,
      signal,
      deadline,
      state: this.#state,
      observers: this.#observers,
      thrown: this.#thrown,
      over: () => this.#over(),
    });
    this.#calls = new TurnCalls({
      agent,
      state: this.#state,
      dispatcher: this.#dispatcher,
      check: () => {
        deadline.check();
        this.#limit(this.#tokensOver());
      },
      giveUp: () => {
        deadline.giveUp();
      },
    });
  }

  /** Runs to the answer. An `AIError` that ends it carries the run so far. */
  async answer(): Promise<Answered> {
    const begun = performance.now();
    const { text: question, metadata } = this.#question;
    this.#observers.tell('runStarted', { question, metadata, tools: this.#agent.toolset.names });
    for (const change of this.#changes) this.#observers.tell('toolSourceChanged', change);
    try {
      let answered: Answered | undefined;
      do answered = await this.#turn();
      while (answered === undefined);
      // An observer may have ended it with the last event.
      this.#deadline.check();
      const { run } = answered;
      this.#observers.tell('runEnded', { run, stop: run.stop, durationMs: performance.now() - begun });
      return answered;
    } catch (thrown) {
      const error = this.#ended(thrown);
      this.#observers.tell('runEnded', { run: this.#state.soFar(), error, durationMs: performance.now() - begun });
      throw error;
    }
  }

  /** What the run is rejected with; an error of ours has the run so far. */
  #ended(error: unknown): unknown {
    const { signal: scope } = this.#environment;
    const isReason = this.#signal.aborted && error === this.#signal.reason;
    return rejection(error, {
      site: this.#agent.site,
      run: this.#state.soFar(),
      // The caller's reason stays as it is; that of a scope which closes is ours.
      isForeign: this.#thrown.has(error) || (isReason && error !== scope?.reason && !this.#deadline.isReason(error)),
      isOwn: this.#own.has(error),
      pastDeadline: this.#deadline.isReason(error) ? this.#deadline.error() : undefined,
    });
  }

  /** An error that was made here: nobody else has it. */
  #made<E extends AIError>(error: E): E {
    this.#own.add(error);
    return error;
  }

  #limit(error: AIError | undefined): void {
    if (error !== undefined) throw this.#made(error);
  }

  /** Why no turn may begin: the tokens or the turns are used up, or those of the run that this is a call of. */
  #over(): AILimitError | undefined {
    const { site, limits } = this.#agent;
    return this.#tokensOver() ?? turnLimit(site, limits, this.#state);
  }

  #tokensOver(): AILimitError | undefined {
    const { site, limits } = this.#agent;
    return tokenLimit(site, limits, this.#state) ?? this.#question.charged?.over();
  }

  async #turn(): Promise<Answered | undefined> {
    this.#deadline.check();
    const { toolset, wire, system, parallelToolCalls, toolChoice } = this.#agent;
    const { typed } = this.#question;
    const { offered, mustCall, stop } = offerOf(this.#agent, {
      atCap: this.#atCap,
      exhausted: this.#dispatcher.exhausted,
      hasCalled: this.#hasChosen,
    });
    if (this.#atCap && wantsCall(toolChoice) && !this.#hasChosen)
      throw this.#made(unchosen(this.#where, toolChoice, this.#state.calls));
    // Where nothing may be called, a typed answer takes the place of the turn.
    if (typed !== undefined && offered.tools.length === 0) return this.#typedAnswer(typed, stop);
    this.#limit(this.#over());
    const { transcript } = this.#state;
    const turn = { system, toolset, offered, transcript, mustCall, parallelCalls: parallelToolCalls };
    const reply = await this.#provider.complete(wire.encode({ ...turn, carried: this.#carried }), () =>
      wire.answerText(turn),
    );
    const decoded = wire.decode(reply, turn);
    switch (decoded.kind) {
      case 'answer':
        if (mustCall) {
          this.#correct(uncalled(decoded.text, offered.names));
          return undefined;
        }
        this.#provider.sayRest(decoded.text);
        this.#state.add({ role: 'assistant', text: decoded.text, calls: Object.freeze([]) }, reply.carried);
        return typed === undefined ? this.#answered(decoded.text, stop) : this.#typedAnswer(typed, 'answer');
      case 'failure':
        this.#correct(decoded);
        return undefined;
      case 'calls':
        return this.#call(decoded, offered, reply.carried);
    }
  }

  async #call(
    { calls, text }: Extract<Decoded, { readonly kind: 'calls' }>,
    offered: CompiledToolset,
    carried: readonly object[] | undefined,
  ): Promise<Answered | undefined> {
    const { toolset, toolChoice, site, maxToolCalls } = this.#agent;
    const isForbidden = toolset.tools.length === 0 || (toolChoice === 'none' && !this.#hasChosen);
    // With calls left, one that nobody may make any more is refused like any other.
    if (this.#atCap || isForbidden) {
      const { calls: made } = this.#state;
      const isChoice = toolset.tools.length > 0;
      throw this.#made(
        unoffered(site, { calls, made, used: this.#used, atCap: this.#atCap, isForbidden: isForbidden && isChoice }),
      );
    }
    this.#limit(this.#tokensOver());
    const left = maxToolCalls - this.#used;
    this.#used += calls.length;
    this.#provider.sayRest(text);
    const direct = await this.#calls.run(calls, { text, carried, offered, left });
    if (direct === undefined || this.#question.typed !== undefined) return undefined;
    this.#provider.sayInPlace(direct);
    return this.#answered(direct, 'answer');
  }

  /** For messages. */
  get #where(): string {
    return `${this.#agent.site}, ${this.#environment.model.name}`;
  }

  /** A tool choice holds until a call was made as it wants: of that tool, or of any there is. */
  get #hasChosen(): boolean {
    const { toolChoice } = this.#agent;
    return this.#state.calls.some(
      ({ tool, outcome }) => outcome !== 'unknown-tool' && (toolChoice === 'required' || toolChoice === tool),
    );
  }

  get #atCap(): boolean {
    return this.#used >= this.#agent.maxToolCalls;
  }

  #answered(text: string, stop: AIRun['stop']): Answered {
    return { run: Object.freeze({ ...this.#state.soFar(), text, stop }) };
  }

  /** The typed turn: no tool is on offer in it, whatever comes of it. */
  async #typedAnswer(typed: TypedAnswer, stop: AIRun['stop']): Promise<Answered> {
    const { toolset, wire, system } = this.#agent;
    for (;;) {
      this.#deadline.check();
      this.#limit(this.#over());
      const reply = await this.#provider.complete(
        wire.encode({
          system,
          toolset,
          offered: CompiledToolset.EMPTY,
          transcript: this.#state.transcript,
          carried: this.#carried,
          answer: { ...typed.responseSchema, spellOut: this.#environment.model.profile.schema !== 'enforced' },
        }),
      );
      const decoded = decodeTyped(reply, typed.responseSchema.within);
      if (decoded.kind === 'failure') {
        this.#correct(decoded);
        continue;
      }
      const conversion = await untilAborted(this.#signal, Promise.resolve(typed.convert(decoded.value)));
      if (conversion.ok) {
        this.#state.add({ role: 'assistant', text: reply.text, calls: Object.freeze([]) });
        return { ...this.#answered(reply.text, stop), value: Object.values(conversion.values)[0] };
      }
      const { error, lines } = conversion;
      if (isErrorOf(error, 'scope')) throw error;
      if (error !== undefined) throw this.#made(uncheckedAnswer(this.#where, reply.text, lines, error));
      this.#correct(unfitting(reply.text, lines));
    }
  }

  /** One corrective turn a run for a reply that says nothing usable; it counts as a call. Anything else ends the run. */
  #correct(failure: Failure): void {
    if (!('correction' in failure) || this.#corrected || this.#atCap)
      throw this.#made(responseError(this.#where, failure));
    this.#corrected = true;
    this.#used++;
    this.#state.add({ role: 'user', text: failure.correction });
  }
}
