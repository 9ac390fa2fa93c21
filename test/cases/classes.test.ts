import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Type } from 'class-transformer';
import { Allow, IsInt, IsString, Max, Min, Validate, ValidateNested, ValidatorConstraint } from 'class-validator';
import { AIScopeError, AITool, AIToolParam } from 'inversify-ai';
import { call, text } from 'inversify-ai/testing';
import { play, toldBefore } from './cases.js';

enum Level {
  Low,
  High,
}

describe('C02: the word "null" for what is no text', () => {
  class OrderTools {
    readonly ran: unknown[][] = [];
    @AITool('Assigns')
    assign(
      @AIToolParam('due', 'When', { optional: true }) due?: Date,
      @AIToolParam('level', 'How', { enum: Level, optional: true }) level?: Level,
    ): void {
      this.ran.push([due, level]);
    }
  }

  it.each(['"null"', 'null'])('is absence: %s', async (word) => {
    const tools = new OrderTools();
    await play([tools], [call('OrderTools_assign', `{"due":${word},"level":${word}}`), text('ok')]).ask();
    expect(tools.ran).toEqual([[undefined, undefined]]);
  });
});

describe('C03: a nineteen-digit id keeps its digits', () => {
  class Ref {
    @Allow() id!: bigint;
  }
  class OrderTools {
    readonly ran: unknown[] = [];
    @AITool('By number')
    a(@AIToolParam('id', 'The id') id: bigint): void {
      this.ran.push(id);
    }
    @AITool('By reference')
    b(@AIToolParam('ref', 'The reference') ref: Ref): void {
      this.ran.push(ref.id);
    }
  }

  it.each(['2512292042121000001', '"2512292042121000001"'])('written as %s', async (literal) => {
    const tools = new OrderTools();
    const { ask, model } = play(
      [tools],
      [call('OrderTools_a', `{"id":${literal}}`), call('OrderTools_b', `{"ref":{"id":${literal}}}`), text('ok')],
    );
    await ask();
    expect(tools.ran).toEqual([2512292042121000001n, 2512292042121000001n]);
    expect(model.requests[2]!.body).not.toContain('2512292042121000000');
    expect(model.requests[2]!.body.match(/2512292042121000001/g)).toHaveLength(2);
  });
});

describe('C04: a numeric enum is offered by its names', () => {
  class OrderTools {
    readonly ran: unknown[] = [];
    @AITool('Lists')
    list(@AIToolParam('level', 'How deep', { enum: Level }) level: Level): void {
      this.ran.push(level);
    }
  }

  it.each(['"High"', '"high"', '1'])('and takes %s', async (sent) => {
    const tools = new OrderTools();
    const { ask, model } = play([tools], [call('OrderTools_list', `{"level":${sent}}`), text('ok')]);
    await ask();
    expect(tools.ran).toEqual([Level.High]);
    expect(model.requests[0]!.body).toContain('OrderTools_list(level: \\"Low\\" | \\"High\\" \\"How deep\\")');
  });
});

describe('C05: a nested value arrives as text', () => {
  class LineDto {
    @IsString() sku!: string;
    @IsInt() qty!: number;
  }
  class OrderDto {
    @ValidateNested({ each: true }) @Type(() => LineDto) lines!: LineDto[];
  }
  class OrderTools {
    readonly ran: unknown[][] = [];
    @AITool('Creates')
    create(@AIToolParam('order', 'The order') order: OrderDto, @AIToolParam('note', 'A note') note: string): void {
      this.ran.push([order, note]);
    }
  }

  it('is read at both levels, text stays text, and an observer sees what the method got', async () => {
    const tools = new OrderTools();
    const { ask, events } = play(
      [tools],
      [
        call(
          'OrderTools_create',
          String.raw`{"order":"{\"lines\":\"[{\\\"sku\\\":\\\"A\\\",\\\"qty\\\":2}]\"}","note":"[1,2]"}`,
        ),
        text('ok'),
      ],
    );
    await ask();
    const [[order, note]] = tools.ran as [[OrderDto, string]];
    expect(order).toBeInstanceOf(OrderDto);
    expect(order.lines[0]).toBeInstanceOf(LineDto);
    expect(order.lines[0]!.qty).toBe(2);
    expect(note).toBe('[1,2]');
    expect(events.ended[0]!.arguments).toEqual({ order, note });
    expect(events.started[0]!.arguments).toEqual({ order, note });
  });
});

