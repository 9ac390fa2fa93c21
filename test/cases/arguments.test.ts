import { describe, expect, it } from '@jest/globals';
import { AITool, AIToolContext, AIToolParam, FromScope, type ToolCallContext } from 'inversify-ai';
import { call, text } from 'inversify-ai/testing';
import { as, Caller, Desk, application } from '../container/orders.js';
import { scriptedModel } from 'inversify-ai/testing';
import { play, toldBefore } from './cases.js';

describe('C01: a tool without parameters is called with nothing', () => {
  class OrderTools {
    readonly ran: number[] = [];
    @AITool('Lists the open orders')
    listOpen(): string {
      this.ran.push(arguments.length);
      return 'none';
    }
  }

  it.each([
    ['an empty text', ''],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['an empty object as a text', '"{}"'],
    ['nothing', undefined],
    ['white space', ' \n'],
  ])('with %s', async (_title, raw) => {
    const tools = new OrderTools();
    const { ask, model } = play([tools], [call('OrderTools_listOpen', raw), text('done')]);
    expect((await ask()).run?.text).toBe('done');
    expect(tools.ran).toEqual([0]);
    expect(toldBefore(model, 1)).toBe('none');
  });

  it('an argument all the same is named as an error, and nothing is thrown', async () => {
    const tools = new OrderTools();
    const { ask, model } = play([tools], [call('OrderTools_listOpen', '{"verbose":true}'), text('done')]);
    expect((await ask()).run?.text).toBe('done');
    expect(tools.ran).toEqual([]);
    expect(toldBefore(model, 1)).toContain('verbose: no such argument; this tool takes none');
  });
});

describe('C02: the word "null" as a value', () => {
  class OrderTools {
    readonly ran: unknown[][] = [];
    @AITool('Assigns')
    assign(
      @AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number,
      @AIToolParam('reviewer', 'Who', { optional: true }) reviewer?: string,
      @AIToolParam('urgent', 'Now', { optional: true }) urgent?: boolean,
      @AIToolParam('level', 'How', { enum: ['low', 'high'], optional: true }) level?: string,
    ): void {
      this.ran.push([orderId, reviewer, urgent, level]);
    }
    @AITool('Renames')
    rename(@AIToolParam('lastName', 'The last name') lastName: string): void {
      this.ran.push([lastName]);
    }
  }

  it('for an optional parameter is absence', async () => {
    const tools = new OrderTools();
    await play(
      [tools],
      [call('OrderTools_assign', '{"orderId":7,"reviewer":"null","urgent":"null","level":"null"}'), text('ok')],
    ).ask();
    await play(
      [tools],
      [call('OrderTools_assign', '{"orderId":7,"reviewer":null,"urgent":null,"level":null}'), text('ok')],
    ).ask();
    expect(tools.ran).toEqual([
      [7, undefined, undefined, undefined],
      [7, undefined, undefined, undefined],
    ]);
  });

  it.each(['Null', 'null'])('for a required text is text: %s', async (lastName) => {
    const tools = new OrderTools();
    await play([tools], [call('OrderTools_rename', { lastName }), text('ok')]).ask();
    expect(tools.ran).toEqual([[lastName]]);
  });
});

describe('C03: a nineteen-digit id keeps its digits', () => {
  class Ids {
    readonly ran: unknown[] = [];
    @AITool('By text')
    byText(@AIToolParam('id', 'The id') id: string): string {
      this.ran.push(id);
      return 'ok';
    }
    @AITool('By number')
    byNumber(@AIToolParam('id', 'The id') id: number): string {
      this.ran.push(id);
      return 'ok';
    }
    @AITool('By integer')
    byInteger(@AIToolParam('id', 'The id', { type: 'integer' }) id: number): string {
      this.ran.push(id);
      return 'ok';
    }
  }

  it.each(['{"id":2512292042121000001}', '{"id":"2512292042121000001"}'])('%s', async (raw) => {
    const tools = new Ids();
    const { ask, model } = play(
      [tools],
      [call('Ids_byText', raw), call('Ids_byNumber', raw), call('Ids_byInteger', raw), text('ok')],
    );
    await ask();
    expect(tools.ran).toEqual(['2512292042121000001']);
    expect(toldBefore(model, 2)).toMatch(/id: expected a number that is exact/);
    expect(toldBefore(model, 3)).toMatch(
      /id: expected an integer from -9007199254740991 to 9007199254740991, got "2512292042121000001"/,
    );
    for (const { body } of model.requests.slice(1)) {
      expect(body).toContain('2512292042121000001');
      expect(body).not.toContain('2512292042121000000');
    }
  });
});

