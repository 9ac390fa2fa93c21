import { processState } from './process-state.js';

const tokens = processState('tokens/1', () => new Map<string, Set<unknown>>());

/**
 * Makes known a class that is bound and asked for by itself. Two copies of the package have two such classes, and what an
 * application binds under the one must not be missed by the other: an observer that writes an audit would be silent.
 */
export function declareToken(name: string, token: unknown): void {
  tokens.set(name, (tokens.get(name) ?? new Set()).add(token));
}

/** A token and those of the same name of other copies, this one first. */
export function copiesOf<T>(name: string, token: T): readonly T[] {
  return [...new Set([token, ...((tokens.get(name) ?? []) as Iterable<T>)])];
}
