import { describe, expect, it, jest } from '@jest/globals';
import 'reflect-metadata';
import { IsOptional, IsString } from 'class-validator';
import { z } from 'zod';
import { ArgumentGuard, type ArgumentGuardOptions, createAIService, defineTool, type Tool } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { Events } from '../../events.js';

const fail = (): never => {
  throw new Error('nobody reads this');
};

class Private {
  #iban = '';
  @IsString()
  get iban(): string {
    return this.#iban;
  }
  set iban(iban: string) {
    this.#iban = iban;
  }
}
class Hidden {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  reads(): boolean {
    return this.#text !== '';
  }
}
class Filter {
  @IsOptional() @IsString() name?: string;
  get label(): string {
    return this.name!.toUpperCase();
  }
}
class Month {
  constructor(private readonly n: number) {}
  get next(): Month {
    return new Month(this.n + 1);
  }
}
class Said extends Hidden {
  constructor(readonly text: () => string) {
    super('');
    Object.defineProperty(this, 'text', { enumerable: false });
  }
  toJSON(): string {
    return this.text();
  }
}

const everything = defineTool({
  name: 'everything',
  description: 'Takes everything',
  parameters: {
    text: { type: 'string', description: 'A text', optional: true },
    list: { items: 'string', description: 'Texts', optional: true },
    map: { type: Map, values: 'string', description: 'Texts by name', optional: true },
    bytes: { type: Buffer, description: 'Bytes', optional: true },
    number: { type: 'number', description: 'A number', optional: true },
    big: { type: BigInt, description: 'A number', optional: true },
    date: { type: Date, description: 'A moment', optional: true },
    dto: { type: Private, description: 'One with accessors', optional: true },
    hidden: { schema: z.string().transform((text) => new Hidden(text)), description: 'Hides', optional: true },
    said: { schema: z.string().transform((text) => new Said(() => atob(text))), description: 'Says', optional: true },
    filter: { type: Filter, description: 'A filter', optional: true },
    months: { schema: z.number().transform((n) => new Month(n)) as never, description: 'Months', optional: true },
    fails: {
      schema: z.string().transform((text) => Object.defineProperty({}, text, { get: () => fail(), enumerable: true })),
      description: 'Fails',
      optional: true,
    },
  },
  execute: () => 'ran',
});

async function ask(options: ArgumentGuardOptions, args: Readonly<Record<string, unknown>>, more: readonly Tool[] = []) {
  const events = new Events();
  const model = scriptedModel([call('everything', args), call('everything', args), text('done')]);
  const service = createAIService({
    model,
    tools: [everything, ...more],
    middleware: [new ArgumentGuard(options)],
    observers: [events],
    logger: { warn: jest.fn(), error: jest.fn() },
  });
  await service.chat('q');
  return { events, model, outcomes: events.ended.map(({ outcome }) => outcome) };
}

describe('ArgumentGuard', () => {
  const deny = [/drop\s+table/i];

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a text', { text: 'please DROP\n TABLE orders' }],
    ['an item', { list: ['a', 'drop table'] }],
    ['a value', { map: { a: 'drop table' } }],
    ['a key', { map: { 'drop table': 'a' } }],
    ['an escape within JSON text', { dto: '{"iban":"drop\\u0020table"}' }],
    ['an accessor', { dto: { iban: 'drop table' } }],
    ['what an object says of itself', { said: btoa('drop table') }],
    ['what is within base64', { bytes: Buffer.from('drop table').toString('base64') }],
  ])('refuses a call by %s', async (_title, args) => {
    const { outcomes, model, events } = await ask({ deny }, args);
    expect(outcomes).toEqual(['refused', 'refused']);
    expect(model.requests[1]!.body).toContain('This call is not allowed with these arguments.');
    // Which pattern it was is the application's to know.
    expect(model.requests[1]!.body).not.toContain('\\\\s+table');
    expect((events.ended[0]!.error as Error).message).toMatch(/^ArgumentGuard: \w+ matches \/drop/);
  });

  it.each<[string, RegExp, Readonly<Record<string, unknown>>]>([
    ['a number', /^666$/, { number: 666 }],
    ['a big integer', /^123456789012345678901$/, { big: '123456789012345678901' }],
    ['a moment', /^2026-03-01T/, { date: '2026-03-01' }],
  ])('looks at the text form of %s', async (_title, pattern, args) => {
    expect((await ask({ deny: [pattern] }, args)).outcomes).toEqual(['refused', 'refused']);
  });

  it.each([
    ['shows nothing of what it holds', { hidden: 'a' }, /hidden holds an object that shows nothing of what it holds/],
    ['fails when it is read', { fails: 'a' }, /fails holds an object that fails when it is read/],
  ])('refuses what it cannot look into: an object that %s', async (_title, args, message) => {
    const { outcomes, events } = await ask({ deny }, args);
    expect(outcomes).toEqual(['refused', 'refused']);
    expect((events.ended[0]!.error as Error).message).toMatch(message);
    // A tool that it does not look at is not its business.
    const other = defineTool({ name: 'other', description: 'Another', parameters: {}, execute: () => 'ok' });
    expect((await ask({ deny, tools: ['other'] }, args, [other])).outcomes[0]).toBe('ok');
  });

  it('refuses what has no end, and JSON that is read otherwise elsewhere', async () => {
    const { outcomes, events } = await ask({ deny }, { months: 1 });
    expect(outcomes).toEqual(['refused', 'refused']);
    expect((events.ended[0]!.error as Error).message).toMatch(/months holds more values than can be looked at/);
    const twice = await ask({ deny }, { text: '{"a":1,"a":"dro\\u0070 table"}' });
    expect(twice.outcomes[0]).toBe('refused');
    expect((twice.events.ended[0]!.error as Error).message).toMatch(/text holds a text of JSON that is not read here/);
  });

  it('lets an empty object of a class by, and one whose accessor fails', async () => {
    expect((await ask({ deny }, { filter: {} })).outcomes[0]).toBe('ok');
  });

  it('lets the others by, and looks only at the tools it is told of', async () => {
    expect((await ask({ deny }, { text: 'table drop' })).outcomes[0]).toBe('ok');
    const other = defineTool({ name: 'other', description: 'Another', parameters: {}, execute: () => 'ok' });
    expect((await ask({ deny, tools: ['other'] }, { text: 'drop table' }, [other])).outcomes[0]).toBe('ok');
    expect((await ask({ deny, tools: ['everything'] }, { text: 'drop table' })).outcomes[0]).toBe('refused');
  });

  it.each(['g', 'y', 'gy'])('forgets nothing between calls with the flags %s', async (flags) => {
    const { outcomes } = await ask({ deny: [new RegExp('drop', flags)] }, { text: 'drop' });
    expect(outcomes).toEqual(['refused', 'refused']);
  });

  it('says what the application wants to have said', async () => {
    const { model } = await ask({ deny, text: 'No SQL, please.' }, { text: 'drop table' });
    expect(model.requests[1]!.body).toContain('No SQL, please.');
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing to deny', { deny: [] }, /deny must list patterns/],
    ['a text', { deny: [/a/, 'drop'] }, /deny\[1\] must be a pattern, \/drop.*; found "drop"/],
    ['an unknown option', { denied: [] }, /there is no option "denied"/],
    ['no list of tools', { deny, tools: 'pay' }, /tools must list wire names/],
    ['no text', { deny, text: '' }, /text must be a sentence/],
  ])('refuses options that are none: %s', (_title, options, message) => {
    expect(() => new ArgumentGuard(options as ArgumentGuardOptions)).toThrow(message);
  });
});
