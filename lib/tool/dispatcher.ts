import { onAbort } from '../abort.js';
import type { ToolCallRecord, TranscriptEntry } from '../run.js';
import { copyOf } from '../schema/copy.js';
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
import { type ToolInvocation, type ToolMiddleware, throughMiddleware } from './middleware.js';
import { endingOf, outcomeOf } from './outcome.js';
import { Repeats } from './repeats.js';
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
    this.#context.signal.throwIfAborted();
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
    const fitting = { tool, call, sent: call.sent, values: conversion.values, key: conversion.key };
    return this.#report(call, begun, fitting, (changed) => this.#throughMiddleware(fitting, changed));
  }

  async #report(
    call: RequestedCall,
    begun: number,
    fitting: FittingCall | undefined,
    end: (changed: (call: FittingCall) => void) => Ending | Promise<Ending>,
  ): Promise<DispatchedCall> {
    const { callId, turn, tool } = call;
    const shown = (values: FittingCall['values']): Pick<StartedCall, 'arguments'> => ({ arguments: copiesOf(values) });
    const started: StartedCall = {
      callId,
      turn,
      tool,
      sent: Object.freeze(call.sent),
      ...(fitting !== undefined && shown(fitting.values)),
    };
    this.#context.started(started);
    let last = fitting;
    const ending = await end((changed) => {
      last = changed;
    });
    const { outcome, result, error, fatal } = ending;
    const record: ToolCallRecord = Object.freeze({
      ...started,
      ...(last !== undefined && last !== fitting && shown(last.values)),
      outcome,
      result,
      durationMs: performance.now() - begun,
    });
    this.#context.ended(record, error);
    if (fatal !== undefined) throw fatal as Error;
    return { record, seemsOk: seemsOk(ending) };
  }

  async #throughMiddleware(fitting: FittingCall, changed: (call: FittingCall) => void): Promise<Ending> {
    const { middleware, signal } = this.#context;
    if (middleware.length === 0) return this.#once(fitting, signal);
    // The call's own: aborted with the run, and when a middleware answers before the tool does.
    const controller = new AbortController();
    let fatal: Ending | undefined;
    const executed = { once: false };
    const way = throughMiddleware<FittingCall>(middleware, fitting, {
      shown: (call) => this.#invocation(call, controller.signal),
      edit: async (call, edited, by, invocation) => {
        const result = await convertEdit(this.#context, call, edited, by, invocation);
        if (!('outcome' in result)) {
          changed(result);
          return { call: result };
        }
        if (result.fatal !== undefined) fatal = result;
        return { ended: outcomeOf(result) };
      },
      execute: async (call) => {
        controller.signal.throwIfAborted();
        executed.once = true;
        const ending = await this.#once(call, controller.signal);
        if (ending.fatal === undefined) return outcomeOf(ending);
        fatal = ending;
        throw ending.fatal as Error;
      },
    });
    const { tool } = fitting;
    let stop = (): void => undefined;
    const cutShort = new Promise<Ending>((resolve) => {
      stop = onAbort(signal, () => {
        controller.abort(signal.reason);
        resolve(aborted(signal));
      });
    });
    try {
      const ending = await Promise.race([way.then((outcome) => endingOf(outcome, tool)), cutShort]);
      // A result that a middleware gives in the tool's place is one of the tool's as well.
      if (!executed.once && (ending.outcome === 'ok' || ending.outcome === 'failed')) this.#count(tool);
      return fatal ?? ending;
    } catch (error) {
      return fatal ?? { outcome: 'failed', result: told.failed(tool.name), error, fatal: error };
    } finally {
      stop();
      controller.abort(new Error(`${tool.name}: the call is over`));
    }
  }

  #once({ tool, values, call, key }: FittingCall, signal: AbortSignal): Promise<Ending> {
    return this.#repeats.once(tool, key, () => this.#execute(tool, values, call, signal));
  }

  async #execute(
    tool: CompiledTool,
    args: FittingCall['values'],
    call: RequestedCall,
    signal: AbortSignal,
  ): Promise<Ending> {
    const { logger, runId } = this.#context;
    if (signal.aborted) return aborted(signal); // an observer may have done so just now
    this.#count(tool);
    const controller = new AbortController();
    const context = this.#callContext(tool, call, controller.signal);
    // Watched from before the tool begins: it may abort the run before it first waits.
    const cutShort = cutShortBy(signal, tool);
    const work = executeTool(tool, args, context, { ...this.#context, signal });
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

  #count({ name }: CompiledTool): void {
    this.#executed.set(name, (this.#executed.get(name) ?? 0) + 1);
  }

  #invocation({ tool, call, values }: FittingCall, signal: AbortSignal): ToolInvocation {
    return Object.freeze({
      ...this.#callContext(tool, call, signal),
      site: this.#context.site,
      effect: tool.effect,
      groups: tool.groups,
      sent: call.sent,
      arguments: copiesOf(values),
    });
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
