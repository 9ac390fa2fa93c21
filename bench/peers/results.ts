import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH } from './folder.js';
import { importMs, installedMiB } from './footprint.js';
import type { Measured, Times } from './measure.js';
import { withPacked } from './packed.js';

/** One library, on one wire. */
export interface Row extends Times {
  readonly library: string;
  readonly version: string;
  readonly wire?: string;
  readonly runsPerSecond32: number;
  /** Of ours, what it takes once inversify is there. */
  readonly importMs: number;
  /** Of ours, without its peers. */
  readonly installedMiB: number;
  readonly p10: Times;
}

/** Ours with its peers, which an application installs and loads as well. */
export interface WithPeers {
  readonly importMs: number;
  readonly installedMiB: number;
}

export interface Results {
  readonly node: string;
  readonly date: string;
  readonly rows: readonly Row[];
  readonly withPeers: WithPeers;
  /** Of what is held open, in KiB. */
  readonly heapKiB: Readonly<Record<string, number>>;
}

export function resultsOf(measured: readonly Measured[], heapKiB: Results['heapKiB']): Results {
  const own = withPacked((project) => ({
    row: {
      importMs: importMs(project, ['inversify-ai'], ['reflect-metadata', 'inversify']),
      installedMiB: installedMiB(project, ['inversify-ai'], false),
    },
    withPeers: {
      importMs: importMs(project, ['reflect-metadata', 'inversify', 'inversify-ai', 'openai']),
      installedMiB: installedMiB(project, ['inversify-ai', 'openai']),
    },
  }));
  const rows = measured.map(({ library, run2Us, stepUs, step26Us, runsPerSecond32, p10 }): Row => {
    const { name, wire, packages, imports } = library;
    const footprint =
      wire === undefined
        ? { importMs: importMs(BENCH, imports), installedMiB: installedMiB(BENCH, packages) }
        : own.row;
    return {
      library: name,
      version: library.version(),
      ...(wire !== undefined && { wire }),
      ...{ run2Us, stepUs, step26Us, runsPerSecond32, ...footprint, p10 },
    };
  });
  return { node: process.version, date: new Date().toISOString(), rows, withPeers: own.withPeers, heapKiB };
}

export function writeResults(results: Results): void {
  writeFileSync(join(BENCH, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
}
