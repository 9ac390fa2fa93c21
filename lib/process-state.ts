/**
 * State that exists once in the process, whichever copy of the package asks first: two copies (a linked package, a
 * second version in the tree) must see the same declarations and agree on whose turn it is. `name` ends in a version,
 * raised when the shape changes.
 */
export function processState<T extends object>(name: string, make: () => T): T {
  const holder = globalThis as unknown as Record<symbol, T | undefined>;
  return (holder[Symbol.for(`inversify-ai/${name}`)] ??= make());
}
