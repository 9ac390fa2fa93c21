import { describe, expect, it, jest } from '@jest/globals';
import {
  AIDefinitionError,
  AIToolGroup,
  AIToolSourceError,
  createAIService,
  Mutating,
  ReadOnly,
  toolset,
  type AIRun,
  type ToolSourceChanged,
  type WireName,
} from 'inversify-ai';
import { mcpTools, type MCPTools, type MCPToolsOptions } from 'inversify-ai/mcp';
import { call, scriptedModel, type ScriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { Events } from '../../events.js';
import { FakeClient, findOrder, QUIET, type FakeTool, said, SEND } from './fake-server.js';

/* The tools of a server, as an agent has them: what the model reads, what is sent, what comes back. */

interface Asked {
  readonly run?: AIRun;
  readonly error?: unknown;
  readonly model: ScriptedModel;
  readonly changes: readonly ToolSourceChanged[];
  readonly events: Events;
}

async function ask(
  tools: readonly object[],
  turns: readonly ScriptedTurn[],
  options: { wire?: WireName; toolGroup?: typeof ReadOnly } = {},
): Promise<Asked> {
  const model = scriptedModel(turns);
  const events = new Events();
  const service = createAIService({ model, tools, logger: QUIET, observers: [events], ...options });
  const ended = await service.run('q').then(
    (run) => ({ run }),
    (error: unknown) => ({ error }),
  );
  const changes = events.all.flatMap(([name, event]) =>
    name === 'toolSourceChanged' ? [event as ToolSourceChanged] : [],
  );
  return { ...ended, model, changes, events };
}

const kb = (client: FakeClient, options: Partial<MCPToolsOptions> = {}): MCPTools =>
  mcpTools(client, { server: 'kb', tools: ['send'], ...options });
const send = (args: object = { to: 'ann' }) => call('kb_send', args as never);

describe('the tools of a server', () => {
  it.each<WireName>(['envelope', 'union', 'native'])(
    'are offered by name, and called as any other, on %s',
    async (wire) => {
      const client = new FakeClient([SEND, { name: 'wipe', description: 'Wipes all' }]);
      const { run, model } = await ask([kb(client), findOrder], [send({ to: 'ann', copies: 2 }), text('ok')], { wire });
      expect(run!.calls[0]).toMatchObject({
        tool: 'kb_send',
        outcome: 'ok',
        result: '[from the MCP server kb] \ndid send',
      });
      expect(client.called).toEqual([{ name: 'send', arguments: { to: 'ann', copies: 2 } }]);
      expect(model.requests[0]!.tools).toEqual(['findOrder', 'kb_send']);
      expect(model.requests[0]!.body).toContain('[from the MCP server kb] Sends a message');
      expect(model.requests[0]!.body).not.toContain('wipe');
    },
  );

  it.each<WireName>(['envelope', 'union', 'native'])('get no argument that was left out, on %s', async (wire) => {
    const client = new FakeClient([SEND]);
    await ask([kb(client)], [send(wire === 'union' ? { to: 'ann', copies: null } : { to: 'ann' }), text('ok')], {
      wire,
    });
    expect(client.called).toEqual([{ name: 'send', arguments: { to: 'ann' } }]);
  });

  it('are found on every page', async () => {
    const many = Array.from({ length: 7 }, (_, n) => ({ ...SEND, name: `t${n.toString()}` }));
    const { model } = await ask([mcpTools(new FakeClient(many), { server: 'kb', tools: ['t6', 't0'] })], [text('ok')]);
    expect(model.requests[0]!.tools).toEqual(['kb_t0', 'kb_t6']);
  });

  it('are not sent what does not fit, or is not declared', async () => {
    const client = new FakeClient([SEND]);
    const { run } = await ask(
      [kb(client)],
      [send({}), send({ to: 'a', bcc: 'x@evil' }), send({ to: 'a', copies: 'many' }), text('ok')],
    );
    expect(run!.calls.map(({ outcome }) => outcome)).toEqual(Array(3).fill('invalid-arguments'));
    expect(client.called).toEqual([]);
  });

  it('count as mutating, unless the application says so, or believes the server', async () => {
    const tools: FakeTool[] = [
      { ...SEND, annotations: { readOnlyHint: true } },
      { ...SEND, name: 'find', annotations: { readOnlyHint: true } },
    ];
    const names = ['send', 'find'];
    const offered = async (options: Partial<MCPToolsOptions>) =>
      (
        await ask([kb(new FakeClient(tools), { tools: names, ...options }), findOrder], [text('ok')], {
          toolGroup: ReadOnly,
        })
      ).model.requests[0]!.tools;
    expect(await offered({})).toEqual(['findOrder']);
    expect(await offered({ groups: { find: ReadOnly } })).toEqual(['findOrder', 'kb_find']);
    expect(await offered({ trustAnnotations: true })).toEqual(['findOrder', 'kb_find', 'kb_send']);
    expect(await offered({ trustAnnotations: true, groups: { send: [Mutating, AIToolGroup('Mail')] } })).toEqual([
      'findOrder',
      'kb_find',
    ]);
  });

  it('may stand in a toolset', async () => {
    const set = toolset(kb(new FakeClient([SEND])), findOrder)
      .rename({ kb_send: 'mail' })
      .describe({ mail: 'Sends mail', 'mail.to': 'Who' });
    const { run, model } = await ask([set], [call('mail', { to: 'ann' }), text('ok')]);
    expect(run!.calls[0]!.outcome).toBe('ok');
    expect(model.requests[0]!.body).toContain('Sends mail');
  });

  it('make one set as long as nothing changes', async () => {
    const client = new FakeClient([SEND]);
    const model = scriptedModel([text('1'), text('2')]);
    const service = createAIService({ model, tools: [kb(client)] });
    await service.chat('q');
    await service.chat('q');
    expect(client.listed).toBe(2);
    expect(model.requests[0]!.body).toBe(model.requests[1]!.body);
  });
});

describe('a result', () => {
  it.each<[string, object, string]>([
    ['structured', { ...said('text'), structuredContent: { id: 1 } }, '{"id":1}'],
    [
      'several texts',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'a\nb',
    ],
    ['an image', { content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] }, '[image image/png 3 bytes]'],
    ['a link', { content: [{ type: 'resource_link', uri: 'file:///a' }] }, '[a link to file:///a]'],
    [
      'a resource',
      { content: [{ type: 'resource', resource: { uri: 'r:1', mimeType: 'text/plain', text: 'held' } }] },
      '[the resource r:1 text/plain]\nheld',
    ],
    ['something new', { content: [{ type: 'hologram' }] }, '[content of the kind hologram]'],
  ])('that is %s is told, and marked as foreign', async (_title, result, told) => {
    const { run } = await ask([kb(new FakeClient([SEND], () => result))], [send(), text('ok')]);
    expect(run!.calls[0]!.result).toBe(`[from the MCP server kb] \n${told}`);
  });

  it('that is nothing reads as nothing', async () => {
    const { run } = await ask([kb(new FakeClient([SEND], () => ({ content: [] })))], [send(), text('ok')]);
    expect(run!.calls[0]!.result).toBe('Done. There is no result to show.');
  });

  it('is cut like any other', async () => {
    const client = new FakeClient([SEND], () => said('x'.repeat(5_000)));
    const { run } = await ask([kb(client, { maxResultChars: 100 })], [send(), text('ok')]);
    expect(run!.calls[0]!.result.length).toBeLessThan(300);
  });

  const LEAKS = said('SQLSTATE 42 at db.internal, token tok_1\n    at run (/srv/app.js:1)', { isError: true });

  it('that is an error is a failed call: its text goes to the observer alone', async () => {
    const { run, model, events } = await ask([kb(new FakeClient([SEND], () => LEAKS))], [send(), text('ok')]);
    expect(run!.calls[0]).toMatchObject({ outcome: 'failed' });
    expect(model.requests[1]!.body).not.toMatch(/SQLSTATE|tok_1|app\.js/);
    expect((events.ended[0]!.error as Error).message).toContain('SQLSTATE 42');
  });

  it('that is an error is told where the application trusts it: bounded, on one line, marked', async () => {
    const client = new FakeClient([SEND], () => said(`no such user\n${'x'.repeat(5_000)}`, { isError: true }));
    const { run } = await ask([kb(client, { trustErrors: true })], [send(), text('ok')]);
    expect(run!.calls[0]!.outcome).toBe('failed');
    expect(run!.calls[0]!.result).toMatch(/^\[from the MCP server kb\] no such user x+…$/);
    expect(run!.calls[0]!.result.length).toBeLessThan(1_100);
  });

  it('that is none is a failed call', async () => {
    const { run } = await ask([kb(new FakeClient([SEND], () => 'hello'))], [send(), text('ok')]);
    expect(run!.calls[0]!.outcome).toBe('failed');
  });
});

