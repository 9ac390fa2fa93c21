import { onAbort } from '../abort.js';
import type { ToolCallRecord, TranscriptEntry } from '../run.js';
import { copyOf, copyOfMetadata } from '../schema/copy.js';
import {
  type ConversionContext,
  convertArguments,
  convertEdit,
  type FittingCall,
  type RequestedCall,
} from './conversion.js';
import {
  aborted,
  cutShortBy,
  type Ending,
  executeTool,
  type ExecutionContext,
  isUnexpected,
  seemsOk,
} from './execution.js';
import { type ToolInvocation, type ToolMiddleware, type ToolOutcome, throughMiddleware } from './middleware.js';
import { countsAsExecuted, endingOf, outcomeOf } from './outcome.js';
import { type CallProgress, noteProgress } from './progress.js';
import { Repeats } from './repeats.js';
import type { ThrownErrors } from './thrown.js';
import { told } from './told.js';
import type { CompiledTool, ToolCallContext } from './tool.js';
import type { Toolset } from './toolset.js';

/** What the dispatcher needs to know of the run that it serves. */
export interface DispatchContext extends ExecutionContext, ConversionContext {
  readonly site: string;
  readonly question: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly middleware: readonly ToolMiddleware[];
  /** How often a tool may be executed, by wire name. */
  readonly perTool: Readonly<Record<string, number>>;
  readonly transcript: () => readonly TranscriptEntry[];
  /** What a middleware throws itself is noted here. */
  readonly thrown: ThrownErrors;
  readonly started: (call: StartedCall) => void;
  readonly ended: (record: ToolCallRecord, error: unknown) => void;
}

export type StartedCall = Pick<ToolCallRecord, 'callId' | 'turn' | 'tool' | 'sent' | 'arguments'>;

/** A call that was dispatched: how it ended, and whether the model was told so as of a call that succeeded. */
export interface DispatchedCall {
  readonly record: ToolCallRecord;
  readonly seemsOk: boolean;
}

/**
 * The one way to a tool, for every kind of tool on every wire: look it up in this turn's set, convert, execute within its
 * time, turn the result into text. One dispatcher serves one run and knows its earlier calls.
 */
export class Dispatcher {
  readonly #context: DispatchContext;
  readonly #repeats = new Repeats();
  /** How often each tool was executed. */
  readonly #executed = new Map<string, number>();

  constructor(context: DispatchContext) {
    this.#context = context;
  }

