import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServiceIdentifier } from 'inversify';
import type { BuildRecord } from './build-record.js';

/** What a container is asked for right now, where that matters. */
export type Purpose =
  /** Something for a tool. */
  | {
      readonly of: 'tool';
      readonly id: ServiceIdentifier;
      readonly lookOnly: boolean;
      /** What is bound once for each `get` is not refused: a scope may yet bind it otherwise. */
      readonly perLookup?: boolean;
    }
  /** Nothing, but what it would be built from. */
  | { readonly of: 'look'; readonly id: ServiceIdentifier }
  /** A part of something that lives long. */
  | { readonly of: 'owner'; readonly record: BuildRecord };

/** Carried through what is asynchronous: a factory that waits still works for the same purpose. */
const storage = new AsyncLocalStorage<Purpose | undefined>();

export function currentPurpose(): Purpose | undefined {
  return storage.getStore();
}

export function withPurpose<T>(purpose: Purpose, fn: () => T): T {
  return storage.run(purpose, fn);
}

/** Runs something that is for neither, whatever it is run from. */
export function withoutPurpose<T>(fn: () => T): T {
  return storage.run(undefined, fn);
}

/**
 * Whether the plan of something is only looked at, so that nothing may be built from it. What a condition of a binding
 * asks for meanwhile is asked for as ever.
 */
export function isLookOnly(purpose: Purpose | undefined, id: unknown): boolean {
  return (purpose?.of === 'look' || (purpose?.of === 'tool' && purpose.lookOnly)) && purpose.id === id;
}

/** Thrown to end a look at a plan before anything is built from it. One for all: a stack for each look is not free. */
export const PLAN_SEEN = new Error('The plan was looked at, and nothing was built.');

/** Of what is being built right now, if something is. What it has started may ask for something later: that is no part of it. */
export function buildingRecord(): BuildRecord | undefined {
  const purpose = currentPurpose();
  return purpose?.of === 'owner' && purpose.record.isBuilding ? purpose.record : undefined;
}
