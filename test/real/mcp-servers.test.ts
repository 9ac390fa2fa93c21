import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { AIObserver, type AIRun, createAIService, Mutating, ReadOnly, type ToolEnded } from 'inversify-ai';
import { type MCPCommand, mcpTools, type MCPServer, type MCPTools } from 'inversify-ai/mcp';
import { call, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';

/* The reference servers, as the programs that they are, over their standard streams. */

jest.setTimeout(60_000);

const program = (name: string): string =>
  createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);

let folder: string;
/** Ends the processes that a test started. */
const ends: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'servers-')));
});
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
  rmSync(folder, { recursive: true });
});

interface Started {
  readonly server: MCPServer;
  /** The process, where the test started it. */
  readonly pid?: number | null;
}

/** The three ways in which an application may have a server. */
const WAYS: readonly (readonly [string, (command: MCPCommand) => Promise<Started>])[] = [
  ['a command', (command) => Promise.resolve({ server: command })],
  [
    'a client of version 1',
    async ({ command, args = [], env = {} }) => {
      const transport = new Stdio1({ command, args: [...args], env: { ...env }, stderr: 'ignore' });
      const client = new Client1({ name: 'application', version: '1' });
      await client.connect(transport);
      ends.push(() => client.close());
      return { server: client, pid: transport.pid };
    },
  ],
  [
    'a client of version 2',
    async ({ command, args = [], env = {} }) => {
      const transport = new Stdio2({ command, args: [...args], env: { ...env }, stderr: 'ignore' });
      const client = new Client2({ name: 'application', version: '1' });
      await client.connect(transport);
      ends.push(() => client.close());
      return { server: client, pid: transport.pid };
    },
  ],
];

class Errors extends AIObserver {
  readonly errors: string[] = [];
  override toolEnded({ error }: ToolEnded): void {
    if (error instanceof Error) this.errors.push(error.message);
  }
}

async function play(tools: MCPTools, turns: readonly ScriptedTurn[], toolGroup?: typeof ReadOnly) {
  ends.push(() => tools.close());
  const model = scriptedModel([...turns, text('Done.')]);
  const observer = new Errors();
  const logger = { warn: jest.fn(), error: jest.fn() };
  const service = createAIService({
    model,
    tools: [tools],
    observers: [observer],
    maxToolCalls: 9,
    logger,
    ...(toolGroup && { toolGroup }),
  });
  const run = await service.run('What is there?');
  return {
    run,
    offered: model.requests[0]!.tools,
    sent: model.requests.map(({ body }) => body),
    errors: observer.errors,
  };
}

const told = ({ calls }: AIRun) => calls.map(({ outcome, result }) => [outcome, result] as const);

