import { isErrorOf } from '../errors.js';
import type { AILogger } from '../logger.js';
import type { ToolCallOutcome, ToolCallRecord, TranscriptEntry } from '../run.js';
import { copyOf } from '../schema/copy.js';
import type { Conversion } from '../schema/convert.js';
import type { DenialTest } from './denial.js';
import { nothingText, resultText, shorten } from './result.js';
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
export interface DispatchContext {
  readonly runId: string;
  readonly question: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Handed to each tool unread; see `CompiledTool`. */
  readonly host: unknown;
  readonly logger: AILogger;
  readonly isDenial: DenialTest;
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

interface Ending {
  readonly outcome: ToolCallOutcome;
  readonly result: string;
  /** The real error: for the observer, never for the model. */
  readonly error?: unknown;
  /** The tool said itself what the model is told, by an `AIToolError`. */
  readonly told?: true;
  /** The application said "not yours", which must look like "there is none" from whatever the model can see. */
  readonly denied?: true;
  /** Thrown once the end has been reported: the run is over. */
  readonly fatal?: unknown;
}

/**
 * The one way to a tool, for every kind of tool on every wire: look it up in this turn's set, convert, execute within its
 * time, turn the result into text. One dispatcher serves one run and knows its earlier calls.
 */
export class Dispatcher {
  readonly #context: DispatchContext;
  /** Mutating calls that were executed, by tool and converted arguments. */
  readonly #executed = new Map<string, Ending>();

  constructor(context: DispatchContext) {
    this.#context = context;
  }

  /** Executes a call of the set, or says why not. Throws where the run is over: an abort, no scope, a broken definition. */
  async dispatch(call: RequestedCall, toolset: Toolset): Promise<DispatchedCall> {
    this.#context.signal.throwIfAborted();
    const tool = toolset.get(call.tool);
    if (tool === undefined)
      return this.#report(call, undefined, () => ({
        outcome: 'unknown-tool',
        result: told.unknownTool(call.tool, toolset.names),
      }));
    const conversion = await this.#convert(tool, call);
    if ('outcome' in conversion) return this.#report(call, undefined, () => conversion);
    return this.#report(call, conversion.values, () =>
      this.#once(tool, conversion.key, () => this.#execute(tool, conversion.values, call)),
    );
  }

  /** Rules of the application's may take as long as the tool, and no longer. */
  async #convert(tool: CompiledTool, call: RequestedCall): Promise<Extract<Conversion, { ok: true }> | Ending> {
    const lines = call.problem === undefined ? undefined : [call.problem];
    const converting = lines === undefined ? tool.convert(call.sent) : { ok: false as const, lines };
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
    converted: Readonly<Record<string, unknown>> | undefined,
    end: () => Ending | Promise<Ending>,
  ): Promise<DispatchedCall> {
    const begun = performance.now();
    const { callId, turn, tool } = call;
    const started: StartedCall = {
      callId,
      turn,
      tool,
      sent: Object.freeze(call.sent),
      // A copy of what could be changed: nothing that is done to an event reaches the method.
      ...(converted !== undefined && {
        arguments: Object.freeze(
          Object.fromEntries(Object.entries(converted).map(([name, value]) => [name, copyOf(value)])),
        ),
      }),
    };
    this.#context.started(started);
    const ending = await end();
    const { outcome, result, error, fatal } = ending;
    const record: ToolCallRecord = Object.freeze({
      ...started,
      outcome,
      result,
      durationMs: performance.now() - begun,
    });
    this.#context.ended(record, error);
    if (fatal !== undefined) throw fatal as Error;
    return { record, seemsOk: seemsOk(ending) };
  }

  /** A model that lost its place must not refund twice; nor may it try again what perhaps happened. */
  async #once(tool: CompiledTool, keyOfArguments: () => string, execute: () => Promise<Ending>): Promise<Ending> {
    if (tool.effect === 'read-only' || tool.idempotent) return execute();
    const key = `${tool.name} ${keyOfArguments()}`;
    const earlier = this.#executed.get(key);
    if (earlier !== undefined && !(tool.repeatable && seemsOk(earlier)))
      return {
        outcome: 'repeated',
        result: told.repeated(tool.name, { ...earlier, ...(seemsOk(earlier) && { outcome: 'ok' }) }),
      };
    const ending = await execute();
    // After an AIToolError it may be tried again: the tool said itself that nothing happened.
    if (ending.told !== true) this.#executed.set(key, ending);
    return ending;
  }

  async #execute(tool: CompiledTool, args: Readonly<Record<string, unknown>>, call: RequestedCall): Promise<Ending> {
    const { signal, logger, host, runId, isDenial } = this.#context;
    if (signal.aborted) return aborted(signal); // an observer may have done so just now
    const controller = new AbortController();
    const context = this.#callContext(tool, call, controller.signal);
    // Watched from before the tool begins: it may abort the run before it first waits.
    const cutShort = cutShortBy(signal, tool);
    const work = run(tool, args, context, host, signal, isDenial);
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

