import { type Kept, keptScopes } from './ours.js';
import { collectGarbage, round } from './statistics.js';
import { FEW, toolSpecs } from './work.js';

const SCOPES = 2_000;

/** KiB of heap that each holds while it is open, by what it is. */
export async function heapKiB(): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const kept of keptScopes(toolSpecs(FEW))) {
    await heldBy(kept); // what is compiled and cached once is nobody's in particular
    found[kept.what] = round(await heldBy(kept), 1);
  }
  return found;
}

async function heldBy({ keep }: Kept): Promise<number> {
  const before = await heapUsed();
  const kept = Array.from({ length: SCOPES }, keep);
  const after = await heapUsed();
  // Read after that, so that they are still held.
  return (after - before) / 1024 / kept.length;
}

async function heapUsed(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await new Promise(setImmediate);
    collectGarbage('full');
  }
  return process.memoryUsage().heapUsed;
}
