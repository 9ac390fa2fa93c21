import { type Constructor, type DtoLibraries, PLAIN_TO_CLASS } from './libraries.js';

/* What class-transformer lets in of a class, and under which names. */

type Store = DtoLibraries['store'];

/** What the wire calls a property. */
export function wireName(store: Store, type: unknown, property: string): string {
  const exposed = isExposed(store, type, property) ? store.findExposeMetadata(type, property)?.options : undefined;
  return (exposed?.toPlainOnly !== true && exposed?.name) || property;
}

/** Whether nothing that comes in reaches the property. */
export function isHidden(store: Store, type: unknown, property: string): boolean {
  const exposed = isExposed(store, type, property);
  return (
    store.getExcludedProperties(type, PLAIN_TO_CLASS).includes(property) ||
    (exposed && (store.findExposeMetadata(type, property)?.options?.groups?.length ?? 0) > 0) ||
    (store.getStrategy(type) === 'excludeAll' && !exposed)
  );
}

function isExposed(store: Store, type: unknown, property: string): boolean {
  return store.getExposedProperties(type, PLAIN_TO_CLASS).includes(property);
}

/** Whether a hidden property has a value all the same: from the start, or of a getter. */
export function hasOwnValue(type: Constructor, property: string): boolean {
  if (memberOf(type, property)?.get !== undefined) return true;
  try {
    return (new type() as Record<string, unknown>)[property] !== undefined;
  } catch {
    return false;
  }
}

/** Why a property cannot be one; of what is hidden, nothing has to be put into it. */
export function memberProblem(type: Constructor, property: string, hidden: boolean): string | undefined {
  const member = memberOf(type, property);
  if (typeof member?.value === 'function') return 'is a method, and nothing is put in its place; take its rules away';
  if (member?.set !== undefined && member.get === undefined)
    return 'has a setter and no getter, so that its rules see nothing; write a getter';
  if (hidden) return undefined;
  if (property in Object.prototype)
    return 'every object has a member of that name already, and class-transformer leaves it as it is; call the property otherwise';
  if (member?.get !== undefined && member.set === undefined)
    return 'has a getter and no setter, so that what the model sends would be lost; write a setter, take its rules away, or keep it from the model with @Exclude()';
  return undefined;
}

function memberOf(type: Constructor, property: string): PropertyDescriptor | undefined {
  let at = type.prototype as object | null;
  while (at !== null && at !== Object.prototype) {
    const member = Object.getOwnPropertyDescriptor(at, property);
    if (member !== undefined) return member;
    at = Object.getPrototypeOf(at) as object | null;
  }
  return undefined;
}