describe.each(WAYS)('%s', (_title, start) => {
  it('of server-filesystem reads and writes what the application lists, within the server’s folder', async () => {
    const path = join(folder, 'note.txt');
    writeFileSync(path, 'kettle: 30 euro');
    const { server } = await start({ command: process.execPath, args: [program('filesystem'), folder] });
    const options = {
      server: 'files',
      tools: ['read_text_file', 'list_directory', 'write_file'],
      groups: { read_text_file: ReadOnly, list_directory: ReadOnly, write_file: Mutating },
    };
    const outside = call('files_read_text_file', { path: '/etc/hostname' });
    const { run, offered, sent, errors } = await play(mcpTools(server, options), [
      call('files_read_text_file', { path }),
      call('files_list_directory', { path: folder }),
      call('files_write_file', { path: join(folder, 'new.txt'), content: 'paid' }),
      outside,
      call('files_move_file', { source: path, destination: join(folder, 'gone.txt') }),
    ]);
    expect(offered).toEqual(['files_list_directory', 'files_read_text_file', 'files_write_file']);
    expect(told(run)).toEqual([
      ['ok', expect.stringMatching(/^\[from the MCP server files\] [^]*kettle: 30 euro/)],
      ['ok', expect.stringMatching(/^\[from the MCP server files\] [^]*\[FILE\] note\.txt/)],
      ['ok', expect.stringMatching(/^\[from the MCP server files\] [^]*Successfully wrote/)],
      ['failed', 'files_read_text_file failed. The reason is not known to you, so do not guess it.'],
      ['unknown-tool', expect.stringMatching(/^There is no tool named "files_move_file"\./)],
    ]);
    expect(readFileSync(join(folder, 'new.txt'), 'utf8')).toBe('paid');
    // The server's own words, which name its folder, are for the observer alone.
    expect(errors).toEqual([expect.stringMatching(/Access denied - path outside allowed directories/)]);
    expect(sent.join()).not.toContain('Access denied');

    const trusting = await play(mcpTools(server, { ...options, trustErrors: true }), [outside]);
    expect(told(trusting.run)).toEqual([
      ['failed', expect.stringMatching(/^\[from the MCP server files\] Access denied/)],
    ]);
  });

  it('of server-memory keeps what it is told, and tells it as data', async () => {
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
    const { server } = await start({ command: process.execPath, args: [program('memory')], env });
    const options = { server: 'memory', tools: ['create_entities', 'search_nodes', 'read_graph', 'delete_entities'] };
    const kettle = { name: 'kettle', entityType: 'article', observations: ['boils'] };
    const { run } = await play(mcpTools(server, { ...options, groups: { search_nodes: ReadOnly } }), [
      call('memory_create_entities', { entities: [kettle] }),
      // The same again may not be run: it may change something, and nobody said otherwise.
      call('memory_create_entities', { entities: [kettle] }),
      call('memory_search_nodes', { query: 'kettle' }),
      call('memory_search_nodes', {}),
    ]);
    const [created, again, found, wrong] = told(run);
    expect([created![0], again![0]]).toEqual(['ok', 'repeated']);
    const data = JSON.parse(found![1].replace('[from the MCP server memory] ', '')) as object;
    expect(data).toEqual({ entities: [kettle], relations: [] });
    expect(wrong).toEqual(['invalid-arguments', expect.stringMatching(/query: expected a string, got nothing/)]);
    expect(readFileSync(env.MEMORY_FILE_PATH, 'utf8')).toContain('kettle');

    // What only looks is what the application says, or, where it says so, what the server says.
    const named = await play(mcpTools(server, { ...options, groups: { read_graph: ReadOnly } }), [], ReadOnly);
    expect(named.offered).toEqual(['memory_read_graph']);
    const trusted = await play(mcpTools(server, { ...options, trustAnnotations: true }), [], ReadOnly);
    expect(trusted.offered).toEqual(['memory_read_graph', 'memory_search_nodes']);
  });

  it('of server-everything tells texts, structures, images and links, and gives up what takes too long', async () => {
    const { server } = await start({ command: process.execPath, args: [program('everything')] });
    const tools = ['echo', 'get-sum', 'get-structured-content', 'get-tiny-image', 'get-resource-reference'];
    const slow = 'trigger-long-running-operation';
    const { run, offered } = await play(
      mcpTools(server, { server: 'all', tools: [...tools, 'get-resource-links', slow], timeoutMs: 2_000 }),
      [
        call('all_echo', { message: 'Füße \ud83d\ude00' }),
        call('all_get-sum', { a: 1, b: 2.5 }),
        call('all_get-structured-content', { location: 'New York' }),
        call('all_get-structured-content', { location: 'Paris' }),
        call('all_get-tiny-image'),
        call('all_get-resource-reference', { resourceType: 'Text', resourceId: 1 }),
        call('all_get-resource-links', { count: 1 }),
        call(`all_${slow}`, { duration: 60, steps: 2 }),
        call('all_get-env'),
      ],
    );
    expect(offered).toEqual([...tools, 'get-resource-links', slow].map((name) => `all_${name}`).sort());
    const results = told(run).map(([outcome, result]) => [outcome, result.replace('[from the MCP server all] \n', '')]);
    expect(results).toEqual([
      ['ok', 'Echo: Füße \ud83d\ude00'],
      ['ok', 'The sum of 1 and 2.5 is 3.5.'],
      ['ok', expect.stringMatching(/^\{"temperature":\d+,"conditions":".*","humidity":\d+\}$/)],
      ['invalid-arguments', expect.stringMatching(/location: expected one of "New York", "Chicago", "Los Angeles"/)],
      ['ok', expect.stringMatching(/^Here's the image you requested:\n\[image image\/png \d+ bytes\]/)],
      ['ok', expect.stringMatching(/\[the resource demo:\/\/resource\/dynamic\/text\/1 text\/plain\]\nResource 1: /)],
      ['ok', expect.stringMatching(/\[a link to demo:\/\/resource\//)],
      ['timed-out', expect.stringMatching(/did not finish in time\. It is not known whether it took effect\.$/)],
      ['unknown-tool', expect.stringMatching(/^There is no tool named "all_get-env"/)],
    ]);
  });
});

describe('a server', () => {
  /** Whether there is such a process. */
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  /** The programs below this one whose command line has this text. */
  const children = (part: string): number[] =>
    [...new Set(childrenOf(process.pid))].filter((pid) => commandOf(pid).includes(part));

  it('that was started ends with close(), and is started anew after it died; no call is sent twice', async () => {
    const file = join(folder, 'memory.jsonl');
    const tools = mcpTools(
      { command: process.execPath, args: [program('memory')], env: { MEMORY_FILE_PATH: file } },
      { server: 'memory', tools: ['read_graph', 'create_entities'], groups: { read_graph: ReadOnly } },
    );
    const first = await play(tools, [call('memory_read_graph')]);
    expect(told(first.run)).toEqual([['ok', expect.stringContaining('entities')]]);
    const [pid] = children(program('memory'));
    process.kill(pid!, 'SIGKILL');
    while (isAlive(pid!)) await new Promise((resolve) => setImmediate(resolve));
    // The list is read as a run begins: that is the first to find out.
    const next = await play(tools, [call('memory_read_graph')]).catch((error: unknown) => error);
    const last = next instanceof Error ? await play(tools, [call('memory_read_graph')]) : (next as typeof first);
    expect(told(last.run)).toEqual([['ok', expect.stringContaining('entities')]]);
    const [other] = children(program('memory'));
    expect(other).not.toBe(pid);
    await tools.close();
    while (isAlive(other!)) await new Promise((resolve) => setImmediate(resolve));
    expect(children(program('memory'))).toEqual([]);
  });

  it('gets nothing of this process’s environment but what a program needs to start', async () => {
    process.env['SECRET_OF_THIS_PROCESS'] = 'hunter2';
    try {
      const tools = mcpTools(
        { command: process.execPath, args: [program('everything')], env: { GIVEN: 'yes' } },
        { server: 'all', tools: ['get-env'] },
      );
      const { run } = await play(tools, [call('all_get-env')]);
      expect(run.calls[0]!.result).toContain('GIVEN');
      expect(run.calls[0]!.result).not.toMatch(/hunter2|SECRET_OF_THIS_PROCESS/);
    } finally {
      delete process.env['SECRET_OF_THIS_PROCESS'];
    }
  });
});

function childrenOf(pid: number): number[] {
  const tasks = readFileSync(`/proc/${pid.toString()}/task/${pid.toString()}/children`, 'utf8').trim();
  const own = tasks === '' ? [] : tasks.split(' ').map(Number);
  return own.flatMap((child) => [child, ...childrenOf(child)]);
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid.toString()}/cmdline`, 'utf8');
}
