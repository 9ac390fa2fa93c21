import type { AIRun } from '../run.js';
import type { ToolChoice } from '../run-options.js';
import { CompiledToolset } from '../tool/compiled-toolset.js';
import type { RunningAgent } from './agent.js';

/** What a turn may call. */
export interface Offer {
  readonly offered: CompiledToolset;
  /** Whether it must call one of them. */
  readonly mustCall: boolean;
  /** What an answer in it means for the run. */
  readonly stop: AIRun['stop'];
}

/** Whether a tool choice is one that a run may not end without. */
export function wantsCall(choice: ToolChoice): boolean {
  return choice !== 'auto' && choice !== 'none';
}

/** What the next turn may call, from how far the run has come. A tool choice holds until a call was made as it wants. */
export function offerOf(
  { toolset, toolChoice }: RunningAgent,
  run: { readonly atCap: boolean; readonly exhausted: readonly string[]; readonly hasCalled: boolean },
): Offer {
  const left = run.atCap ? CompiledToolset.EMPTY : toolset.without(run.exhausted);
  const nothing = { offered: CompiledToolset.EMPTY, mustCall: false } as const;
  if (left.tools.length === 0) return { ...nothing, stop: toolset.tools.length > 0 ? 'cap' : 'answer' };
  const choice = run.hasCalled ? 'auto' : toolChoice;
  if (choice === 'auto') return { offered: left, mustCall: false, stop: 'answer' };
  if (choice === 'none') return { ...nothing, stop: 'answer' };
  const offered = choice === 'required' ? left : left.without(left.names.filter((name) => name !== choice));
  return { offered, mustCall: offered.tools.length > 0, stop: 'answer' };
}
