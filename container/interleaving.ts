import type { Asked, Step } from './watched-scope.js';

/** They wait for each other, so there is no other order to try. */
export const MOST_STALLS = 3;

/**
 * Runs one up to a step, then the other to its end, then the rest of the first. A caller that waits for the stopped one,
 * for a lock of the application's, is not waited for longer than `patienceMs`.
 */
export async function stopped(
  stop: number,
  patienceMs: number,
  first: (step: Step) => Promise<Asked>,
  second: () => Promise<Asked>,
): Promise<{ readonly at: string; readonly asked: readonly [Asked, Asked]; readonly isStalled: boolean }> {
  let goOn = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let reach: (at: string) => void = () => undefined;
  const reached = new Promise<string>((resolve) => {
    reach = resolve;
  });
  let count = 0;
  const begun = first(async (what) => {
    if (count++ !== stop) return;
    reach(what);
    await released;
  });
  // A run may be shorter than it was alone.
  const at = await Promise.race([reached, begun.then(() => 'its end')]);
  const other = second();
  const waits = await isStalled(other, patienceMs);
  goOn();
  return { at, asked: await Promise.all([begun, other]), isStalled: waits };
}

/** Lets each go one step after the other has; one that does not come is not waited for longer than `patienceMs`, each time. */
export async function alternating(
  patienceMs: number,
  first: (step: Step) => Promise<Asked>,
  second: (step: Step) => Promise<Asked>,
): Promise<readonly [Asked, Asked]> {
  let waiting: (() => void) | undefined;
  let isFree = false;
  let stalls = 0;
  const step: Step = async () => {
    waiting?.();
    waiting = undefined;
    if (isFree) return;
    const turn = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    if (await isStalled(turn, patienceMs)) isFree = ++stalls >= MOST_STALLS;
  };
  const ended = (asked: Asked): Asked => {
    isFree = true;
    waiting?.();
    return asked;
  };
  return Promise.all([first(step).then(ended), second(step).then(ended)]);
}

/** Whether something has not ended after a while. */
async function isStalled(work: Promise<unknown>, patienceMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, patienceMs, true);
  });
  try {
    return await Promise.race([work.then(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}
