import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { connect } from 'node:net';
import express from 'express';
import { Container, inject, injectable } from 'inversify';
import {
  AIScope,
  AITool,
  AIToolContext,
  AIToolParam,
  type AIHandle,
  installAI,
  ReadOnly,
  type ToolCallContext,
} from 'inversify-ai';
import { mcpServer, type MCPListening, type MCPServerOptions, type MCPToolServer } from 'inversify-ai/mcp';
import { scriptedModel } from 'inversify-ai/testing';
import { settled } from '../settled.js';
import { Events } from '../events.js';
import { as as token, call, list, portOf, post, raw, rpc, type Sent } from './mcp-client.js';
import { as, Caller, quietLogger } from './orders.js';

/* What an attacker tries over HTTP, and what happens to calls whose client or server goes away. */

/** Calls that wait until a test lets them go on, or their signal is aborted. */
class Gate {
  readonly entered: ToolCallContext[] = [];
  readonly scopes: AIScope[] = [];
  readonly reasons: unknown[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #watching: (() => void)[] = [];

  async enter(context: ToolCallContext, scope: AIScope): Promise<void> {
    this.entered.push(context);
    this.scopes.push(scope);
    for (const watch of this.#watching.splice(0)) watch();
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push(resolve);
      context.signal.addEventListener('abort', () => {
        this.reasons.push(context.signal.reason);
        reject(context.signal.reason as Error);
      });
    });
  }

