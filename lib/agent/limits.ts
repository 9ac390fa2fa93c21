import { AILimitError } from '../errors.js';
import { counted } from '../declaration.js';
import type { AILimits } from '../run-options.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import { ArgumentGuard } from './argument-guard.js';
import type { RunState } from './run-state.js';

/** The error where no further turn is allowed. */
export function turnLimit(site: string, limits: AILimits, state: RunState): AILimitError | undefined {
  const { maxTurns } = limits;
  if (maxTurns === undefined || state.modelCalls < maxTurns) return undefined;
  return new AILimitError(
    'turns',
    `${site}: after ${counted(state.modelCalls, 'turn')} there is no answer, and limits.maxTurns allows no more; error.run has what was done`,
  );
}

/** The error where the tokens are used up: asked before a turn, and before a turn's calls. */
export function tokenLimit(site: string, { maxTokens }: AILimits, state: RunState): AILimitError | undefined {
  if (maxTokens === undefined || state.tokens < maxTokens) return undefined;
  return new AILimitError(
    'tokens',
    `${site}: ${state.tokens.toString()} tokens are used and there is no answer; limits.maxTokens is ${maxTokens.toString()}; error.run has what was done`,
  );
}

/** A guard of a tool that an agent does not have is one of a misspelt tool, which would guard nothing. */
export function guardProblems(where: string, middleware: readonly unknown[], toolset: CompiledToolset): string[] {
  return middleware.flatMap((entry) =>
    entry instanceof ArgumentGuard
      ? (entry.tools ?? [])
          .filter((name) => toolset.get(name) === undefined)
          .map(
            (name) =>
              `${where}: an ArgumentGuard names "${name}", which is no tool of this agent; its tools are ${toolset.names.join(', ')}`,
          )
      : [],
  );
}

/** A bound on a tool that an agent does not have is a misspelt one, which would bound nothing. */
export function perToolProblems(where: string, limits: AILimits | undefined, toolset: CompiledToolset): string[] {
  return Object.keys(limits?.perTool ?? {})
    .filter((name) => toolset.get(name) === undefined)
    .map(
      (name) =>
        `${where}, limits: perTool names "${name}", which is no tool of this agent; its tools are ${toolset.names.join(', ')}`,
    );
}
