import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readmeBlocks } from '../readme.js';
import { install, pack } from './packed.js';

jest.setTimeout(120_000);

/** An empty project with the packed package and its peers in it. */
let project: string;

const PEERS = [
  'inversify',
  'reflect-metadata',
  'openai',
  '@types/node',
  '@inversifyjs/plugin',
  'ipaddr.js',
  'undici-types',
  'class-transformer',
  'class-validator',
  'zod',
  'express',
  '@types/express',
  'fastify',
  'hono',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/server-memory',
];

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'package-'));
  install(project, pack(project), PEERS);
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  execFileSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', 'samples/tsconfig.json'], {
    cwd: join(project, 'sources'),
  });
});

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

/** Compiles a program as the README says, in a project that names no `types`. */
function compile(name: string, source: string, options: object = {}): { status: number | null; output: string } {
  const folder = join(project, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.ts'), source);
  const { compilerOptions } = JSON.parse(readmeBlocks('json').find((block) => block.includes('compilerOptions'))!) as {
    compilerOptions: object;
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...options } }));
  const { status, stdout } = spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, output: stdout };
}

function run(script: string, args: readonly string[] = []): { status: number | null; stdout: string; stderr: string } {
  const environment = { ...process.env, OPENAI_API_KEY: '', OPENAI_BASE_URL: '', NODE_OPTIONS: '' };
  return spawnSync(process.execPath, [...args, script], {
    cwd: project,
    encoding: 'utf8',
    env: environment,
    timeout: 60_000,
  });
}

describe('the quickstart’s command line', () => {
  const start = (...args: string[]) => {
    const environment = { ...process.env, OPENAI_API_KEY: '', OPENAI_BASE_URL: '', NODE_OPTIONS: '' };
    const main = join(project, 'sources/build/samples/quickstart/main.js');
    return spawnSync(process.execPath, [main, ...args], { cwd: project, encoding: 'utf8', env: environment });
  };

  it('plays the five scenes', () => {
    const { status, stdout } = start();
    expect(stdout).toBe(readmeBlocks('text')[0]);
    expect(status).toBe(0);
  });

  it('asks one question as somebody, of one agent or the other', () => {
    expect(start('Where is order 7?', '--as', 'bob').stdout).toContain(
      'result: Order 7, two lamps, delivered on 2026-11-20\n',
    );
    const { stdout } = start('Please refund order 7.', '--as', 'sam', '--agent', 'supervisor');
    expect(stdout).toMatch(/^== sam asks supervisor\n/);
    expect(stdout).toMatch(/ledger: refunded order 7\n$/);
  });

  it('prints each request and reply as JSON', () => {
    const lines = start('Where is order 42?', '--wire').stdout.split('\n');
    const wire = lines.flatMap((line) => /^(request|reply): (.*)$/.exec(line)?.slice(1, 3) ?? []);
    expect(wire.filter((_, i) => i % 2 === 0)).toEqual(['request', 'reply', 'request', 'reply']);
    const bodies = wire.filter((_, i) => i % 2 === 1).map((body) => JSON.parse(body) as Record<string, unknown>);
    expect(bodies[0]).toMatchObject({ tools: ['OrderTools_findOrder', 'OrderTools_listMyOrders'] });
    expect(bodies[3]).toMatchObject({ finish: 'stop' });
  });

  it.each([
    [['--as', 'zoe', 'x'], /^There is no zoe; ask as one of alice, bob, sam\.\nnpm start -- /],
    [['--agent', 'boss', 'x'], /^There is no agent boss; ask tier1 or supervisor\./],
    [['--as', 'bob'], /^--as and --agent go with a question\./],
    [['one', 'two'], /^Put the question in quotes\./],
    [[' '], /^The question is blank\./],
    [['--foo'], /^Unknown option '--foo'/],
  ])('refuses %j', (args, message) => {
    const { status, stderr } = start(...args);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });
});

