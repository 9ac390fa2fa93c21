import type { AILogger } from '../logger.js';
import type { ToolCallOutcome } from '../run.js';
import { declareToken } from '../token.js';

/** What every event says. Events are frozen copies: nothing done to one reaches the run. */
export interface AIRunEvent {
  /** Unique for each question. */
  readonly runId: string;
  /** Which agent: `SupportController#0`, `SupportController.reader`, or `createAIService`. */
  readonly site: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The model made a call; it may yet turn out to be unknown, wrong, repeated or refused. */
export interface ToolStarted extends AIRunEvent {
  /** Unique within the run. */
  readonly callId: string;
  /** The provider call, counted from 1, whose reply made this call. */
  readonly turn: number;
  /** The wire name, as the model wrote it. */
  readonly tool: string;
  /** The arguments as the model sent them. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** The arguments as converted, the same that the method gets; absent where they could not be. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** The call is over: exactly one for each `ToolStarted`. */
export interface ToolEnded extends ToolStarted {
  /** How it ended. */
  readonly outcome: ToolCallOutcome;
  /** What the model was told. */
  readonly result: string;
  /** The real error, the very object that was thrown. It may hold what the model must not see. */
  readonly error?: unknown;
  /** In milliseconds, conversion and resolution included. */
  readonly durationMs: number;
}

/**
 * Sees what happens in a run: the place for audit, logging and metrics. Bind any number of them under this class, in
 * the application or in a scope; override what you need. Nothing an observer does changes a run: it is not awaited, and
 * what it throws is logged.
 */
export abstract class AIObserver {
  static {
    declareToken('AIObserver', this);
  }

  toolStarted(_event: ToolStarted): void {
    // nothing, until a subclass does something
  }

  toolEnded(_event: ToolEnded): void {
    // nothing, until a subclass does something
  }
}

/** The observers of one run. A fault of one is logged once a run and reaches nobody else. */
export class Observers {
  readonly #list: readonly AIObserver[];
  readonly #logger: AILogger;
  readonly #faulty = new Set<AIObserver>();

  constructor(list: readonly AIObserver[], logger: AILogger) {
    this.#list = [...list];
    this.#logger = logger;
  }

  tell<E extends 'toolStarted' | 'toolEnded'>(name: E, event: Parameters<AIObserver[E]>[0]): void {
    for (const observer of this.#list) {
      try {
        const returned: unknown = (observer[name] as (event: unknown) => unknown).call(observer, event);
        if (isThenable(returned))
          Promise.resolve(returned).catch((error: unknown) => {
            this.#fault(observer, name, error);
          });
      } catch (error) {
        this.#fault(observer, name, error);
      }
    }
  }

  #fault(observer: AIObserver, name: string, error: unknown): void {
    if (this.#faulty.has(observer)) return;
    this.#faulty.add(observer);
    this.#logger.error(`[inversify-ai] an observer failed in ${name}; the run goes on`, error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
