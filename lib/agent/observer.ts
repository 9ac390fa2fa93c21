import { isObject } from '../declaration.js';
import type { AILogger } from '../logger.js';
import type { RunIdentity } from './nesting.js';
import { copyOf, copyOfMetadata } from '../schema/copy.js';
import { declareToken } from '../token.js';
import type {
  AIEvents,
  AIRunEvent,
  ModelReplied,
  ModelRetried,
  RunEnded,
  RunStarted,
  ToolEnded,
  ToolSourceChanged,
  ToolStarted,
  TurnStarted,
} from './events.js';

/**
 * Sees what happens in a run: the place for audit, logging and metrics. Bind any number of them under this class, in
 * the application or in a scope; override what you need. Nothing an observer does changes a run: it is not awaited, and
 * what it throws is logged.
 */
export abstract class AIObserver {
  static {
    declareToken('AIObserver', this);
  }

  runStarted(_event: RunStarted): void {}

  turnStarted(_event: TurnStarted): void {}

  modelReplied(_event: ModelReplied): void {}

  modelRetried(_event: ModelRetried): void {}

  toolStarted(_event: ToolStarted): void {}

  toolEnded(_event: ToolEnded): void {}

  toolSourceChanged(_event: ToolSourceChanged): void {}

  runEnded(_event: RunEnded): void {}
}

const METHODS = [
  ...[
    'runStarted',
    'turnStarted',
    'modelReplied',
    'modelRetried',
    'toolStarted',
    'toolEnded',
    'toolSourceChanged',
    'runEnded',
  ],
] as const;

/** Whether a value hears of anything, whichever copy of the package its class came from. */
export function isObserver(value: unknown): value is AIObserver {
  return isObject(value) && METHODS.some((method) => typeof value[method] === 'function');
}

/** The observers of one run. A fault of one is logged once a run and reaches nobody else. */
export class Observers {
  readonly #list: readonly AIObserver[];
  readonly #logger: AILogger;
  readonly #faulty = new Set<AIObserver>();
  readonly #run: RunIdentity;

  constructor(list: readonly AIObserver[], logger: AILogger, run: RunIdentity) {
    this.#list = [...list];
    this.#logger = logger;
    this.#run = run;
  }

  /** Tells all of them, in order. */
  tell<E extends keyof AIEvents>(name: E, data: Omit<AIEvents[E], keyof AIRunEvent>): void {
    const at = Date.now();
    for (const observer of this.#list) {
      try {
        const method: unknown = observer[name];
        // One of an older copy of the package does not know every event.
        if (typeof method !== 'function') continue;
        const event = Object.freeze({ ...this.#run, at, ...ownCopies(data) });
        const returned: unknown = (method as (event: unknown) => unknown).call(observer, event);
        if (isThenable(returned))
          // One whose own methods somebody replaced is read by a promise of ours.
          new Promise((resolve) => {
            resolve(returned);
          }).catch((error: unknown) => {
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
    const { site, runId } = this.#run;
    this.#logger.error(
      `[inversify-ai] ${site}: the observer ${classOf(observer)} failed in ${name}; the run goes on (run ${runId})`,
      error,
    );
  }
}

/**
 * What is frozen can be shared; what cannot be, a Date or a Map, is copied for each: what one observer does to it reaches
 * neither the run nor the next one.
 */
function ownCopies(data: object): object {
  const {
    arguments: args,
    metadata,
    run,
  } = data as {
    readonly arguments?: unknown;
    readonly metadata?: RunStarted['metadata'];
    readonly run?: RunEnded['run'];
  };
  return {
    ...data,
    ...(args !== undefined && { arguments: copyOf(args) }),
    ...(metadata !== undefined && { metadata: copyOfMetadata(metadata) }),
    ...(run !== undefined && { run: runCopy(run) }),
  };
}

function runCopy(run: RunEnded['run']): RunEnded['run'] {
  const calls = run.calls.map((call) =>
    call.arguments === undefined
      ? call
      : Object.freeze({ ...call, arguments: copyOf(call.arguments) as NonNullable<typeof call.arguments> }),
  );
  return Object.freeze({ ...run, calls: Object.freeze(calls) });
}

function classOf(observer: object): string {
  const name: unknown = (observer.constructor as { readonly name?: unknown } | undefined)?.name;
  return typeof name === 'string' && name !== '' ? name : '(of no class)';
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
