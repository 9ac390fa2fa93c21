import { describe, expect, it, jest } from '@jest/globals';
import {
  AIMiddleware,
  type AIRun,
  type AIServiceOptions,
  AIToolIterationError,
  createAIService,
  defineTool,
  ReadOnly,
  type NextTool,
  type ToolInvocation,
  type ToolOutcome,
} from 'inversify-ai';
import { call, calls, scriptedModel, type ScriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { Events } from '../events.js';
import { settled } from '../settled.js';

/* Several calls in one turn, in the provider's own function calling. */

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
  readonly tool_call_id?: string;
}

const messages = (model: ScriptedModel, n: number): readonly Message[] =>
  (JSON.parse(model.requests[n]!.body) as { readonly messages: readonly Message[] }).messages;

/** The results of a request, each with the id of its call. */
const results = (model: ScriptedModel, n: number) =>
  messages(model, n).flatMap(({ role, tool_call_id: id, content }) => (role === 'tool' ? [[id, content]] : []));

/** Whether every call of a request has a result of its own, directly behind it, and no other stands anywhere. */
function wellFormed(model: ScriptedModel): void {
  for (let n = 0; n < model.requests.length; n++) {
    const ids: string[] = [];
    const list = messages(model, n);
    for (const [at, { tool_calls: made = [] }] of list.entries()) {
      const answers = list.slice(at + 1, at + 1 + made.length).map(({ tool_call_id: id }) => id);
      expect(answers).toEqual(made.map(({ id }) => id));
      ids.push(...made.map(({ id }) => id));
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(list.filter(({ role }) => role === 'tool')).toHaveLength(ids.length);
  }
}

class Bank {
  readonly ran: string[] = [];
  atWork = 0;
  most = 0;

  async #work(what: string, ms: number): Promise<string> {
    this.ran.push(what);
    this.atWork++;
    this.most = Math.max(this.most, this.atWork);
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.atWork--;
    return `${what} done`;
  }

  readonly tools = [
    defineTool({
      name: 'pay',
      description: 'Pays',
      parameters: { amount: { type: 'integer', description: 'How much' } },
      execute: ({ amount }) => this.#work(`pay ${amount.toString()}`, 3),
    }),
    defineTool({
      name: 'find',
      description: 'Finds',
      group: ReadOnly,
      parameters: { n: { type: 'integer', description: 'Which' } },
      // The first ones take longest.
      execute: ({ n }) => this.#work(`find ${n.toString()}`, 8 - n),
    }),
    defineTool({
      name: 'boom',
      description: 'Fails at once',
      parameters: {},
      execute: () => {
        this.ran.push('boom');
        throw new Error('at once');
      },
    }),
  ];
}

interface Asked {
  readonly run?: AIRun;
  readonly error?: unknown;
  readonly bank: Bank;
  readonly model: ScriptedModel;
  readonly events: Events;
}

async function ask(turns: readonly ScriptedTurn[], options: Partial<AIServiceOptions> = {}): Promise<Asked> {
  const bank = new Bank();
  const model = scriptedModel(turns);
  const events = new Events();
  const service = createAIService({
    model,
    tools: bank.tools,
    wire: 'native',
    observers: [events],
    logger: { warn: jest.fn(), error: jest.fn() },
    ...options,
  });
  const ended = await service.run('q').then(
    (run) => ({ run }),
    (error: unknown) => ({ error }),
  );
  wellFormed(model);
  await settled();
  return { ...ended, bank, model, events };
}

const pay = (amount: number, id?: string) => ({ name: 'pay', arguments: { amount }, ...(id !== undefined && { id }) });
const find = (n: number, id?: string) => ({ name: 'find', arguments: { n }, ...(id !== undefined && { id }) });
const FAILED = 'boom failed. The reason is not known to you, so do not guess it.';

describe('C15: three calls, one of which fails', () => {
  it.each([
    ['in the middle', [pay(5, 'c1'), { name: 'boom', id: 'c2' }, find(4, 'c3')]],
    ['first', [{ name: 'boom', id: 'c1' }, pay(5, 'c2'), find(4, 'c3')]],
    ['between two that only look', [find(1, 'c1'), { name: 'boom', id: 'c2' }, find(7, 'c3')]],
  ])('%s: each is answered, in the model’s order, with its own result', async (_title, made) => {
    for (const parallelToolCalls of [false, true]) {
      const { run, bank, model, events } = await ask([calls(made), text('ok')], { parallelToolCalls });
      expect(run?.text).toBe('ok');
      const told = made.map(({ name, id, ...rest }) => {
        const { arguments: args = {} } = rest as { readonly arguments?: Readonly<Record<string, number>> };
        return [id, name === 'boom' ? FAILED : `${name} ${String(Object.values(args)[0])} done`];
      });
      expect(results(model, 1)).toEqual(told);
      expect(run!.calls.map(({ callId }) => callId)).toEqual(['c1', 'c2', 'c3']);
      expect(events.ended).toHaveLength(3);
      expect(bank.ran.filter((what) => what.startsWith('pay'))).toHaveLength(
        made.some(({ name }) => name === 'pay') ? 1 : 0,
      );
    }
  });
});

