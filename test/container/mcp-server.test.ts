import { afterEach, describe, expect, it } from '@jest/globals';
import { Container, inject, injectable } from 'inversify';
import {
  AIDefinitionError,
  type AIHandle,
  AIMiddleware,
  AIObserver,
  AITool,
  AIToolError,
  AIToolParam,
  defineTool,
  FromScope,
  installAI,
  type InstallOptions,
  type NextTool,
  ReadOnly,
  refuse,
  type ToolInvocation,
  type ToolOutcome,
  ToolRegistry,
  toolset,
  type ToolSource,
  type Toolset,
} from 'inversify-ai';
import { mcpServer, type MCPServerOptions, type MCPToolServer } from 'inversify-ai/mcp';
import { scriptedModel } from 'inversify-ai/testing';
import { Events } from '../events.js';
import { call, list, post, as as token } from './mcp-client.js';
import { as, Caller, OrderService, OrderTools, quietLogger, rejection } from './orders.js';

/* What a client is told of an application's tools, and what becomes of its calls. */

class NotYours extends Error {}

const ran: unknown[] = [];

@injectable()
class DeskTools {
  constructor(@inject(Caller) private readonly caller: Caller) {}

  @ReadOnly
  @AITool({ name: 'find', description: 'Finds', notFound: 'No order found with that id.', maxResultChars: 40 })
  find(@AIToolParam('id', 'The id', { type: 'string' }) id: string): string | undefined {
    if (id === 'theirs') throw new NotYours('of bob');
    if (id === 'long') return 'x'.repeat(100);
    return id === 'none' ? undefined : `${id} of ${this.caller.id}`;
  }

  @AITool({ name: 'pay', description: 'Pays' })
  pay(
    @AIToolParam('amount', 'How much', { type: BigInt }) amount: bigint,
    @FromScope(Caller, (caller) => caller.id) payer: string,
  ): string {
    ran.push([payer, amount]);
    return `paid ${amount.toString()} for ${payer}`;
  }

  @AITool({ name: 'fail', description: 'Fails', idempotent: true })
  fail(@AIToolParam('how', 'How', { type: 'string' }) how: string): string {
    throw how === 'told' ? new AIToolError('The shop is closed.') : new Error('password hunter2 at db.internal');
  }

  @AITool({ name: 'slow', description: 'Takes its time', timeoutMs: 20 })
  slow(): Promise<string> {
    return new Promise(() => undefined);
  }
}

interface App {
  readonly container: Container;
  readonly ai: AIHandle;
  readonly logger: ReturnType<typeof quietLogger>;
  readonly events: Events;
}

function install(options: Partial<InstallOptions> = {}): App {
  const container = new Container();
  container.bind(OrderService).toSelf();
  container.bind(OrderTools).toSelf();
  container.bind(DeskTools).toSelf();
  const events = new Events();
  container.bind(AIObserver).toConstantValue(events);
  const logger = quietLogger();
  const isDenial = (error: unknown) => error instanceof NotYours;
  return {
    container,
    ai: installAI(container, { model: scriptedModel([]), logger, isDenial, ...options }),
    logger,
    events,
  };
}

const OPTIONS: MCPServerOptions = {
  name: 'crm',
  version: '1.0.0',
  authenticate: ({ authorization }) => (authorization === undefined ? undefined : as(authorization.slice(7))),
};

const open: MCPToolServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
  ran.length = 0;
});

async function serve(
  { ai }: Pick<App, 'ai'>,
  tools: Toolset | readonly ToolSource[] = [DeskTools],
  options: Partial<MCPServerOptions> = {},
): Promise<string> {
  const server = mcpServer(ai, tools, { ...OPTIONS, ...options });
  open.push(server);
  return (await server.listen({ port: 0 })).url;
}

const told = (answered: Awaited<ReturnType<typeof call>>) => answered.message.result;
const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const failed = (words: string) => ({ ...text(words), isError: true });

