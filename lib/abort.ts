import { type Abortable, Cancellation } from './cancellation.js';

/**
 * A promise, or the reason of the signal if that comes first: for work that may not heed the signal itself. Nothing is
 * left on the signal, and what the work does later is nobody's.
 */
export function untilAborted<T>(signal: Abortable, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = onAbort(signal, () => {
      reject(signal.reason as Error);
    });
    work.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        const thrown = error as Error;
        reject(thrown);
      },
    );
  });
}

/**
 * A cancellation of one's own, which aborts with any of these. It listens to them until `stop`: theirs may live for
 * ever, and `AbortSignal.any` keeps an entry on each for as long as its own result is referred to.
 */
export function childController(...signals: readonly Abortable[]): {
  readonly controller: Cancellation;
  readonly stop: () => void;
} {
  const controller = new Cancellation();
  const stops = signals.map((signal) =>
    onAbort(signal, () => {
      controller.abort(signal.reason);
    }),
  );
  return {
    controller,
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

/** Those who listen to one signal, behind one listener of ours. */
interface Hub {
  readonly listeners: Set<() => void>;
  readonly tellAll: () => void;
}

const hubs = new WeakMap<AbortSignal, Hub>();

/**
 * Calls `listener` when the signal aborts, at once where it has; the returned function ends that. However many listen,
 * the signal has one listener of ours, and none once the last one stopped: Node warns of more than ten.
 */
export function onAbort(signal: Abortable, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  if (signal instanceof Cancellation) return signal.listen(listener);
  const hub = hubs.get(signal) ?? openHub(signal);
  hub.listeners.add(listener);
  return () => {
    hub.listeners.delete(listener);
    if (hub.listeners.size > 0 || hubs.get(signal) !== hub) return;
    hubs.delete(signal);
    signal.removeEventListener('abort', hub.tellAll);
  };
}

function openHub(signal: AbortSignal): Hub {
  const listeners = new Set<() => void>();
  const tellAll = (): void => {
    hubs.delete(signal);
    for (const listener of [...listeners]) listener();
  };
  signal.addEventListener('abort', tellAll, { once: true });
  const hub = { listeners, tellAll };
  hubs.set(signal, hub);
  return hub;
}