describe('the sample of web frameworks', () => {
  it.each(['express', 'fastify', 'hono', 'http-core'])('serves %s until it is stopped', async (name) => {
    const main = join(project, 'sources/build/samples/web/main.js');
    const child = spawn(process.execPath, [main, name, '0'], {
      cwd: project,
      env: { ...process.env, OPENAI_API_KEY: '', OPENAI_BASE_URL: '', NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      let printed = '';
      for await (const part of child.stdout) {
        printed += String(part);
        if (printed.split('\n').length > 3) break;
      }
      const [, user, url] = /^curl -H 'x-user: (alice)' '(.*)'$/m.exec(printed)!;
      const response = await fetch(url!, { headers: { 'x-user': user! } });
      expect(await response.text()).toMatch(/^OrderTools_findOrder says: Order 42, one kettle/);
    } finally {
      child.kill();
    }
  });
});

describe('the packed package', () => {
  it('holds what it is for and nothing else', () => {
    expect(readdirSync(join(project, 'package')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'docs',
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

  it('takes the tools of an MCP server wherever tools are listed', () => {
    const source = `import 'reflect-metadata';
      import { AI, AIService, createAIService, embeddedModel, toolset } from 'inversify-ai';
      import { mcpTools, type MCPTools } from 'inversify-ai/mcp';
      const kb: MCPTools = mcpTools({ url: 'http://127.0.0.1:9/mcp', headers: (get) => ({ authorization: get<string>('token') }) }, { server: 'kb', tools: ['find'] });
      export class Desk { @AI({ tools: [kb, toolset(kb).prefix('a')] }) readonly agent!: AIService; }
      export const service = createAIService({ model: embeddedModel(), tools: [kb] });`;
    expect(compile('remote', source)).toEqual({ status: 0, output: '' });
  });

  it('compiles the README’s other pieces, and runs its test', () => {
    expect(compile('pieces', readmeBlocks('ts')[1]!)).toEqual({ status: 0, output: '' });
    expect(compile('testing', readmeBlocks('ts')[2]!)).toEqual({ status: 0, output: '' });
    expect(run('testing/main.js')).toMatchObject({ status: 0, stdout: 'It answers.\n', stderr: '' });
  });

  it.each([
    ['inversify-ai', 'installAI'],
    ['inversify-ai/testing', 'scriptedModel'],
    ['inversify-ai/tools', 'httpGet'],
    ['inversify-ai/llama', 'llamaModel'],
    ['inversify-ai/mcp', 'mcpTools'],
    ['inversify-ai/mcp', 'mcpServer'],
  ])('has types that need neither `types` nor the DOM: %s', (from, name) => {
    const source = `import { ${name} } from '${from}'; export const used = ${name};`;
    expect(compile(`lib-${name}`, source, { lib: ['ES2023', 'ESNext.Disposable'], skipLibCheck: false })).toEqual({
      status: 0,
      output: '',
    });
  });

  it('tells, in the README’s other pieces, what is left out of a result', () => {
    writeFileSync(
      join(project, 'excluded.js'),
      `import 'reflect-metadata';
import { createAIService } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
const { InvoiceTools } = await import('./pieces/main.js');
const model = scriptedModel([call('InvoiceTools_listInvoices'), text('ok')]);
const run = await createAIService({ model, tools: [new InvoiceTools()] }).run('q');
console.log(run.calls[0].result);`,
    );
    expect(run('excluded.js').stdout).toBe('[{"amount":120}]\n');
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

  it('compiles what a parameter may be, and gives the method just that', () => {
    expect(compile('arguments', readFileSync('test/package/arguments.ts', 'utf8'))).toEqual({ status: 0, output: '' });
    writeFileSync(
      join(project, 'catalog.js'),
      `import { createAIService } from 'inversify-ai';
       import { call, scriptedModel, text } from 'inversify-ai/testing';
       const { CatalogTools, Line, NewOrder } = await import('./arguments/main.js');
       class Recording extends CatalogTools {
         search(...values) { console.log(values); return []; }
         order(...values) {
           console.log(values, values[0] instanceof NewOrder, values[1][0] instanceof Line);
           return super.order(...values);
         }
       }
       const agent = createAIService({
         model: scriptedModel([
           call('Recording_search', { text: 'red shoes', level: 'high', sort: 'price', since: null, ids: '["2512292042121000001"]', prices: '{"eur":5}', filter: '{"colour":"red"}' }),
           call('Recording_order', { order: '{"email":"a@example.test","lines":[{"quantity":2}]}', gifts: '[{"quantity":1}]' }),
           call('Recording_order', { order: '{"email":"nobody","lines":[{"quantity":0}]}' }),
           text('done'),
         ]),
         tools: [new Recording()],
       });
       for (const { outcome, result } of (await agent.run('q')).calls) console.log(outcome, result);`,
    );
    const { stdout, stderr } = run('catalog.js');
    expect(stderr).toBe('');
    expect(stdout).toBe(`[
  'red shoes',
  10,
  undefined,
  1,
  'price',
  null,
  [ 2512292042121000001n ],
  Map(1) { 'eur' => 5 },
  { colour: 'red' }
]
[
  NewOrder {
    email: 'a@example.test',
    lines: [ [Line] ],
    note: undefined
  },
  [ Line { quantity: 1 } ],
  undefined,
  undefined
] true true
ok []
ok Done. There is no result to show.
invalid-arguments Recording_order was not called, its arguments are wrong:
order.lines[0].quantity: expected an integer of at least 1, got 0
`);
  });

  it('compiles limits, typed answers, observers, middleware and what a run tells', () => {
    expect(compile('loop', readFileSync('test/package/loop.ts', 'utf8'))).toEqual({ status: 0, output: '' });
    expect(compile('wires', readFileSync('test/package/wires.ts', 'utf8'))).toEqual({ status: 0, output: '' });
  });

  it('compiles tools from elsewhere', () => {
    const source = readFileSync('test/package/tools-from-elsewhere.ts', 'utf8');
    expect(compile('tools-from-elsewhere', source)).toEqual({ status: 0, output: '' });
  });

  it('compiles scopes, adapters and the two-callers kit', () => {
    expect(compile('who-is-asking', readFileSync('test/package/who-is-asking.ts', 'utf8'))).toEqual({
      status: 0,
      output: '',
    });
  });

  it.each([
    [
      'no framework',
      [],
      `import { installAI } from 'inversify-ai'; import { twoCallers } from 'inversify-ai/testing'; export const used = [installAI, twoCallers];`,
    ],
    [
      'Express',
      ['express', '@types/express'],
      `import { aiScope } from 'inversify-ai/express'; export const used = aiScope;`,
    ],
    ['Fastify', ['fastify'], `import { aiScope } from 'inversify-ai/fastify'; export const used = aiScope;`],
    ['Hono', ['hono'], `import { aiScope } from 'inversify-ai/hono'; export const used = aiScope;`],
  ])('has types that need no framework but the one that is used: %s', (name, frameworks, source) => {
    const bare = join(project, `types-${name.replace(' ', '-')}`);
    for (const peer of [
      'inversify',
      'reflect-metadata',
      '@inversifyjs/plugin',
      'ipaddr.js',
      '@types/node',
      'undici-types',
      ...frameworks,
    ]) {
      mkdirSync(dirname(join(bare, 'node_modules', peer)), { recursive: true });
      symlinkSync(resolve('node_modules', peer), join(bare, 'node_modules', peer));
    }
    cpSync(join(project, 'package'), join(bare, 'node_modules/inversify-ai'), { recursive: true });
    writeFileSync(join(bare, 'package.json'), '{ "type": "module" }');
    expect(
      compile(`types-${name.replace(' ', '-')}`, source, { skipLibCheck: name === 'Hono' || name === 'Fastify' }),
    ).toEqual({
      status: 0,
      output: '',
    });
  });

  // In a plain process: where stack traces are mapped, an overflow of the stack can end the process.
  it('leaves what needs itself without end to inversify’s own words', () => {
    writeFileSync(
      join(project, 'circular.mjs'),
      `import 'reflect-metadata';
import { Container } from 'inversify';
import { installAI } from 'inversify-ai';
const container = new Container();
installAI(container, {});
for (const [id, other] of [['a', 'b'], ['b', 'a']])
  container.bind(id).toDynamicValue((context) => [context.get(other)]).inSingletonScope();
try { container.get('a'); } catch (error) { console.log(error.constructor.name, error.message); }`,
    );
    expect(run('circular.mjs').stdout).toMatch(/^InversifyCoreError Circular dependency found/);
  });

  it('refuses to install with an inversify that does not show its plans as the guard knows them', () => {
    writeFileSync(
      join(project, 'other-inversify.mjs'),
      `import 'reflect-metadata';
import { Container } from 'inversify';
import { installAI } from 'inversify-ai';
const container = new Container();
// Resolves, and shows nobody what from.
Container.prototype.get = () => ({});
try { installAI(container, {}); } catch (error) { console.log(error.name, error.message); }`,
    );
    expect(run('other-inversify.mjs').stdout).toMatch(
      /^AIDefinitionError installAI: this version of inversify plans otherwise than this library knows, .* npm install inversify@8\.2\.3\n$/,
    );
  });

  const described = (...args: string[]) => {
    const command = join(project, 'node_modules/inversify-ai/dist/container/command.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', command, ...args], {
      cwd: project,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    return { status, stdout, stderr };
  };
  const application = 'sources/build/samples/quickstart/application.js';

  it('has a command that describes an application as a table and as JSON, although its module keeps running', () => {
    writeFileSync(
      join(project, 'app.mjs'),
      `import { createApplication } from './${application}';
import { scriptedModel } from './sources/dist/container/testing.js';
export const { ai } = createApplication(scriptedModel([]));
setInterval(() => undefined, 1_000);`,
    );
    const table = described('describe', 'app.mjs');
    expect([table.status, table.stderr]).toEqual([0, '']);
    expect(table.stdout).toBe(readmeBlocks('text').find((block) => block.includes('THE MODEL CHOOSES')));
    const { sites } = JSON.parse(described('describe', 'app.mjs', '--json').stdout) as { sites: { site: string }[] };
    expect(sites.map(({ site }) => site)).toEqual(['SupportController#0', 'SupportController#1']);
    // The executable of the package, as npx runs it.
    const executable = join(project, 'node_modules/.bin/inversify-ai');
    mkdirSync(dirname(executable), { recursive: true });
    symlinkSync('../inversify-ai/dist/container/command.js', executable);
    chmodSync(executable, 0o755);
    const executed = spawnSync(executable, ['describe', 'app.mjs'], { cwd: project, encoding: 'utf8' });
    expect(executed.stdout).toBe(table.stdout);
    const { bin } = JSON.parse(readFileSync(join(project, 'package/package.json'), 'utf8')) as { bin: object };
    expect(bin).toEqual({ 'inversify-ai': './dist/container/command.js' });
    expect(readFileSync(join(project, 'package/dist/container/command.js'), 'utf8')).toMatch(
      /^#!\/usr\/bin\/env node\n/,
    );
  });

  it.each<[string[], number, RegExp]>([
    [[], 2, /^Which command\?$/],
    [['descibe', 'app.mjs'], 2, /^There is no command descibe\.$/],
    [['describe'], 2, /^Which module\?$/],
    [['describe', 'app.mjs', 'app.mjs'], 2, /^One module at a time\.$/],
    [['describe', 'tsconfig.json'], 2, /^There is no module tsconfig\.json/],
    [
      ['describe', 'package.json'],
      2,
      /^package\.json is no compiled module; name the file that the compiler made of it/,
    ],
    [['describe', 'broken.mjs'], 1, /^Error: The application failed in loading broken\.mjs\.$/],
    [['describe', 'makers.mjs', '--export', 'make'], 1, /^Error: The application failed in make\(\)\.$/],
    [['describe', 'makers.mjs', '--export', 'Made'], 2, /^The export Made of makers\.mjs is no handle/],
    [['describe', 'nowhere.js'], 2, /^There is no module nowhere\.js; name the compiled file, dist\/app\.js\.$/],
    [['describe', 'app.mjs', '--export', 'app'], 2, /^app\.mjs has no export app; it exports ai\.$/],
    [
      ['describe', application],
      2,
      /exports no handle of installAI; write export const ai = installAI\(…\), or name a function that makes one: --export createApplication\. It exports /,
    ],
    [
      ['describe', application, '--export', 'people'],
      2,
      /^The export people of .* is no handle of installAI, and gives none\.$/,
    ],
    [['describe', 'app.mjs', '--yaml'], 2, /^Unknown option '--yaml'/],
  ])('refuses %j', (args, code, message) => {
    writeFileSync(join(project, 'broken.mjs'), `throw new Error('no database');`);
    writeFileSync(
      join(project, 'makers.mjs'),
      `export class Made {}\nexport function make() { throw new Error('no database'); }`,
    );
    const { status, stderr, stdout } = described(...args);
    expect([status, stdout]).toEqual([code, '']);
    expect(stderr.split('\n')[0]).toMatch(message);
  });

  it('tells a module that never finishes loading from one that exposes nothing, and prints nothing of the application’s', () => {
    writeFileSync(join(project, 'never.mjs'), 'await new Promise(() => undefined);');
    const never = described('describe', 'never.mjs');
    expect([never.status, never.stdout]).toEqual([1, '']);
    expect(never.stderr).toMatch(/^The application never finished loading\.$/m);
    writeFileSync(
      join(project, 'talking.mjs'),
      `console.log('hello');\nexport { ai } from './app.mjs';\nexport const other = { get secret() { throw new Error('no'); } };`,
    );
    const talking = described('describe', 'talking.mjs', '--json');
    expect(talking.stderr).toContain('hello');
    expect(JSON.parse(talking.stdout)).toHaveProperty('sites');
  });

  it('describes what a function of the module makes', () => {
    const { status, stdout } = described('describe', application, '--export', 'createApplication');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^SupportController#0 \(only ReadOnly, at most 5 calls\)\n/);
  });

  it('C24: keeps nothing of the scopes that were opened, closed or not', () => {
    cpSync('test/package/scopes.mjs', join(project, 'scopes.mjs'));
    const { stdout, stderr } = run('scopes.mjs', ['--expose-gc', '--no-warnings']);
    expect(stderr).toBe('');
    const { watched, alive, heapKiB, listeners } = JSON.parse(stdout) as Record<string, number>;
    expect(watched).toBeGreaterThan(18_750);
    expect(listeners).toBe(0);
    expect(alive).toBe(0);
    // Of 10,000 scopes; one that stayed would be some twelve.
    expect(heapKiB).toBeLessThan(1_024);
  });

  it('ends 2,000 runs with a fault each in an answer or a typed error, and keeps nothing of them', () => {
    cpSync('test/package/soak.mjs', join(project, 'soak.mjs'));
    const { status, stdout, stderr } = run('soak.mjs', ['--expose-gc', '--no-warnings']);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const { ends, odd, told, most, grownKiB, listeners, handles } = JSON.parse(stdout) as {
      readonly ends: Readonly<Record<string, number>>;
      readonly odd: readonly string[];
      readonly told: Readonly<Record<string, number>>;
      readonly most: number;
      readonly grownKiB: number;
      readonly listeners: number;
      readonly handles: readonly string[];
    };
    expect(odd).toEqual([]);
    expect(Object.values(ends).reduce((sum, count) => sum + count, 0)).toBe(2_500);
    // Every way to end was gone.
    expect(Object.keys(ends).sort()).toEqual([
      'aborted',
      'answer',
      'cap',
      'deadline',
      'empty',
      'filtered',
      'malformed',
      'provider',
      'refused',
      'tool-iteration',
      'truncated',
    ]);
    expect(told).toMatchObject({ runStarted: 2_500, runEnded: 2_500 });
    expect(told['toolEnded']).toBe(told['toolStarted']);
    // No mutating call ran twice, neither by its id nor by what it does.
    expect(most).toBe(1);
    expect(listeners).toBe(0);
    expect(handles).toEqual([]);
    // Of the engine's own; a run that stayed would be six, 12,000 for all of them.
    expect(grownKiB).toBeLessThan(2_048);
  });

  const page = 'docs/who-is-asking.md';

  it('compiles the pieces of the page on who is asking, and runs its program', () => {
    expect(compile('asking', readmeBlocks('ts', page)[0]!)).toEqual({ status: 0, output: '' });
    const { status, stdout } = run('asking/main.js');
    expect(status).toBe(0);
    expect(stdout).toBe(readmeBlocks('text', page)[2]);
    expect(compile('frameworks', readmeBlocks('ts', page)[1]!)).toEqual({ status: 0, output: '' });
  });

  /* Each program of a page, the block of text that it prints, and what programs that it starts say besides. */
  it.each([
    ['loop', 0, 1, ''],
    ['wires', 0, 0, ''],
    ['wires', 1, 1, ''],
    ['tools', 0, 0, ''],
    ['mcp', 0, 0, 'Knowledge Graph MCP Server running on stdio\n'],
    ['mcp', 1, 1, ''],
    ['coming-from', 0, 0, ''],
  ])('compiles and runs the programs of docs/%s.md: %p', (name, at, prints, said) => {
    const program = readmeBlocks('ts', `docs/${name}.md`)[at]!;
    const folder = `docs-${name}-${at.toString()}`;
    expect(compile(folder, program)).toEqual({ status: 0, output: '' });
    const { status, stdout, stderr } = run(`${folder}/main.js`);
    expect(stderr).toBe(said);
    expect(stdout).toBe(readmeBlocks('text', `docs/${name}.md`)[prints]);
    expect(status).toBe(0);
  });

  it('works with a second copy of itself: declarations, scopes, observers and models are the same', () => {
    const copy = join(project, 'node_modules/other/node_modules/inversify-ai');
    cpSync(join(project, 'package'), copy, { recursive: true });
    writeFileSync(join(project, 'node_modules/other/package.json'), '{ "name": "other" }');
    cpSync('test/package/two-copies.mjs', join(project, 'two-copies.mjs'));
    const { stdout, stderr } = run('two-copies.mjs', ['--no-warnings']);
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual([
      'false',
      'done true true',
      'done true true',
      'AIScopeError false Desk#0: the scope has ended',
      'installAI: done already on this container; keep the handle of the first call',
      'Tools_who: alice',
      'Tools_who: bob',
      '',
    ]);
  });

  describe('C33: rules in another copy of class-validator', () => {
    const NO_RULE =
      /^tool pay, parameter p: the installed class-validator knows no rule of PayDto, so nothing would be checked; /;

    /** The copy of a package that depends on class-validator itself, as npm installs it, changed or not. */
    function copied(name: string, change: (source: string) => string): string {
      const target = join(project, 'node_modules', name, 'node_modules/class-validator');
      for (const needed of ['validator', 'libphonenumber-js'])
        cpSync(join('node_modules', needed), join(project, 'node_modules', name, 'node_modules', needed), {
          recursive: true,
        });
      cpSync('node_modules/class-validator', target, { recursive: true });
      const storage = join(target, 'cjs/metadata/MetadataStorage.js');
      writeFileSync(storage, change(readFileSync(storage, 'utf8')));
      return join(target, 'cjs/index.js');
    }

    function pay(folder: string, ...args: string[]): string[] {
      cpSync('test/package/validators.mjs', join(folder, 'validators.mjs'));
      const { stdout, stderr } = spawnSync(process.execPath, ['validators.mjs', ...args], {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return stdout.split('\n');
    }

    it('that keeps them where this one does: they are checked', () => {
      const copy = copied('billing', (source) => source);
      expect(pay(project, copy)).toEqual([
        'p.amount: expected an integer of at most 500, got 900',
        'primitives 2 0',
        '',
      ]);
    });

    it('that keeps them elsewhere, as old versions do: the tool is refused', () => {
      const copy = copied('old', (source) => source.replaceAll('classValidatorMetadataStorage', 'another'));
      const [told, ...rest] = pay(project, copy);
      expect(told).toMatch(NO_RULE);
      expect(rest).toEqual(['primitives 2 0', '']);
    });

    it('a class without rules is refused', () => {
      expect(pay(project)[0]).toMatch(NO_RULE);
    });

    it('without class-validator, only what needs it is refused', () => {
      // Beside the project of the other tests, whose packages Node would find.
      const alone = mkdtempSync(join(tmpdir(), 'bare-'));
      for (const peer of ['inversify', 'reflect-metadata', '@inversifyjs/plugin']) {
        mkdirSync(dirname(join(alone, 'node_modules', peer)), { recursive: true });
        symlinkSync(resolve('node_modules', peer), join(alone, 'node_modules', peer));
      }
      cpSync(join(project, 'package'), join(alone, 'node_modules/inversify-ai'), { recursive: true });
      try {
        expect(pay(alone)).toEqual([
          'tool pay, parameter p: PayDto is a class, and class-validator and class-transformer, which it needs, are not installed: npm install class-validator class-transformer; or write schema or jsonSchema',
          'primitives 2 0',
          '',
        ]);
      } finally {
        rmSync(alone, { recursive: true, force: true });
      }
    });
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
