import { onAbort } from '../abort.js';
import { Cancellation } from '../cancellation.js';
import { copyOf } from '../schema/copy.js';
import { type ConversionContext, convertEdit, type FittingCall } from './conversion.js';
import type { Ending } from './execution.js';
import { type ToolInvocation, type ToolMiddleware, throughMiddleware } from './middleware.js';
import { countsAsExecuted, endingOf, outcomeOf } from './outcome.js';
import type { CallProgress } from './progress.js';
import type { ThrownErrors } from './thrown.js';
import { told } from './told.js';

/** What a call on its way through the middleware needs. */
interface SurroundedContext {
  readonly conversion: ConversionContext;
  readonly middleware: readonly ToolMiddleware[];
  readonly thrown: ThrownErrors;
  /** What a middleware is shown of a call. */
  readonly invocation: (call: FittingCall, signal: Cancellation) => ToolInvocation;
  readonly execute: (call: FittingCall, signal: Cancellation) => Promise<Ending>;
  /** Told how the call ended for the model, and whether something was answered in the tool's place. */
  readonly answered: (ending: Ending, isExecution: boolean) => void;
}

/** One call through the middleware and back; never rejects. */
export async function surrounded(
  fitting: FittingCall,
  progress: CallProgress,
  context: SurroundedContext,
): Promise<Ending> {
  const { signal } = context.conversion;
  // The call's own: aborted with the run, and when a middleware answers before the tool does.
  const controller = new Cancellation();
  const over = new Error(`${fitting.tool.name}: the call is over`);
  const left = (): void => {
    controller.abort(over);
  };
  let fatal: Ending | undefined;
  const way = throughMiddleware<FittingCall>(context.middleware, fitting, {
    shown: (call) => context.invocation(call, controller),
    edit: async (call, edited, by, invocation) => {
      const result = await convertEdit(context.conversion, call, edited, by, invocation);
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
      controller.throwIfAborted();
      const ending = await context.execute(call, controller);
      // Somebody answered meanwhile: how it would have ended is nobody's to know.
      if (ending.fatal?.error === over) throw over;
      progress.ending = ending;
      if (ending.fatal === undefined) return outcomeOf(ending);
      fatal = ending;
      throw ending.fatal.error;
    },
    left,
    threw: (error, by) => {
      context.thrown.note(error, by);
    },
  });
  const answered = way.then((outcome) => {
    const ending = endingOf(outcome, fitting.tool, progress.ending);
    context.answered(ending, countsAsExecuted(outcome));
    return ending;
  });
  let stop = (): void => undefined;
  const cutShort = new Promise<Ending>((resolve) => {
    stop = onAbort(signal, () => {
      controller.abort(signal.reason);
      resolve(ended({ error: signal.reason as unknown }, 'aborted', progress));
    });
  });
  try {
    const ending = await Promise.race([answered, cutShort]);
    return fatal ?? ending;
  } catch (error) {
    return fatal ?? ended({ error }, 'failed', progress);
  } finally {
    stop();
    left();
  }
}

/** The run is over at this call. Where the tool had ended by itself, that is how the call ended: whoever looks must see it. */
function ended(
  fatal: { readonly error: unknown },
  outcome: 'failed' | 'aborted',
  { call, ending }: CallProgress,
): Ending {
  const { error } = fatal;
  if (ending !== undefined) return { ...ending, error, fatal };
  const result = outcome === 'aborted' || call === undefined ? '' : told.failed(call.tool.name);
  return { outcome, result, error, fatal };
}

/** Copies of what could be changed: nothing that is done to an event, or by a middleware in passing, reaches the method. */
export function copiesOf(values: FittingCall['values']): FittingCall['values'] {
  return Object.freeze(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, copyOf(value)])));
}