describe('a server that is down', () => {
  const down = (): FakeClient => {
    const client = new FakeClient([SEND]);
    client.listing = () => Promise.reject(new TypeError('fetch failed, Bearer tok_1'));
    return client;
  };

  it('and required ends the run before anything is sent', async () => {
    const { error, model, events } = await ask([kb(down()), findOrder], [text('ok')]);
    expect(error).toBeInstanceOf(AIToolSourceError);
    expect(error).toMatchObject({
      code: 'tool-source',
      source: 'the MCP server kb',
      message: 'the MCP server kb does not answer, or not as a server does; see the cause',
      run: { calls: [] },
    });
    expect(JSON.stringify(error)).not.toContain('tok_1');
    expect(model.requests).toHaveLength(0);
    expect(events.all.map(([name]) => name)).toEqual(['runStarted', 'runEnded']);
  });

  it('and not required leaves fewer tools, and is told once; and once when it is back', async () => {
    const client = down();
    const tools = kb(client, { required: false });
    const first = await ask([tools, findOrder], [text('ok')]);
    expect(first.model.requests[0]!.tools).toEqual(['findOrder']);
    expect(first.changes).toMatchObject([{ source: 'kb', change: 'down', site: 'createAIService' }]);
    expect(first.changes[0]!.error).toEqual(new TypeError('fetch failed, Bearer tok_1'));
    expect((await ask([tools, findOrder], [text('ok')])).changes).toEqual([]);
    client.listing = () => undefined;
    const back = await ask([tools, findOrder], [text('ok')]);
    expect(back.changes).toMatchObject([{ change: 'up' }]);
    expect(back.model.requests[0]!.tools).toEqual(['findOrder', 'kb_send']);
  });

  it('alone, and not required, leaves an agent without tools', async () => {
    const { run } = await ask([kb(down(), { required: false })], [text('ok')]);
    expect(run!.text).toBe('ok');
  });

  it('while it lists is waited for so long and no longer', async () => {
    jest.useFakeTimers();
    try {
      const client = new FakeClient([SEND]);
      client.listing = () => new Promise(() => undefined);
      const asked = ask([kb(client, { required: false, connectTimeoutMs: 3_000 }), findOrder], [text('ok')]);
      await jest.advanceTimersByTimeAsync(3_000);
      expect((await asked).changes[0]!.error).toEqual(new Error('no list of tools within 3000 ms'));
    } finally {
      jest.useRealTimers();
    }
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no list', { tools: 'many' }],
  ])('in that it lists %s is down', async (_title, listed) => {
    const client = new FakeClient([]);
    client.listTools = () => Promise.resolve(listed);
    expect((await ask([kb(client)], [text('ok')])).error).toMatchObject({ code: 'tool-source' });
  });

  it('that lists without an end is left', async () => {
    const client = new FakeClient([]);
    client.listTools = () => Promise.resolve({ tools: [], nextCursor: 'again' });
    const { error } = await ask([kb(client)], [text('ok')]);
    expect((error as { cause?: Error }).cause?.message).toContain('more than 50 pages');
  });
});

