import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  AIDefinitionError,
  AITool,
  AIToolGroup,
  AIToolParam,
  createAIService,
  defineTool,
  Mutating,
  ReadOnly,
  type Tool,
  type ToolGroup,
  toolset,
  type Toolset,
  type WireName,
} from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { z } from 'zod';

/* Tools as a value: narrowed, renamed, described anew. What counts is what the model reads, and what can be called. */

const Billing = AIToolGroup('Billing');

class Orders {
  readonly ran: string[] = [];

  @ReadOnly
  @AITool('Finds an order')
  find(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): string {
    this.ran.push(`find ${orderId.toString()}`);
    return 'found';
  }

  @ReadOnly
  @Billing
  @AITool('Shows an invoice')
  invoice(): string {
    this.ran.push('invoice');
    return 'invoice';
  }

  @Billing
  @AITool('Refunds an order')
  refund(): string {
    this.ran.push('refund');
    return 'refunded';
  }
}

const tool = (name: string, group: ToolGroup | readonly ToolGroup[] = []): Tool =>
  defineTool({ name, description: `Does ${name}`, parameters: {}, group, execute: () => name });
const search = defineTool({
  name: 'searchKB',
  description: 'Searches',
  group: ReadOnly,
  parameters: { query: { type: 'string', description: 'What for' } },
  execute: ({ query }) => `about ${query}`,
});

/** The names on offer, and all that was sent. */
async function offered(
  tools: readonly object[],
  wire: WireName = 'envelope',
): Promise<{ readonly names: readonly string[]; readonly body: string }> {
  const model = scriptedModel([text('ok')]);
  await createAIService({ model, tools, wire }).chat('q');
  const { body, tools: names } = model.requests[0]!;
  return { names, body };
}

const names = async (set: Toolset): Promise<readonly string[]> => (await offered([set])).names;

