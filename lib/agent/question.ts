import type { Abortable } from '../cancellation.js';
import type { AIRun } from '../run.js';
import type { SourceChange } from '../tool/late-tools.js';
import type { Deadline } from './deadline.js';
import type { RunWatch } from './event-stream.js';
import type { SurroundingCall } from './nesting.js';
import type { AIObserver } from './observer.js';
import type { TypedAnswer } from './typed-answer.js';

/** What one question asks for. */
export interface Question {
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The type of its answer, where it is to have one. */
  readonly typed?: TypedAnswer | undefined;
  /** The call of another run that it is asked in, by a tool at work. */
  readonly outer?: SurroundingCall | undefined;
  /** The same where the question is that call: then it is paid for, and bounded, by the other run as well. */
  readonly charged?: SurroundingCall | undefined;
  /** Who follows the run from outside; the runs of its calls are not followed. */
  readonly watch?: RunWatch | undefined;
}

/** What ends a run from outside, and what happened before it began. */
export interface RunClock {
  readonly signal: Abortable;
  readonly deadline: Deadline;
  /** To tools that come from elsewhere. */
  readonly changes: SourceChange[];
}

/** The observers of a run, and who follows it. */
export function watched(observers: readonly AIObserver[], watch: RunWatch | undefined): readonly AIObserver[] {
  return watch === undefined ? observers : [...observers, watch.observer];
}

/** A run that came to its end, and the typed answer where one was asked for. */
export interface Answered {
  readonly run: AIRun;
  readonly value?: unknown;
}