function nested(depth: number): { readonly type: 'object'; readonly properties: object } {
  let items: object = { type: 'string' };
  for (let level = 0; level < depth; level++) items = { type: 'array', items };
  return { type: 'object', properties: { a: items } };
}

function circular(): { readonly type: 'object'; readonly properties: object } {
  const properties: Record<string, unknown> = {};
  properties['a'] = { type: 'object', properties };
  return { type: 'object', properties };
}

describe('a tool that cannot be offered', () => {
  const unusable = async (...tools: FakeTool[]) =>
    ask([kb(new FakeClient([...tools, { ...SEND, name: 'find' }]), { tools: ['send', 'find'] })], [text('ok')]);

  it.each<[string, FakeTool[], string, RegExp]>([
    ['is not there', [], 'tool-missing', /the server does not have it/],
    ['is there twice', [SEND, { ...SEND, description: 'Another' }], 'tool-unusable', /several tools of that name/],
    [
      'takes no object',
      [{ ...SEND, inputSchema: { type: 'object', anyOf: [{ properties: { a: {} } }] } }],
      'tool-unusable',
      /parameters must say an object/,
    ],
    [
      'has a name that no argument can have',
      [{ ...SEND, inputSchema: { type: 'object', properties: { __proto__x: {}, 'a b': {} } } }],
      'tool-unusable',
      /is no name for a parameter/,
    ],
    [
      'says too much',
      [
        {
          ...SEND,
          inputSchema: { type: 'object', properties: { a: { type: 'string', description: 'x'.repeat(40_000) } } },
        },
      ],
      'tool-unusable',
      /its parameters take 40\d+ characters/,
    ],
    [
      'is nested too deep',
      [{ ...SEND, inputSchema: nested(20_000) }],
      'tool-unusable',
      /nested too deep|its parameters take/,
    ],
    ['goes round in a circle', [{ ...SEND, inputSchema: circular() }], 'tool-unusable', /no JSON that can be written/],
    ['tells without end', [{ ...SEND, description: 'x'.repeat(200_000) }], 'tool-unusable', /description takes 200000/],
  ])('because it %s leaves the others, and is told once', async (_title, tools, change, reason) => {
    const { model, changes } = await unusable(...tools);
    expect(model.requests[0]!.tools).toEqual(['kb_find']);
    expect(changes).toMatchObject([{ change, tool: 'send', reason: expect.stringMatching(reason) as unknown }]);
  });

  it('and is the only one is an error where the server is required', async () => {
    const { error } = await ask([kb(new FakeClient([{ ...SEND, name: 'other' }]))], [text('ok')]);
    expect(String(error)).toContain('the MCP server kb has none of the tools that are listed: send');
  });

  it('is bounded in its words', async () => {
    const { model } = await ask([kb(new FakeClient([{ ...SEND, description: 'y'.repeat(9_000) }]))], [text('ok')]);
    expect(model.requests[0]!.body).toContain('… (cut here)');
    expect(model.requests[0]!.body.length).toBeLessThan(5_000);
  });
});