describe('a toolset', () => {
  it('has what is in it, wherever a list stands', async () => {
    expect(await names(toolset(new Orders(), search))).toEqual([
      'Orders_find',
      'Orders_invoice',
      'Orders_refund',
      'searchKB',
    ]);
    expect((await offered([toolset(search), tool('pay')])).names).toEqual(['pay', 'searchKB']);
  });

  it('is narrowed by groups, one after the other', async () => {
    const all = toolset(new Orders(), tool('pay', Billing));
    expect(await names(all.only(ReadOnly))).toEqual(['Orders_find', 'Orders_invoice']);
    expect(await names(all.only([ReadOnly]).only(Billing))).toEqual(['Orders_invoice']);
    expect(await names(all.only(Mutating))).toEqual(['Orders_refund', 'pay']);
  });

  it('loses, renames and prefixes by the names that the steps before left', async () => {
    const set = toolset(new Orders(), search)
      .except('Orders_refund')
      .rename({ searchKB: 'search' })
      .prefix('crm')
      .except('crm_Orders_find')
      .rename({ crm_search: 'crm_Orders_invoice', crm_Orders_invoice: 'crm_search' });
    const { names: left, body } = await offered([set]);
    expect(left).toEqual(['crm_Orders_invoice', 'crm_search']);
    expect(body).toContain('crm_Orders_invoice(query: string');
    expect(body).not.toContain('searchKB');
  });

  it.each<WireName>(['envelope', 'union', 'native'])(
    'says anew what a tool and a parameter are, on %s',
    async (wire) => {
      const set = toolset(search)
        .prefix('crm')
        .describe({ crm_searchKB: 'Searches the CRM', 'crm_searchKB.query': 'Words' });
      const { body } = await offered([set], wire);
      expect(body).toContain('Searches the CRM');
      expect(body).toContain('Words');
      expect(body).not.toContain('What for');
    },
  );

  it('describes a parameter that a schema of another library declares', async () => {
    const zod = defineTool({ name: 'z', description: 'd', parameters: z.object({ id: z.string() }), execute: () => 1 });
    expect((await offered([toolset(zod).describe({ 'z.id': 'The customer' })], 'union')).body).toContain(
      'The customer',
    );
  });

  it('never changes: each step gives another', async () => {
    const all = toolset(search, tool('pay'));
    all.except('pay');
    all.prefix('x');
    expect(await names(all)).toEqual(['pay', 'searchKB']);
    expect(Object.isFrozen(all)).toBe(true);
  });

  it('holds others', async () => {
    const crm = toolset(search).prefix('crm');
    expect(await names(toolset(crm, tool('pay')).prefix('desk'))).toEqual(['desk_crm_searchKB', 'desk_pay']);
  });

  it('keeps two classes of one name apart (C07)', async () => {
    const orders = new Orders();
    const legacy = new Orders();
    const model = scriptedModel([
      call('old_Orders_find', { orderId: 1 }),
      call('new_Orders_find', { orderId: 2 }),
      text('ok'),
    ]);
    const service = createAIService({ model, tools: [toolset(orders).prefix('new'), toolset(legacy).prefix('old')] });
    await service.chat('q');
    expect([orders.ran, legacy.ran]).toEqual([['find 2'], ['find 1']]);
  });

  it('runs a renamed tool under its new name alone', async () => {
    const orders = new Orders();
    const model = scriptedModel([call('Orders_refund'), call('pay_back'), text('ok')]);
    const set = toolset(orders).only(Mutating).rename({ Orders_refund: 'pay_back' });
    const { calls } = await createAIService({ model, tools: [set] }).run('q');
    expect(calls.map(({ tool: name, outcome }) => [name, outcome])).toEqual([
      ['Orders_refund', 'unknown-tool'],
      ['pay_back', 'ok'],
    ]);
    expect(orders.ran).toEqual(['refund']);
  });

  it('is counted by its new name where two calls are one', async () => {
    const orders = new Orders();
    const model = scriptedModel([call('crm_Orders_refund'), call('crm_Orders_refund'), text('ok')]);
    const { calls } = await createAIService({ model, tools: [toolset(orders).prefix('crm')] }).run('q');
    expect(calls.map(({ outcome }) => outcome)).toEqual(['ok', 'repeated']);
  });
});

