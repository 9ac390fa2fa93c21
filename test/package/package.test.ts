import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readmeBlocks } from '../readme.js';

jest.setTimeout(120_000);

/** An empty project with the packed package and its peers in it. */
let project: string;

const PEERS = ['inversify', 'reflect-metadata', 'openai', '@types/node', '@inversifyjs/plugin', 'undici-types'];

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'package-'));
  // The sources as they are, built and packed as they would be for the registry.
  const sources = join(project, 'sources');
  for (const name of readdirSync('.'))
    if (!['node_modules', 'dist', 'build', '.git'].includes(name))
      cpSync(name, join(sources, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(sources, 'node_modules'));
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', project], {
      cwd: sources,
      encoding: 'utf8',
    }).replace(/^[^[]*/s, ''),
  ) as { filename: string }[];
  execFileSync('tar', ['-xzf', join(project, packed!.filename), '-C', project]);
  mkdirSync(join(project, 'node_modules'));
  cpSync(join(project, 'package'), join(project, 'node_modules/inversify-ai'), { recursive: true });
  for (const peer of PEERS) {
    mkdirSync(dirname(join(project, 'node_modules', peer)), { recursive: true });
    symlinkSync(resolve('node_modules', peer), join(project, 'node_modules', peer));
  }
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
});

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

/** Compiles a program as the README says, in a project that names no `types`. */
function compile(name: string, source: string): { status: number | null; output: string } {
  const folder = join(project, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.ts'), source);
  const config = JSON.parse(readmeBlocks('json').find((block) => block.includes('compilerOptions'))!) as object;
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const { status, stdout } = spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, output: stdout };
}

function run(script: string, args: readonly string[] = []): { status: number | null; stdout: string; stderr: string } {
  const environment = { ...process.env, OPENAI_API_KEY: '', OPENAI_BASE_URL: '', NODE_OPTIONS: '' };
  return spawnSync(process.execPath, [...args, script], { cwd: project, encoding: 'utf8', env: environment });
}

describe('the packed package', () => {
  it('holds what it is for and nothing else', () => {
    expect(readdirSync(join(project, 'package')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ]);
    expect(readdirSync(join(project, 'package/dist')).sort()).toEqual([
      'container',
      'decorators',
      'index.d.ts',
      'index.js',
      'lib',
    ]);
    expect(readFileSync(join(project, 'package/dist/index.d.ts'), 'utf8')).toMatch(
      /^\/\/\/ <reference types="node" preserve="true" \/>/,
    );
  });

  it('compiles and runs the README’s program with plain tsc', () => {
    expect(compile('readme', readmeBlocks('ts')[0]!)).toEqual({ status: 0, output: '' });
    const { status, stdout, stderr } = run('readme/main.js');
    expect(stdout).toBe('OrderTools_findOrder says: Order 42, in transit\n');
    expect(stderr).toMatch(/^inversify-ai: using the offline stand-in, a few rules and not a language model/);
    expect(status).toBe(0);
  });

  it('compiles the README’s other pieces, and runs its test', () => {
    expect(compile('pieces', readmeBlocks('ts')[1]!)).toEqual({ status: 0, output: '' });
    expect(compile('testing', readmeBlocks('ts')[2]!)).toEqual({ status: 0, output: '' });
    expect(run('testing/main.js')).toMatchObject({ status: 0, stdout: 'It answers.\n', stderr: '' });
  });

  it('compiles the main job, whose ask() runs', () => {
    expect(compile('main-job', readFileSync('test/package/main-job.ts', 'utf8'))).toEqual({ status: 0, output: '' });
    writeFileSync(
      join(project, 'ask.js'),
      `const { ask } = await import('./main-job/main.js'); console.log((await ask()).split('\\n').slice(0, 5).join('\\n'));`,
    );
    const { status, stdout } = run('ask.js');
    expect(stdout).toBe(
      'In transit.\nDelivered.\nOrderTools_findOrder\nmy_orders\n{"model":"scripted","messages":[{"role":"system","content":"Tools:' +
        stdout.slice(stdout.indexOf('Tools:') + 6),
    );
    expect(status).toBe(0);
  });

  it('loads neither openai nor class-transformer until it is used, and can be required', () => {
    writeFileSync(
      join(project, 'loads.cjs'),
      `const before = Object.keys(require.cache).length;
const library = require('inversify-ai');
library.openAI({ model: 'm', apiKey: 'k' });
const loaded = Object.keys(require.cache).filter((file) => /node_modules.(openai|class-transformer|class-validator)/.test(file));
console.log(typeof library.installAI, loaded.length);`,
    );
    const { stdout, stderr } = run('loads.cjs', ['--no-warnings']);
    expect(stderr).toBe('');
    expect(stdout).toBe('function 0\n');
  });

  it('says what to install where the optional peer is missing', () => {
    const bare = mkdtempSync(join(tmpdir(), 'bare-'));
    mkdirSync(join(bare, 'node_modules/@inversifyjs'), { recursive: true });
    for (const name of ['inversify', 'reflect-metadata', '@inversifyjs/plugin'])
      symlinkSync(resolve('node_modules', name), join(bare, 'node_modules', name));
    cpSync(join(project, 'package'), join(bare, 'node_modules/inversify-ai'), { recursive: true });
    writeFileSync(
      join(bare, 'main.mjs'),
      `import { createAIService, openAI } from 'inversify-ai';
await createAIService({ model: openAI({ model: 'm', apiKey: 'k' }) }).chat('q').catch((error) => console.log(error.name, error.message));`,
    );
    const { stdout } = run(join(bare, 'main.mjs'));
    rmSync(bare, { recursive: true, force: true });
    expect(stdout).toBe('AIDefinitionError openAI: the package "openai" is not installed; run: npm install openai@6\n');
  });
});