describe('what is served', () => {
  it('is listed with all that a client needs, and nothing that the scope fills', async () => {
    const { message } = await list(await serve(install()));
    expect(message.result!.tools!.map(({ name, annotations }) => [name, annotations])).toEqual([
      ['fail', { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
      ['find', { readOnlyHint: true, destructiveHint: false, idempotentHint: false }],
      ['pay', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
      ['slow', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ]);
    expect(message.result!.tools![2]).toMatchObject({
      description: 'Pays',
      inputSchema: {
        type: 'object',
        properties: { amount: { type: 'string', description: 'How much' } },
        required: ['amount'],
        additionalProperties: false,
      },
    });
    expect(JSON.stringify(message)).not.toContain('payer');
  });

  it('is a toolset, narrowed and renamed, or a list narrowed to a group', async () => {
    const app = install();
    const desk = await serve(app, toolset(DeskTools).only(ReadOnly).prefix('crm'));
    expect((await list(desk)).message.result!.tools!.map(({ name }) => name)).toEqual(['crm_find']);
    const orders = await serve(app, [OrderTools], { toolGroup: ReadOnly });
    expect((await list(orders)).message.result!.tools!.map(({ name }) => name)).toEqual([
      'OrderTools_findOrder',
      'OrderTools_whoAmI',
    ]);
  });

  it('has one page', async () => {
    const url = await serve(install());
    const { message } = await post(
      url,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'x' } }),
      { headers: token('ann') },
    );
    expect(message.error).toMatchObject({ code: -32602 });
  });
});

describe('a call', () => {
  it('is made as the caller of its request', async () => {
    const url = await serve(install());
    expect(told(await call(url, 'find', { id: '7' }))).toEqual(text('7 of ann'));
    expect(told(await call(url, 'find', { id: '7' }, { headers: token('bob') }))).toEqual(text('7 of bob'));
  });

  it.each<[string, string, object, object]>([
    [
      'its wrong arguments',
      'find',
      { id: 7, x: 1 },
      failed('find was not called, its arguments are wrong:\nx: unknown argument; id: expected'),
    ],
    ['a parameter that the scope fills', 'pay', { amount: '1', payer: 'bob' }, failed('pay was not called')],
    ['an unknown tool', 'nope', {}, failed('There is no tool named "nope". The tools are: fail, find, pay, slow.')],
    ['an exception', 'fail', { how: 'x' }, failed('fail failed. The reason is not known to you, so do not guess it.')],
    ['what the tool says itself', 'fail', { how: 'told' }, failed('The shop is closed.')],
    [
      'that it took too long',
      'slow',
      {},
      failed('slow did not finish in time. It is not known whether it took effect.'),
    ],
  ])('is told %s', async (_title, name, args, expected) => {
    const result = told(await call(await serve(install()), name, args)) as { content: { text: string }[] };
    const words = (expected as typeof result).content[0]!.text.split('\n')[0]!;
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0]!.text).toContain(words);
    expect(JSON.stringify(result)).not.toMatch(/hunter2|db\.internal|bob/);
    expect(ran).toEqual([]);
  });

  it('finds a tool outside the set as unknown as one that is nowhere', async () => {
    const url = await serve(install(), toolset(DeskTools).except('pay'));
    const [outside, nowhere] = [await call(url, 'pay', { amount: '1' }), await call(url, 'yap', { amount: '1' })];
    expect(outside.text.replaceAll('pay', '?')).toBe(nowhere.text.replaceAll('yap', '?'));
    expect(ran).toEqual([]);
  });

  it('that is denied is told to the byte what one is that finds nothing', async () => {
    const { ai, events } = install();
    const url = await serve({ ai });
    const [denied, none] = [await call(url, 'find', { id: 'theirs' }), await call(url, 'find', { id: 'none' })];
    expect(denied.text).toBe(none.text);
    expect(told(denied)).toEqual(text('No order found with that id.'));
    expect(events.ended[0]).toMatchObject({ outcome: 'failed', error: new NotYours('of bob') });
  });

  it('may be made again: each is a run of its own', async () => {
    const url = await serve(install());
    for (let n = 0; n < 2; n++) expect(told(await call(url, 'pay', { amount: '3' }))).toEqual(text('paid 3 for ann'));
    expect(ran).toHaveLength(2);
  });

  it('loses no digit, and trusts no key that was given twice', async () => {
    const url = await serve(install());
    const body = (args: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{${args}}}}`;
    const exact = await post(url, body('"amount":9007199254740993'), { headers: token('ann') });
    expect(told(exact)).toEqual(text('paid 9007199254740993 for ann'));
    const twice = await post(url, body('"amount":1,"amount":1000'), { headers: token('ann') });
    expect(twice).toMatchObject({ status: 400, message: { error: { code: -32700 } } });
    const hidden = await post(url, body('"amount":1,"__proto__":{"payer":"bob"}'), { headers: token('ann') });
    expect(told(hidden)).toMatchObject({ isError: true });
    expect(ran).toHaveLength(1);
  });

  it('has its result cut', async () => {
    const result = told(await call(await serve(install()), 'find', { id: 'long' })) as { content: { text: string }[] };
    expect(result.content[0]!.text.length).toBeLessThan(100);
    expect(result).not.toHaveProperty('isError');
  });

  it('is told to the application’s observers and to the scope’s, as a run of one call', async () => {
    const app = install();
    const own = new Events();
    const url = await serve(app, [DeskTools], {
      authenticate: () => (container) => {
        as('ann')(container);
        container.bind(AIObserver).toConstantValue(own);
      },
    });
    await call(url, 'find', { id: '7' });
    for (const { all } of [app.events, own]) {
      expect(all.map(([name]) => name)).toEqual(['runStarted', 'toolStarted', 'toolEnded', 'runEnded']);
      expect(new Set(all.map(([, event]) => (event as { runId: string }).runId)).size).toBe(1);
      expect(all[0]![1]).toMatchObject({ site: 'mcpServer crm', question: '', tools: ['fail', 'find', 'pay', 'slow'] });
      expect(all[2]![1]).toMatchObject({
        outcome: 'ok',
        executed: true,
        turn: 1,
        result: '7 of ann',
        sent: { id: '7' },
      });
      expect(all[3]![1]).toMatchObject({ run: { calls: [{ tool: 'find' }], turns: 0 } });
      expect(all[3]![1]).not.toHaveProperty('error');
    }
    await call(url, 'find', { id: '7' });
    expect(new Set(own.all.map(([, event]) => (event as { runId: string }).runId)).size).toBe(2);
  });

  it('goes through the middleware of the application and of the scope', async () => {
    const seen: string[] = [];
    class Edits extends AIMiddleware {
      override tool(invocation: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
        seen.push(`${invocation.site} ${invocation.tool}`);
        return next({ arguments: { id: 'edited' } });
      }
    }
    class Closed extends AIMiddleware {
      override async tool(invocation: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
        return invocation.arguments['id'] === 'edited' ? next() : refuse('Not now.');
      }
    }
    const app = install();
    app.container.bind(AIMiddleware).toConstantValue(new Edits());
    const url = await serve(app, [DeskTools], {
      authenticate: () => (container) => {
        as('ann')(container);
        container.bind(AIMiddleware).toConstantValue(new Closed());
      },
    });
    expect(told(await call(url, 'find', { id: '7' }))).toEqual(text('edited of ann'));
    expect(seen).toEqual(['mcpServer crm find']);
  });
});

describe('a request that cannot be served', () => {
  const INTERNAL = { code: -32603, message: 'Internal error' };

  it('is over with the time that the application gives a run', async () => {
    const app = install({ limits: { deadlineMs: 5 } });
    expect((await call(await serve(app), 'slow')).message.error).toEqual(INTERNAL);
    expect(app.events.all.at(-1)).toMatchObject(['runEnded', { error: { code: 'deadline' } }]);
  });

  it('is told nothing of a middleware that threw', async () => {
    class Broken extends AIMiddleware {
      override tool(): Promise<ToolOutcome> {
        throw new Error('hunter2');
      }
    }
    const app = install();
    app.container.bind(AIMiddleware).toConstantValue(new Broken());
    const { text: body, message } = await call(await serve(app), 'find', { id: '7' });
    expect(message.error).toEqual(INTERNAL);
    expect(body).not.toContain('hunter2');
    expect(app.logger.error.mock.calls).toEqual([
      [expect.stringContaining('mcpServer crm: tools/call ended with an error'), new Error('hunter2')],
    ]);
    expect(app.events.all.at(-1)).toMatchObject(['runEnded', { error: new Error('hunter2') }]);
  });

  it('is told nothing of a scope in which nobody is asking', async () => {
    const app = install();
    const url = await serve(app, [OrderTools], { authenticate: false });
    expect((await call(url, 'OrderTools_whoAmI')).message.error).toEqual(INTERNAL);
    expect(app.logger.error.mock.calls[0]![1]).toMatchObject({ code: 'scope' });
    expect((await list(url)).message.result!.tools).toHaveLength(3);
  });

  it('is told nothing of a class that nobody bound; a scope may bind it, and verify() warns of it', async () => {
    const app = install();
    app.container.unbind(DeskTools);
    const url = await serve(app, [DeskTools], {
      authenticate:
        ({ authorization }) =>
        (container) => {
          as('ann')(container);
          if (authorization === 'Bearer bound') container.bind(DeskTools).toSelf();
        },
    });
    app.ai.verify();
    expect(app.logger.warn.mock.calls.flat().join()).toContain(
      'mcpServer crm: the tool class DeskTools is not bound; write container.bind(DeskTools).toSelf()',
    );
    expect((await call(url, 'find', { id: '7' })).message.error).toEqual(INTERNAL);
    expect(app.logger.error.mock.calls[0]![1]).toMatchObject({ code: 'definition' });
    expect(told(await call(url, 'find', { id: '7' }, { headers: token('bound') }))).toEqual(text('7 of ann'));
  });

  it('is not served by a singleton that would keep a caller; verify() says so at start', async () => {
    const app = install();
    app.container.unbind(DeskTools);
    app.container.bind(DeskTools).toSelf().inSingletonScope();
    const url = await serve(app);
    expect(() => app.ai.verify()).toThrow(/mcpServer crm: .*DeskTools/s);
    expect((await call(url, 'find', { id: '7' })).message.error).toEqual(INTERNAL);
  });
});

describe('tools that are known late', () => {
  const now = (said: string) =>
    defineTool({ name: 'now', description: said, parameters: {}, group: ReadOnly, execute: () => said });

  it('are looked up for each request, in the caller’s own registry where there is one', async () => {
    const app = install();
    const url = await serve(app, ['now', DeskTools], {
      authenticate:
        ({ authorization }) =>
        (container) => {
          as('ann')(container);
          if (authorization === 'Bearer tenant')
            container.bind(ToolRegistry).toConstantValue(new ToolRegistry().register(now('of this tenant')));
        },
    });
    expect((await list(url)).message.error).toEqual({ code: -32603, message: 'Internal error' });
    expect((await call(url, 'now')).message.error).toEqual({ code: -32603, message: 'Internal error' });
    expect(app.logger.error.mock.calls.map(([, error]) => (error as { code: string }).code)).toEqual([
      'tool-source',
      'tool-source',
    ]);
    expect(app.events.all.map(([name]) => name)).toEqual(['runStarted', 'runEnded']);
    app.ai.registry.register(now('of all'));
    expect((await list(url)).message.result!.tools!.map(({ name }) => name)).toContain('now');
    expect(told(await call(url, 'now'))).toEqual(text('of all'));
    expect(told(await call(url, 'now', {}, { headers: token('tenant') }))).toEqual(text('of this tenant'));
  });
});

describe('mcpServer', () => {
  const define = (options: object, tools: unknown = [DeskTools], ai: unknown = install().ai) => {
    mcpServer(ai as AIHandle, tools as readonly ToolSource[], options as MCPServerOptions);
  };

  it.each<[string, object, RegExp]>([
    ['no name', { name: undefined }, /^mcpServer: name must be a word .*found undefined$/],
    ['no version', { version: ' ' }, /^mcpServer crm: version must be a text/],
    [
      'nobody who says who is asking',
      { authenticate: undefined },
      /authenticate must say who is asking, .*or be false where nobody need be; found undefined$/,
    ],
    ['true for it', { authenticate: true }, /authenticate must say .*found a boolean$/],
    [
      'an unknown option',
      { authentication: false },
      /there is no option "authentication"; the options are name, version, authenticate/,
    ],
    [
      'hosts that are addresses',
      { hosts: ['https://crm.example.com'] },
      /hosts holds "https:.*write a host name in small letters, without scheme and port/,
    ],
    ['no origins', { origins: [] }, /origins must list host names/],
    ['a body of any length', { maxBodyBytes: 10_000_000 }, /maxBodyBytes may be 4194304 at most/],
    ['no time', { timeoutMs: 0 }, /timeoutMs must be a whole number from 1/],
    ['an empty group', { toolGroup: { groupName: 'Billing' } }, /toolGroup/],
  ])('refuses %s', (_title, options, message) => {
    expect(() => define({ ...OPTIONS, ...options })).toThrow(AIDefinitionError);
    expect(() => define({ ...OPTIONS, ...options })).toThrow(message);
  });

  it('tells all that is wrong at once, and leaves nothing behind', async () => {
    @injectable()
    class None {}
    const app = install();
    const error = (await rejection(() =>
      define({ ...OPTIONS, version: 1 }, [None, 'not a key!'], app.ai),
    )) as AIDefinitionError;
    expect(error.problems).toHaveLength(3);
    expect(error.problems.join('\n')).toMatch(/version must be a text[^]*None has no tools[^]*not a key!/);
    expect(() => app.ai.verify()).not.toThrow();
  });

  it.each([[null], [{}], [{ ...install().ai }]])('refuses what is no handle of installAI: %p', (ai) => {
    expect(() => define(OPTIONS, [DeskTools], ai)).toThrow(
      /^mcpServer: the first argument must be what installAI of this copy of the package returned/,
    );
  });

  it.each<[string, object, RegExp]>([
    ['no port', {}, /^mcpServer crm, listen: port must be a number/],
    ['an unknown option', { port: 0, hostname: 'x' }, /there is no option "hostname"/],
    ['another machine’s address without hosts', { port: 0, host: '0.0.0.0' }, /name what it is called there, hosts: /],
    ['a path that is none', { port: 0, path: 'mcp?x' }, /path must begin with \//],
  ])('does not listen with %s', async (_title, options, message) => {
    const server = mcpServer(install().ai, [DeskTools], OPTIONS);
    const error = await rejection(() => server.listen(options as never));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(error.message).toMatch(message);
  });

  it('takes nothing asynchronous for who is asking', () => {
    // @ts-expect-error a scope would be half bound when the call is made
    const options: MCPServerOptions = { ...OPTIONS, authenticate: () => async () => undefined };
    const sync: MCPServerOptions = { ...OPTIONS, authenticate: async () => (container) => as('ann')(container) };
    expect([options, sync]).toHaveLength(2);
  });

  it('listens once, and not after its end', async () => {
    const server = mcpServer(install().ai, [DeskTools], OPTIONS);
    const { url, port } = await server.listen({ port: 0, path: '/tools' });
    expect(url).toBe(`http://127.0.0.1:${port.toString()}/tools`);
    expect((await list(url)).status).toBe(200);
    expect((await list(url.replace('tools', 'mcp'))).status).toBe(404);
    expect((await rejection(() => server.listen({ port: 0 }))).message).toMatch(/it listens already/);
    const other = mcpServer(install().ai, [DeskTools], OPTIONS);
    expect(await rejection(() => other.listen({ port }))).toMatchObject({ code: 'EADDRINUSE' });
    await server.close();
    await server.close();
    expect((await rejection(() => server.listen({ port: 0 }))).message).toMatch(/it was closed/);
    expect((await rejection(() => server.stdio({ bind: as('ann') }))).message).toMatch(/it was closed/);
    await expect(list(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await other.close();
  });

  it('does not listen where it was closed meanwhile', async () => {
    const server = mcpServer(install().ai, [DeskTools], OPTIONS);
    const listening = rejection(() => server.listen({ port: 0 }));
    await server.close();
    expect((await listening).message).toMatch(/it was closed/);
  });

  it('serves standard streams for nobody that is not named', async () => {
    const server = mcpServer(install().ai, [DeskTools], OPTIONS);
    for (const options of [undefined, {}, { bind: false }])
      expect(await rejection(() => server.stdio(options as never))).toBeInstanceOf(AIDefinitionError);
    await server.close();
  });
});
