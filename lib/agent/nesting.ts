import { AsyncLocalStorage } from 'node:async_hooks';
import { processState } from '../process-state.js';
import type { AILimitError } from '../errors.js';
import type { ModelUsage } from '../model/usage.js';
import type { AIObserver } from './observer.js';

/** A tool call at work, as a run sees it that is begun inside. */
export interface SurroundingCall {
  readonly runId: string;
  readonly callId: string;
  /** Which agent makes it. */
  readonly agent: object;
  /** Where it is run, unread. */
  readonly host: unknown;
  readonly observers: readonly AIObserver[];
  /** The call that this run was begun in itself. */
  readonly outer: SurroundingCall | undefined;
  /** What the run may not go on with, if it may not: its tokens or turns are used up. */
  readonly over: () => AILimitError | undefined;
  /** Takes note of what was spent inside, as a part of what the run costs. */
  readonly spent: (spent: Spent) => void;
}

/** What one request, or one reply, cost. */
export interface Spent {
  readonly attempts?: number;
  readonly modelCalls?: number;
  readonly usage?: ModelUsage;
  readonly cost?: number;
}

// Followed through whatever the application puts between: a tool of its own around an agent, a queue.
const calls = processState('surrounding-call/1', () => new AsyncLocalStorage<SurroundingCall>());

/** The tool call that this code is at work in. */
export function surroundingCall(): SurroundingCall | undefined {
  return calls.getStore();
}

export function withinCall<T>(call: SurroundingCall, work: () => T): T {
  return calls.run(call, work);
}

/** What every event of a run says of it. */
export interface RunIdentity {
  readonly runId: string;
  readonly site: string;
  readonly parentRunId?: string;
  readonly parentCallId?: string;
}

export function runIdentity(runId: string, site: string, outer: SurroundingCall | undefined): RunIdentity {
  return { runId, site, ...(outer && { parentRunId: outer.runId, parentCallId: outer.callId }) };
}

/** The call and those around it, from the inside out. */
export function* outwards(call: SurroundingCall | undefined): Generator<SurroundingCall> {
  for (let at = call; at !== undefined; at = at.outer) yield at;
}
