/**
 * A promise, or the reason of the signal if that comes first: for work that may not heed the signal itself. Nothing is
 * left on the signal, and what the work does later is nobody's.
 */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    const done = (): void => {
      signal.removeEventListener('abort', abort);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(done);
  });
}
