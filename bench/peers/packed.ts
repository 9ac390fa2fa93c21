import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ROOT } from './folder.js';

const LEFT_OUT = new Set(['node_modules', 'dist', 'build', '.git', 'coverage']);

/** What an application has beside it. */
const BESIDE = ['inversify', 'reflect-metadata', 'openai', '@inversifyjs/plugin', 'ipaddr.js'];

/** Gives `use` a project in which this package is installed as it would be published: built and packed, of the sources as they are. */
export function withPacked<T>(use: (project: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const sources = join(folder, 'sources');
    for (const name of readdirSync(ROOT))
      if (!LEFT_OUT.has(name))
        cpSync(join(ROOT, name), join(sources, name), {
          recursive: true,
          filter: (path) => basename(path) !== 'node_modules',
        });
    symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'), 'junction');
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: sources,
      shell: process.platform === 'win32',
    });
    const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    execFileSync('tar', ['-xzf', archive], { cwd: folder });
    const modules = join(folder, 'project', 'node_modules');
    cpSync(join(folder, 'package'), join(modules, 'inversify-ai'), { recursive: true });
    for (const name of BESIDE) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
    }
    return use(join(folder, 'project'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