describe('C16: call ids that repeat', () => {
  it.each([
    ['the same id for two orders', [find(1, 'x'), find(2, 'x')]],
    ['empty ids', [find(1, ''), find(2, '')]],
    ['no ids', [find(1), find(2)]],
    ['an id that we would give', [find(1, 'call_2'), find(2)]],
    ['ids that no provider takes back', [find(1, 'a b'), find(2, 'x'.repeat(80))]],
  ])('%s: both run, each is answered', async (_title, made) => {
    const { run, bank, model } = await ask([calls(made), text('ok')]);
    expect(run?.text).toBe('ok');
    expect(bank.ran).toEqual(['find 1', 'find 2']);
    expect(results(model, 1).map(([, content]) => content)).toEqual(['find 1 done', 'find 2 done']);
  });

  it('the same id, name and arguments twice, mutating: it runs once, and is answered twice', async () => {
    const { bank, model, events } = await ask([calls([pay(5, 'x'), pay(5, 'x')]), text('ok')]);
    expect(bank.ran).toEqual(['pay 5']);
    expect(results(model, 1)).toHaveLength(2);
    expect(events.ended.map(({ outcome }) => outcome)).toEqual(['ok', 'repeated']);
  });

  it('the same id in two turns, for two orders: both run', async () => {
    const turns = [1, 2].map((n) => calls([find(n, 'x')]));
    const { bank } = await ask([...turns, text('ok')]);
    expect(bank.ran).toEqual(['find 1', 'find 2']);
  });
});

