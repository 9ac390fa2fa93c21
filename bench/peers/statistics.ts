/** The value below which this share of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

export const round = (value: number, digits = 0): number => Number(value.toFixed(digits));

/**
 * So that one library's garbage is collected in nobody else's time. In time that counts it is `minor`: with each full
 * collection V8 thinks code older that does not run just then, and drops it.
 */
export function collectGarbage(type: 'minor' | 'full'): void {
  const collect = (globalThis as { gc?: (options: { readonly type: string }) => void }).gc;
  if (collect === undefined) throw new Error('start node with --expose-gc');
  collect({ type });
}
