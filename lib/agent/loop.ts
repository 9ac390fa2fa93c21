import { untilAborted } from '../abort.js';
import { counted, deepFreeze } from '../declaration.js';
import { type AIError, AIToolIterationError, isErrorOf } from '../errors.js';
import type { AIRun, ToolCallRecord } from '../run.js';
import { cut } from '../schema/quote.js';
import { Dispatcher } from '../tool/dispatcher.js';
import { ThrownErrors } from '../tool/thrown.js';
import { Toolset } from '../tool/toolset.js';
import { decodeTyped } from '../wire/reply.js';
import type { Decoded, Failure, Wire, WireCall } from '../wire/wire.js';
import type { AgentDefinition, RunEnvironment } from './agent.js';
import type { Deadline } from './deadline.js';
import { tokenLimit, turnLimit } from './limits.js';
import { Observers } from './observer.js';
import { ProviderTurns } from './provider-turns.js';
import { responseError, uncheckedAnswer, unfitting } from './response-failure.js';
import { rejection } from './rejection.js';
import { RunState } from './run-state.js';
import type { TypedAnswer } from './typed-answer.js';

/** What one question asks for. */
export interface Question {
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The type of its answer, where it is to have one. */
  readonly typed?: TypedAnswer | undefined;
}

/** A run that came to its end, and the typed answer where one was asked for. */
export interface Answered {
  readonly run: AIRun;
  readonly value?: unknown;
}

/**
 * One run: the loop, the only one. It repeats a turn until the model answers: encode, one provider call, decode, and
 * each call to the dispatcher. All state of a run is here, so that agent, toolset and service can be shared.
 */
export class Run {
  readonly #agent: AgentDefinition & { readonly wire: Wire };
  readonly #question: Question;
  readonly #environment: RunEnvironment;
  readonly #signal: AbortSignal;
  readonly #deadline: Deadline;
  readonly #state: RunState;
  readonly #observers: Observers;
  readonly #dispatcher: Dispatcher;
  readonly #provider: ProviderTurns;
  /** Calls used up; a corrective turn is one of them. */
  #used = 0;
  #corrected = false;
  readonly #own = new Set<unknown>();
  readonly #thrown = new ThrownErrors();

