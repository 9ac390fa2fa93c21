import { randomUUID } from 'node:crypto';
import {
  AIDefinitionError,
  type AIError,
  AIProviderError,
  AIResponseError,
  AIScopeError,
  AIToolIterationError,
  carryRun,
  isErrorOf,
} from '../errors.js';
import { type ModelReply, type ModelUsage, NO_USAGE } from '../model/chat-model.js';
import { completeWithRetry } from '../model/retry.js';
import type { AIRun, PartialRun, ToolCallRecord, TranscriptEntry } from '../run.js';
import { cut } from '../schema/quote.js';
import { Dispatcher } from '../tool/dispatcher.js';
import { Toolset } from '../tool/toolset.js';
import type { Decoded, Wire, WireCall } from '../wire/wire.js';
import type { AgentDefinition, RunEnvironment } from './agent.js';
import { Observers, type ToolEnded, type ToolStarted } from './observer.js';

const FAILURES = {
  truncated: 'the reply was cut off at the limit on output tokens, so nothing of it was used.',
  filtered: "the provider's content filter blocked the reply, so nothing of it was used.",
  refused: 'the model refused to answer.',
  malformed: 'the reply was not in the agreed form; the model or its server does not keep to the schema.',
  empty: 'the reply held no text.',
} as const;

/**
 * One run: the loop, the only one. It repeats a turn until the model answers: encode, one provider call, decode, and
 * each call to the dispatcher. All state of a run is here, so that agent, toolset and service can be shared.
 */
export class Run {
  readonly #runId = randomUUID();
  readonly #agent: AgentDefinition & { readonly wire: Wire };
  readonly #environment: RunEnvironment;
  readonly #signal: AbortSignal;
  readonly #dispatcher: Dispatcher;
  readonly #transcript: TranscriptEntry[];
  readonly #calls: ToolCallRecord[] = [];
  #usage: ModelUsage = NO_USAGE;
  #turns = 0;
  #attempts = 0;
  /** Calls used up; a corrective turn is one of them. */
  #used = 0;
  #corrected = false;

  constructor(
    agent: AgentDefinition & { readonly wire: Wire },
    question: string,
    metadata: Readonly<Record<string, unknown>>,
    environment: RunEnvironment,
    signal: AbortSignal,
  ) {
    this.#agent = agent;
    this.#environment = environment;
    this.#signal = signal;
    this.#transcript = [Object.freeze({ role: 'user', text: question })];
    this.#dispatcher = new Dispatcher({
      runId: this.#runId,
      question,
      metadata: Object.freeze({ ...metadata }),
      signal,
      host: environment.host,
      logger: environment.logger,
      isDenial: environment.isDenial,
      working: environment.working,
      transcript: () => Object.freeze([...this.#transcript]),
      ...this.#events(),
    });
  }

  /** Runs to the answer. An `AIError` that ends it carries the run so far. */
  async answer(): Promise<AIRun> {
    try {
      for (;;) {
        const run = await this.#turn();
        if (run !== undefined) return run;
      }
    } catch (error) {
      throw this.#ended(error);
    }
  }

  /** What the run is rejected with. The caller's reason stays as it is; an error that others may share is made anew. */
  #ended(error: unknown): unknown {
    const { signal: scope } = this.#environment;
    const isCallers = this.#signal.aborted && error === this.#signal.reason && error !== scope?.reason;
    if (isCallers) return error;
    const own = isErrorOf(error, 'scope')
      ? new AIScopeError(error.message, { cause: error.cause ?? error })
      : isErrorOf(error, 'definition')
        ? new AIDefinitionError(error instanceof AIDefinitionError ? error.problems : error.message, { cause: error })
        : error;
    if (
      own !== error ||
      own instanceof AIResponseError ||
      own instanceof AIProviderError ||
      own instanceof AIToolIterationError
    )
      carryRun(own as AIError, this.#soFar());
    return own;
  }

  async #turn(): Promise<AIRun | undefined> {
    this.#signal.throwIfAborted();
    const { toolset, wire, system } = this.#agent;
    const atCap = this.#left() <= 0;
    const turn = { system, toolset, offered: atCap ? Toolset.EMPTY : toolset, transcript: this.#transcript };
    const reply = await this.#complete(wire.encode(turn));
    const decoded = wire.decode(reply, turn);
    switch (decoded.kind) {
      case 'answer':
        this.#add({ role: 'assistant', text: decoded.text, calls: Object.freeze([]) });
        return Object.freeze({
          ...this.#soFar(),
          text: decoded.text,
          stop: atCap && toolset.tools.length > 0 ? 'cap' : 'answer',
        });
      case 'failure':
        this.#correct(decoded, atCap);
        return undefined;
      case 'calls':
        if (atCap) throw this.#namedAtCap(decoded.calls);
        return this.#dispatchAll(decoded.calls, decoded.text);
    }
  }