describe('C12: what is told of a value that a class refuses', () => {
  class PayDto {
    @IsInt() @Min(1) @Max(500) amount!: number;
    @IsString() cardToken!: string;
  }
  class Till {
    readonly ran: number[] = [];
    @AITool('Pays')
    pay(@AIToolParam('p', 'What') p: PayDto): string {
      this.ran.push(p.amount);
      return 'ok';
    }
  }

  it('is the path, the value and the limit, and nothing else of it', async () => {
    const tools = new Till();
    const { ask, model } = play(
      [tools],
      [
        call('Till_pay', '{"p":{"amount":900,"cardToken":"tok-SECRET"}}'),
        call('Till_pay', '{"p":{"amount":400,"cardToken":"tok-SECRET"}}'),
        text('paid'),
      ],
    );
    expect((await ask()).run?.text).toBe('paid');
    expect(toldBefore(model, 1)).toBe(
      'Till_pay was not called, its arguments are wrong:\np.amount: expected an integer from 1 to 500, got 900',
    );
    expect(tools.ran).toEqual([400]);
  });
});

describe('a rule of the application’s', () => {
  /** What the rule does with a value. */
  let rule: () => boolean | Promise<boolean>;

  @ValidatorConstraint({ name: 'known', async: true })
  class Known {
    validate(): boolean | Promise<boolean> {
      return rule();
    }
    defaultMessage(): string {
      return 'no such customer';
    }
  }
  class CustomerDto {
    @Validate(Known) @IsString() id!: string;
  }
  class Desk {
    readonly ran: string[] = [];
    @AITool({ description: 'Closes', timeoutMs: 1_000 })
    close(@AIToolParam('customer', 'Who') customer: CustomerDto): string {
      this.ran.push(customer.id);
      return 'closed';
    }
  }
  const played = (tools: Desk) => play([tools], [call('Desk_close', '{"customer":{"id":"c1"}}'), text('done')]);

  it('that throws is not shown to the model, but to the observer and in the log', async () => {
    const error = new Error('SELECT secret FROM customers');
    rule = () => {
      throw error;
    };
    const tools = new Desk();
    const { ask, model, events, logger } = played(tools);
    expect((await ask()).run?.text).toBe('done');
    expect(tools.ran).toEqual([]);
    expect(toldBefore(model, 1)).toBe(
      'Desk_close was not called, its arguments are wrong:\ncustomer: this value could not be checked',
    );
    expect(events.ended[0]).toMatchObject({ outcome: 'invalid-arguments', error });
    expect(logger.warn).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(model.requests)).not.toContain('secret');
  });

  it('that has no scope to ask ends the run', async () => {
    const error = new AIScopeError('There is no scope.');
    rule = () => Promise.reject(error);
    const { ask, model } = played(new Desk());
    expect((await ask()).error).toBeInstanceOf(AIScopeError);
    expect(model.requests).toHaveLength(1);
  });

  it('may take as long as the tool, and nothing is run after that', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      let release: (passes: boolean) => void = () => undefined;
      rule = () => new Promise((resolve) => (release = resolve));
      const tools = new Desk();
      const { ask, model, events } = played(tools);
      const asked = ask();
      await new Promise(setImmediate);
      expect(events.started).toEqual([]);
      await jest.advanceTimersByTimeAsync(1_000);
      expect((await asked).run?.text).toBe('done');
      release(true);
      await new Promise(setImmediate);
      expect(tools.ran).toEqual([]);
      expect(toldBefore(model, 1)).toBe(
        'Desk_close was not called: its arguments could not be checked in time. Nothing was run.',
      );
      expect(events.started).toHaveLength(1);
      expect(events.ended).toHaveLength(1);
      expect(events.ended[0]).toMatchObject({ outcome: 'timed-out' });
    } finally {
      jest.useRealTimers();
    }
  });

  it('does not outlast the caller', async () => {
    rule = () => new Promise(() => undefined);
    const tools = new Desk();
    const { service, events } = played(tools);
    const controller = new AbortController();
    const asked = service.run('q', { signal: controller.signal }).catch((error: unknown) => error);
    await new Promise(setImmediate);
    const reason = new Error('gone');
    controller.abort(reason);
    expect(await asked).toBe(reason);
    expect(tools.ran).toEqual([]);
    expect(events.ended).toHaveLength(1);
    expect(events.ended[0]).toMatchObject({ outcome: 'aborted' });
  });
});
