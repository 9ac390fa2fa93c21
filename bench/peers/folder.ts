import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where `npm run bench` is started, and where the peers are installed. */
export const ROOT = process.cwd();
export const BENCH = join(ROOT, 'bench');

export interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** The version that is installed. */
export function versionOf(name: string): string {
  return manifestIn(join(BENCH, 'node_modules', name)).version;
}
