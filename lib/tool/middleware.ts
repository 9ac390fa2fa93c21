import { describeKind } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import type { ToolCallOutcome, ToolEffect } from '../run.js';
import { canonical, isPlainData } from '../schema/canonical.js';
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
    throw new AIDefinitionError(
      `refuse: say to the model why, refuse('The desk is closed.'); found ${describeKind(text)}`,
    );
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
  readonly execute: (call: C) => Promise<ToolOutcome>;
}

/** Through all middleware, the first outermost, to the tool and back. */
export function throughMiddleware<C>(
  list: readonly ToolMiddleware[],
  call: C,
  core: ToolCore<C>,
): Promise<ToolOutcome> {
  const from = async (index: number, call: C): Promise<ToolOutcome> => {
    const middleware = list[index];
    if (middleware === undefined) return core.execute(call);
    const name = nameOf(middleware);
    const shown = core.shown(call);
    const state = { called: false, over: false };
    const go: NextTool = async (edited) => {
      // A second time would run the tool twice, and a late one after the model has read how the call ended.
      if (state.called || state.over)
        throw new AIDefinitionError(
          `${name}.tool: next() was called ${state.called ? 'twice' : 'after the end'} for one call of ${shown.tool}; call it once, and await it`,
        );
      state.called = true;
      if (edited === undefined) return from(index + 1, call);
      const result = await core.edit(call, edited, name, shown);
      return 'ended' in result ? result.ended : from(index + 1, result.call);
    };
    const next: NextTool = (edited) => {
      const going = go(edited);
      going.catch(() => undefined); // one that nobody awaits must not end the process
      return going;
    };
    try {
      return checkOutcome(await middleware.tool(shown, next), name);
    } finally {
      state.over = true;
    }
  };
  return from(0, call);
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

/** A forgotten `return` must not look like an outcome. */
function checkOutcome(returned: unknown, name: string): ToolOutcome {
  if (typeof returned === 'object' && returned !== null) {
    const { outcome, result } = returned as { readonly outcome?: unknown; readonly result?: unknown };
    if (OUTCOMES.includes(outcome) && typeof result === 'string') return returned as ToolOutcome;
  }
  throw new AIDefinitionError(
    `${name}.tool returned ${describeKind(returned)}, which is no outcome; return what next() gave, another one as { outcome: 'ok', result: '…' }, or refuse('…')`,
  );
}

/** What an edit started from: the values, the copies that the middleware was shown, and what had been sent for them. */
export interface BeforeEdit {
  readonly values: Readonly<Record<string, unknown>>;
  readonly shown: Readonly<Record<string, unknown>>;
  readonly sent: Readonly<Record<string, unknown>>;
}

/** An edit in the form in which a model sends arguments: what was not changed as it was sent, so that it converts to the same. */
export function editedArguments(
  edited: Readonly<Record<string, unknown>>,
  { values, shown, sent }: BeforeEdit,
): Readonly<Record<string, unknown>> {
  const again: [string, unknown][] = [];
  for (const [name, value] of Object.entries(edited)) {
    // A Date or a Map that was changed in place is another one; what hides what it holds is itself.
    const isSame =
      Object.hasOwn(values, name) &&
      (isPlainData(value) && isPlainData(values[name])
        ? canonical(value) === canonical(values[name])
        : value === shown[name]);
    if (!isSame) again.push([name, asSent(value)]);
    else if (Object.hasOwn(sent, name)) again.push([name, sent[name]]);
  }
  return Object.fromEntries(again.filter(([, value]) => value !== undefined));
}

/** A converted value in the form in which a model sends it. */
function asSent(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Set) return [...value].map(asSent);
  if (Array.isArray(value)) return value.map(asSent);
  const entries = value instanceof Map ? [...(value as Map<unknown, unknown>)] : Object.entries(value);
  return Object.fromEntries(
    entries
      .filter(([, held]) => held !== undefined)
      .map(([key, held]) => [typeof key === 'string' ? key : String(key), asSent(held)]),
  );
}
