import type { ServiceIdentifier } from 'inversify';
import { forgetRecord } from './build-record.js';
import type { PlanBinding } from './plan.js';

/** What is asked of a scope's own bindings. */
export interface OwnBindings {
  ownBindings(id: unknown): Iterable<PlanBinding>;
  ownIdentifiers(): Iterable<unknown>;
}

const numbers = new WeakMap<object, number>();
let last = 0;

/** A word for an identifier or a class, the same as long as it lives. */
function wordFor(id: unknown): string {
  if (typeof id === 'string') return JSON.stringify(id);
  const registered = typeof id === 'symbol' ? Symbol.keyFor(id) : undefined;
  if (registered !== undefined) return `@${JSON.stringify(registered)}`;
  // Node 20 takes symbols that are not registered as weak keys; the type library does not say so yet.
  const key = id as object;
  let number = numbers.get(key);
  if (number === undefined) numbers.set(key, (number = ++last));
  return number.toString();
}

/**
 * What a scope binds and how, in one word: two scopes with the same word are planned the same. None where a binding has
 * a condition of its own or lists what it is built from, since those are made anew for each scope.
 *
 * @param unconditional the condition of a binding for which nobody gave one
 */
export function shapeOf(own: OwnBindings, unconditional: unknown): string | undefined {
  const words: string[] = [];
  for (const id of own.ownIdentifiers())
    for (const { isSatisfiedBy, type, scope, implementationType, targetServiceIdentifier } of own.ownBindings(id)) {
      if (isSatisfiedBy !== unconditional || type === undefined || type === 'ResolvedValue') return undefined;
      const target: ServiceIdentifier | object | undefined = implementationType ?? targetServiceIdentifier;
      words.push(`${wordFor(id)}${type}${scope ?? ''}${target === undefined ? '' : wordFor(target)}`);
    }
  return words.join();
}

/** More kinds of scopes than any application has: some part of their bindings is new each time. */
const MANY = 256;

/** For which scopes a set of tools was looked at and found in order, until the application binds anew. */
export class Inspections {
  #passed = new WeakMap<object, Set<string>>();
  readonly #changed: () => void;

  /** @param changed called when something is bound, or no more */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  has(tools: object, shape: string): boolean {
    return this.#passed.get(tools)?.has(shape) === true;
  }

  add(tools: object, shape: string): void {
    const shapes = this.#passed.get(tools) ?? new Set();
    if (shapes.size >= MANY) shapes.clear();
    this.#passed.set(tools, shapes.add(shape));
  }

  // inversify tells those that hold plans of each change, in this container or above, by these two names.
  clearCache(): void {
    this.#passed = new WeakMap();
    this.#changed();
  }

  invalidateServiceBinding({ binding, kind }: { readonly binding: PlanBinding; readonly kind: string }): void {
    this.clearCache();
    if (kind === 'bindingRemoved') forgetRecord(binding);
  }
}