  /** The tools that were executed as often as they may be. */
  get exhausted(): readonly string[] {
    return [...this.#executed.keys()].filter((name) => this.#isExhausted(name));
  }

  #isExhausted(name: string): boolean {
    const { perTool } = this.#context;
    return Object.hasOwn(perTool, name) && (this.#executed.get(name) ?? 0) >= (perTool[name] as number);
  }

  /**
   * Executes a call of the set, or says why not. `offered` is what this turn's model could read of: the set, or less of it.
   * Throws where the run is over: an abort, no scope, a broken definition, a middleware that threw.
   */
  async dispatch(call: RequestedCall, toolset: Toolset, offered: Toolset): Promise<DispatchedCall> {
    this.#context.check();
    const begun = performance.now();
    const tool = toolset.get(call.tool);
    if (tool === undefined)
      return this.#report(call, begun, undefined, () => ({
        outcome: 'unknown-tool',
        result: told.unknownTool(call.tool, offered.names),
      }));
    if (this.#isExhausted(tool.name))
      return this.#report(call, begun, undefined, () => ({ outcome: 'refused', result: told.exhausted(tool.name) }));
    const conversion = await convertArguments(this.#context, tool, call, call.sent);
    if ('outcome' in conversion) return this.#report(call, begun, undefined, () => conversion);
    const fitting = { tool, call, sent: call.sent, values: conversion.values, keys: conversion.keys };
    return this.#report(call, begun, fitting, (progress) => this.#throughMiddleware(fitting, progress));
  }

  async #report(
    call: RequestedCall,
    begun: number,
    fitting: FittingCall | undefined,
    end: (progress: CallProgress) => Ending | Promise<Ending>,
  ): Promise<DispatchedCall> {
    const { callId, turn, tool } = call;
    const shown = fitting === undefined ? undefined : copiesOf(fitting.values);
    const progress: CallProgress = { call: fitting, shown, executed: false, counted: false, ending: undefined };
    const started: StartedCall = {
      callId,
      turn,
      tool,
      sent: Object.freeze(call.sent),
      ...(shown !== undefined && { arguments: shown }),
    };
    this.#context.started(started);
    const ending = await end(progress);
    const { outcome, result, error, fatal } = ending;
    const record: ToolCallRecord = Object.freeze({
      ...started,
      ...(progress.shown !== undefined && { arguments: progress.shown }),
      outcome,
      executed: progress.executed,
      result,
      durationMs: performance.now() - begun,
    });
    this.#context.ended(record, error);
    if (fatal !== undefined) throw fatal.error;
    return { record, seemsOk: seemsOk(ending) };
  }

  async #throughMiddleware(fitting: FittingCall, progress: CallProgress): Promise<Ending> {
    const { middleware, signal } = this.#context;
    if (this.#isOver(signal)) return aborted(signal); // an observer may have done so just now
    if (middleware.length === 0) return this.#once(fitting, signal, progress);
    // The call's own: aborted with the run, and when a middleware answers before the tool does.
    const controller = new AbortController();
    const over = new Error(`${fitting.tool.name}: the call is over`);
    const left = (): void => {
      controller.abort(over);
    };
    let fatal: Ending | undefined;
    const way = throughMiddleware<FittingCall>(middleware, fitting, {
      shown: (call) => this.#invocation(call, controller.signal, progress),
      edit: async (call, edited, by, invocation) => {
        const result = await convertEdit(this.#context, call, edited, by, invocation);
        if (!('outcome' in result)) {
          progress.call = result;
          progress.shown = copiesOf(result.values);
          return { call: result };
        }
        if (result.fatal !== undefined) fatal = result;
        return { ended: outcomeOf(result) };
      },
      execute: async (call, isAnswered) => {
        // Whoever calls next() and answers in the same breath has answered before the tool begins.
        for (let tick = 0; tick < 4; tick++) await Promise.resolve();
        if (isAnswered()) left();
        controller.signal.throwIfAborted();
        const ending = await this.#once(call, controller.signal, progress);
        // Somebody answered meanwhile: how it would have ended is nobody's to know.
        if (ending.fatal?.error === over) throw over;
        progress.ending = ending;
        if (ending.fatal === undefined) return outcomeOf(ending);
        fatal = ending;
        throw ending.fatal.error;
      },
      left,
      threw: (error, by) => {
        this.#context.thrown.note(error, by);
      },
    });
    let stop = (): void => undefined;
    const cutShort = new Promise<Ending>((resolve) => {
      stop = onAbort(signal, () => {
        controller.abort(signal.reason);
        resolve(this.#over({ error: signal.reason as unknown }, 'aborted', progress));
      });
    });
    try {
      const ending = await Promise.race([
        way.then((outcome) => this.#answered(outcome, fitting.tool, progress)),
        cutShort,
      ]);
      return fatal ?? ending;
    } catch (error) {
      return fatal ?? this.#over({ error }, 'failed', progress);
    } finally {
      stop();
      left();
    }
  }

  /** How a call ends that came back through the middleware. */
  #answered(outcome: ToolOutcome, tool: CompiledTool, progress: CallProgress): Ending {
    // A result that a middleware gives in the tool's place is one of the tool's as well.
    if (!progress.counted && countsAsExecuted(outcome)) this.#count(tool);
    const ending = endingOf(outcome, tool, progress.ending);
    if (progress.ending !== undefined) this.#repeats.tell(progress.ending, ending);
    return ending;
  }

  /** The run is over at this call. Where the tool had ended by itself, that is how the call ended: whoever looks must see it. */
  #over(fatal: { readonly error: unknown }, outcome: 'failed' | 'aborted', { call, ending }: CallProgress): Ending {
    const { error } = fatal;
    if (ending !== undefined) return { ...ending, error, fatal };
    const result = outcome === 'aborted' || call === undefined ? '' : told.failed(call.tool.name);
    return { outcome, result, error, fatal };
  }

  #once({ tool, values, call, keys }: FittingCall, signal: AbortSignal, progress: CallProgress): Promise<Ending> {
    return this.#repeats.once(tool, keys, () => this.#execute(tool, values, call, signal, progress));
  }

  async #execute(
    tool: CompiledTool,
    args: FittingCall['values'],
    call: RequestedCall,
    signal: AbortSignal,
    progress: CallProgress,
  ): Promise<Ending> {
    const { logger, runId } = this.#context;
    if (this.#isOver(signal)) return aborted(signal); // an observer may have done so just now
    progress.counted = true;
    this.#count(tool);
    const controller = new AbortController();
    const context = this.#callContext(tool, call, controller.signal);
    // Watched from before the tool begins: it may abort the run before it first waits.
    const cutShort = cutShortBy(signal, tool);
    const begun = (): void => {
      progress.executed = true;
    };
    const work = executeTool(tool, args, context, { ...this.#context, signal, begun });
    this.#context.working?.(work, tool.timeoutMs);
    try {
      const ending = await Promise.race([work, cutShort.ending]);
      if (ending.outcome === 'timed-out' || ending.outcome === 'aborted') controller.abort(ending.error);
      if (isUnexpected(ending))
        logger.warn(`[inversify-ai] ${tool.name} ${ending.outcome} (run ${runId}, call ${call.callId})`, ending.error);
      return ending;
    } finally {
      cutShort.stop();
    }
  }

  /** A timer comes late where somebody holds the thread: the clock is looked at before anything begins. */
  #isOver(signal: AbortSignal): boolean {
    try {
      this.#context.check();
    } catch {
      // The signal says why.
    }
    return signal.aborted;
  }

  #count({ name }: CompiledTool): void {
    this.#executed.set(name, (this.#executed.get(name) ?? 0) + 1);
  }

  #invocation({ tool, call, values }: FittingCall, signal: AbortSignal, progress: CallProgress): ToolInvocation {
    const context = this.#callContext(tool, call, signal);
    const invocation = Object.freeze({
      ...context,
      metadata: copyOfMetadata(context.metadata),
      site: this.#context.site,
      effect: tool.effect,
      groups: tool.groups,
      sent: call.sent,
      arguments: copiesOf(values),
    });
    noteProgress(invocation, progress);
    return invocation;
  }

  #callContext(tool: CompiledTool, call: RequestedCall, signal: AbortSignal): ToolCallContext {
    const { runId, question, metadata, transcript } = this.#context;
    return Object.freeze({
      runId,
      callId: call.callId,
      turn: call.turn,
      tool: tool.name,
      signal,
      question,
      metadata,
      transcript: transcript(),
    });
  }
}

/** Copies of what could be changed: nothing that is done to an event, or by a middleware in passing, reaches the method. */
function copiesOf(values: FittingCall['values']): FittingCall['values'] {
  return Object.freeze(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, copyOf(value)])));
}
