import type { Row } from './results.js';

/** Rows as a table in Markdown, as prettier writes it. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head = [], ...others] = rows;
  return [line(head), line(rule), ...others.map(line)].join('\n');
}

/** Medians, each with its 10th percentile. */
export function resultTable(rows: readonly Row[]): string {
  const both = (row: Row, key: 'run2Us' | 'stepUs' | 'step26Us'): string =>
    `${row[key].toFixed(0)} (${row.p10[key].toFixed(0)})`;
  return table([
    ['library', 'version', 'run of 2, µs', 'step, µs', 'step, 26 tools', 'runs/s, 32', 'import, ms', 'MiB'],
    ...rows.map((row) => [
      row.wire === undefined ? row.library : `${row.library}, ${row.wire}`,
      row.version || '-',
      both(row, 'run2Us'),
      both(row, 'stepUs'),
      both(row, 'step26Us'),
      row.runsPerSecond32.toString(),
      row.importMs.toFixed(0),
      row.installedMiB.toFixed(2),
    ]),
  ]);
}