  constructor(
    agent: AgentDefinition & { readonly wire: Wire },
    question: Question,
    environment: RunEnvironment,
    signal: AbortSignal,
    deadline: Deadline,
  ) {
    this.#deadline = deadline;
    this.#agent = agent;
    this.#question = question;
    this.#environment = environment;
    this.#signal = signal;
    this.#state = new RunState(question.text, environment.prices);
    const { runId } = this.#state;
    const { site } = agent;
    this.#observers = new Observers(environment.observers, environment.logger, { runId, site });
    this.#provider = new ProviderTurns({
      agent,
      question,
      environment,
      signal,
      state: this.#state,
      observers: this.#observers,
      thrown: this.#thrown,
    });
    this.#dispatcher = new Dispatcher({
      runId,
      site,
      question: question.text,
      metadata: question.metadata,
      signal,
      check: () => {
        deadline.check();
      },
      host: environment.host,
      logger: environment.logger,
      isDenial: environment.isDenial,
      middleware: environment.middleware,
      perTool: agent.limits.perTool ?? {},
      working: environment.working,
      transcript: () => Object.freeze([...this.#state.transcript]),
      thrown: this.#thrown,
      started: (call) => {
        this.#observers.tell('toolStarted', call);
      },
      ended: (record, error) => {
        this.#state.calls.push(record);
        this.#observers.tell('toolEnded', { ...record, ...(error !== undefined && { error }) });
      },
    });
  }

  /** Runs to the answer. An `AIError` that ends it carries the run so far. */
  async answer(): Promise<Answered> {
    const begun = performance.now();
    const { text: question, metadata } = this.#question;
    this.#observers.tell('runStarted', { question, metadata, tools: this.#agent.toolset.names });
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

  async #turn(): Promise<Answered | undefined> {
    this.#deadline.check();
    const { toolset, wire, system, site, limits } = this.#agent;
    const { typed } = this.#question;
    const offered = this.#atCap ? Toolset.EMPTY : toolset.without(this.#dispatcher.exhausted);
    // Where nothing may be called, a typed answer takes the place of the turn.
    if (typed !== undefined && offered.tools.length === 0)
      return this.#typedAnswer(typed, toolset.tools.length > 0 ? 'cap' : 'answer');
    this.#limit(tokenLimit(site, limits, this.#state) ?? turnLimit(site, limits, this.#state));
    const turn = { system, toolset, offered, transcript: this.#state.transcript };
    const decoded = wire.decode(await this.#provider.complete(wire.encode(turn)), turn);
    switch (decoded.kind) {
      case 'answer':
        this.#state.add({ role: 'assistant', text: decoded.text, calls: Object.freeze([]) });
        if (typed !== undefined) return this.#typedAnswer(typed, 'answer');
        return this.#answered(decoded.text, offered.tools.length === 0 && toolset.tools.length > 0 ? 'cap' : 'answer');
      case 'failure':
        this.#correct(decoded);
        return undefined;
      case 'calls':
        // With calls left, one that nobody may make any more is refused like any other.
        if (this.#atCap || toolset.tools.length === 0) throw this.#namedAtCap(decoded.calls);
        this.#limit(tokenLimit(site, limits, this.#state));
        return this.#dispatchAll(decoded, offered);
    }
  }

  /** For messages. */
  get #where(): string {
    return `${this.#agent.site}, ${this.#environment.model.name}`;
  }

  get #atCap(): boolean {
    return this.#used >= this.#agent.maxToolCalls;
  }

  #answered(text: string, stop: AIRun['stop']): Answered {
    return { run: Object.freeze({ ...this.#state.soFar(), text, stop }) };
  }

  /** The typed turn: no tool is on offer in it, whatever comes of it. */
  async #typedAnswer(typed: TypedAnswer, stop: AIRun['stop']): Promise<Answered> {
    const { toolset, wire, system, site, limits } = this.#agent;
    for (;;) {
      this.#deadline.check();
      this.#limit(tokenLimit(site, limits, this.#state) ?? turnLimit(site, limits, this.#state));
      const reply = await this.#provider.complete(
        wire.encode({
          system,
          toolset,
          offered: Toolset.EMPTY,
          transcript: this.#state.transcript,
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

  #namedAtCap(calls: readonly WireCall[]): AIToolIterationError {
    const { site } = this.#agent;
    const made = this.#state.calls.map(({ tool, outcome }) => `${cut(tool)} (${outcome})`).join(', ');
    const error = new AIToolIterationError(
      `${site}: the model still named ${calls.map(({ tool }) => `"${cut(tool)}"`).join(', ')} when no tool was on offer, after ${counted(this.#used, 'call')}${made === '' ? '' : `: ${made}`}. ` +
        'Nothing was run. Its server does not enforce the schema, or the question needs a higher maxToolCalls.',
    );
    return this.#made(error);
  }

  async #dispatchAll(
    { calls, text }: Extract<Decoded, { readonly kind: 'calls' }>,
    offered: Toolset,
  ): Promise<Answered | undefined> {
    const { toolset } = this.#agent;
    const requested = calls.map((call, index) => ({
      ...call,
      // A name that no tool has may be of any length.
      tool: toolset.get(call.tool) === undefined ? cut(call.tool) : call.tool,
      callId: `call_${(this.#state.calls.length + index + 1).toString()}`,
      turn: this.#state.turns,
    }));
    this.#state.add({
      role: 'assistant',
      text,
      calls: Object.freeze(
        requested.map(({ callId, tool, sent }) => Object.freeze({ callId, tool, arguments: deepFreeze(sent) })),
      ),
    });
    let last: ToolCallRecord | undefined;
    let allSeemOk = true;
    for (const call of requested) {
      const { record, seemsOk } = await this.#dispatcher.dispatch(call, toolset, offered);
      this.#used++;
      last = record;
      allSeemOk &&= seemsOk;
      this.#state.add({ role: 'tool', callId: record.callId, tool: record.tool, text: record.result });
    }
    const isDirect = last !== undefined && allSeemOk && toolset.get(last.tool)?.returnDirect === true;
    return isDirect && this.#question.typed === undefined
      ? this.#answered((last as ToolCallRecord).result, 'answer')
      : undefined;
  }
}
