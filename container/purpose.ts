import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServiceIdentifier } from 'inversify';
import type { BuildRecord } from './long-lived.js';

/** What a container is asked for right now, where that matters: something for a tool, or a part of something that lives long. */
export type Purpose =
  | {
      readonly of: 'tool';
      readonly id: ServiceIdentifier;
      readonly lookOnly: boolean;
      /** What is bound once for each `get` is not refused: a scope may yet bind it otherwise. */
      readonly perLookup?: boolean;
    }
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
