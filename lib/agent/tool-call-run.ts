import { type Abortable, type Cancellation, signalOf } from '../cancellation.js';
import { childController, untilAborted } from '../abort.js';
import { deepFreeze } from '../declaration.js';
import type { AILimits } from '../run-options.js';
import { cut } from '../schema/quote.js';
import { CompiledToolset } from '../tool/compiled-toolset.js';
import type { DispatchedCall } from '../tool/dispatcher.js';
import type { SourceChange } from '../tool/late-tools.js';
import { ThrownErrors } from '../tool/thrown.js';
import type { CallEnvironment, RunPlace } from './agent.js';
import { Deadline } from './deadline.js';
import { runIdentity } from './nesting.js';
import { Observers } from './observer.js';
import { rejection } from './rejection.js';
import { runDispatcher } from './run-dispatcher.js';
import { RunState } from './run-state.js';
import type { AgentTools } from './tool-list.js';

/*
 * Tools without a loop: the model is somebody else's, who lists them and makes one call at a time. Each call is a run of
 * its own, so that it passes the same dispatcher and is told to the same observers as any other.
 */

/** Tools that somebody else's model may call. */
export interface OfferedTools {
  /** Who offers them, for events and messages. */
  readonly site: string;
  readonly tools: AgentTools;
  readonly limits: AILimits;
}

/** A call as it came. */
export interface ForeignCall {
  readonly tool: string;
  readonly sent: Readonly<Record<string, unknown>>;
  /** Aborted when whoever made it has gone. */
  readonly signal: AbortSignal;
}

const CALL_ID = 'call_1';

/**
 * Makes one call. Whatever the tool does is told in the result; rejects where the run is over: an abort, no scope, a
 * source of tools that is out of reach, a middleware that threw.
 */
export function runToolCall(
  offered: OfferedTools,
  call: ForeignCall,
  place: RunPlace<CallEnvironment>,
): Promise<DispatchedCall> {
  return inPlace(call, place, async (controller, environment) => {
    const deadline = new Deadline(offered.site, offered.limits.deadlineMs, controller);
    try {
      const run = new ToolCallRun(offered, { ...(await environment()), deadline, signal: controller });
      return await run.answer(call, place.signal);
    } finally {
      deadline.stop();
    }
  });
}

/** The tools that there are for a caller. What happened to tools from elsewhere is told to the observers. */
export async function listTools(
  { tools, site }: OfferedTools,
  call: Pick<ForeignCall, 'signal'>,
  place: RunPlace<CallEnvironment>,
): Promise<CompiledToolset> {
  if (tools.late.length === 0) return tools.known;
  return inPlace(call, place, async (signal, environment) => {
    const { host, observers, logger } = await environment();
    const { runId } = new RunState(undefined, undefined);
    const told = new Observers(observers, logger, runIdentity(runId, site, undefined));
    const tell = (change: SourceChange): void => {
      told.tell('toolSourceChanged', change);
    };
    return (await untilAborted(signal, tools.find({ where: site, signal: signalOf(signal), host, tell }))).toolset;
  });
}

/** Works until the caller has gone or the scope closes. */
async function inPlace<T>(
  { signal }: Pick<ForeignCall, 'signal'>,
  place: RunPlace<CallEnvironment>,
  work: (controller: Cancellation, environment: () => Promise<CallEnvironment>) => Promise<T>,
): Promise<T> {
  const { controller, stop } = childController(...[signal, place.signal].filter((one) => one !== undefined));
  try {
    return await work(controller, () => untilAborted(controller, Promise.resolve(place.environment())));
  } finally {
    stop();
  }
}

/** What one call is made with. */
interface ToolCallEnvironment extends CallEnvironment {
  readonly signal: Abortable;
  readonly deadline: Deadline;
}

/** A run of one call. */
class ToolCallRun {
  readonly #offered: OfferedTools;
  readonly #environment: ToolCallEnvironment;
  readonly #state: RunState;
  readonly #observers: Observers;
  readonly #thrown = new ThrownErrors();
  readonly #begun = performance.now();

  constructor(offered: OfferedTools, environment: ToolCallEnvironment) {
    this.#offered = offered;
    this.#environment = environment;
    this.#state = new RunState(undefined, environment.prices);
    const { observers, logger } = environment;
    this.#observers = new Observers(observers, logger, runIdentity(this.#state.runId, offered.site, undefined));
  }

  /** @param scope aborted when the scope closes */
  async answer(call: ForeignCall, scope: Abortable | undefined): Promise<DispatchedCall> {
    const changes: SourceChange[] = [];
    let toolset = CompiledToolset.EMPTY;
    let unfound: { readonly error: unknown } | undefined;
    try {
      toolset = await this.#find(changes);
    } catch (error) {
      unfound = { error };
    }
    this.#observers.tell('runStarted', { question: '', metadata: {}, tools: toolset.names });
    for (const change of changes) this.#observers.tell('toolSourceChanged', change);
    try {
      if (unfound !== undefined) throw unfound.error;
      const dispatched = await this.#dispatch(call, toolset);
      this.#observers.tell('runEnded', { run: this.#state.soFar(), durationMs: performance.now() - this.#begun });
      return dispatched;
    } catch (thrown) {
      const error = this.#ended(thrown, scope);
      this.#observers.tell('runEnded', {
        run: this.#state.soFar(),
        error,
        durationMs: performance.now() - this.#begun,
      });
      throw error;
    }
  }

  async #find(changes: SourceChange[]): Promise<CompiledToolset> {
    const { site, tools } = this.#offered;
    const { signal, host } = this.#environment;
    if (tools.late.length === 0) return tools.known;
    const tell = (change: SourceChange): void => {
      changes.push(Object.freeze({ ...change }));
    };
    return (await untilAborted(signal, tools.find({ where: site, signal: signalOf(signal), host, tell }))).toolset;
  }

  async #dispatch({ tool, sent }: ForeignCall, toolset: CompiledToolset): Promise<DispatchedCall> {
    const { site, limits } = this.#offered;
    const { deadline, signal } = this.#environment;
    // A name that no tool has may be of any length.
    const name = toolset.get(tool) === undefined ? cut(tool) : tool;
    const state = this.#state;
    state.expect([CALL_ID]);
    const calls = Object.freeze([Object.freeze({ callId: CALL_ID, tool: name, arguments: deepFreeze(sent) })]);
    state.add({ role: 'assistant', text: '', calls });
    const dispatcher = runDispatcher({
      agent: { site, limits, identity: this.#offered },
      question: { text: '', metadata: {} },
      environment: this.#environment,
      signal,
      deadline,
      state,
      observers: this.#observers,
      thrown: this.#thrown,
      over: () => undefined,
    });
    const dispatched = await dispatcher.dispatch(
      { callId: CALL_ID, turn: 1, tool: name, sent },
      { toolset, offered: toolset },
    );
    const { result } = dispatched.record;
    state.add({ role: 'tool', callId: CALL_ID, tool: name, text: result });
    // An observer may have ended it with the last event.
    deadline.check();
    return dispatched;
  }

  #ended(error: unknown, scope: Abortable | undefined): unknown {
    const { signal, deadline } = this.#environment;
    const isReason = signal.aborted && error === signal.reason;
    return rejection(error, {
      site: this.#offered.site,
      run: this.#state.soFar(),
      isForeign: this.#thrown.has(error) || (isReason && error !== scope?.reason && !deadline.isReason(error)),
      isOwn: false,
      pastDeadline: deadline.isReason(error) ? deadline.error() : undefined,
    });
  }
}
