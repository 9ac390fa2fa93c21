import { identifierName } from './inversify-error.js';
import type { PlanBinding } from './plan.js';
import { currentPurpose } from './purpose.js';
import { absentError, failedBindingError } from './scope-error.js';

/** Which binding of a scope's own threw an error. */
const failures = new WeakMap<object, unknown>();
const watched = new WeakSet<PlanBinding>();

/** The functions of a binding that somebody wrote. */
interface OwnBinding extends PlanBinding {
  value?: unknown;
  factory?: unknown;
  onActivation?: unknown;
}

type Made = (...args: unknown[]) => unknown;

/**
 * Watches what a scope binds itself, for its tools. A value that cannot be made, as a caller that nobody signed in for, is
 * no failed tool, of which the model is told and after which the run goes on: without it there is nobody to act for. And
 * what is bound under a class must be there: many a service takes an absent caller for one without rights to check.
 *
 * @param own all that the scope binds
 */
export function watchOwn(own: readonly PlanBinding[]): void {
  for (const binding of own as readonly OwnBinding[]) {
    const must = mustBeThere(binding, own);
    if (binding.type === 'ConstantValue' && binding.onActivation === undefined) present(must, binding.value);
    if (binding.cache?.isRight === true) present(must, binding.cache.value);
    if (watched.has(binding)) continue;
    watched.add(binding);
    const isLast = binding.onActivation === undefined;
    if (binding.type === 'DynamicValue') binding.value = watchedMaker(binding, binding.value as Made, isLast && must);
    if (binding.type === 'ResolvedValue')
      binding.factory = watchedMaker(binding, binding.factory as Made, isLast && must);
    if (!isLast) binding.onActivation = watchedMaker(binding, binding.onActivation as Made, must);
  }
}

/** The class under which somebody asks for it, by itself or by a redirection; under a symbol or a text there may be nothing. */
function mustBeThere({ serviceIdentifier }: PlanBinding, own: readonly PlanBinding[]): false | object {
  if (typeof serviceIdentifier === 'function') return serviceIdentifier;
  for (const other of own)
    if (other.targetServiceIdentifier === serviceIdentifier && typeof other.serviceIdentifier === 'function')
      return other.serviceIdentifier;
  return false;
}

function watchedMaker({ serviceIdentifier }: PlanBinding, make: Made, must: false | object): Made {
  return (...args) => {
    if (currentPurpose()?.of !== 'tool') return make(...args);
    const failed = (error: unknown): never => {
      // What is no object cannot be known again.
      if (typeof error !== 'object' || error === null)
        throw failedBindingError(identifierName(serviceIdentifier), new Error(String(error)));
      failures.set(error, serviceIdentifier);
      throw error as Error;
    };
    try {
      const made = make(...args);
      return isThenable(made)
        ? Promise.resolve(made).then((value) => present(must, value), failed)
        : present(must, made);
    } catch (error) {
      return failed(error);
    }
  };
}

function present(must: false | object, value: unknown): unknown {
  if (must !== false && (value === undefined || value === null)) throw absentError(identifierName(must), String(value));
  return value;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The identifier of the scope's own binding that threw this error. */
export function failedBinding(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? failures.get(error) : undefined;
}
