/*
 * What an instance shows of itself, by class-transformer's decorators (`@Exclude`, `@Expose`, `@Transform`).
 *
 * Why not its instanceToPlain: that calls every property that holds a function (a tool that only looks would run the
 * methods of what it found), follows promises, and recurses by rules of its own, in which a nested toJSON, Error or Map
 * shows what it meant to hide. Here only the decorators of the one instance are read; the caller goes on with the values.
 * The package has no public reader of them, so its store is imported by its path and tried out before it is believed.
 */

/** The class that a declaration says a value is of; it may differ from one item of a list to another. */
export type DeclaredType = (value: object) => Newable | undefined;

/** A member that is shown, and what `@Type` says of it. */
export interface Exposed {
  readonly key: string;
  readonly value: unknown;
  readonly type?: DeclaredType;
}

type Newable = abstract new (...args: never[]) => unknown;

/** What an object shows; `type` is the class that it is declared to be of. */
export type Exposure = (instance: object, type?: Newable) => readonly Exposed[];

interface TypeMetadata {
  readonly typeFunction?: (options: object) => unknown;
  readonly reflectedType?: unknown;
  readonly options?: {
    readonly discriminator?: {
      readonly property: string;
      readonly subTypes?: readonly { readonly name: unknown; readonly value: Newable }[];
    };
  };
}

interface TransformMetadata {
  readonly transformFn: (params: object) => unknown;
  readonly options?: { readonly groups?: readonly string[]; readonly since?: number; readonly until?: number };
}

interface Store {
  getStrategy(target: unknown): 'none' | 'excludeAll' | 'exposeAll';
  getExposedProperties(target: unknown, kind: number): readonly string[];
  getExcludedProperties(target: unknown, kind: number): readonly string[];
  findExposeMetadata(
    target: unknown,
    key: string,
  ): { readonly options?: { readonly name?: string; readonly groups?: readonly string[] } } | undefined;
  findExcludeMetadata(target: unknown, key: string): unknown;
  findTypeMetadata(target: unknown, key: string): TypeMetadata | undefined;
  findTransformMetadatas(target: unknown, key: string, kind: number): readonly TransformMetadata[];
}

/** class-transformer's `TransformationType.CLASS_TO_PLAIN`. */
const CLASS_TO_PLAIN = 1;

let loaded: Promise<Exposure> | undefined;

/** Loaded with the first instance that is told. Without class-transformer an instance shows its own properties. */
export function loadExposure(): Promise<Exposure> {
  loaded ??= load();
  return loaded;
}

/** All own properties, as they are. */
export function ownMembers(object: object): readonly Exposed[] {
  return Object.entries(object as Readonly<Record<string, unknown>>).map(([key, value]) => ({ key, value }));
}

async function load(): Promise<Exposure> {
  const library = await import('class-transformer').catch(() => undefined);
  if (library === undefined) return ownMembers;
  // A literal path, so that a bundler finds it; it has no declarations.
  // @ts-expect-error -- and is therefore unknown to the compiler
  const found: unknown = await import('class-transformer/cjs/storage.js').catch(() => undefined);
  const store = (found as { readonly defaultMetadataStorage?: Store } | undefined)?.defaultMetadataStorage;
  class Probe {}
  library.Exclude()(Probe.prototype, 'hidden');
  if (store?.findExcludeMetadata(Probe, 'hidden') === undefined)
    return () => {
      throw new Error(
        'class-transformer is installed, but what its decorators say cannot be read, so no instance is told; keep it out of the bundle, or give the class a toJSON',
      );
    };
  return (instance, type) => {
    const own = classOf(instance);
    if (type === undefined || instance instanceof type || hidesAll(store, own))
      return exposed(store, instance, own ?? type);
    // A row of a database laid over an entity: it hides what the entity hides, and what its own class hides, if it has one.
    return exposed(store, instance, type, own === undefined ? [] : store.getExcludedProperties(own, CLASS_TO_PLAIN));
  };
}

/** The class of an instance; an own property called `constructor` is none. */
function classOf(instance: object): Newable | undefined {
  const { constructor } = (Object.getPrototypeOf(instance) ?? {}) as { readonly constructor?: unknown };
  return typeof constructor === 'function' && constructor !== Object ? (constructor as Newable) : undefined;
}

function exposed(
  store: Store,
  instance: object,
  target: Newable | undefined,
  alsoHidden: readonly string[] = [],
): readonly Exposed[] {
  if (target === undefined) return ownMembers(instance);
  const shown = store.getExposedProperties(target, CLASS_TO_PLAIN);
  const hidden = [...store.getExcludedProperties(target, CLASS_TO_PLAIN), ...alsoHidden];
  const keys = new Set([...(hidesAll(store, target) ? [] : Object.keys(instance)), ...shown]);
  return [...keys].flatMap((key) => {
    const options = store.findExposeMetadata(target, key)?.options;
    if (hidden.includes(key) || (options?.groups?.length ?? 0) > 0) return [];
    const value = valueOf(store, target, instance, key, shown.includes(key));
    const metadata = store.findTypeMetadata(target, key);
    return [{ key: options?.name ?? key, value, ...(metadata && { type: declaredType(metadata, instance, key) }) }];
  });
}

function declaredType(metadata: TypeMetadata, object: object, property: string): DeclaredType {
  const { typeFunction, reflectedType, options } = metadata;
  const { property: tag, subTypes } = options?.discriminator ?? {};
  return (value) => {
    const named = tag === undefined ? undefined : (value as Readonly<Record<string, unknown>>)[tag];
    const type: unknown =
      subTypes?.find(({ name }) => name === named)?.value ??
      (typeFunction === undefined ? reflectedType : typeFunction({ object, property, newObject: {} }));
    return typeof type === 'function' ? (type as Newable) : undefined;
  };
}

/** `@Exclude()` on the class, or on a base of it: a subclass does not show what its base hides. */
function hidesAll(store: Store, target: unknown): boolean {
  for (let current = target; typeof current === 'function'; current = Object.getPrototypeOf(current) as unknown) {
    const strategy = store.getStrategy(current);
    if (strategy !== 'none') return strategy === 'excludeAll';
  }
  return false;
}

/** A function is called only where `@Expose` says that its result is to be shown. */
function valueOf(store: Store, target: unknown, instance: object, key: string, isShown: boolean): unknown {
  const own = (instance as Readonly<Record<string, unknown>>)[key];
  let value = typeof own === 'function' && isShown ? (own.call(instance) as unknown) : own;
  for (const { transformFn, options } of store.findTransformMetadatas(target, key, CLASS_TO_PLAIN))
    if ((options?.groups?.length ?? 0) === 0)
      value = transformFn({ value, key, obj: instance, type: CLASS_TO_PLAIN, options: {} });
  return value;
}
