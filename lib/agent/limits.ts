import { AILimitError } from '../errors.js';
import type { AILimits } from '../run-options.js';
import type { Toolset } from '../tool/toolset.js';
import type { RunState } from './run-state.js';

/** Throws an `AILimitError` where no further turn is allowed. */
export function limitTurn(site: string, limits: AILimits, state: RunState): void {
  limitTokens(site, limits, state);
  const { maxTurns } = limits;
  if (maxTurns !== undefined && state.turns >= maxTurns)
    throw state.own(
      new AILimitError(
        'turns',
        `${site}: after ${state.turns.toString()} turns there is no answer, and limits.maxTurns allows no more; error.run has what was done`,
      ),
    );
}

/** Throws an `AILimitError` where the tokens are used up: before a turn, and before a turn's calls. */
export function limitTokens(site: string, { maxTokens }: AILimits, state: RunState): void {
  if (maxTokens !== undefined && state.tokens >= maxTokens)
    throw state.own(
      new AILimitError(
        'tokens',
        `${site}: ${state.tokens.toString()} tokens are used and there is no answer; limits.maxTokens is ${maxTokens.toString()}; error.run has what was done`,
      ),
    );
}

export function pastDeadline(site: string, deadlineMs: number): AILimitError {
  return new AILimitError(
    'deadline',
    `${site}: there is no answer within the ${deadlineMs.toString()} ms of limits.deadlineMs; error.run has what was done`,
  );
}

/** A bound on a tool that an agent does not have is a misspelt one, which would bound nothing. */
export function perToolProblems(where: string, limits: AILimits | undefined, toolset: Toolset): string[] {
  return Object.keys(limits?.perTool ?? {})
    .filter((name) => toolset.get(name) === undefined)
    .map(
      (name) =>
        `${where}, limits: perTool names "${name}", which is no tool of this agent; its tools are ${toolset.names.join(', ')}`,
    );
}
