import type { ModelPrices } from '../run-options.js';

/** Tokens of one reply; what a provider does not count is 0. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens`. */
  readonly cachedInputTokens: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number;
}

export const NO_USAGE: ModelUsage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
});

/** What is beyond any real count, so that nothing that is added or multiplied becomes infinite. */
const MAX_COUNT = 1e12;

/** Counts as they came; what is no count is 0. */
export function readUsage(usage: unknown): ModelUsage {
  const counts = (usage ?? {}) as { readonly [K in keyof ModelUsage]?: unknown };
  const count = (value: unknown): number => {
    // Some servers count in texts.
    const number = typeof value === 'string' ? Number(value) : value;
    return typeof number === 'number' && number > 0 ? Math.min(Math.ceil(number), MAX_COUNT) : 0;
  };
  return {
    inputTokens: count(counts.inputTokens),
    outputTokens: count(counts.outputTokens),
    cachedInputTokens: count(counts.cachedInputTokens),
    reasoningTokens: count(counts.reasoningTokens),
  };
}

export function addUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  };
}

/** In the prices' currency. Cached tokens are among the input, those of thinking among the output. */
export function costOf(usage: ModelUsage, prices: ModelPrices): number {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  const { inputPerMillion, cachedInputPerMillion = inputPerMillion, outputPerMillion } = prices;
  return (
    ((usage.inputTokens - cached) * inputPerMillion +
      cached * cachedInputPerMillion +
      usage.outputTokens * outputPerMillion) /
    1_000_000
  );
}
