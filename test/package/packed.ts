import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Builds and packs the sources as they are, as for the registry, in a folder of its own; gives the archive's path. */
export function pack(folder: string): string {
  const sources = join(folder, 'sources');
  for (const name of readdirSync('.'))
    if (!['node_modules', 'dist', 'build', '.git'].includes(name))
      cpSync(name, join(sources, name), {
        recursive: true,
        filter: (path) => !/(^|[\\/])node_modules([\\/]|$)/.test(path),
      });
  symlinkSync(resolve('node_modules'), join(sources, 'node_modules'));
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
      cwd: sources,
      encoding: 'utf8',
    }).replace(/^[^[]*/s, ''),
  ) as { filename: string }[];
  return join(folder, packed!.filename);
}

/** Puts the packed package into a project as npm would, and these packages beside it. */
export function install(project: string, archive: string, peers: readonly string[]): void {
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', project]);
  cpSync(join(project, 'package'), join(project, 'node_modules/inversify-ai'), { recursive: true });
  for (const peer of peers) {
    mkdirSync(dirname(join(project, 'node_modules', peer)), { recursive: true });
    symlinkSync(resolve('node_modules', peer), join(project, 'node_modules', peer));
  }
}
