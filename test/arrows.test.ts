import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

/** A copy of the sources in which a file can be added without harm. */
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'arrows-'));
  for (const name of [
    'lib',
    'decorators',
    'container',
    'index.ts',
    'tsconfig.json',
    'package.json',
    '.dependency-cruiser.cjs',
  ])
    cpSync(name, join(copy, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
});

afterAll(() => {
  rmSync(copy, { recursive: true, force: true });
});

function check(file?: string, source = ''): { status: number | null; output: string } {
  const path = file === undefined ? undefined : join(copy, file);
  if (path !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, source);
  }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      '--config',
      '.dependency-cruiser.cjs',
      'index.ts',
      'lib',
      'decorators',
      'container',
    ],
    { cwd: copy, encoding: 'utf8' },
  );
  if (path !== undefined) rmSync(path);
  return { status, output: `${stdout}${stderr}` };
}

describe('the check of the arrows', () => {
  it('passes as things stand', () => {
    const { status, output } = check();
    expect(output).toContain('no dependency violations found');
    expect(status).toBe(0);
  });

  it.each([
    [
      'lib-knows-no-container',
      'lib/agent/stray.ts',
      `import { Container } from 'inversify';\nexport const c = new Container();`,
    ],
    [
      'lib-knows-no-container',
      'lib/tool/stray.ts',
      `import type { Container } from 'inversify';\nexport type C = Container;`,
    ],
    [
      'lib-knows-no-container',
      'lib/wire/stray.ts',
      `import { AITool } from '../../decorators/ai-tool.js';\nexport const t = AITool;`,
    ],
    ['lib-tool', 'lib/tool/stray.ts', `import { envelope } from '../wire/envelope.js';\nexport const e = envelope;`],
    ['lib-schema', 'lib/schema/stray.ts', `import type { Tool } from '../tool/tool.js';\nexport type T = Tool;`],
    ['lib-model', 'lib/model/stray.ts', `import type { Tool } from '../tool/tool.js';\nexport type T = Tool;`],
    ['lib-leaves', 'lib/stray.ts', `import type { Tool } from './tool/tool.js';\nexport type T = Tool;`],
    [
      'decorators-take-types',
      'decorators/stray.ts',
      `import { openAI } from '../lib/model/open-ai.js';\nexport const o = openAI;`,
    ],
    [
      'nobody-knows-the-container',
      'decorators/stray.ts',
      `import { installAI } from '../container/install.js';\nexport const i = installAI;`,
    ],
    [
      'frameworks-behind-adapters',
      'container/stray.ts',
      `import type { Request } from 'express';\nexport type R = Request;`,
    ],
    [
      'adapters-take-types',
      'container/adapters/stray.ts',
      `import express from 'express';\nexport const app = express();`,
    ],
    [
      'nobody-knows-testing',
      'container/stray.ts',
      `import { text } from '../lib/testing/index.js';\nexport const t = text;`,
    ],
  ])('fails by %s for %s', (rule, file, source) => {
    const { status, output } = check(file, source);
    expect(output).toContain(`error ${rule}: ${file}`);
    expect(status).not.toBe(0);
  });
});
