import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { install, pack } from './packed.js';

jest.setTimeout(120_000);

/* The package as the registry would have it: what tools say of it, and what it loads. */

let folder: string;
let archive: string;
let project: string;

const PEERS = [
  ...['inversify', 'reflect-metadata', '@inversifyjs/plugin', 'ipaddr.js', '@types/node', 'undici-types'],
  ...['openai', 'class-validator', 'class-transformer', '@modelcontextprotocol/client', '@modelcontextprotocol/server'],
];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'published-'));
  archive = pack(folder);
  project = join(folder, 'project');
  install(project, archive, PEERS);
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function run(args: readonly string[], cwd = project): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, OPENAI_API_KEY: '', OPENAI_BASE_URL: '', NODE_OPTIONS: '' };
  return spawnSync(process.execPath, args, { cwd, encoding: 'utf8', env, timeout: 60_000 });
}

const { exports: entries } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object };
const ENTRIES = Object.keys(entries)
  .filter((entry) => entry !== './package.json')
  .map((entry) => entry.replace(/^\./, 'inversify-ai'));

describe('the published package', () => {
  it('is clean for publint', () => {
    const { status, stdout } = run([resolve('node_modules/publint/src/cli.js'), 'run', archive, '--strict'], folder);
    expect(stdout).toContain('All good!');
    expect(status).toBe(0);
  });

  it('has types that are right wherever its modules are, for attw', () => {
    const cli = resolve('node_modules/@arethetypeswrong/cli/dist/index.js');
    // Of the profiles the one for ESM alone: `require` of it is of an ES module.
    const { status, stdout } = run([cli, archive, '--profile', 'esm-only', '--format', 'json'], folder);
    const { analysis } = JSON.parse(stdout) as {
      analysis: { entrypoints: object; problems: readonly { kind: string; resolutionKind?: string }[] };
    };
    expect(Object.keys(analysis.entrypoints)).toEqual(Object.keys(entries));
    const ours = analysis.problems.filter(
      ({ resolutionKind }) => resolutionKind !== 'node10' && resolutionKind !== 'node16-cjs',
    );
    expect(ours).toEqual([]);
    expect(status).toBe(0);
  });

  it.each(ENTRIES)('loads nothing that is optional before it is used: %s', (entry) => {
    cpSync('test/package/loaded.mjs', join(project, 'loaded.mjs'));
    const program = `import * as entry from '${entry}'; console.log(Object.keys(entry).length > 0);`;
    writeFileSync(join(project, 'entry.mjs'), program);
    const { status, stdout, stderr } = run(['--no-warnings', '--import', './loaded.mjs', 'entry.mjs']);
    expect([status, stdout]).toEqual([0, 'true\n']);
    const lines = new Set(stderr.trim().split('\n'));
    expect(lines.delete('watching')).toBe(true);
    expect(lines.delete('loaded inversify-ai')).toBe(true);
    // Of inversify there are several packages.
    const others = [...lines].filter(
      (line) => !/^loaded (inversify|reflect-metadata|@inversifyjs\/.*|ipaddr\.js)$/.test(line),
    );
    expect(others).toEqual([]);
  });

  it('is told by that check where it loads more', () => {
    writeFileSync(join(project, 'eager.mjs'), `import 'inversify-ai'; import 'openai'; import 'class-validator';`);
    const { stderr } = run(['--no-warnings', '--import', './loaded.mjs', 'eager.mjs']);
    expect(stderr).toContain('loaded openai\n');
    expect(stderr).toContain('loaded class-validator\n');
  });

  it('is compiled and required by a CommonJS project', () => {
    const common = join(folder, 'common');
    install(common, archive, PEERS);
    writeFileSync(join(common, 'package.json'), '{ "type": "commonjs", "private": true }');
    writeFileSync(
      join(common, 'tsconfig.json'),
      JSON.stringify({
        files: ['main.ts'],
        compilerOptions: {
          ...{ target: 'ES2022', module: 'NodeNext', strict: true, types: ['node'] },
          ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
        },
      }),
    );
    writeFileSync(
      join(common, 'main.ts'),
      `import 'reflect-metadata';
import { Container, injectable } from 'inversify';
import { AI, AIService, AITool, AIToolParam, installAI, ReadOnly } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';

@injectable()
class Tools {
  @ReadOnly
  @AITool('Adds one')
  addOne(@AIToolParam('to', 'A number', { type: 'integer' }) to: number): number {
    return to + 1;
  }
}
@injectable()
class Desk {
  constructor(@AI({ tools: [Tools] }) readonly agent: AIService) {}
}
const container = new Container();
container.bind(Tools).toSelf();
container.bind(Desk).toSelf();
const ai = installAI(container, { model: scriptedModel([call('Tools_addOne', { to: 41 }), text('done')]) });
ai.verify();
ai.runInScope(() => undefined, ({ container }) => container.get(Desk).agent.run('q')).then((run) => {
  console.log(typeof require, run.calls[0]?.result, run.text);
});
`,
    );
    const compiled = run([resolve('node_modules/typescript/bin/tsc'), '-p', common], common);
    expect([compiled.status, compiled.stdout]).toEqual([0, '']);
    expect(readFileSync(join(common, 'main.js'), 'utf8')).toContain('require("inversify-ai")');
    const { stdout, stderr } = run(['--no-warnings', 'main.js'], common);
    expect([stdout, stderr]).toEqual(['function 42 done\n', '']);
  });

  it('says what to install where the SDK of MCP is missing, and its clients nothing', () => {
    const bare = join(folder, 'bare');
    install(bare, archive, ['inversify', 'reflect-metadata', '@inversifyjs/plugin', 'ipaddr.js', 'openai']);
    writeFileSync(join(bare, 'package.json'), '{ "type": "module", "private": true }');
    writeFileSync(
      join(bare, 'no-sdk.js'),
      `import 'reflect-metadata';
       import { createServer } from 'node:http';
       import { Container } from 'inversify';
       import { defineTool, embeddedModel, installAI } from 'inversify-ai';
       import { mcpServer } from 'inversify-ai/mcp';
       const logger = { warn: () => undefined, error: (message, error) => console.log(error.message) };
       const ai = installAI(new Container(), { model: embeddedModel(), logger });
       const now = defineTool({ name: 'now', description: 'The time', parameters: {}, execute: () => 'now' });
       const server = mcpServer(ai, [now], { name: 'clock', version: '1.0.0', authenticate: false });
       await server.listen({ port: 0 }).catch((error) => console.log(error.name, error.message));
       await server.stdio({ bind: () => undefined }).catch((error) => console.log(error.name));
       const http = createServer(server.handler()).listen(0, '127.0.0.1', async () => {
         const answer = await fetch(\`http://127.0.0.1:\${http.address().port}/\`, { method: 'POST', body: '{}' });
         console.log(answer.status, await answer.text());
         http.close();
       });`,
    );
    const { status, stdout } = run(['no-sdk.js'], bare);
    const needs = 'mcpServer: to serve tools, the official SDK is needed; npm install @modelcontextprotocol/server';
    expect(stdout.split('\n')).toEqual([
      `AIDefinitionError ${needs}`,
      'AIDefinitionError',
      needs,
      '500 {"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":null}',
      '',
    ]);
    expect(status).toBe(0);
  });

  it('reads what the compiler says of types through either of two copies of reflect-metadata', () => {
    const other = join(project, 'node_modules/other/node_modules/reflect-metadata');
    mkdirSync(other, { recursive: true });
    cpSync('node_modules/reflect-metadata', other, { recursive: true });
    writeFileSync(join(project, 'node_modules/other/package.json'), '{ "name": "other" }');
    writeFileSync(
      join(project, 'node_modules/other/first.cjs'),
      `require('reflect-metadata'); exports.path = require.resolve('reflect-metadata');`,
    );
    writeFileSync(
      join(project, 'two-reflects.mjs'),
      `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const { path } = require('other/first.cjs');
const before = Reflect.metadata;
await import('reflect-metadata');
const { AITool, AIToolParam, createAIService } = await import('inversify-ai');
const { call, scriptedModel, text } = await import('inversify-ai/testing');
function decorated(metadata) {
  class Tools { find(id) { return typeof id; } }
  AIToolParam('id', 'The id')(Tools.prototype, 'find', 0);
  metadata('design:paramtypes', [String])(Tools.prototype, 'find');
  metadata('design:returntype', String)(Tools.prototype, 'find');
  AITool('Finds')(Tools.prototype, 'find', Object.getOwnPropertyDescriptor(Tools.prototype, 'find'));
  return new Tools();
}
for (const metadata of [before, Reflect.metadata]) {
  const model = scriptedModel([call('Tools_find', { id: '42' }), text('done')]);
  const run = await createAIService({ model, tools: [decorated(metadata)] }).run('q');
  console.log(run.calls[0].outcome, run.calls[0].result);
}
console.log(path !== require.resolve('reflect-metadata'));`,
    );
    const { stdout, stderr } = run(['--no-warnings', 'two-reflects.mjs']);
    expect([stdout, stderr]).toEqual(['ok string\nok string\ntrue\n', '']);
  });
});
