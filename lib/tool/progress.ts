import type { FittingCall } from './conversion.js';
import type { Ending } from './execution.js';

/** What becomes of a call on its way. */
export interface CallProgress {
  /** The call as it was last edited; none where its arguments did not fit. */
  call: FittingCall | undefined;
  /** What is shown of its arguments, as they were before the tool could change them. */
  shown: Readonly<Record<string, unknown>> | undefined;
  /** Whether the tool itself was begun. */
  executed: boolean;
  /** Whether it counts towards the tool's bound. */
  counted: boolean;
  /** How the tool ended, before a middleware said otherwise. */
  ending: Ending | undefined;
}

/*
 * What the middleware of this package may know of a call and others need not: what its arguments really are, where the
 * copy that is shown hides them, and whether the tool was run.
 */
const progresses = new WeakMap<object, CallProgress>();

export function noteProgress(invocation: object, progress: CallProgress): void {
  progresses.set(invocation, progress);
}

export function progressOf(invocation: object): CallProgress | undefined {
  return progresses.get(invocation);
}
