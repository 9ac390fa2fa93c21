import { Socket } from 'node:net';
import { Stream } from 'node:stream';
import { types } from 'node:util';
import { cut } from '../schema/quote.js';
import { adopt } from './adopt.js';
import { tagOf } from './built-in.js';

/** The tool returned something that is no value: the call has failed, and the observer is told which kind it was. */
export class UnsupportedResultError extends Error {
  override readonly name = 'UnsupportedResultError';
}

/**
 * Why an object cannot be told, and what to return instead; `undefined` where it can. Closes what would run on, since
 * nobody is going to read it; how long that takes is nobody's business either.
 */
export function whyUnsupported(value: object, isNested: boolean): string | undefined {
  if (types.isPromise(value)) {
    adopt(value);
    return 'a promise is no result; await it before it is returned';
  }
  const { then } = value as { readonly then?: unknown };
  // Not called: the query of an ORM begins with its `then`.
  if (typeof then === 'function') return 'what has a method "then" is no result; await it before it is returned';
  if (value instanceof Stream || isWebStream(value)) {
    // A connection below the top is mostly one of a pool, which others go on using.
    if (!isNested || !(value instanceof Socket)) closeStream(value);
    return 'a stream is no result; read it and return what was read';
  }
  // Asked first, since `next` may be a getter that loads something.
  if (!isIterable(value)) return undefined;
  const { next, toJSON, return: close } = value as Readonly<Record<'next' | 'toJSON' | 'return', unknown>>;
  if (typeof next !== 'function' || typeof toJSON === 'function') return undefined;
  closing(value, close);
  return 'a generator is no result; collect it and return the list';
}

/**
 * The same of an object without a single property that is shown: most built-in ones (a `Response`, a `WeakMap`) keep what
 * they hold where it cannot be seen, and the model would take `{}` for "there is nothing".
 */
export function whyUnseen(value: object): string | undefined {
  if (Object.keys(value).length > 0) return undefined;
  const { body, readable, writable } = value as Readonly<Record<'body' | 'readable' | 'writable', unknown>>;
  const streams = [body, readable, writable].filter(isWebStream);
  streams.forEach(closeStream);
  const tag = tagOf(value);
  if (streams.length === 0 && tag === undefined && !isIterable(value)) return undefined;
  return `what this ${tag === undefined ? 'object' : cut(tag)} holds cannot be seen; read it and return what was read`;
}

function isIterable(value: object): boolean {
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

function isWebStream(value: unknown): value is ReadableStream | WritableStream {
  return value instanceof ReadableStream || value instanceof WritableStream;
}

function closeStream(value: object): void {
  const { destroy, cancel, abort } = value as Readonly<Record<'destroy' | 'cancel' | 'abort', unknown>>;
  // What goes wrong with it from now on is nobody's concern, and would end the process.
  if (value instanceof Stream) value.on('error', () => undefined);
  closing(value, destroy ?? cancel ?? abort);
}

function closing(value: object, close: unknown): void {
  const closed = async (): Promise<void> => {
    if (typeof close === 'function') await (Reflect.apply(close as () => unknown, value, []) as Promise<unknown>);
  };
  closed().catch(() => undefined);
}