/** How a call ends that does not end itself: past its time, or with its run. */
function cutShortBy(
  signal: AbortSignal,
  tool: CompiledTool,
): { readonly ending: Promise<Ending>; readonly stop: () => void } {
  let stop = (): void => undefined;
  const ending = new Promise<Ending>((resolve) => {
    const timer = setTimeout(() => {
      const error = new Error(`${tool.name} did not finish within ${tool.timeoutMs.toString()} ms`);
      resolve({ outcome: 'timed-out', result: told.timedOut(tool.name), error });
    }, tool.timeoutMs);
    const onAbort = (): void => {
      resolve(aborted(signal));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    stop = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  return { ending, stop };
}

/** What somebody must look at: neither the model's own mistake nor a refusal that the tool meant. */
function isUnexpected({ outcome, fatal, told, denied }: Ending): boolean {
  return outcome === 'timed-out' || (outcome === 'failed' && fatal === undefined && told !== true && denied !== true);
}

/** As far as the model can see. */
function seemsOk({ outcome, denied }: Ending): boolean {
  return outcome === 'ok' || denied === true;
}

function aborted(signal: AbortSignal): Ending {
  const reason: unknown = signal.reason;
  return { outcome: 'aborted', result: '', error: reason, fatal: reason };
}

/** Runs the tool and tells its result; never rejects. */
async function run(
  tool: CompiledTool,
  args: Readonly<Record<string, unknown>>,
  context: ToolCallContext,
  host: unknown,
  runSignal: AbortSignal,
  isDenial: DenialTest,
): Promise<Ending> {
  let prepared: () => unknown;
  try {
    prepared = await tool.prepare(args, context, host);
    // The call may have been given up meanwhile: then it must not begin.
    runSignal.throwIfAborted();
    context.signal.throwIfAborted();
  } catch (error) {
    return failure(tool, error, isErrorOf(error, 'scope') || isErrorOf(error, 'definition'), isDenial);
  }
  let value: unknown;
  try {
    value = await prepared();
  } catch (error) {
    // A definition error that comes from within is of something that the tool itself uses.
    return failure(tool, error, isErrorOf(error, 'scope'), isDenial);
  }
  try {
    return { outcome: 'ok', result: await resultText(value, tool) };
  } catch (error) {
    // What is lazy in a result may be denied as late as here.
    if (isDenial(error)) return { outcome: 'failed', result: nothingText(tool), error, denied: true };
    // The tool has done what it does; whatever its result throws, an AIToolError too, it must not be tried again.
    return { outcome: 'failed', result: told.failed(tool.name), error };
  }
}

/** What the model is told of an exception is decided by where it came from, not by what it says. */
function failure(tool: CompiledTool, error: unknown, isFatal: boolean, isDenial: DenialTest): Ending {
  if (!isFatal && isDenial(error)) return { outcome: 'failed', result: nothingText(tool), error, denied: true };
  if (isErrorOf(error, 'tool')) return { outcome: 'failed', result: messageOf(tool, error), error, told: true };
  return { outcome: 'failed', result: told.failed(tool.name), error, ...(isFatal && { fatal: error }) };
}

/** A message may be a getter of the application's: one that throws, or gives no text, is none. */
function messageOf(tool: CompiledTool, error: { readonly message: unknown }): string {
  try {
    const { message } = error;
    return typeof message === 'string' && message !== ''
      ? shorten(message, tool.maxResultChars)
      : told.failed(tool.name);
  } catch {
    return told.failed(tool.name);
  }
}
