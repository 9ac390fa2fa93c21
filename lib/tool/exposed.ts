/*
 * What an instance shows of itself, by class-transformer's decorators (`@Exclude`, `@Expose`, `@Transform`).
 *
 * Why not its instanceToPlain: that calls every property that holds a function (a tool that only looks would run the
 * methods of what it found), follows promises, and recurses by rules of its own, in which a nested toJSON, Error or Map
 * shows what it meant to hide. Here only the decorators of the one instance are read; the caller goes on with the values.
 * The package has no public reader of them, so its store is imported by its path and tried out before it is believed.
 */

type Exposure = (instance: object) => readonly (readonly [string, unknown])[];

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

async function load(): Promise<Exposure> {
  const library = await import('class-transformer').catch(() => undefined);
  if (library === undefined) return (instance) => Object.entries(instance);
  const path: string = 'class-transformer/cjs/storage.js';
  const { defaultMetadataStorage: store } = (await import(path).catch(() => ({}))) as {
    readonly defaultMetadataStorage?: Store;
  };
  class Probe {}
  library.Exclude()(Probe.prototype, 'hidden');
  if (store?.findExcludeMetadata(Probe, 'hidden') === undefined)
    return () => {
      throw new Error(
        'class-transformer is installed, but what its decorators say cannot be read, so no instance is told; give it a toJSON',
      );
    };
  return (instance) => exposed(store, instance);
}

function exposed(store: Store, instance: object): readonly (readonly [string, unknown])[] {
  const target: unknown = instance.constructor;
  const shown = store.getExposedProperties(target, CLASS_TO_PLAIN);
  const hidden = store.getExcludedProperties(target, CLASS_TO_PLAIN);
  const keys = new Set([...(hidesAll(store, target) ? [] : Object.keys(instance)), ...shown]);
  return [...keys].flatMap((key) => {
    const options = store.findExposeMetadata(target, key)?.options;
    if (hidden.includes(key) || (options?.groups?.length ?? 0) > 0) return [];
    return [[options?.name ?? key, valueOf(store, target, instance, key, shown.includes(key))] as const];
  });
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
