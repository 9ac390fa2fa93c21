import { onAbort } from '../abort.js';
import { describeKind } from '../declaration.js';
import { AIDefinitionError, isErrorOf } from '../errors.js';
import type { AILogger } from '../logger.js';
import type { ToolCallRecord, TranscriptEntry } from '../run.js';
import { copyOf } from '../schema/copy.js';
import type { Conversion } from '../schema/convert.js';
import {
  aborted,
  cutShortBy,
  type Ending,
  executeTool,
  type ExecutionContext,
  isUnexpected,
  seemsOk,
} from './execution.js';
import { editedArguments, type ToolInvocation, type ToolMiddleware, throughMiddleware } from './middleware.js';
import { endingOf, outcomeOf } from './outcome.js';
import { Repeats } from './repeats.js';
import { told } from './told.js';
import type { CompiledTool, ToolCallContext } from './tool.js';
import type { Toolset } from './toolset.js';

/** A call as a wire decoded it. */
export interface RequestedCall {
  readonly callId: string;
  readonly turn: number;
  readonly tool: string;
  readonly sent: Readonly<Record<string, unknown>>;
  /** What is wrong with the arguments as a whole: a name given twice, text that is no JSON. */
  readonly problem?: string;
}

/** What the dispatcher needs to know of the run that it serves. */
export interface DispatchContext extends ExecutionContext {
  readonly runId: string;
  readonly site: string;
  readonly question: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly logger: AILogger;
  readonly middleware: readonly ToolMiddleware[];
  /** How often a tool may be executed, by wire name. */
  readonly perTool: Readonly<Record<string, number>>;
  readonly transcript: () => readonly TranscriptEntry[];
  /** Told of each tool at work and how long it may take: whoever closes what it works in waits so long. */
  readonly working?: ((work: Promise<unknown>, timeoutMs: number) => void) | undefined;
  readonly started: (call: StartedCall) => void;
  readonly ended: (record: ToolCallRecord, error: unknown) => void;
}

export type StartedCall = Pick<ToolCallRecord, 'callId' | 'turn' | 'tool' | 'sent' | 'arguments'>;

/** A call that was dispatched: how it ended, and whether the model was told so as of a call that succeeded. */
export interface DispatchedCall {
  readonly record: ToolCallRecord;
  readonly seemsOk: boolean;
}

/** A call whose arguments fit, on its way through the middleware. */
interface FittingCall {
  readonly tool: CompiledTool;
  readonly call: RequestedCall;
  /** The arguments as sent, or as a middleware would have had them sent. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly values: Readonly<Record<string, unknown>>;
  /** What makes two calls the same call. */
  readonly key: () => string;
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
    const tool = toolset.get(call.tool);
    if (tool === undefined)
      return this.#report(call, undefined, () => ({
        outcome: 'unknown-tool',
        result: told.unknownTool(call.tool, offered.names),
      }));
    if (this.#isExhausted(tool.name))
      return this.#report(call, undefined, () => ({ outcome: 'refused', result: told.exhausted(tool.name) }));
    const conversion = await this.#convert(tool, call, call.sent);
    if ('outcome' in conversion) return this.#report(call, undefined, () => conversion);
    const fitting = { tool, call, sent: call.sent, values: conversion.values, key: conversion.key };
    return this.#report(call, fitting, (changed) => this.#throughMiddleware(fitting, changed));
  }

  /** A call that is answered without a look at it: more were made in one turn than may run. */
  async refuse(call: RequestedCall, result: string): Promise<DispatchedCall> {
    return this.#report(call, undefined, () => ({ outcome: 'refused', result }));
  }

  /** Rules of the application's may take as long as the tool, and no longer. */
  async #convert(
    tool: CompiledTool,
    call: RequestedCall,
    sent: Readonly<Record<string, unknown>>,
  ): Promise<Extract<Conversion, { ok: true }> | Ending> {
    const converting = call.problem === undefined ? tool.convert(sent) : { ok: false as const, lines: [call.problem] };
    let conversion: Conversion | Ending;
    if (converting instanceof Promise) {
      const cutShort = cutShortBy(this.#context.signal, tool);
      this.#context.working?.(converting, tool.timeoutMs);
      try {
        conversion = await Promise.race([converting, cutShort.ending]);
      } finally {
        cutShort.stop();
      }
    } else conversion = converting;
    if ('outcome' in conversion) {
      // Nothing was executed, whatever the rules did.
      const result = conversion.outcome === 'timed-out' ? told.unchecked(tool.name) : conversion.result;
      return this.#looked(tool, call, { ...conversion, result });
    }
    if (conversion.ok) return { ...conversion, values: Object.freeze(conversion.values) };
    const { error } = conversion;
    return this.#looked(tool, call, {
      outcome: 'invalid-arguments',
      result: told.invalidArguments(tool.name, conversion.lines),
      ...(error !== undefined && { error }),
      ...(isErrorOf(error, 'scope') && { fatal: error }),
    });
  }

  /** A rule that throws, or takes too long, is something that somebody must look at. */
  #looked(tool: CompiledTool, call: RequestedCall, ending: Ending): Ending {
    const { logger, runId } = this.#context;
    if (ending.error !== undefined && ending.fatal === undefined)
      logger.warn(
        `[inversify-ai] the arguments of ${tool.name} could not be checked (run ${runId}, call ${call.callId})`,
        ending.error,
      );
    return ending;
  }

  async #report(
    call: RequestedCall,
    fitting: FittingCall | undefined,
    end: (changed: (call: FittingCall) => void) => Ending | Promise<Ending>,
  ): Promise<DispatchedCall> {
    const begun = performance.now();
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
        const result = await this.#edit(call, edited, by, invocation);
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

  /** The arguments of an edit, converted anew. What does not fit is the middleware's mistake, and none of the model's to read. */
  async #edit(
    { tool, call, sent, values }: FittingCall,
    edited: unknown,
    by: string,
    invocation: ToolInvocation,
  ): Promise<FittingCall | Ending> {
    const { arguments: args } = (edited ?? {}) as { readonly arguments?: unknown };
    if (typeof args !== 'object' || args === null || Array.isArray(args))
      throw new AIDefinitionError(
        `${by}.tool: next() takes the edited arguments as next({ arguments: { … } }), found ${describeKind(edited)}`,
      );
    const again = editedArguments(args as FittingCall['values'], { values, shown: invocation.arguments, sent });
    const conversion = await this.#convert(tool, call, again);
    if (!('outcome' in conversion)) return { tool, call, sent: again, values: conversion.values, key: conversion.key };
    if (conversion.outcome !== 'invalid-arguments' || conversion.fatal !== undefined) return conversion;
    const { logger, runId } = this.#context;
    const error = new AIDefinitionError(
      `${by}.tool: the edited arguments do not fit ${tool.name}: ${conversion.result.split('\n').slice(1).join('; ')}`,
    );
    logger.warn(`[inversify-ai] ${tool.name} was not called (run ${runId}, call ${call.callId})`, error);
    return { outcome: 'invalid-arguments', result: told.misedited(tool.name), error };
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
