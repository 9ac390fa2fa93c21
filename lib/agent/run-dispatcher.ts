import type { Abortable } from '../cancellation.js';
import type { AILimitError } from '../errors.js';
import { Dispatcher } from '../tool/dispatcher.js';
import type { ThrownErrors } from '../tool/thrown.js';
import type { CallEnvironment, RunningAgent } from './agent.js';
import type { Deadline } from './deadline.js';
import { type SurroundingCall, withinCall } from './nesting.js';
import type { Observers } from './observer.js';
import type { Question } from './question.js';
import type { RunState } from './run-state.js';

/** What the calls of one run are part of. */
interface RunParts {
  readonly agent: Pick<RunningAgent, 'site' | 'limits' | 'identity'>;
  readonly question: Pick<Question, 'text' | 'metadata' | 'outer'>;
  readonly environment: CallEnvironment;
  readonly signal: Abortable;
  readonly deadline: Deadline;
  readonly state: RunState;
  readonly observers: Observers;
  readonly thrown: ThrownErrors;
  /** Why the run may not go on, if it may not. */
  readonly over: () => AILimitError | undefined;
}

/** The dispatcher of a run: what becomes of its calls is recorded, and told to its observers. */
export function runDispatcher(parts: RunParts): Dispatcher {
  const { agent, question, environment, signal, deadline, state, observers, thrown } = parts;
  const { host, logger, isDenial, middleware, working } = environment;
  return new Dispatcher({
    runId: state.runId,
    site: agent.site,
    question: question.text,
    metadata: question.metadata,
    signal,
    check: () => {
      deadline.check();
    },
    host,
    logger,
    isDenial,
    middleware,
    perTool: agent.limits.perTool ?? {},
    working,
    transcript: () => Object.freeze([...state.transcript]),
    thrown,
    within: (callId, work) => withinCall(surrounding(parts, callId), work),
    started: (call) => {
      observers.tell('toolStarted', call);
    },
    ended: (record, error) => {
      state.record(record);
      observers.tell('toolEnded', { ...record, ...(error !== undefined && { error }) });
    },
  });
}

/** A call of the run, for a run that begins inside it. */
function surrounding({ agent, question, environment, state, over }: RunParts, callId: string): SurroundingCall {
  const { observers, host } = environment;
  return {
    runId: state.runId,
    callId,
    agent: agent.identity,
    host,
    observers,
    outer: question.outer,
    over,
    spent: (spent) => {
      state.spentInside(spent);
    },
  };
}
