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

const listening = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` when the signal aborts, at once where it has; the returned function ends that. However many listen,
 * the signal has one listener of ours, and none once the last one stopped: Node warns of more than ten.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  const listeners = listening.get(signal) ?? new Set();
  const all = (): void => {
    listening.delete(signal);
    for (const each of [...listeners]) each();
  };
  if (listeners.size === 0) {
    listening.set(signal, listeners);
    signal.addEventListener('abort', all, { once: true });
    hubs.set(listeners, all);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    const hub = hubs.get(listeners);
    if (listeners.size > 0 || hub === undefined) return;
    listening.delete(signal);
    hubs.delete(listeners);
    signal.removeEventListener('abort', hub);
  };
}

const hubs = new WeakMap<Set<() => void>, () => void>();
