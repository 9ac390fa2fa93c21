import { AIDefinitionError } from '../errors.js';
import type {
  AIEvents,
  AIRunEvent,
  ModelReplied,
  ModelRetried,
  RunStarted,
  ToolEnded,
  ToolSourceChanged,
  ToolStarted,
  TurnStarted,
} from './events.js';
import type { AIRun } from '../run.js';
import type { Answered } from './question.js';
import { AIObserver } from './observer.js';

/** More of an answer. Those of the last turn join to the run's text; one of an earlier turn stood beside a call. */
export interface TextWritten extends AIRunEvent {
  readonly turn: number;
  readonly delta: string;
}

/** The run is over, with an answer. The last event. */
export interface RunAnswered extends AIRunEvent {
  readonly run: AIRun;
  /** In milliseconds. */
  readonly durationMs: number;
}

/** What `stream` gives: what an observer is told, and the answer while it is written. */
export type AIEvent =
  | ({ readonly type: 'run-started' } & RunStarted)
  | ({ readonly type: 'turn-started' } & TurnStarted)
  | ({ readonly type: 'text' } & TextWritten)
  | ({ readonly type: 'model-replied' } & ModelReplied)
  | ({ readonly type: 'model-retried' } & ModelRetried)
  | ({ readonly type: 'tool-started' } & ToolStarted)
  | ({ readonly type: 'tool-ended' } & ToolEnded)
  | ({ readonly type: 'tool-source-changed' } & ToolSourceChanged)
  | ({ readonly type: 'run-ended' } & RunAnswered);

/** Somebody who follows one run from outside. */
export interface RunWatch {
  /** Ends the run when nobody follows it any more. */
  readonly signal: AbortSignal;
  readonly observer: AIObserver;
  readonly say: (turn: number, delta: string) => void;
}

const TYPES = {
  runStarted: 'run-started',
  turnStarted: 'turn-started',
  modelReplied: 'model-replied',
  modelRetried: 'model-retried',
  toolStarted: 'tool-started',
  toolEnded: 'tool-ended',
  toolSourceChanged: 'tool-source-changed',
} as const satisfies Partial<Record<keyof AIEvents, AIEvent['type']>>;

/**
 * The events of one run, in order. It begins when the first is asked for, and is aborted when its reader leaves. What is
 * not read yet waits; a failure comes after all that came before it. Read it once.
 */
export class EventStream implements AsyncIterableIterator<AIEvent> {
  readonly #start: (watch: RunWatch) => Promise<Answered>;
  readonly #controller = new AbortController();
  #ready: AIEvent[] = [];
  /** The first of them that was not read. Taken from the front of a long list, each would move all that follow. */
  #next = 0;
  #wake: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #ended: { readonly error?: unknown } | undefined;
  #isReading = false;
  /** All of it was read, or its reader left. */
  #isOver = false;
  #about: AIRunEvent | undefined;

  constructor(start: (watch: RunWatch) => Promise<Answered>) {
    this.#start = start;
  }

  /** Throws an `AIDefinitionError` where it was read to its end: a second loop would only find nothing. */
  [Symbol.asyncIterator](): this {
    if (this.#isOver)
      throw new AIDefinitionError('stream: it was read already, and is read once; ask again with stream(…)');
    return this;
  }

  async next(): Promise<IteratorResult<AIEvent, undefined>> {
    if (this.#isReading)
      throw new AIDefinitionError(
        'stream: an event was asked for while the one before had not come; await each next()',
      );
    this.#isReading = true;
    try {
      this.#running ??= this.#run();
      for (;;) {
        const event = this.#take();
        if (event !== undefined) return { done: false, value: event };
        if (this.#ended !== undefined) return this.#finish(this.#ended);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#isReading = false;
    }
  }

  /** Ends the run, and waits until it has ended. */
  async return(): Promise<IteratorResult<AIEvent, undefined>> {
    this.#controller.abort(new Error('nobody reads the stream any more'));
    this.#ready = [];
    this.#running ??= Promise.resolve();
    await this.#running;
    this.#ready = [];
    this.#next = 0;
    this.#ended = {};
    this.#isOver = true;
    return { done: true, value: undefined };
  }

  #take(): AIEvent | undefined {
    const event = this.#ready[this.#next++];
    // Half of the list at a time: what is moved then was never moved more often than it is long.
    if (this.#next * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#next);
      this.#next = 0;
    }
    return event;
  }

  #finish(ended: { readonly error?: unknown }): IteratorResult<AIEvent, undefined> {
    this.#ended = {};
    this.#isOver = true;
    if ('error' in ended) throw ended.error;
    return { done: true, value: undefined };
  }

  async #run(): Promise<void> {
    const begun = performance.now();
    try {
      const { run } = await this.#start({
        signal: this.#controller.signal,
        observer: this.#observer(),
        say: (turn, delta) => {
          this.#put({ type: 'text', ...this.#common(), turn, delta });
        },
      });
      this.#put({ type: 'run-ended', ...this.#common(), run, durationMs: performance.now() - begun });
      this.#ended = {};
    } catch (error) {
      // Whoever left is told of nothing any more.
      this.#ended = this.#controller.signal.aborted ? {} : { error };
    }
    this.#wake?.();
  }

  #observer(): AIObserver {
    const put = (type: AIEvent['type'], event: AIRunEvent): void => {
      this.#about = event;
      this.#put({ type, ...event } as AIEvent);
    };
    class Follower extends AIObserver {}
    for (const [method, type] of Object.entries(TYPES))
      Object.defineProperty(Follower.prototype, method, {
        value: (event: AIRunEvent) => {
          put(type, event);
        },
      });
    return new Follower();
  }

  #common(): AIRunEvent {
    const { runId = '', site = '' } = this.#about ?? {};
    return { runId, site, at: Date.now() };
  }

  #put(event: AIEvent): void {
    this.#ready.push(Object.freeze(event));
    this.#wake?.();
  }
}
