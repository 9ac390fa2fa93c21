import type { ToolEnded, ToolStarted } from '../lib/agent/events.js';
import { AIObserver } from '../lib/agent/observer.js';
import { describeKind } from '../lib/declaration.js';
import { AIDefinitionError } from '../lib/errors.js';
import type { AIHandle } from './install.js';
import { isOpaque, written } from './marks.js';
import type { RequestScope } from './request-scope.js';
import type { AskingCaller, TwoCallersOptions } from './two-callers.js';

/** Waited for at each step of a run. */
export type Step = (what: string) => Promise<void>;

/** One run, and all that its caller could see of it. */
export interface Asked {
  readonly steps: readonly string[];
  /** Each with where it was seen. */
  readonly seen: readonly (readonly [where: string, what: unknown])[];
  readonly error: { readonly thrown: unknown } | undefined;
}

/** Asks as one caller, in a scope of its own that waits at each step. */
export async function askWatched(
  ai: Pick<AIHandle, 'openScope'>,
  caller: AskingCaller,
  ask: TwoCallersOptions['ask'],
  step: Step = () => Promise.resolve(),
): Promise<Asked> {
  const steps: string[] = [];
  const seen: (readonly [string, unknown])[] = [];
  const see = (where: string, what: unknown): void => {
    seen.push([where, what]);
  };
  const scope = ai.openScope((container) => {
    container.bind(AIObserver).toConstantValue(new Seeing(see));
    return caller.bind(container) as undefined;
  }) as RequestScope;
  if (typeof (scope as Partial<RequestScope>).watch !== 'function')
    throw new AIDefinitionError('twoCallers: the first argument must be what installAI returned');
  scope.watch({
    step: async (what) => {
      steps.push(what);
      await step(what);
    },
    see,
  });
  let error: Asked['error'];
  try {
    const given = await scope.run(() => ask(scope));
    if (isOpaque(given))
      throw new AIDefinitionError(
        `twoCallers: ask gave ${describeKind(given)}, into which it cannot look; let ask read it and give what its reader sees`,
      );
    see('what ask gave', [given, written(given)]);
  } catch (thrown) {
    error = { thrown };
    see('what ask threw', thrown);
  }
  await scope.close();
  return { steps, seen, error };
}

/** Sees the tools of one caller's runs. */
class Seeing extends AIObserver {
  readonly #see: (where: string, what: unknown) => void;

  constructor(see: (where: string, what: unknown) => void) {
    super();
    this.#see = see;
  }

  override toolStarted({ tool, sent, arguments: converted }: ToolStarted): void {
    this.#see(`the arguments of ${tool}`, [sent, converted]);
  }

  override toolEnded({ tool, result, error }: ToolEnded): void {
    this.#see(`the result of ${tool}`, result);
    this.#see(`the error of ${tool}`, error);
  }
}
