import { type Ending, seemsOk } from './execution.js';
import { told } from './told.js';
import type { CompiledTool } from './tool.js';

/**
 * The mutating calls of one run: a model that lost its place must not refund twice, nor may it try again what perhaps
 * happened.
 */
export class Repeats {
  readonly #executed = new Map<string, Ending>();

  /** Executes a call, or says how the same one ended before. */
  async once(tool: CompiledTool, keyOfArguments: () => string, execute: () => Promise<Ending>): Promise<Ending> {
    if (tool.effect === 'read-only' || tool.idempotent) return execute();
    const key = `${tool.name} ${keyOfArguments()}`;
    const earlier = this.#executed.get(key);
    if (earlier !== undefined && !(tool.repeatable && seemsOk(earlier)))
      return {
        outcome: 'repeated',
        result: told.repeated(tool.name, { ...earlier, ...(seemsOk(earlier) && { outcome: 'ok' }) }),
      };
    const ending = await execute();
    // After an AIToolError it may be tried again: the tool said itself that nothing happened.
    if (ending.told !== true) this.#executed.set(key, ending);
    return ending;
  }
}