  #left(): number {
    return this.#agent.maxToolCalls - this.#used;
  }

  async #complete(request: Parameters<typeof completeWithRetry>[1]): Promise<ModelReply> {
    const reply = await completeWithRetry(this.#environment.model, request, {
      signal: this.#signal,
      maxAttempts: this.#agent.maxAttempts,
      sending: () => this.#attempts++,
    });
    this.#signal.throwIfAborted();
    this.#turns++;
    const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = this.#usage;
    this.#usage = {
      inputTokens: inputTokens + reply.usage.inputTokens,
      outputTokens: outputTokens + reply.usage.outputTokens,
      cachedInputTokens: cachedInputTokens + reply.usage.cachedInputTokens,
      reasoningTokens: reasoningTokens + reply.usage.reasoningTokens,
    };
    return reply;
  }

  /** One corrective turn a run for a reply that says nothing usable; it counts as a call. Anything else ends the run. */
  #correct(failure: Extract<Decoded, { readonly kind: 'failure' }>, atCap: boolean): void {
    if (!('correction' in failure) || this.#corrected || atCap)
      throw new AIResponseError(
        failure.code,
        `${this.#agent.site}, ${this.#environment.model.name}: ${reasonOf(failure)}`,
        failure.text,
      );
    this.#corrected = true;
    this.#used++;
    this.#add({ role: 'user', text: failure.correction });
  }

  #namedAtCap(calls: readonly WireCall[]): AIToolIterationError {
    const { site, maxToolCalls } = this.#agent;
    const made = this.#calls.map(({ tool, outcome }) => `${cut(tool)} (${outcome})`).join(', ');
    return new AIToolIterationError(
      `${site}: the model still named ${calls.map(({ tool }) => `"${cut(tool)}"`).join(', ')} when no tool was on offer, after ${maxToolCalls.toString()} calls: ${made}. ` +
        'Nothing was run. Its server does not enforce the schema, or the question needs a higher maxToolCalls.',
    );
  }

  async #dispatchAll(calls: readonly WireCall[], text: string): Promise<AIRun | undefined> {
    const { toolset } = this.#agent;
    const requested = calls.map((call, index) => ({
      ...call,
      callId: `call_${(this.#calls.length + index + 1).toString()}`,
      turn: this.#turns,
    }));
    this.#add({
      role: 'assistant',
      text,
      calls: Object.freeze(
        requested.map(({ callId, tool, sent }) => Object.freeze({ callId, tool, arguments: Object.freeze(sent) })),
      ),
    });
    let last: ToolCallRecord | undefined;
    let allSeemOk = true;
    for (const call of requested) {
      const { record, seemsOk } = await this.#dispatcher.dispatch(call, toolset);
      this.#used++;
      last = record;
      allSeemOk &&= seemsOk;
      this.#add({ role: 'tool', callId: record.callId, tool: record.tool, text: record.result });
    }
    return last !== undefined && allSeemOk && toolset.get(last.tool)?.returnDirect === true
      ? Object.freeze({ ...this.#soFar(), text: last.result, stop: 'answer' })
      : undefined;
  }

  #add(entry: TranscriptEntry): void {
    this.#transcript.push(Object.freeze(entry));
  }

  #soFar(): PartialRun {
    return {
      runId: this.#runId,
      calls: Object.freeze([...this.#calls]),
      usage: Object.freeze({ ...this.#usage, modelCalls: this.#turns, attempts: this.#attempts }),
      turns: this.#turns,
      transcript: Object.freeze([...this.#transcript]),
    };
  }

  #events(): Pick<ConstructorParameters<typeof Dispatcher>[0], 'started' | 'ended'> {
    const { site } = this.#agent;
    const observers = new Observers(this.#environment.observers, this.#environment.logger);
    const event = <E extends object>(data: E): E & { runId: string; site: string; at: number } =>
      Object.freeze({ runId: this.#runId, site, at: Date.now(), ...data });
    return {
      started: (call) => {
        observers.tell('toolStarted', event(call) satisfies ToolStarted);
      },
      ended: (record, error) => {
        this.#calls.push(record);
        observers.tell('toolEnded', event({ ...record, ...(error !== undefined && { error }) }) satisfies ToolEnded);
      },
    };
  }
}

function reasonOf(failure: Extract<Decoded, { readonly kind: 'failure' }>): string {
  return 'finish' in failure
    ? `the provider stopped for the reason "${cut(failure.finish)}", which is not known here, so nothing of the reply was used.`
    : FAILURES[failure.code];
}
