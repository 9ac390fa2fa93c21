import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH, manifestIn, versionOf } from './folder.js';

/** Installs the peers as the lock has them, where they are not there yet; no script of theirs is run. */
export function installPeers(): void {
  const pinned = Object.entries(manifestIn(BENCH).dependencies ?? {});
  const isThere = ([name, version]: readonly [string, string]): boolean =>
    existsSync(join(BENCH, 'node_modules', name, 'package.json')) && versionOf(name) === version;
  if (pinned.every(isThere)) return;
  console.log('installing the peers in bench/node_modules');
  execFileSync('npm', ['ci', '--prefix', BENCH, '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: BENCH,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}

/** A peer, by the part of it that an adapter says it uses. */
export async function peer<T>(name: string): Promise<T> {
  const { load } = (await import(new URL('../../../bench/load.mjs', import.meta.url).href)) as {
    readonly load: (name: string) => Promise<T>;
  };
  return load(name);
}
