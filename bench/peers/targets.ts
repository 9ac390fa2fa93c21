import type { Results, Row } from './results.js';

export interface Target {
  readonly text: string;
  readonly isMet: boolean;
}

/** What this library wants to be, as ratios within one run. */
export function targets({ rows }: Results): readonly Target[] {
  const ours = rows.filter(({ wire }) => wire !== undefined);
  const floor = rows.find(({ library }) => library === 'floor');
  const peers = rows.filter((row) => row !== floor && !ours.includes(row));
  if (floor === undefined) throw new Error('there is no floor');
  const fastest = (key: 'run2Us' | 'stepUs'): number => Math.min(...peers.map((peer) => peer[key]));
  const allowed = 1.5 * floor.stepUs + 40;
  return [
    ...ours.flatMap((row) => [
      bound(row, 'a step takes', row.stepUs, allowed, 'µs, 1.5 times the floor and 40 µs'),
      bound(row, 'a step takes', row.stepUs, fastest('stepUs'), 'µs of the fastest peer'),
      bound(row, 'a run with its scope takes', row.run2Us, fastest('run2Us'), 'µs of the fastest peer'),
      bound(row, 'a step with 26 tools takes', row.step26Us / row.stepUs, 1.3, 'times one with 4', 2),
    ]),
    ...ours
      .slice(0, 1)
      .flatMap((row) => [
        bound({ library: row.library }, 'import beyond inversify takes', row.importMs, 20, 'ms', 1),
        bound({ library: row.library }, 'without its peers it has', row.installedMiB, 1, 'MiB', 2),
      ]),
  ];
}

function bound(
  { library, wire }: Pick<Row, 'library' | 'wire'>,
  what: string,
  found: number,
  most: number,
  unit: string,
  digits = 0,
): Target {
  const title = wire === undefined ? library : `${library}, ${wire}`;
  return {
    text: `${title}: ${what} ${found.toFixed(digits)}, of ${most.toFixed(digits)} ${unit}`,
    isMet: found < most,
  };
}