describe('C04: enum spelling', () => {
  enum Status {
    Open = 'OPEN',
    Closed = 'CLOSED',
  }
  class OrderTools {
    readonly ran: unknown[] = [];
    @AITool('Lists')
    list(@AIToolParam('status', 'The state', { enum: Status }) status: Status): string {
      this.ran.push(status);
      return 'ok';
    }
  }

  it('offers the values, takes another letter case, and lists them for an unknown one', async () => {
    const tools = new OrderTools();
    const { ask, model } = play(
      [tools],
      [call('OrderTools_list', { status: 'open' }), call('OrderTools_list', { status: 'Reopened' }), text('ok')],
    );
    expect((await ask()).run?.text).toBe('ok');
    expect(tools.ran).toEqual(['OPEN']);
    expect(model.requests[0]!.body).toContain('OrderTools_list(status: \\"OPEN\\" | \\"CLOSED\\" \\"The state\\")');
    expect(toldBefore(model, 2)).toContain('status: expected one of "OPEN", "CLOSED", got "Reopened"');
  });
});

describe('C06: a value that the caller must not choose', () => {
  class Search {
    readonly ran: unknown[] = [];
    @AITool('Searches what is mine')
    mine(
      @AIToolParam('query', 'What') query: string,
      @FromScope(Caller) caller: Caller,
      @AIToolContext() context: ToolCallContext,
    ): string {
      this.ran.push([query, caller.id, context.question]);
      return 'ok';
    }
  }

  it('is in no request, and a model that sends one is refused', async () => {
    const tools = new Search();
    const raw =
      '{"query":"x","caller":{"id":"bob","roles":["ADMIN"]},"_context":{"callerId":"bob"},"_chatRequest":{"user":"bob"}}';
    const model = scriptedModel([
      call('Search_mine', raw.replaceAll(/\{"(?:id|callerId|user)[^}]*\}/g, '"bob"')),
      call('Search_mine', { query: 'x' }),
      text('ok'),
    ]);
    const { ai } = application(model, (container) => {
      container.bind(Search).toConstantValue(tools);
    });
    const run = await ai.runInScope(as('alice'), (scope) => {
      return scope.container.get(Desk).agent.withTools([Search]).run('q');
    });
    expect(model.requests[0]!.body).toContain('Search_mine(query: string \\"What\\") ->');
    expect(model.requests[0]!.body).not.toMatch(/caller|_context|_chatRequest/i);
    expect(run.calls[0]!.outcome).toBe('invalid-arguments');
    expect(tools.ran).toEqual([['x', 'alice', 'q']]);
  });
});

describe('a number is never rounded into another one', () => {
  class Orders {
    readonly ran: unknown[] = [];
    @AITool('By number')
    find(@AIToolParam('id', 'The id', { type: 'integer' }) id: number): string {
      this.ran.push(id);
      return 'ok';
    }
    @AITool('By text')
    note(@AIToolParam('text', 'The text') text: string): string {
      this.ran.push(text);
      return 'ok';
    }
  }

  it.each(['9007199254740990.9', '0.9999999999999999999', '42.00000000000000000001', '1e-400', '42.0', '4.2e1'])(
    'the literal %s is no integer',
    async (literal) => {
      const tools = new Orders();
      const { ask, model } = play([tools], [call('Orders_find', `{"id":${literal}}`), text('ok')]);
      await ask();
      expect(tools.ran).toEqual([]);
      expect(toldBefore(model, 1)).toContain(`id: expected an integer, got "${literal}"`);
    },
  );

  it.each(['1e3', '12345.0', '2512292042121000001'])(
    'the literal %s keeps its characters as a text',
    async (literal) => {
      const tools = new Orders();
      await play([tools], [call('Orders_note', `{"text":${literal}}`), text('ok')]).ask();
      expect(tools.ran).toEqual([literal]);
    },
  );
});
