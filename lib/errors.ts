import type { PartialRun } from './run.js';

/** Options of every error here. */
interface AIErrorOptions {
  readonly cause?: unknown;
}

/** All words that `AIError.code` may be. */
export type AIErrorCode =
  | 'definition'
  | 'scope'
  | 'tool-iteration'
  | 'truncated'
  | 'filtered'
  | 'refused'
  | 'malformed'
  | 'empty'
  | 'deadline'
  | 'tokens'
  | 'turns'
  | 'provider'
  | 'tool'
  | 'tool-source';

const BRAND = Symbol.for('inversify-ai/error');

/**
 * The root of all errors of this package. Messages say what to do and hold no secret: no provider's body, no
 * exception of the application's. Those are in `cause`, which is not enumerable.
 */
export abstract class AIError extends Error {
  /** A stable word for this kind of error, for programs. */
  abstract readonly code: AIErrorCode;

  /** The run as far as it came, where the error ended one. Not enumerable: it holds what tools returned. */
  get run(): PartialRun | undefined {
    return runs.get(this);
  }

  constructor(message: string, options?: AIErrorOptions) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    Object.defineProperty(this, 'name', { enumerable: false });
  }

  /** @internal */
  get [BRAND](): true {
    return true;
  }
}

/** The runs that errors ended. Not on the errors themselves, which somebody may have frozen. */
const runs = new WeakMap<AIError, PartialRun>();

/** Hangs the run that an error ended on the error. It must be one that nobody else has seen: others could be thrown it too. */
export function carryRun<E extends AIError>(error: E, run: PartialRun): E {
  runs.set(error, run);
  return error;
}

/** Whether an error is one of ours of that kind, also where another copy of the package made it. */
export function isErrorOf(
  error: unknown,
  code: 'scope' | 'definition' | 'tool' | 'provider' | 'tool-source',
): error is AIError {
  try {
    return (
      typeof error === 'object' &&
      error !== null &&
      (error as Readonly<Record<symbol, unknown>>)[BRAND] === true &&
      (error as { readonly code?: unknown }).code === code
    );
  } catch {
    return false; // a revoked proxy, a getter that throws
  }
}

/** A declaration is wrong: a decorator, an option, a site, a tool. Thrown before anything is sent. */
export class AIDefinitionError extends AIError {
  readonly code = 'definition';
  /** Each problem for itself; the message has them all. Not enumerable, so that a log does not say them twice. */
  declare readonly problems: readonly string[];

  /** `problems` come together in one message, a line each where there are several. */
  constructor(problems: string | readonly string[], options?: AIErrorOptions) {
    const list = typeof problems === 'string' ? [problems] : problems;
    super(
      list.length === 1
        ? (list[0] as string)
        : `${list.length.toString()} problems:\n${list.map((problem) => `- ${problem.replaceAll('\n', '\n  ')}`).join('\n')}`,
      options,
    );
    Object.defineProperty(this, 'problems', { value: Object.freeze([...list]), enumerable: false });
  }
}

/** There is no caller to act for: no scope, one that has ended, somebody else's, or a binding that would leak one. */
export class AIScopeError extends AIError {
  readonly code = 'scope';
}

/**
 * The model named a tool when none was on offer: `maxToolCalls` were made and the turn's schema held the answer alone.
 * It means a provider that does not enforce the schema. `run.calls` lists the calls that were made.
 */
export class AIToolIterationError extends AIError {
  readonly code = 'tool-iteration';
}

/** The model's reply is no answer: cut off, blocked, refused, not in the agreed form, or empty. Nothing ran from it. */
export class AIResponseError extends AIError {
  /** The text that came, if any; a refusal's words. It is the model's: do not show it as an answer. Not enumerable. */
  declare readonly text: string;
  /**
   * What was wrong with it, a line each, where it was malformed: `answer.state: expected one of "sent", got "lost"`. They
   * quote the reply. Not enumerable.
   */
  declare readonly problems: readonly string[];

  constructor(
    readonly code: 'truncated' | 'filtered' | 'refused' | 'malformed' | 'empty',
    message: string,
    text = '',
    problems: readonly string[] = [],
    options?: AIErrorOptions,
  ) {
    super(message, options);
    Object.defineProperty(this, 'text', { value: text, enumerable: false });
    Object.defineProperty(this, 'problems', { value: Object.freeze([...problems]), enumerable: false });
  }
}

/** A limit of the run was reached: `limits` says which are there. `run` tells how far it came; nothing further was sent. */
export class AILimitError extends AIError {
  constructor(
    /** `deadline`: the time; `tokens`: input and output together; `turns`: provider calls. */
    readonly code: 'deadline' | 'tokens' | 'turns',
    message: string,
  ) {
    super(message);
  }
}

/** What is known of a failed provider call. */
export interface ProviderFailure {
  /** The HTTP status; absent where no response came. */
  readonly status?: number | undefined;
  /** The provider's id of the request, for its support. */
  readonly requestId?: string | undefined;
  /** Whether sending the same request again may help. */
  readonly retryable?: boolean;
  /** How long the provider asked to be left alone, in milliseconds; absent where it did not say. */
  readonly retryAfterMs?: number | undefined;
  /** How often it was sent; 1 unless a retry says otherwise. */
  readonly attempts?: number;
  /** From the first attempt to the last failure, in milliseconds. */
  readonly elapsedMs?: number;
}

/** A provider call failed, after all attempts that made sense. The provider's own error is in `cause`. */
export class AIProviderError extends AIError {
  readonly code = 'provider';
  /** The HTTP status; `undefined` where no response came. */
  readonly status: number | undefined;
  /** The provider's id of the request, for its support. */
  readonly requestId: string | undefined;
  /** Whether sending the same request again might have helped. */
  readonly retryable: boolean;
  /** How long the provider asked to be left alone, in milliseconds; `undefined` where it did not say. */
  readonly retryAfterMs: number | undefined;
  /** How often it was sent; 0 where the time was over before its turn came. */
  readonly attempts: number;
  /** From the first attempt to the last failure, in milliseconds. */
  readonly elapsedMs: number;

  constructor(message: string, failure: ProviderFailure = {}, options?: AIErrorOptions) {
    super(message, options);
    this.status = failure.status;
    this.requestId = failure.requestId;
    this.retryable = failure.retryable ?? false;
    this.retryAfterMs = failure.retryAfterMs;
    this.attempts = failure.attempts ?? 1;
    this.elapsedMs = failure.elapsedMs ?? 0;
  }
}

/**
 * Tools that come from elsewhere are not to be had: a server that is down and required, a registry key that nothing has,
 * or that several have. What the server said, or the network, is in `cause`.
 */
export class AIToolSourceError extends AIError {
  readonly code = 'tool-source';
  /** The registry keys that were meant, where there are several. */
  readonly keys: readonly string[];

  /**
   * @param source the server by its name, or the registry key
   * @param problem what is wrong with it, to be put after its name: `is down`
   */
  constructor(
    readonly source: string,
    readonly problem: string,
    { keys = [], ...options }: AIErrorOptions & { readonly keys?: readonly string[] } = {},
  ) {
    super(`${source} ${problem}`, options);
    this.keys = Object.freeze([...keys]);
  }
}

/**
 * Thrown by a tool to have its message shown to the model, so that it can do better. Any other exception is told as
 * one fixed line.
 */
export class AIToolError extends AIError {
  readonly code = 'tool';
}