describe('calls of one turn', () => {
  const several = calls([find(1), find(2), find(3), pay(1), find(4), find(5)]);

  it('run one after the other where nobody said otherwise', async () => {
    const { bank } = await ask([several, text('ok')], { maxToolCalls: 9 });
    expect(bank.most).toBe(1);
    expect(bank.ran).toEqual(['find 1', 'find 2', 'find 3', 'pay 1', 'find 4', 'find 5']);
  });

  it.each([
    [2, 2],
    [4, 3],
  ])('that only look run together, %s at most; one that may change something is a barrier', async (width, most) => {
    const options = { parallelToolCalls: true, maxParallelCalls: width, maxToolCalls: 9 };
    const { run, bank, model, events } = await ask([several, text('ok')], options);
    expect(bank.most).toBe(most);
    const paidAt = bank.ran.indexOf('pay 1');
    expect([...bank.ran.slice(0, paidAt)].sort()).toEqual(['find 1', 'find 2', 'find 3']);
    // Nothing begins before the payment has ended.
    const names = events.all.flatMap(([name, event]) =>
      name === 'toolStarted' || name === 'toolEnded' ? [`${name} ${(event as { callId: string }).callId}`] : [],
    );
    expect(names.indexOf('toolEnded call_4')).toBe(names.indexOf('toolStarted call_4') + 1);
    expect(run!.calls.map(({ result }) => result)).toEqual(
      ['find 1', 'find 2', 'find 3', 'pay 1', 'find 4', 'find 5'].map((what) => `${what} done`),
    );
    expect(results(model, 1).map(([, content]) => content)).toEqual(run!.calls.map(({ result }) => result));
  });

  it('are counted one by one where a tool has a bound', async () => {
    const { run, bank } = await ask([calls([find(1), find(2), find(3)]), text('ok')], {
      parallelToolCalls: true,
      limits: { perTool: { find: 2 } },
    });
    expect(bank.ran).toEqual(['find 1', 'find 2']);
    expect(run!.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'refused']);
  });

  it('beyond the cap are answered, and not run', async () => {
    const { run, bank, model } = await ask([calls([pay(1), pay(2), pay(3)]), text('ok')], { maxToolCalls: 2 });
    expect(bank.ran).toEqual(['pay 1', 'pay 2']);
    expect(run).toMatchObject({ text: 'ok', stop: 'cap' });
    expect(results(model, 1).at(-1)![1]).toBe('pay was not run: no more calls are allowed for this question.');
    expect(model.requests[1]!.tools).toEqual([]);
  });

  it('beside text: at the cap the text is the answer, before it is kept', async () => {
    const beside = call('find', { n: 1 }, { text: 'Let me look.' });
    const { run, model } = await ask([beside, text('In transit')]);
    expect(run?.text).toBe('In transit');
    expect(model.requests[1]!.body).toContain('Let me look.');
    const capped = await ask([call('find', { n: 1 }), call('find', { n: 2 }, { text: 'That is all.' })], {
      maxToolCalls: 1,
    });
    expect(capped.run).toMatchObject({ text: 'That is all.', stop: 'cap' });
    expect(capped.bank.ran).toEqual(['find 1']);
    const bare = await ask([call('find', { n: 1 }), call('find', { n: 2 })], { maxToolCalls: 1 });
    expect(bare.error).toBeInstanceOf(AIToolIterationError);
  });

  it('with broken arguments are bad arguments, each for itself', async () => {
    const made = [
      { name: 'pay', arguments: '{"amount":' },
      { name: 'pay', arguments: '[1]' },
      { name: 'pay', arguments: '{"amount":1,"amount":2}' },
      pay(3),
    ];
    const { run, bank } = await ask([calls(made), text('ok')]);
    expect(bank.ran).toEqual(['pay 3']);
    expect(run!.calls.map(({ outcome }) => outcome)).toEqual([
      'invalid-arguments',
      'invalid-arguments',
      'invalid-arguments',
      'ok',
    ]);
    expect(run!.calls[0]!.result).toContain('the text of the arguments is not valid JSON');
  });

  it('end together where the run is aborted: none begins any more', async () => {
    const controller = new AbortController();
    const bank = new Bank();
    const events = new Events();
    const asked = createAIService({
      model: scriptedModel([calls([find(1), find(2), find(3), pay(1)])]),
      tools: bank.tools,
      wire: 'native',
      parallelToolCalls: true,
      observers: [events],
    }).run('q', { signal: controller.signal });
    while (bank.atWork < 3) await new Promise((resolve) => setTimeout(resolve, 0));
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(asked).rejects.toBe(reason);
    expect(events.ended.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted', 'aborted']);
    await settled();
    expect(bank.ran).not.toContain('pay 1');
  });

  it.each([0, 1])('are given up together where an error of one, call %i, ends the run', async (at) => {
    const fatal = new Error('no licence');
    const signals: AbortSignal[] = [];
    const look = defineTool({
      name: 'look',
      description: 'Looks, for ever',
      group: ReadOnly,
      parameters: { n: { type: 'integer', description: 'Which' } },
      execute: (_args, { signal }) => {
        signals.push(signal);
        return new Promise<string>(() => undefined);
      },
    });
    class Licensed extends AIMiddleware {
      override async tool(call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
        if (call.arguments['n'] !== at) return await next();
        while (signals.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
        throw fatal;
      }
    }
    const events = new Events();
    const model = scriptedModel([
      calls([
        { name: 'look', arguments: { n: 0 } },
        { name: 'look', arguments: { n: 1 } },
      ]),
      text('late'),
    ]);
    const service = createAIService({
      model,
      tools: [look],
      wire: 'native',
      parallelToolCalls: true,
      middleware: [new Licensed()],
      observers: [events],
      logger: { warn: jest.fn(), error: jest.fn() },
    });
    await expect(service.run('q')).rejects.toBe(fatal);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(events.ended).toHaveLength(2);
    expect(events.ended.find(({ arguments: args }) => args?.['n'] === 1 - at)).toMatchObject({ outcome: 'aborted' });
    expect(model.requests).toHaveLength(1);
    await settled();
  });

  it('are answers where the last one says so, and none failed', async () => {
    const bank = new Bank();
    const direct = defineTool({
      name: 'last',
      description: 'Ends',
      returnDirect: true,
      parameters: {},
      execute: () => 'it',
    });
    const service = createAIService({
      model: scriptedModel([
        calls([find(1), { name: 'last' }]),
        calls([{ name: 'boom' }, { name: 'last' }]),
        text('ok'),
      ]),
      tools: [...bank.tools, direct],
      wire: 'native',
      logger: { warn: jest.fn(), error: jest.fn() },
    });
    expect(await service.chat('q')).toBe('it');
    expect(await service.chat('q')).toBe('ok');
  });
});
