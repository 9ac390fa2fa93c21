import type { ToolCallRecord, TranscriptEntry } from '../run.js';
import { type Abortable, Cancellation } from '../cancellation.js';
import { copyOfMetadata } from '../schema/copy.js';
import { type ConversionContext, convertArguments, type FittingCall, type RequestedCall } from './conversion.js';
import {
  aborted,
  type Ending,
  executeTool,
  type ExecutionContext,
  isUnexpected,
  seemsOk,
  unlessCutShort,
} from './execution.js';
import type { ToolInvocation, ToolMiddleware } from './middleware.js';
import { type CallProgress, noteProgress } from './progress.js';
import { Repeats } from './repeats.js';
import { copiesOf, surrounded } from './surrounded.js';
import type { ThrownErrors } from './thrown.js';
import { told } from './told.js';
import type { CompiledTool, ToolCallContext } from './tool.js';
import type { CompiledToolset } from './compiled-toolset.js';

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
  /** Surrounds a tool at work, so that what begins inside knows which call it is part of. */
  readonly within?: <T>(callId: string, work: () => T) => T;
}

export type StartedCall = Pick<ToolCallRecord, 'callId' | 'turn' | 'tool' | 'sent' | 'arguments'>;

/** The set that a call is looked up in, and what of it the turn offered. */
export interface DispatchSets {
  readonly toolset: CompiledToolset;
  readonly offered: CompiledToolset;
  /** What the model is told in place of a call that may not be made any more. */
  readonly refused?: ((tool: string) => string) | undefined;
}

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
  async dispatch(call: RequestedCall, { toolset, offered, refused }: DispatchSets): Promise<DispatchedCall> {
    this.#context.check();
    const begun = performance.now();
    const tool = toolset.get(call.tool);
    if (tool === undefined)
      return this.#report(call, begun, undefined, () => ({
        outcome: 'unknown-tool',
        result: told.unknownTool(call.tool, offered.names),
      }));
    if (refused !== undefined)
      return this.#report(call, begun, undefined, () => ({ outcome: 'refused', result: refused(tool.name) }));
    if (this.#isExhausted(tool.name))
      return this.#report(call, begun, undefined, () => ({ outcome: 'refused', result: told.exhausted(tool.name) }));
    if (offered.get(tool.name) === undefined)
      return this.#report(call, begun, undefined, () => ({
        outcome: 'refused',
        result: told.notNow(tool.name, offered.names),
      }));
    const converting = convertArguments(this.#context, tool, call, call.sent);
    const conversion = converting instanceof Promise ? await converting : converting;
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

  #throughMiddleware(fitting: FittingCall, progress: CallProgress): Ending | Promise<Ending> {
    const { middleware, signal } = this.#context;
    if (this.#isOver(signal)) return aborted(signal); // an observer may have done so just now
    if (middleware.length === 0) return this.#once(fitting, signal, progress);
    return surrounded(fitting, progress, {
      conversion: this.#context,
      middleware,
      thrown: this.#context.thrown,
      invocation: (call, own) => this.#invocation(call, own, progress),
      execute: (call, own) => this.#once(call, own, progress),
      answered: (ending, isExecution) => {
        // A result that a middleware gives in the tool's place is one of the tool's as well.
        if (!progress.counted && isExecution) this.#count(fitting.tool);
        if (progress.ending !== undefined) this.#repeats.tell(progress.ending, ending);
      },
    });
  }

  #once({ tool, values, call, keys }: FittingCall, signal: Abortable, progress: CallProgress): Promise<Ending> {
    return this.#repeats.once(tool, keys, () => this.#execute(tool, values, call, signal, progress));
  }

  async #execute(
    tool: CompiledTool,
    args: FittingCall['values'],
    call: RequestedCall,
    signal: Abortable,
    progress: CallProgress,
  ): Promise<Ending> {
    const { logger, runId } = this.#context;
    if (this.#isOver(signal)) return aborted(signal); // an observer may have done so just now
    progress.counted = true;
    this.#count(tool);
    const controller = new Cancellation();
    const context = this.#callContext(tool, call, controller);
    const begun = (): void => {
      progress.executed = true;
    };
    const execution = { ...this.#context, signal, begun, own: controller };
    const { within = (_callId, start) => start() } = this.#context;
    const ending = await unlessCutShort(signal, tool, () => {
      const work = within(call.callId, () => executeTool(tool, args, context, execution));
      this.#context.working?.(work, tool.timeoutMs);
      return work;
    });
    if (ending.outcome === 'timed-out' || ending.outcome === 'aborted') controller.abort(ending.error);
    if (isUnexpected(ending))
      logger.warn(`[inversify-ai] ${tool.name} ${ending.outcome} (run ${runId}, call ${call.callId})`, ending.error);
    return ending;
  }

  /** A timer comes late where somebody holds the thread: the clock is looked at before anything begins. */
  #isOver(signal: Abortable): boolean {
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

  #invocation({ tool, call, values }: FittingCall, signal: Cancellation, progress: CallProgress): ToolInvocation {
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

  #callContext(tool: CompiledTool, call: RequestedCall, cancellation: Cancellation): ToolCallContext {
    const { runId, question, metadata, transcript } = this.#context;
    return Object.freeze({
      runId,
      callId: call.callId,
      turn: call.turn,
      tool: tool.name,
      get signal() {
        return cancellation.signal;
      },
      question,
      metadata,
      transcript: transcript(),
    });
  }
}
