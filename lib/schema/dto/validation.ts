import type * as ClassValidator from 'class-validator';
import type { RuleMetadata } from './libraries.js';
import { isBuiltIn } from './rule-words.js';

export interface ValidatorStore {
  getTargetValidationMetadatas(
    target: unknown,
    schema: string,
    always: boolean,
    strictGroups: boolean,
  ): readonly RuleMetadata[];
  getTargetValidatorConstraints(target: unknown): readonly { readonly name: string }[];
}

/** What a failed rule is, in class-validator's own tree. */
export interface RuleFailure {
  readonly property: string;
  readonly constraints?: Readonly<Record<string, string>>;
  readonly children?: readonly RuleFailure[];
}

// No whitelist: unknown keys are refused before there is an instance, and what its class gives it is no key of the model's.
const VALIDATOR_OPTIONS = Object.freeze({
  forbidUnknownValues: true,
  stopAtFirstError: false,
  skipMissingProperties: false,
  validationError: { target: false, value: false },
});

interface Executor {
  readonly awaitingPromises: readonly Promise<unknown>[];
  metadataStorage: ValidatorStore;
  execute(instance: object, schema: undefined, failures: RuleFailure[]): void;
  stripEmptyErrors(failures: RuleFailure[]): readonly RuleFailure[];
}

interface ConstraintMetadata {
  readonly name: string;
  readonly async: boolean;
  readonly instance: {
    validate(value: unknown, args: unknown): unknown;
    defaultMessage?(args: unknown): string;
  };
}

/**
 * `validate` as class-validator has it, but where one rule throws, the asynchronous ones that it began are not left to
 * nobody: one of them that rejects would end the process (its `validate` gives up before it waits for any). Its executor
 * is loaded by its path; without it there is `validate`. Without an asynchronous rule there is nothing to wait for.
 */
export function validation(
  validator: typeof ClassValidator,
  require: NodeJS.Require,
): (instance: object) => readonly RuleFailure[] | Promise<readonly RuleFailure[]> {
  let create: (new (validator: unknown, options: object) => Executor) | undefined;
  try {
    const found = require('class-validator/cjs/validation/ValidationExecutor.js') as {
      readonly ValidationExecutor?: typeof create;
    };
    create = found.ValidationExecutor;
  } catch {
    // another build of it
  }
  if (create === undefined) return async (instance) => validator.validate(instance, VALIDATOR_OPTIONS);
  const ExecutorClass = create;
  const own = new validator.Validator();
  return (instance) => {
    const executor = new ExecutorClass(own, VALIDATOR_OPTIONS);
    executor.metadataStorage = watched(executor.metadataStorage);
    const failures: RuleFailure[] = [];
    const { awaitingPromises } = executor;
    try {
      executor.execute(instance, undefined, failures);
    } finally {
      for (const promise of awaitingPromises) promise.catch(() => undefined);
    }
    if (awaitingPromises.length === 0) return executor.stripEmptyErrors(failures);
    return Promise.all(awaitingPromises).then(() => executor.stripEmptyErrors(failures));
  };
}

const watchedStores = new WeakMap<ValidatorStore, ValidatorStore>();

/** The same store, whose rules leave no promise to nobody: of the items of a list, the second may throw. */
function watched(store: ValidatorStore): ValidatorStore {
  let result = watchedStores.get(store);
  if (result === undefined) {
    // The store looks through all rules of the application for each one; what it found for a class stays so.
    const known = new WeakMap<object, readonly ConstraintMetadata[]>();
    result = Object.create(store, {
      getTargetValidatorConstraints: {
        value: (target: object) => {
          let found = known.get(target);
          if (found === undefined) {
            found = (store.getTargetValidatorConstraints(target) as readonly ConstraintMetadata[]).map((constraint) =>
              // Its own rules give no promises.
              isBuiltIn(constraint.name) && !constraint.async ? constraint : watchedConstraint(constraint),
            );
            if (found.length > 0) known.set(target, found);
          }
          return found;
        },
      },
    }) as ValidatorStore;
    watchedStores.set(store, result);
  }
  return result;
}

function watchedConstraint(constraint: ConstraintMetadata): ConstraintMetadata {
  let last: ConstraintMetadata['instance'] | undefined;
  let watching: ConstraintMetadata['instance'] | undefined;
  return {
    name: constraint.name,
    async: constraint.async,
    get instance() {
      // Asked for each time: the application's own container may make a new one.
      const { instance } = constraint;
      if (instance !== last || watching === undefined) watching = watchedInstance(instance);
      last = instance;
      return watching;
    },
  };
}

function watchedInstance(instance: ConstraintMetadata['instance']): ConstraintMetadata['instance'] {
  return {
    validate: (value, args) => {
      const result = instance.validate(value, args);
      if (result instanceof Promise) result.catch(() => undefined);
      return result;
    },
    // Absent where it is absent: class-validator looks.
    ...(typeof instance.defaultMessage === 'function' && {
      defaultMessage: (args: unknown) => instance.defaultMessage?.(args) ?? '',
    }),
  };
}
