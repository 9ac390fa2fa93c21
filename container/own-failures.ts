import { absentError } from './scope-error.js';
import { identifierName } from './inversify-error.js';
import type { PlanBinding } from './plan.js';
import { currentPurpose } from './purpose.js';

/** Which binding of a scope's own threw an error. */
const failures = new WeakMap<object, unknown>();
const watched = new WeakSet<PlanBinding>();

interface OwnBinding extends PlanBinding {
  value?: unknown;
}

/**
 * Watches what a scope binds itself, for its tools. A dynamic value that fails, as a caller does that nobody signed in
 * for, is no failed tool, of which the model is told and after which the run goes on: without it there is nobody to act
 * for. And what is bound under a class must be there: many a service takes an absent caller for one without rights to
 * check.
 */
export function watchOwn(bindings: Iterable<PlanBinding>): void {
  for (const binding of bindings as Iterable<OwnBinding>) {
    if (binding.type === 'ConstantValue') present(binding, binding.value);
    if (binding.type !== 'DynamicValue' || watched.has(binding)) continue;
    watched.add(binding);
    const make = binding.value as (context: unknown) => unknown;
    const note = (error: unknown): void => {
      if (typeof error === 'object' && error !== null) failures.set(error, binding.serviceIdentifier);
    };
    binding.value = (context: unknown): unknown => {
      try {
        const made = make(context);
        if (currentPurpose()?.of !== 'tool') return made;
        if (!(made instanceof Promise)) return present(binding, made);
        made.catch(note);
        return made.then((value: unknown) => present(binding, value));
      } catch (error) {
        note(error);
        throw error;
      }
    };
  }
}

/** Under a symbol or a text anything may be bound, nothing too; under a class there is an object. */
function present({ serviceIdentifier }: PlanBinding, value: unknown): unknown {
  if (typeof serviceIdentifier === 'function' && (value === undefined || value === null))
    throw absentError(identifierName(serviceIdentifier), String(value));
  return value;
}

/** The identifier of the scope's own binding that threw this error. */
export function failedBinding(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? failures.get(error) : undefined;
}
