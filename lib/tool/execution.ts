import { onAbort } from '../abort.js';
import type { Abortable, Cancellation } from '../cancellation.js';
import { isErrorOf } from '../errors.js';
import type { ToolCallOutcome } from '../run.js';
import type { DenialTest } from './denial.js';
import { nothingText, plainText, resultText, shorten } from './result.js';
import { told } from './told.js';
import type { CompiledTool, ToolCallContext } from './tool.js';

/** How a call ends, for those inside. */
export interface Ending {
  readonly outcome: ToolCallOutcome;
  readonly result: string;
  /** The real error: for the observer, never for the model. */
  readonly error?: unknown;
  /** The tool said itself what the model is told, by an `AIToolError`. */
  readonly told?: true;
  /** The application said "not yours", which must look like "there is none" from whatever the model can see. */
  readonly denied?: true;
  /** Thrown once the end has been reported: the run is over. In an object, since anything can be thrown. */
  readonly fatal?: { readonly error: unknown };
}

/** What a tool is run with besides its arguments. */
export interface ExecutionContext {
  /** Handed to the tool unread; see `CompiledTool`. */
  readonly host: unknown;
  /** Of the run. */
  readonly signal: Abortable;
  /** Throws where the run is over, its time included. */
  readonly check: () => void;
  readonly isDenial: DenialTest;
}

/** As far as the model can see. */
export function seemsOk({ outcome, denied }: Pick<Ending, 'outcome' | 'denied'>): boolean {
  return outcome === 'ok' || denied === true;
}

/** What somebody must look at: neither the model's own mistake nor a refusal that the tool meant. */
export function isUnexpected({ outcome, fatal, told: said, denied }: Ending): boolean {
  return outcome === 'timed-out' || (outcome === 'failed' && fatal === undefined && said !== true && denied !== true);
}

export function aborted(signal: Abortable): Ending {
  const reason: unknown = signal.reason;
  return { outcome: 'aborted', result: '', error: reason, fatal: { error: reason } };
}

/**
 * What the work comes to, or how a call ends that does not end itself: past its time, or with its run. Watched from before
 * the work begins: it may abort the run before it first waits.
 */
export function unlessCutShort<T>(signal: Abortable, tool: CompiledTool, begin: () => Promise<T>): Promise<T | Ending> {
  return new Promise<T | Ending>((resolve, reject) => {
    const timer = setTimeout(() => {
      const error = new Error(`${tool.name} did not finish within ${tool.timeoutMs.toString()} ms`);
      end({ outcome: 'timed-out', result: told.timedOut(tool.name), error });
    }, tool.timeoutMs);
    let stopListening = (): void => undefined;
    const stop = (): void => {
      clearTimeout(timer);
      stopListening();
    };
    const end = (ending: T | Ending): void => {
      stop();
      resolve(ending);
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    stopListening = onAbort(signal, () => {
      end(aborted(signal));
    });
    try {
      begin().then(end, fail);
    } catch (error) {
      fail(error as Error);
    }
  });
}

/** Runs the tool and tells its result; never rejects. */
export async function executeTool(
  tool: CompiledTool,
  args: Readonly<Record<string, unknown>>,
  call: ToolCallContext,
  {
    host,
    signal,
    check,
    isDenial,
    begun,
    own,
  }: ExecutionContext & { readonly begun: () => void; readonly own: Cancellation },
): Promise<Ending> {
  let prepared: () => unknown;
  try {
    prepared = await tool.prepare(args, call, host);
    // The call may have been given up meanwhile: then it must not begin.
    check();
    signal.throwIfAborted();
    own.throwIfAborted();
  } catch (error) {
    return failure(tool, error, isErrorOf(error, 'scope') || isErrorOf(error, 'definition'), isDenial);
  }
  let value: unknown;
  try {
    begun();
    const returned = prepared();
    value = mayBePromise(returned) ? await returned : returned;
  } catch (error) {
    // A definition error that comes from within is of something that the tool itself uses.
    return failure(tool, error, isErrorOf(error, 'scope'), isDenial);
  }
  try {
    return {
      outcome: 'ok',
      result: typeof value === 'string' ? plainText(value, tool) : await resultText(value, tool),
    };
  } catch (error) {
    // What is lazy in a result may be denied as late as here.
    if (isDenial(error)) return { outcome: 'failed', result: nothingText(tool), error, denied: true };
    // The tool has done what it does; whatever its result throws, an AIToolError too, it must not be tried again.
    return { outcome: 'failed', result: told.failed(tool.name), error };
  }
}

/** What is no object has nothing to wait for. */
function mayBePromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' || typeof value === 'function';
}

/** What the model is told of an exception is decided by where it came from, not by what it says. */
function failure(tool: CompiledTool, error: unknown, isFatal: boolean, isDenial: DenialTest): Ending {
  if (!isFatal && isDenial(error)) return { outcome: 'failed', result: nothingText(tool), error, denied: true };
  if (isErrorOf(error, 'tool')) return { outcome: 'failed', result: messageOf(tool, error), error, told: true };
  return { outcome: 'failed', result: told.failed(tool.name), error, ...(isFatal && { fatal: { error } }) };
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
