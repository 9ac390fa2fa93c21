import type { Asked, Step } from './watched-scope.js';

/** A caller that waits for the stopped one, for a lock of the application's, is not waited for longer. In ms. */
const STALLED_MS = 250;

/** Runs one up to a step, then the other to its end, then the rest of the first. */
export async function stopped(
  stop: number,
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
  const waits = await isStalled(other);
  goOn();
  return { at, asked: await Promise.all([begun, other]), isStalled: waits };
}

/** Lets each go one step after the other has. */
export async function alternating(
  first: (step: Step) => Promise<Asked>,
  second: (step: Step) => Promise<Asked>,
): Promise<readonly [Asked, Asked]> {
  let waiting: (() => void) | undefined;
  let isFree = false;
  const step: Step = async () => {
    waiting?.();
    waiting = undefined;
    if (isFree) return;
    const turn = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    if (await isStalled(turn)) isFree = true;
  };
  const ended = (asked: Asked): Asked => {
    isFree = true;
    waiting?.();
    return asked;
  };
  return Promise.all([first(step).then(ended), second(step).then(ended)]);
}

/** Whether something has not ended after a while. */
async function isStalled(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, STALLED_MS, true);
  });
  try {
    return await Promise.race([work.then(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}
