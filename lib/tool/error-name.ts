import { types } from 'node:util';

/*
 * An Error in a result is told by its name alone: its message, its stack and what hangs on it (a request with its token)
 * are ours. So it is asked for by everything that an Error can be known by, also one of another realm or behind a proxy.
 */

export function isError(value: object): boolean {
  return (
    types.isNativeError(value) || value instanceof Error || isTaggedError(value) || hasTrace(value) || isHeir(value)
  );
}

/** The name, as far as it is one: a text of any other kind might be the message. */
export function errorName(error: object): string {
  try {
    const { name } = error as { readonly name?: unknown };
    return typeof name === 'string' && /^[A-Za-z_$][\w$.]{0,63}$/.test(name) ? name : 'Error';
  } catch {
    return 'Error';
  }
}

function isTaggedError(value: object): boolean {
  const tag = Object.prototype.toString.call(value);
  return tag === '[object Error]' || tag === '[object DOMException]';
}

/** `Error.captureStackTrace` leaves a stack that is not enumerable; a column of that name is. */
function hasTrace(value: object): boolean {
  return (
    Object.getOwnPropertyDescriptor(value, 'stack')?.enumerable === false &&
    typeof (value as { readonly stack?: unknown }).stack === 'string'
  );
}

/** Of an Error of whatever realm: the source text of each is the same, and no class of an application has it. */
function isHeir(value: object): boolean {
  let prototype = Object.getPrototypeOf(value) as object | null;
  while (prototype !== null) {
    const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
    if (typeof constructor === 'function' && sourceOf(constructor) === SOURCE_OF_ERROR) return true;
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return false;
}

function sourceOf(constructor: object): string {
  return Function.prototype.toString.call(constructor);
}

const SOURCE_OF_ERROR = sourceOf(Error);