describe('mcpTools refuses', () => {
  const client = new FakeClient([]);
  it.each<[string, unknown, object, RegExp]>([
    ['no server', undefined, {}, /mcpTools kb: the server must be a connected client, \{ command: 'npx'/],
    ['a url that is none', { url: 'kb' }, {}, /found a url that is none/],
    [
      'headers that are none',
      { url: 'http://127.0.0.1:9/mcp', headers: 'x' },
      {},
      /headers must be an object, or a function/,
    ],
    ['no name', client, { server: undefined }, /server must be a name of letters.*found undefined/],
    ['no tools', client, { tools: undefined }, /tools must list the tools that an agent may have, .*found undefined/i],
    ['all tools', client, { tools: [] }, /an empty list/],
    [
      'a group of a tool that is not listed',
      client,
      { groups: { find: ReadOnly } },
      /groups: there is no option "find"; the options are send/,
    ],
    ['a group that is none', client, { groups: { send: 'ReadOnly' } }, /takes a group/],
    ['both effects', client, { groups: { send: [ReadOnly, Mutating] } }, /marked both ReadOnly and Mutating/],
    ['a pin that is no hash', client, { pins: { send: 'abc' } }, /pins: send must be the hash of a tool/],
    ['two tools of one name', client, { tools: ['a.b', 'a b'] }, /a\.b and a b would both be called kb_a_b/],
    ['a name that is too long', client, { tools: ['t'.repeat(70)] }, /has 73 characters, 64 are allowed/],
    ['an unknown option', client, { trustAll: true }, /there is no option "trustAll"/],
    ['a flag that is none', client, { required: 'no' }, /required must be true or false, found a string/],
  ])('%s', (_title, server, options, message) => {
    const make = () => mcpTools(server as never, { server: 'kb', tools: ['send'], ...options } as never);
    expect(make).toThrow(AIDefinitionError);
    expect(make).toThrow(message);
  });
});
