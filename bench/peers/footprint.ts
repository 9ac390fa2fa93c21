import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { manifestIn } from './folder.js';
import { median, round } from './statistics.js';

const FRESH_PROCESSES = 9;

/** Milliseconds until these are imported, after others which are not counted; the median of fresh processes. */
export function importMs(folder: string, counted: readonly string[], before: readonly string[] = []): number {
  const load = (names: readonly string[]): string =>
    names.map((name) => `await import(${JSON.stringify(name)});`).join('');
  const program = `${load(before)}const begun = performance.now();${load(counted)}console.log(performance.now() - begun);`;
  const once = (): number =>
    Number(
      execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder, encoding: 'utf8' })
        .trim()
        .split('\n')
        .at(-1),
    );
  return round(median(Array.from({ length: FRESH_PROCESSES }, once)), 1);
}

/** What these packages and all that they need take on the disk, optional peers left out, in MiB. */
export function installedMiB(folder: string, packages: readonly string[], withPeers = true): number {
  const found = new Set<string>();
  const walk = (name: string, from: string): void => {
    const at = find(name, from);
    if (at === undefined || found.has(at)) return;
    found.add(at);
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestIn(at);
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
    for (const inner of [...Object.keys(dependencies), ...(withPeers ? peers : [])]) walk(inner, at);
  };
  for (const name of packages) walk(name, folder);
  return round([...found].reduce((sum, at) => sum + bytesIn(at), 0) / 2 ** 20, 2);
}

/** As Node looks for it. */
function find(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (dirname(at) === at) return undefined;
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .map((entry) => {
      const at = join(folder, entry.name);
      return entry.isDirectory() ? bytesIn(at) : entry.isFile() ? lstatSync(at).size : 0;
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}
