import { createRequire } from 'node:module';
import type * as ClassTransformer from 'class-transformer';
import type * as ClassValidator from 'class-validator';
import { type ValidatorStore, validation } from './validation.js';

/*
 * What is read of class-validator and class-transformer, both optional peers. A class is scanned at once, so they are
 * loaded with `require`, which gives the copy that the application's `import` gives. class-transformer has no public
 * reader of its decorators: its store is loaded by its path and tried out before it is believed.
 */

export type Constructor = new () => object;

/** One rule as class-validator keeps it. */
export interface RuleMetadata {
  readonly target: unknown;
  readonly propertyName: string;
  readonly type: string;
  readonly name?: string;
  readonly constraints?: readonly unknown[];
  readonly each?: boolean;
  readonly message?: unknown;
  readonly constraintCls?: unknown;
}

export interface TypeMetadata {
  readonly typeFunction?: (options: object) => unknown;
  readonly options?: {
    readonly discriminator?: {
      readonly property: string;
      readonly subTypes?: readonly { readonly name: unknown; readonly value: unknown }[];
    };
    readonly keepDiscriminatorProperty?: boolean;
  };
}

interface TransformerStore {
  getStrategy(target: unknown): 'none' | 'excludeAll' | 'exposeAll';
  getExposedProperties(target: unknown, kind: number): readonly string[];
  getExcludedProperties(target: unknown, kind: number): readonly string[];
  findExposeMetadata(
    target: unknown,
    property: string,
  ):
    | {
        readonly options?: {
          readonly name?: string;
          readonly groups?: readonly string[];
          readonly toPlainOnly?: boolean;
        };
      }
    | undefined;
  findTypeMetadata(target: unknown, property: string): TypeMetadata | undefined;
  findTransformMetadatas(target: unknown, property: string, kind: number): readonly unknown[];
}

export interface DtoLibraries {
  readonly rulesOf: (type: unknown) => readonly RuleMetadata[];
  /** The name of a rule in a failure. */
  readonly nameOf: (rule: RuleMetadata) => string;
  readonly store: TransformerStore;
  readonly toInstance: (type: Constructor, plain: object) => object;
  /** Whether a `@Transform` looks at what comes in. */
  readonly isTransformed: (type: Constructor, property: string) => boolean;
  readonly validate: ReturnType<typeof validation>;
}

/** class-transformer's `TransformationType.PLAIN_TO_CLASS`. */
export const PLAIN_TO_CLASS = 0;

let loaded: DtoLibraries | undefined;

/** The libraries, or what is wrong with them. A failure is looked at anew: a test may install them meanwhile. */
export function dtoLibraries(): DtoLibraries | string {
  const found = loaded ?? load();
  if (typeof found !== 'string') loaded = found;
  return found;
}

function load(): DtoLibraries | string {
  const require = createRequire(import.meta.url);
  let validator: typeof ClassValidator;
  let transformer: typeof ClassTransformer;
  let store: TransformerStore | undefined;
  try {
    validator = require('class-validator') as typeof validator;
    transformer = require('class-transformer') as typeof transformer;
    const found = require('class-transformer/cjs/storage.js') as { readonly defaultMetadataStorage?: TransformerStore };
    store = found.defaultMetadataStorage;
  } catch {
    return 'class-validator and class-transformer, which it needs, are not installed: npm install class-validator class-transformer';
  }
  class Probe {}
  transformer.Type(() => Date)(Probe.prototype, 'moment');
  if (store?.findTypeMetadata(Probe, 'moment') === undefined)
    return 'what the decorators of class-transformer say cannot be read; keep it out of the bundle';
  const rules = validator.getMetadataStorage() as unknown as ValidatorStore;
  return {
    store,
    rulesOf: (type) => rules.getTargetValidationMetadatas(type, '', true, false),
    nameOf: ({ name, type, constraintCls }) =>
      (constraintCls === undefined ? undefined : rules.getTargetValidatorConstraints(constraintCls)[0]?.name) ??
      name ??
      type,
    // Every option is said, whatever their defaults become: implicit conversion makes the text "false" true.
    toInstance: (type, plain) =>
      transformer.plainToInstance(type, plain, {
        enableImplicitConversion: false,
        excludeExtraneousValues: false,
        exposeDefaultValues: false,
        ignoreDecorators: false,
      }),
    isTransformed: (type, property) => store.findTransformMetadatas(type, property, PLAIN_TO_CLASS).length > 0,
    validate: validation(validator, require),
  };
}
