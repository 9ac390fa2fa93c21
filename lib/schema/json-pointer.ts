/** What a `$ref` into its own schema leads to (RFC 6901, section 6); `undefined` where it leads nowhere. */
export function resolveReference(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined;
  const pointer = reference.slice(1);
  // zod leaves a % in a name as it is.
  return resolvePointer(root, decoded(pointer)) ?? resolvePointer(root, pointer);
}

function resolvePointer(root: unknown, pointer: string): unknown {
  let target = root;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) return undefined;
    target = (target as Readonly<Record<string, unknown>>)[name];
  }
  return target;
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}