  open(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Until so many have entered. */
  async has(count: number): Promise<void> {
    while (this.entered.length < count) await new Promise<void>((resolve) => this.#watching.push(resolve));
  }
}

@injectable()
class Tools {
  constructor(
    @inject(Caller) private readonly caller: Caller,
    @inject(AIScope) private readonly scope: AIScope,
    @inject(Gate) private readonly gate: Gate,
  ) {}

  @ReadOnly
  @AITool({ name: 'who', description: 'Says who is asking' })
  who(): string {
    return this.caller.id;
  }

  @AITool({ name: 'wait', description: 'Waits' })
  async wait(
    @AIToolParam('n', 'A number', { type: 'integer', optional: true }) n: number | undefined,
    @AIToolContext() context: ToolCallContext,
  ): Promise<string> {
    await this.gate.enter(context, this.scope);
    return `${this.caller.id} ${String(n)}`;
  }
}

interface Running extends MCPListening {
  readonly ai: AIHandle;
  readonly server: MCPToolServer;
  readonly gate: Gate;
  readonly events: Events;
  readonly logger: ReturnType<typeof quietLogger>;
}

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const PEOPLE = new Set(['Bearer ann', 'Bearer bob']);
const OPTIONS: MCPServerOptions = {
  name: 'crm',
  version: '1',
  authenticate: async ({ authorization }) => {
    await settled();
    return authorization !== undefined && PEOPLE.has(authorization) ? as(authorization.slice(7)) : undefined;
  },
};

function make(options: Partial<MCPServerOptions> = {}): Omit<Running, 'url' | 'port'> {
  const container = new Container();
  const gate = new Gate();
  const logger = quietLogger();
  const events = new Events();
  container.bind(Tools).toSelf();
  container.bind(Gate).toConstantValue(gate);
  const ai = installAI(container, { model: scriptedModel([]), logger });
  const server = mcpServer(ai, [Tools], { ...OPTIONS, ...options });
  open.push(server);
  return { ai, server, gate, logger, events };
}

async function start(options: Partial<MCPServerOptions> = {}, headersTimeoutMs = 10_000): Promise<Running> {
  const made = make(options);
  return { ...made, ...(await made.server.listen({ port: 0, headersTimeoutMs })) };
}

const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who' } });
const ann: Sent = { headers: token('ann') };
const bob: Sent = { headers: token('bob') };
const words = async (answer: ReturnType<typeof call>) =>
  ((await answer).message.result as { content?: { text: string }[] } | undefined)?.content?.[0]!.text;

describe('nobody', () => {
  it.each<[string, Sent]>([
    ['without a token', {}],
    ['with a forged token', { headers: token('eve') }],
    ['with an empty one', { headers: token('') }],
  ])('gets nothing %s', async (_title, sent) => {
    const { url, logger } = await start();
    for (const answer of [await post(url, BODY, sent), await rpc(url, 'initialize', {}, sent)]) {
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.text).toBe('{"jsonrpc":"2.0","error":{"code":-32000,"message":"Unauthorized"},"id":null}');
    }
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it.each<[string, MCPServerOptions['authenticate'], 'warn' | 'error']>([
    [
      'authenticate throws',
      () => {
        throw new Error('hunter2');
      },
      'warn',
    ],
    ['authenticate rejects', () => Promise.reject(new Error('hunter2')), 'warn'],
    ['authenticate gives something else', () => ({ id: 'hunter2' }) as never, 'error'],
    ['authenticate gives true', () => true as never, 'error'],
  ])('learns nothing where %s', async (_title, authenticate, level) => {
    const { url, logger } = await start({ authenticate });
    const answer = await post(url, BODY, ann);
    expect([answer.status, answer.text.includes('hunter2')]).toEqual([401, false]);
    expect(logger[level]).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => never]>([
    [
      'bind throws',
      () => {
        throw new Error('hunter2');
      },
    ],
    ['bind is asynchronous', () => Promise.resolve() as never],
  ])('is asked as where %s', async (_title, bind) => {
    const { url, logger } = await start({ authenticate: () => bind });
    const answer = await post(url, BODY, ann);
    expect([answer.status, answer.text]).toEqual([
      500,
      '{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":null}',
    ]);
    expect(logger.error).toHaveBeenCalledTimes(1);
  });

  it('is told apart by what authenticate is given: headers and the peer’s address, frozen', async () => {
    const seen: unknown[] = [];
    const { url } = await start({
      authenticate: (headers, request) => {
        seen.push(headers['x-forwarded-for'], request.remoteAddress, request.url, request.signal.aborted);
        seen.push(Object.isFrozen(headers), Object.isFrozen(request));
        return as('ann');
      },
    });
    await post(`${url}?a=1`, BODY, { headers: { 'x-forwarded-for': '10.0.0.1' } });
    expect(seen).toEqual(['10.0.0.1', '127.0.0.1', '/mcp?a=1', false, true, true]);
  });
});

describe('a request that is none of ours', () => {
  it.each<[string, Sent, number]>([
    ['another host', { headers: token('ann', { host: 'evil.example:80' }) }, 403],
    ['a host that only begins like ours', { headers: token('ann', { host: 'localhost.evil.example' }) }, 403],
    ['another origin', { headers: token('ann', { origin: 'https://evil.example' }) }, 403],
    ['the origin null', { headers: token('ann', { origin: 'null' }) }, 403],
    ['a GET', { method: 'GET', ...ann }, 405],
    ['a DELETE', { method: 'DELETE', ...ann }, 405],
    ['a PUT', { method: 'PUT', ...ann }, 405],
    ['text', { headers: token('ann', { 'content-type': 'text/plain' }) }, 415],
    ['a form', { headers: token('ann', { 'content-type': 'application/x-www-form-urlencoded' }) }, 415],
  ])('is refused: %s', async (_title, sent, status) => {
    const { url } = await start();
    const answer = await post(url, BODY, sent);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toMatch(/evil|ann/);
  });

  it('is served under its own names', async () => {
    const { url } = await start({ hosts: ['crm.example.com'], origins: ['app.example.com'] });
    const sent = (host: string, origin: string) => ({ headers: token('ann', { host, origin }) });
    expect((await post(url, BODY, sent('crm.example.com', 'https://app.example.com'))).status).toBe(200);
    expect((await post(url, BODY, sent('localhost', 'https://app.example.com'))).status).toBe(403);
    expect((await post(url, BODY, sent('crm.example.com', 'http://localhost'))).status).toBe(403);
  });

  it.each([
    ['Host: localhost\r\nHost: evil.example'],
    ['Host: localhost\r\nAuthorization: Bearer ann\r\nAuthorization: Bearer bob'],
  ])('is refused where it says something twice: %j', async (headers) => {
    const { port } = await start();
    const answer = await raw(port, `POST /mcp HTTP/1.1\r\n${headers}\r\nContent-Length: 2\r\n\r\n{}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each<[string, string, number, number | undefined]>([
    ['no JSON', '{"jsonrpc": hunter2', 400, -32700],
    ['nothing', '', 400, -32700],
    ['half a message', BODY.slice(0, -2), 400, -32700],
    ['a batch', `[${BODY},${BODY}]`, 400, -32600],
    ['an empty batch', '[]', 400, -32600],
    ['a number', '7', 400, -32600],
    ['null', 'null', 400, -32600],
    ['no JSON-RPC', '{"id":1,"method":"tools/list"}', 400, undefined],
    ['levels without end', '['.repeat(100_000), 400, -32700],
    ['levels beyond reason', `{"a":${'['.repeat(50)}${']'.repeat(50)}}`, 400, -32700],
  ])('is refused as %s', async (_title, body, status, code) => {
    const { url, gate } = await start();
    const answer = await post(url, body, ann);
    expect(answer.status).toBe(status);
    expect(answer.message.error!.code).toBe(code ?? answer.message.error!.code);
    expect(answer.text).not.toContain('hunter2');
    expect(gate.entered).toEqual([]);
  });

  it.each(['resources/list', 'tools/delete', 'server/exit', '__proto__', 'constructor'])(
    'is refused as the unknown method %s',
    async (method) => {
      const { url } = await start();
      expect((await rpc(url, method, {}, ann)).message.error).toMatchObject({ code: -32601 });
    },
  );

  it.each<[string, unknown]>([
    ['no name', {}],
    ['a name that is none', { name: 7 }],
    ['arguments that are a list', { name: 'wait', arguments: [1] }],
    ['arguments that are a text', { name: 'wait', arguments: '{}' }],
  ])('is refused as a call with %s', async (_title, params) => {
    const { url, gate } = await start();
    expect((await rpc(url, 'tools/call', params as object, ann)).message.error).toMatchObject({ code: -32602 });
    expect(gate.entered).toEqual([]);
  });

  it('is not read beyond its bound, whether it says its length or not', async () => {
    const { url, port } = await start({ maxBodyBytes: 1_000 });
    expect((await post(url, 'x'.repeat(1_001), ann)).status).toBe(413);
    const chunk = `400\r\n${'x'.repeat(0x400)}\r\n`;
    const head =
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\n';
    expect(await raw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`)).toMatch(/^HTTP\/1\.1 413 /);
    expect((await post(url, BODY, ann)).status).toBe(200);
  });

  it('is not waited for: slow headers, a slow body', async () => {
    const { port } = await start({ timeoutMs: 60 }, 50);
    expect(await raw(port, 'POST /mcp HTTP/1.1\r\nHost: localhost\r\n')).toMatch(/^HTTP\/1\.1 408 /);
    const head =
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\n';
    expect(await raw(port, `${head}Content-Length: 10\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe('two callers', () => {
  it('have each their own data over one connection', async () => {
    const { url, gate } = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const answers: (string | undefined)[] = [];
      for (const sent of [ann, bob, ann]) answers.push(await words(call(url, 'who', {}, { ...sent, agent })));
      expect(answers).toEqual(['ann', 'bob', 'ann']);
      expect((await call(url, 'who', {}, { agent })).status).toBe(401);
      expect(gate.entered).toEqual([]);
    } finally {
      agent.destroy();
    }
  });

  it('have each their own data at the same time, under the same ids', async () => {
    const { url, gate } = await start();
    const answers = [ann, bob, bob, ann].map((sent, n) => words(call(url, 'wait', { n }, sent)));
    await gate.has(4);
    gate.open();
    expect(await Promise.all(answers)).toEqual(['ann 0', 'bob 1', 'bob 2', 'ann 3']);
    expect(new Set(gate.scopes).size).toBe(4);
  });

  it('pipelined into one connection are answered in order, each as itself', async () => {
    const { port } = await start();
    const one = (who: string, more = '') =>
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${who}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${BODY.length}\r\n${more}\r\n${BODY}`;
    const answer = await raw(port, one('ann') + one('bob', 'Connection: close\r\n'));
    expect([...answer.matchAll(/"text":"(\w+)"/g)].map(([, who]) => who)).toEqual(['ann', 'bob']);
  });
});

/** Until the scope of a call gives nothing any more. */
async function closed(scope: AIScope): Promise<void> {
  await scope.close();
  expect(() => scope.run(() => undefined)).toThrow(/the scope has ended/);
}

describe('a call that is over before its time', () => {
  it('is aborted where its client hangs up, and its scope is closed', async () => {
    const { url, gate, logger } = await start();
    const controller = new AbortController();
    const answer = call(url, 'wait', {}, { ...ann, signal: controller.signal });
    await gate.has(1);
    controller.abort();
    await expect(answer).rejects.toThrow();
    await new Promise<void>((resolve) => {
      if (gate.entered[0]!.signal.aborted) resolve();
      else gate.entered[0]!.signal.addEventListener('abort', () => resolve());
    });
    await closed(gate.scopes[0]!);
    expect(gate.reasons).toMatchObject([{ code: 'scope', message: expect.stringContaining('The client left') }]);
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('is aborted where its client cancels it; nobody else can', async () => {
    const { url, gate } = await start();
    const session = { 'mcp-session-id': 'of ann' };
    const answer = call(url, 'wait', {}, { headers: token('ann', session) });
    await gate.has(1);
    const cancel = (headers: Record<string, string>, requestId: unknown = 1) =>
      post(url, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }), {
        headers,
      });
    for (const headers of [token('bob', session), token('ann'), token('ann', { 'mcp-session-id': 'another' })])
      expect((await cancel(headers)).status).toBe(202);
    expect((await cancel(token('ann', session), 2)).status).toBe(202);
    expect((await cancel(session)).status).toBe(401);
    await settled();
    expect(gate.entered[0]!.signal.aborted).toBe(false);
    await cancel(token('ann', session));
    expect((await answer).message.error).toEqual({ code: -32603, message: 'Internal error' });
    expect(gate.reasons).toEqual([new Error('the client has cancelled the call')]);
  });

  it('is cancelled by nobody else where a key, or a cookie, says who is asking', async () => {
    const { url, gate } = await start({
      authenticate: (headers) => as(headers['x-api-key'] ?? headers['cookie'] ?? ''),
    });
    const session = { 'mcp-session-id': '1' };
    const answer = call(url, 'wait', {}, { headers: { ...session, 'x-api-key': 'ann' } });
    await gate.has(1);
    const cancel = (headers: Record<string, string>, requestId: unknown = 1) =>
      post(url, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }), {
        headers: { ...session, ...headers },
      });
    expect((await cancel({ 'x-api-key': 'bob' })).status).toBe(202);
    expect((await cancel({ cookie: 'ann' })).status).toBe(202);
    // What is no id means no call.
    expect((await cancel({ 'x-api-key': 'ann' }, { toString: 1 })).status).toBe(202);
    await settled();
    expect(gate.entered[0]!.signal.aborted).toBe(false);
    await cancel({ 'x-api-key': 'ann' });
    expect((await answer).message.error).toMatchObject({ code: -32603 });
  });

  it('is forgotten where it waits behind another on its connection, and that goes', async () => {
    const { port, gate, server } = await start();
    const one = (name: string) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
      return `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ann\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${body.length.toString()}\r\n\r\n${body}`;
    };
    const client = connect(port, '127.0.0.1');
    client.write(one('wait') + one('who') + one('wait'));
    await gate.has(2);
    client.destroy();
    await once(client, 'close');
    for (const { signal } of gate.entered)
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    // A request that stayed would be waited for until a timer rings, and none does.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    try {
      await expect(server.close()).resolves.toBeUndefined();
    } finally {
      jest.useRealTimers();
    }
  });

  it('is aborted past the request’s time', async () => {
    const { url, gate, logger } = await start({ timeoutMs: 200 });
    const { message } = await call(url, 'wait', {}, ann);
    expect(message.error).toEqual({ code: -32603, message: 'Internal error' });
    expect((gate.reasons[0] as Error).message).toContain('200 ms of timeoutMs');
    expect(logger.warn).toHaveBeenCalledTimes(1);
    await closed(gate.scopes[0]!);
  });

  it('is aborted where the server is closed, and its client is told so little', async () => {
    const { url, gate, server } = await start();
    const answers = [ann, bob].map((sent) => call(url, 'wait', {}, sent));
    await gate.has(2);
    await server.close();
    for (const { message } of await Promise.all(answers))
      expect(message.error).toEqual({ code: -32603, message: 'Internal error' });
    expect(gate.reasons).toHaveLength(2);
    for (const scope of gate.scopes) await closed(scope);
    await expect(post(url, BODY, ann)).rejects.toMatchObject({ code: expect.stringMatching(/^ECONN/) });
  });

  it('does not begin where the server is closed while it is asked who is there', async () => {
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const { url, gate, server } = await start({
      authenticate: () => {
        asked();
        return new Promise(() => undefined);
      },
    });
    const answer = post(url, BODY, ann);
    await isAsked;
    await server.close();
    expect((await answer).status).toBe(503);
    expect(gate.entered).toEqual([]);
  });
});

describe('a server that there is already', () => {
  it('may speak HTTP/2, in which one connection has many callers', async () => {
    const { server } = make();
    const handle = server.handler();
    const http = createHttp2((request, response) => {
      void handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    }).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const session = connectHttp2(`http://127.0.0.1:${portOf(http).toString()}`);
    open.push({ close: () => new Promise((resolve) => http.close(resolve)) });
    const ask = async (who: string): Promise<string> => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/mcp',
        authorization: `Bearer ${who}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      });
      stream.end(BODY);
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
      return `${String(headers[':status'])} ${/"text":"(\w+)"/.exec(await text(stream))?.[1] ?? ''}`;
    };
    try {
      expect(await Promise.all([ask('ann'), ask('bob'), ask('eve')])).toEqual(['200 ann', '200 bob', '401 ']);
    } finally {
      session.close();
    }
  });

  it('serves what it is given, also behind a parser of bodies', async () => {
    const { server, ai } = make();
    const app = express();
    app.all('/plain', server.handler());
    app.use(express.json());
    app.all('/parsed', server.handler());
    // What is mounted in one caller's scope is not called in it.
    app.all('/scoped', (request, response, next) => {
      ai.runInScope(as('eve'), () => server.handler()(request, response)).catch(next);
    });
    const http = createServer(app).listen(0, '127.0.0.1');
    await once(http, 'listening');
    open.push({ close: () => new Promise((resolve) => http.close(resolve).closeAllConnections()) });
    for (const path of ['plain', 'parsed', 'scoped']) {
      const url = `http://127.0.0.1:${portOf(http).toString()}/${path}`;
      expect(await words(call(url, 'who', {}, ann))).toBe('ann');
      expect((await list(url, bob)).message.result!.tools!.map(({ name }) => name)).toEqual(['wait', 'who']);
      expect((await post(url, BODY)).status).toBe(401);
    }
    await server.close();
    expect((await post(`http://127.0.0.1:${portOf(http).toString()}/plain`, BODY, ann)).status).toBe(503);
  });
});
