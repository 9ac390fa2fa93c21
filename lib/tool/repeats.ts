import { type ArgumentKey, areSame } from '../schema/call-key.js';
import { type Ending, seemsOk } from './execution.js';
import { told } from './told.js';
import type { CompiledTool } from './tool.js';

/** A call that was executed: how the tool ended, and what the model was told of it in the end. */
interface Executed {
  readonly keys: readonly ArgumentKey[];
  readonly ending: Ending;
  told: Ending;
}

/**
 * The mutating calls of one run: a model that lost its place must not refund twice, nor may it try again what perhaps
 * happened.
 */
export class Repeats {
  /** By tool; no run has many. */
  readonly #executed = new Map<string, Executed[]>();
  readonly #byEnding = new WeakMap<Ending, Executed>();

  /** Executes a call, or says how the same one ended before. */
  once(
    tool: CompiledTool,
    keysOfArguments: () => readonly ArgumentKey[],
    execute: () => Promise<Ending>,
  ): Promise<Ending> {
    return tool.effect === 'read-only' || tool.idempotent ? execute() : this.#onlyOnce(tool, keysOfArguments, execute);
  }

  async #onlyOnce(
    tool: CompiledTool,
    keysOfArguments: () => readonly ArgumentKey[],
    execute: () => Promise<Ending>,
  ): Promise<Ending> {
    const keys = keysOfArguments();
    const executed = this.#executed.get(tool.name) ?? [];
    this.#executed.set(tool.name, executed);
    const earlier = executed.findLast((one) => areSame(one.keys, keys));
    if (earlier !== undefined && !(tool.repeatable && seemsOk(earlier.ending)))
      return { outcome: 'repeated', result: told.repeated(tool.name, saidOf(earlier)) };
    const ending = await execute();
    // After an AIToolError it may be tried again: the tool said itself that nothing happened.
    if (ending.told === true) return ending;
    const one: Executed = { keys, ending, told: ending };
    this.#byEnding.set(ending, one);
    executed.push(one);
    return ending;
  }

  /** What a middleware withheld of a result, a repetition must not tell. */
  tell(ending: Ending, last: Ending): void {
    const executed = this.#byEnding.get(ending);
    if (executed !== undefined) executed.told = last;
  }
}

function saidOf({ ending, told: last }: Executed): Ending {
  return seemsOk(ending) || last !== ending ? { ...last, outcome: seemsOk(last) ? 'ok' : last.outcome } : ending;
}
