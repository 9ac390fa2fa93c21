import type { PlanBinding } from './plan.js';

/** Which binding of a scope's own threw an error. */
const failures = new WeakMap<object, unknown>();
const watched = new WeakSet<PlanBinding>();

/**
 * Watches what a scope binds as dynamic values. One that fails, as a caller does that nobody signed in for, is no failed
 * tool, of which the model is told and after which the run goes on: without it there is nobody to act for.
 */
export function watchFailures(bindings: Iterable<PlanBinding>): void {
  for (const binding of bindings) {
    if (binding.type !== 'DynamicValue' || watched.has(binding)) continue;
    watched.add(binding);
    const own = binding as unknown as { value: (context: unknown) => unknown };
    const make = own.value;
    const note = (error: unknown): void => {
      if (typeof error === 'object' && error !== null) failures.set(error, binding.serviceIdentifier);
    };
    own.value = (context) => {
      try {
        const made = make(context);
        if (made instanceof Promise) made.catch(note);
        return made;
      } catch (error) {
        note(error);
        throw error;
      }
    };
  }
}

/** The identifier of the scope's own binding that threw this error. */
export function failedBinding(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? failures.get(error) : undefined;
}
