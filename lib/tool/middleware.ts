import { describeKind, shortly } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import type { ToolCallOutcome, ToolEffect } from '../run.js';
import type { ToolCallContext } from './tool.js';

/** A tool call on its way: the arguments fit the tool's declaration, and nothing has run yet. A frozen copy. */
export interface ToolInvocation extends ToolCallContext {
  /** Which agent: `SupportController#0`. */
  readonly site: string;
  readonly effect: ToolEffect;
  readonly groups: readonly string[];
  /** The arguments as the model sent them. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** The arguments as converted; copies, so that what is done to one reaches nobody. Edit by `next({ arguments })`. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** How a tool call ended. */
export interface ToolOutcome {
  readonly outcome: ToolCallOutcome;
  /** What the model is told. */
  readonly result: string;
  /** For observers, never for the model. */
  readonly error?: unknown;
}

/** What the rest of the way is called by; at most once. */
export type NextTool = (edited?: { readonly arguments: Readonly<Record<string, unknown>> }) => Promise<ToolOutcome>;

/** The half of an `AIMiddleware` that is around tool calls. */
export interface ToolMiddleware {
  tool(call: ToolInvocation, next: NextTool): Promise<ToolOutcome>;
}

/**
 * What a middleware returns in place of `next()`: the call is not run, and the model is told this text.
 * Throws an `AIDefinitionError` where there is no text.
 */
export function refuse(text: string): ToolOutcome {
  if (typeof text !== 'string' || text.trim() === '')
    throw new AIDefinitionError(`refuse: say to the model why, refuse('The desk is closed.'); found ${shortly(text)}`);
  return Object.freeze({ outcome: 'refused', result: text });
}

/** What the way through the middleware ends at. `C` is the call as the dispatcher holds it. */
export interface ToolCore<C> {
  /** What a middleware is shown of a call. */
  readonly shown: (call: C) => ToolInvocation;
  /** The call with its arguments converted anew, or how it ends where they do not fit. */
  readonly edit: (
    call: C,
    edited: unknown,
    by: string,
    shown: ToolInvocation,
  ) => Promise<{ readonly call: C } | { readonly ended: ToolOutcome }>;
  /** `isAnswered`: whether somebody outside has answered meanwhile, so that nothing may begin any more. */
  readonly execute: (call: C, isAnswered: () => boolean) => Promise<ToolOutcome>;
  /** A middleware threw something of its own. */
  readonly threw: (error: unknown, by: object) => void;
  /** Somebody answered while what they called by `next()` is still under way: it is given up. */
  readonly left: () => void;
}

/** One middleware on the way of one call. */
interface Layer {
  called: boolean;
  /** What it called by `next()` has ended. */
  ended: boolean;
  /** It has answered. */
  over: boolean;
  /** What `next()` rejected with. */
  threw?: { readonly error: unknown };
}

/** Through all middleware, the first outermost, to the tool and back. */
export function throughMiddleware<C>(
  list: readonly ToolMiddleware[],
  call: C,
  core: ToolCore<C>,
): Promise<ToolOutcome> {
  const from = async (index: number, call: C, outer: readonly Layer[]): Promise<ToolOutcome> => {
    if (index === list.length) return core.execute(call, () => outer.some(({ over }) => over));
    const middleware = list[index] as ToolMiddleware;
    // An object of the application's may stand around turns alone.
    if (typeof (middleware.tool as unknown) !== 'function') return from(index + 1, call, outer);
    const name = nameOf(middleware);
    const shown = core.shown(call);
    const layer: Layer = { called: false, ended: false, over: false };
    const inwards = async (edited: Parameters<NextTool>[0]): Promise<ToolOutcome> => {
      const inside = [...outer, layer];
      if (edited === undefined) return from(index + 1, call, inside);
      const result = await core.edit(call, edited, name, shown);
      return 'ended' in result ? result.ended : from(index + 1, result.call, inside);
    };
    const go: NextTool = async (edited) => {
      // A second time would run the tool twice, and a late one after the model has read how the call ended.
      if (layer.called || layer.over) {
        const error = new AIDefinitionError(
          `${name}.tool: next() was called ${layer.called ? 'twice' : 'after the end'} for one call of ${shown.tool}; call it once, and await it`,
        );
        layer.threw = { error };
        throw error;
      }
      layer.called = true;
      try {
        return await inwards(edited);
      } catch (error) {
        layer.threw = { error };
        throw error;
      } finally {
        layer.ended = true;
      }
    };
    const next: NextTool = (edited) => {
      const going = go(edited);
      going.catch(() => undefined); // one that nobody awaits must not end the process
      return going;
    };
    let returned: unknown;
    try {
      returned = await middleware.tool(shown, next);
    } catch (error) {
      if (layer.threw?.error !== error) core.threw(error, middleware);
      throw error;
    } finally {
      layer.over = true;
      if (layer.called && !layer.ended) core.left();
    }
    return readOutcome(returned, name);
  };
  return from(0, call, []);
}

/** For messages: its class. */
export function nameOf(middleware: object): string {
  const name: unknown = (middleware.constructor as { readonly name?: unknown } | undefined)?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object' ? name : 'a middleware';
}

const OUTCOMES: readonly unknown[] = [
  'ok',
  'invalid-arguments',
  'unknown-tool',
  'failed',
  'refused',
  'repeated',
  'timed-out',
  'aborted',
] satisfies readonly ToolCallOutcome[];

/** A forgotten `return` must not look like an outcome. Each member is read once: it may be a getter. */
function readOutcome(returned: unknown, name: string): ToolOutcome {
  const at = `${name}.tool returned`;
  const say = `return what next() gave, another one as { outcome: 'ok', result: '…' }, or refuse('…')`;
  if (typeof returned !== 'object' || returned === null)
    throw new AIDefinitionError(`${at} ${describeKind(returned)}, which is no outcome; ${say}`);
  const copy = { ...returned } as { readonly outcome?: unknown; readonly result?: unknown };
  if (!OUTCOMES.includes(copy.outcome))
    throw new AIDefinitionError(
      `${at} an object whose outcome is ${shortly(copy.outcome)}, and not one of ${OUTCOMES.join(', ')}; ${say}`,
    );
  if (typeof copy.result !== 'string')
    throw new AIDefinitionError(`${at} an object whose result is ${describeKind(copy.result)}, and no text; ${say}`);
  return Object.freeze(copy) as ToolOutcome;
}
