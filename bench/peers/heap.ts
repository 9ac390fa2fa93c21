import { execFileSync } from 'node:child_process';
import { keptScopes } from './ours.js';
import { collectGarbage, round } from './statistics.js';
import { FEW, toolSpecs } from './work.js';

const SCOPES = 2_000;
const KINDS = ['bare child container', 'scope with an agent'] as const;

/** KiB of heap that each holds while it is open, by what it is; each in a process in which nothing else is let go of. */
export function heapKiB(): Readonly<Record<string, number>> {
  return Object.fromEntries(
    KINDS.map((kind) => {
      const program = `import(${JSON.stringify(import.meta.url)}).then(({ printHeld }) => printHeld(${JSON.stringify(kind)}))`;
      const printed = execFileSync(process.execPath, ['--expose-gc', '-e', program], { encoding: 'utf8' });
      return [kind, round(Number(printed), 1)];
    }),
  );
}

export async function printHeld(kind: (typeof KINDS)[number]): Promise<void> {
  const keep = keptScopes(toolSpecs(FEW))[kind];
  // What is compiled and cached once is nobody's in particular.
  for (let i = 0; i < 50; i++) keep();
  const before = await heapUsed();
  const held = Array.from({ length: SCOPES }, keep);
  const after = await heapUsed();
  console.log((after - before) / 1024 / held.length);
}

async function heapUsed(): Promise<number> {
  for (let i = 0; i < 6; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collectGarbage('full');
  }
  return process.memoryUsage().heapUsed;
}