describe('a toolset refuses', () => {
  const create = (set: Toolset) => () => createAIService({ model: scriptedModel([]), tools: [set] });

  it.each<[string, () => unknown, RegExp]>([
    ['nothing', () => toolset(), /toolset: there are no tools in it/],
    ['undefined', () => toolset(search, undefined as never), /toolset, source 1 is undefined: a circular import/],
    ['a list', () => toolset([search] as never), /toolset, source 0 is an array; list classes, tools/],
    [
      'a group that is none',
      () => toolset(search).only('ReadOnly' as never),
      /toolset\(…\)\.only: toolGroup takes a group/,
    ],
    ['an effect mixed with a group', () => toolset(search).only([ReadOnly, Billing]), /mixes ReadOnly with Billing/],
    ['except nothing', () => toolset(search).except(), /except takes wire names, .*found nothing/],
    ['except a tool itself', () => toolset(search).except(search as never), /except takes wire names/],
    [
      'a prefix that no name may have',
      () => toolset(search).prefix('my crm'),
      /prefix takes a word of letters.*found "my crm"/,
    ],
    [
      'a new name that no provider takes',
      () => toolset(search).rename({ searchKB: 'search kb' }),
      /has characters that providers refuse/,
    ],
    ['the name of the answer', () => toolset(search).rename({ searchKB: 'ANSWER' }), /the name ANSWER is taken/],
    ['to rename a list', () => toolset(search).rename(['searchKB'] as never), /rename takes an object/],
    [
      'a blank description',
      () => toolset(search).describe({ searchKB: ' ' }),
      /describe, searchKB: the description is blank/,
    ],
  ])('%s at once', (_title, make, message) => {
    expect(make).toThrow(AIDefinitionError);
    expect(make).toThrow(message);
  });

  it.each<[string, Toolset, RegExp]>([
    [
      'to lose a tool that is not there',
      toolset(search).except('serchKB'),
      /createAIService: toolset\(…\)\.except: there is no tool "serchKB" at this point; there are searchKB/,
    ],
    [
      'to rename one by its old name',
      toolset(search).prefix('crm').rename({ searchKB: 'find' }),
      /there is no tool "searchKB" at this point; there are crm_searchKB/,
    ],
    [
      'to describe one that is not there',
      toolset(search).describe({ find: 'Finds' }),
      /describe: there is no tool "find"/,
    ],
    [
      'to describe a parameter that is not there',
      toolset(search).describe({ 'searchKB.q': 'Words' }),
      /describe: searchKB has no parameter "q"; there are query/,
    ],
    ['a group that leaves nothing', toolset(search).only(Billing), /only: no tool is in toolGroup Billing/],
    [
      'a name that a prefix makes too long',
      toolset(search).prefix('p'.repeat(60)),
      /has 69 characters, 64 are allowed/,
    ],
    [
      'two tools of one name',
      toolset(search, tool('pay')).rename({ pay: 'searchKB' }),
      /both have the wire name searchKB/,
    ],
  ])('%s when its agent is made', (_title, set, message) => {
    expect(create(set)).toThrow(message);
  });

  it('all of it in one error', () => {
    const set = toolset(search).except('a').rename({ b: 'c' });
    expect(create(set)).toThrow(/2 problems:\n.*"a".*\n.*"b"/);
  });
});

const STEPS = fc.array(
  fc.oneof(
    fc.constantFrom<(set: Toolset) => Toolset>(
      (set) => set.only(ReadOnly),
      (set) => set.only(Mutating),
      (set) => set.only(Billing),
    ),
    fc.stringMatching(/^[a-z]{1,3}$/).map((prefix) => (set: Toolset) => set.prefix(prefix)),
  ),
  { maxLength: 5 },
);

describe('whatever is done to a toolset', () => {
  it('what the model reads, what its schema takes and what runs are the same names', async () => {
    const groups = [[], [ReadOnly], [Mutating], [Billing], [ReadOnly, Billing]];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...groups), { minLength: 1, maxLength: 5 }),
        STEPS,
        async (marks, steps) => {
          const set = steps.reduce(
            (left, step) => step(left),
            toolset(...marks.map((mark, n) => tool(`t${n.toString()}`, mark))),
          );
          let seen: Awaited<ReturnType<typeof offered>>;
          try {
            seen = await offered([set]);
          } catch (error) {
            if (!String(error).includes('no tool is in toolGroup')) throw error;
            return;
          }
          const body = JSON.parse(seen.body) as {
            messages: { content: string }[];
            response_format: { json_schema: { schema: { properties: { tool: { enum: string[] } } } } };
          };
          const manifest = [...body.messages[0]!.content.matchAll(/^- (\w+)\(/gm)].map(([, name]) => name);
          const grammar = body.response_format.json_schema.schema.properties.tool.enum;
          expect(manifest).toEqual(seen.names);
          expect(grammar).toEqual([...seen.names, 'ANSWER']);
          const all = ['t0', 't1', 't2', 't3', 't4', ...seen.names];
          const model = scriptedModel([...all.map((name) => call(name)), text('ok')]);
          const service = createAIService({
            model,
            tools: [set],
            maxToolCalls: all.length,
            logger: { warn: () => 0, error: () => 0 },
          });
          const { calls } = await service.run('q');
          const ran = calls.filter(({ executed }) => executed).map(({ tool: name }) => name);
          expect([...new Set(ran)].sort()).toEqual(seen.names);
        },
      ),
      { numRuns: 60 },
    );
  });
});
