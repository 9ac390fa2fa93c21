import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';

/* A server of ours over standard streams, started by the official client of both majors. */

jest.setTimeout(60_000);

const COMMAND = { command: process.execPath, args: ['--import', 'tsx', 'test/real/mcp-stdio-server.ts', 'ann'] };

interface Calling {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  call(name: string, args?: object, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

async function version1(): Promise<Calling> {
  const client = new Client1({ name: 'somebody', version: '1' });
  await client.connect(new Stdio1({ ...COMMAND, stderr: 'ignore' }));
  return {
    listTools: () => client.listTools(),
    call: (name, args = {}, signal) =>
      client.callTool({ name, arguments: { ...args } }, undefined, { ...(signal && { signal }) }),
    close: () => client.close(),
  };
}

async function version2(pin?: string): Promise<Calling> {
  const options = pin === undefined ? {} : { versionNegotiation: { mode: { pin } } };
  const client = new Client2({ name: 'somebody', version: '1' }, options);
  await client.connect(new Stdio2({ ...COMMAND, stderr: 'ignore' }));
  return {
    listTools: () => client.listTools(),
    call: (name, args = {}, signal) => client.callTool({ name, arguments: { ...args } }, { ...(signal && { signal }) }),
    close: () => client.close(),
  };
}

let client: Calling | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});

describe.each<[string, () => Promise<Calling>]>([
  ['v1', version1],
  ['v2', version2],
  ['v2, with the protocol of 2026', () => version2('2026-07-28')],
])('the official client, %s', (_title, connect) => {
  it('lists and calls as whom it was started for', async () => {
    client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['aborted', 'fail', 'wait', 'who']);
    const calls = Array.from({ length: 10 }, (_, n) => client!.call('who', { n }));
    const told = await Promise.all(calls);
    expect(told).toMatchObject(Array.from({ length: 10 }, (_, n) => ({ content: [{ text: `ann ${n.toString()}` }] })));
    expect(await client.call('fail')).toMatchObject({
      isError: true,
      content: [{ text: 'fail failed. The reason is not known to you, so do not guess it.' }],
    });
  });

  it('gives up a call', async () => {
    client = await connect();
    const controller = new AbortController();
    const waiting = client.call('wait', {}, controller.signal).then(
      () => 'told',
      () => 'given up',
    );
    await client.call('who', { n: 1 });
    controller.abort(new Error('given up'));
    expect(await waiting).toBe('given up');
    // In order on one stream, but a tool is not resolved at once.
    let count: unknown;
    do count = ((await client.call('aborted')) as { content: { text: string }[] }).content[0]!.text;
    while (count === '0');
    expect(count).toBe('1');
  });
});

describe('a server over standard streams', () => {
  let child: ChildProcessWithoutNullStreams | undefined;
  afterEach(() => {
    child?.kill('SIGKILL');
  });

  it('answers what is malformed with nothing of its own, and ends with its input: each call’s scope was closed', async () => {
    child = spawn(COMMAND.command, COMMAND.args);
    const { stdin, stdout, stderr } = child;
    let [out, err] = ['', ''];
    stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const answers = () =>
      out
        .trim()
        .split('\n')
        .filter((line) => line !== '');
    const exited = once(child, 'close');
    const send = (message: object | string) =>
      stdin.write(`${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'raw', version: '1' };
    send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    send({ method: 'notifications/initialized' });
    send('{"jsonrpc": half');
    send({ id: 1, method: 'tools/call', params: { name: 'nope', arguments: {} } });
    send({ id: 2, method: 'tools/call', params: { name: 'who', arguments: { n: 1, m: 2 } } });
    send({ id: 3, method: 'server/exit' });
    send({ id: 4, method: 'tools/call', params: { name: 'fail', arguments: {} } });
    while (answers().length < 5) await once(stdout, 'data');
    // What is not answered when the input ends is given up.
    send({ id: 5, method: 'tools/call', params: { name: 'wait', arguments: {} } });
    stdin.end();
    expect(await exited).toEqual([0, null]);
    const byId = new Map(answers().map((line) => [(JSON.parse(line) as { id: number }).id, line]));
    expect([...byId.keys()].sort()).toEqual([0, 1, 2, 3, 4]);
    expect(byId.get(1)).toContain('There is no tool named');
    expect(byId.get(2)).toContain('m: ');
    expect(byId.get(3)).toContain('-32601');
    expect(byId.get(4)).toContain('fail failed. The reason is not known to you');
    // The application's own log has the reason.
    expect(err).toContain('hunter2');
    expect(err).toContain('a scope was closed');
  });

  it('is closed with a call at work: the call is aborted, then its scope closed, and the process ends', async () => {
    child = spawn(COMMAND.command, COMMAND.args);
    const { stdin, stdout, stderr } = child;
    let [out, err] = ['', ''];
    stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const exited = once(child, 'close');
    const send = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'raw', version: '1' };
    send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    send({ id: 1, method: 'tools/call', params: { name: 'wait', arguments: {} } });
    send({ id: 2, method: 'tools/call', params: { name: 'who', arguments: { n: 7 } } });
    while (!out.includes('ann 7')) await once(stdout, 'data');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(err).toMatch(/a scope was closed[^]*the server was closed\n$/);
  });
});
