import { describeKind, isObject } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import type { ModelReply, ModelRequest } from '../model/chat-model.js';
import type { TranscriptEntry } from '../run.js';
import { declareToken } from '../token.js';
import { nameOf, type NextTool, type ToolInvocation, type ToolOutcome } from '../tool/middleware.js';

/** A turn on its way to the model. A frozen copy. */
export interface TurnContext {
  readonly runId: string;
  /** Which agent: `SupportController#0`. */
  readonly site: string;
  /** Counted from 1. */
  readonly turn: number;
  /** What is sent, once it is sent; retried from inside. */
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly question: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly transcript: readonly TranscriptEntry[];
}

/**
 * Stands around turns and tool calls: it may refuse a call, edit its arguments, replace a result or a reply, or end the
 * run by throwing. Bind any number of them under this class, in the application or in a scope; override what you need.
 *
 * They nest in the order in which they are bound, the first outermost, the application's outside the scope's. `next()`
 * goes on inwards and may be called once. What one throws ends the run, with that very error: a guard that fails lets
 * nothing through.
 */
export abstract class AIMiddleware {
  static {
    declareToken('AIMiddleware', this);
  }

  /** Around one provider call with its retries. What it returns is checked like a model's own reply. */
  turn(_context: TurnContext, next: () => Promise<ModelReply>): Promise<ModelReply> {
    return next();
  }

  /**
   * Around one call whose arguments fit. `next({ arguments })` edits them: they are converted and checked anew. Unknown
   * tools and wrong arguments never come here.
   */
  tool(_call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
    return next();
  }
}

/** Whether a value can stand around anything, whichever copy of the package its class came from. */
export function isMiddleware(value: unknown): value is AIMiddleware {
  const { turn, tool } = (isObject(value) ? value : {}) as { readonly turn?: unknown; readonly tool?: unknown };
  return typeof turn === 'function' || typeof tool === 'function';
}

/** Through all middleware, the first outermost, to the model and back. */
export function turnThroughMiddleware(
  list: readonly AIMiddleware[],
  context: TurnContext,
  complete: () => Promise<ModelReply>,
  noteThrown: (error: unknown, by: object) => void,
): Promise<unknown> {
  const from = async (index: number): Promise<unknown> => {
    if (index === list.length) return complete();
    const middleware = list[index] as AIMiddleware;
    // An object of the application's may stand around calls alone.
    if (typeof (middleware.turn as unknown) !== 'function') return from(index + 1);
    let called = false;
    let threw: { readonly error: unknown } | undefined;
    const go = async (): Promise<ModelReply> => {
      if (called) {
        const error = new AIDefinitionError(
          `${nameOf(middleware)}.turn: next() was called twice for one turn; call it once`,
        );
        threw = { error };
        throw error;
      }
      called = true;
      try {
        return (await from(index + 1)) as ModelReply;
      } catch (error) {
        threw = { error };
        throw error;
      }
    };
    const next = (): Promise<ModelReply> => {
      const going = go();
      going.catch(() => undefined); // one that nobody awaits must not end the process
      return going;
    };
    let reply: unknown;
    try {
      reply = await middleware.turn(context, next);
    } catch (error) {
      if (threw?.error !== error) noteThrown(error, middleware);
      throw error;
    }
    if (typeof reply !== 'object' || reply === null)
      throw new AIDefinitionError(
        `${nameOf(middleware)}.turn returned ${describeKind(reply)}, which is no reply; return what next() gave`,
      );
    return reply;
  };
  return from(0);
}

/** What is wrong with the instances that somebody lists, each with its index. */
export function instanceProblems(
  where: string,
  option: string,
  list: unknown,
  { isOne, example }: { readonly isOne: (value: unknown) => boolean; readonly example: string },
): string[] {
  if (list === undefined) return [];
  if (!Array.isArray(list))
    return [`${where}: ${option} must be a list of instances, [${example}]; found ${describeKind(list)}`];
  // A list may have holes.
  return Array.from(list as unknown[], (entry, index) =>
    isOne(entry)
      ? []
      : [
          `${where}: ${option}[${index.toString()}] must be an instance, ${example}; found ${describeKind(entry)}${typeof entry === 'object' && entry !== null ? ', which has none of its methods' : ''}`,
        ],
  ).flat();
}
