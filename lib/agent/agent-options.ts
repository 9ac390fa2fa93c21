import { merge, mergeLimits, type RunOptions } from '../run-options.js';
import type { AgentDefinition } from './agent.js';

export const DEFAULT_MAX_TOOL_CALLS = 5;
export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_MAX_PARALLEL_CALLS = 4;

/** How an agent asks: its own options over the application's, those over the defaults. */
export function agentOptions(own: RunOptions, application: RunOptions = {}): Omit<AgentDefinition, 'site' | 'tools'> {
  const {
    system = '',
    maxToolCalls = DEFAULT_MAX_TOOL_CALLS,
    maxAttempts = DEFAULT_MAX_ATTEMPTS,
    wire,
    toolChoice = 'auto',
    parallelToolCalls = false,
    maxParallelCalls = DEFAULT_MAX_PARALLEL_CALLS,
  } = merge(application, own);
  return {
    system,
    maxToolCalls,
    maxAttempts,
    limits: mergeLimits(application.limits, own.limits),
    settings: merge(application.settings, own.settings),
    wire,
    toolChoice,
    parallelToolCalls,
    maxParallelCalls,
  };
}
