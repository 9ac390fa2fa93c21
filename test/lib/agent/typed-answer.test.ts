import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsEmail, IsInt, IsOptional, IsString, Min, registerDecorator, ValidateNested } from 'class-validator';
import { AIDefinitionError, AIResponseError, type AIServiceOptions, createAIService, defineTool } from 'inversify-ai';
import {
  call,
  filtered,
  httpError,
  refusal,
  scriptedModel,
  type ScriptedTurn,
  text,
  truncated,
} from 'inversify-ai/testing';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { strictModeProblems } from '../schema/strict-mode.js';

class Delivery {
  @IsString() carrier!: string;
  @IsOptional() @IsInt() @Min(1) days?: number;
}

const ran: number[] = [];
const refund = defineTool({
  name: 'refund',
  description: 'Refunds',
  parameters: { orderId: { type: 'integer', description: 'The order' } },
  execute: ({ orderId }) => {
    ran.push(orderId);
    return 'refunded';
  },
});

function agent(turns: readonly ScriptedTurn[], options: Partial<AIServiceOptions> = {}) {
  ran.length = 0;
  const model = scriptedModel(turns);
  const logger = { warn: jest.fn(), error: jest.fn() };
  return { model, logger, service: createAIService({ model, logger, tools: [refund], ...options }) };
}

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format: {
    readonly json_schema: { readonly name: string; readonly strict: boolean; readonly schema: object };
  };
}
const body = (model: { readonly requests: readonly { readonly body: string }[] }, n: number): Body =>
  JSON.parse(model.requests[n]!.body) as Body;

describe('a typed answer', () => {
  it('takes a turn of its own after the loop’s answer, in which no tool is on offer', async () => {
    const { model, service } = agent([
      call('refund', { orderId: 1 }),
      text('It comes with DHL.'),
      text('{"carrier":"DHL","days":2}'),
    ]);
    const delivery: Delivery = await service.chat('How does it come?', Delivery);
    expect(delivery).toBeInstanceOf(Delivery);
    expect(delivery).toEqual({ carrier: 'DHL', days: 2 });
    expect(model.requests.map(({ tools }) => tools)).toEqual([['refund'], ['refund'], []]);
    const typed = body(model, 2);
    expect(typed.response_format.json_schema).toMatchObject({
      name: 'answer',
      strict: true,
      schema: { type: 'object', required: ['carrier', 'days'], additionalProperties: false },
    });
    // Every result is in front of it, and the loop's own answer.
    expect(typed.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(typed.messages[0]).toEqual(body(model, 0).messages[0]);
    expect(typed.messages.at(-1)!.content).toContain('No more calls are allowed.');
  });

  it('is forced at the cap, in place of the answer', async () => {
    const { model, service } = agent([call('refund', { orderId: 1 }), text('{"carrier":"DHL"}')], { maxToolCalls: 1 });
    expect(await service.chat('q', Delivery)).toEqual({ carrier: 'DHL' });
    expect(model.requests).toHaveLength(2);
  });

  it('is all that a plain model is asked for', async () => {
    const { model, service } = agent([text('{"carrier":"DHL","days":null}')], {
      tools: undefined as never,
      system: 'Be brief.',
    });
    expect(await service.chat('q', Delivery)).toEqual({ carrier: 'DHL' });
    expect(model.requests).toHaveLength(1);
    expect(body(model, 0).messages).toHaveLength(2);
  });

  it('of a Standard Schema is what the schema makes', async () => {
    const { service } = agent([text('…'), text('{"at":"2026-03-01T00:00:00Z"}')]);
    const schema = z.object({ at: z.iso.datetime().transform((at) => new Date(at)) });
    const { at }: { at: Date } = await service.chat('q', schema);
    expect(at).toEqual(new Date('2026-03-01T00:00:00Z'));
    // valibot says what goes in by a package of its own.
    const said = toStandardJsonSchema(v.object({ state: v.string() }));
    expect(await agent([text('…'), text('{"state":"sent"}')]).service.chat('q', said)).toEqual({ state: 'sent' });
    const arked = agent([text('…'), text('{"n":3}')]);
    expect(await arked.service.chat('q', type({ n: 'number' }) as never)).toEqual({ n: 3 });
  });

  it('of a primitive is one, for the compiler too', async () => {
    const answers = agent([text('…'), text('3'), text('…'), text('"yes"'), text('…'), text('true')]).service;
    const count: number = await answers.chat('q', Number);
    const word: string = await answers.chat('q', String);
    const flag: boolean = await answers.chat('q', Boolean);
    expect([count, word, flag]).toEqual([3, 'yes', true]);
  });

  it.each<[string, unknown, string, unknown]>([
    ['a list', z.array(z.number()), '[1,2]', [1, 2]],
    ['a text', z.string(), '"yes"', 'yes'],
    ['a union', z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]), '{"b":1}', { b: 1 }],
  ])('that is no object travels within one: %s', async (_title, schema, written, expected) => {
    const { model, service } = agent([text('…'), text(written)]);
    expect(await service.chat('q', schema as typeof Delivery)).toEqual(expected);
    const { schema: sent } = body(model, 1).response_format.json_schema;
    expect(sent).toMatchObject({ type: 'object', required: ['answer'] });
  });

  it('of a class that holds itself refers to itself', async () => {
    class Part {
      @IsString() name!: string;
      @ValidateNested({ each: true }) @Type(() => Part) parts!: Part[];
    }
    Reflect.defineMetadata('design:type', Array, Part.prototype, 'parts');
    const { model, service } = agent([text('…'), text('{"name":"a","parts":[{"name":"b","parts":[]}]}')]);
    const part = await service.chat('q', Part);
    expect(part.parts[0]).toBeInstanceOf(Part);
    const { schema } = body(model, 1).response_format.json_schema;
    expect(strictModeProblems(schema)).toEqual([]);
  });

  it('that the strict mode cannot say is asked for without it', async () => {
    const { model, service } = agent([text('…'), text('{"a":1}')]);
    expect(await service.chat('q', z.looseObject({}))).toEqual({ a: 1 });
    expect(body(model, 1).response_format.json_schema.strict).toBe(false);
  });

  it('is spelt out for a server that only reads the schema', async () => {
    const { model, service } = agent([text('…'), text('{"carrier":"DHL"}')]);
    await service.chat('q', Delivery);
    expect(body(model, 1).messages.at(-1)!.content).toContain('"carrier":{"type":"string"}');
  });
});

describe('a typed answer that does not fit', () => {
  it.each<[string, ScriptedTurn, string]>([
    ['a wrong value', text('{"carrier":7.5}'), 'answer.carrier: expected a string, got 7.5'],
    ['something left out', text('{}'), 'answer.carrier: expected a string, got nothing'],
    ['an unknown key', text('{"carrier":"DHL","admin":true}'), 'answer.admin: no such key'],
    ['no JSON', text('It comes with DHL.'), 'it is not valid JSON'],
    ['prose around JSON', text('Here: {"carrier":"DHL"}'), 'it is not valid JSON'],
    ['a key twice', text('{"carrier":"DHL","carrier":"UPS"}'), 'it gives a key twice'],
    ['a list', text('[]'), 'answer: expected an object with carrier, days, got an array of 0'],
    ['nothing', text(''), 'Your last reply was empty.'],
  ])('is told to the model once: %s', async (_title, turn, told) => {
    const { model, service } = agent([call('refund', { orderId: 1 }), text('…'), turn, text('{"carrier":"DHL"}')]);
    expect(await service.chat('q', Delivery)).toEqual({ carrier: 'DHL' });
    expect(body(model, 3).messages.at(-1)!.content).toContain(told);
    expect(ran).toEqual([1]);
  });

  it('and then ends the run with a typed error; no call is made again', async () => {
    const { model, service } = agent([call('refund', { orderId: 1 }), text('…'), text('{}'), text('{"carrier":1.5}')]);
    const error = await service.chat('q', Delivery).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AIResponseError);
    expect(error).toMatchObject({
      code: 'malformed',
      text: '{"carrier":1.5}',
      run: { turns: 4, calls: [{ outcome: 'ok' }] },
    });
    expect(model.requests).toHaveLength(4);
    expect(ran).toEqual([1]);
  });

  it('has no corrective turn at the cap, and none where it was used', async () => {
    const atCap = agent([call('refund', { orderId: 1 }), text('{}')], { maxToolCalls: 1 });
    await expect(atCap.service.chat('q', Delivery)).rejects.toMatchObject({ code: 'malformed' });
    const used = agent([text(''), text('…'), text('{}')]);
    await expect(used.service.chat('q', Delivery)).rejects.toMatchObject({ code: 'malformed' });
    expect(used.model.requests).toHaveLength(3);
  });

  it.each<[string, ScriptedTurn, string]>([
    ['a refusal', refusal('No.'), 'refused'],
    ['a filter', filtered(), 'filtered'],
    ['the limit on tokens', truncated('{"carrier":"DHL"}'), 'truncated'],
  ])('ends at once: %s', async (_title, turn, code) => {
    const { model, service } = agent([text('…'), turn, text('{"carrier":"DHL"}')]);
    await expect(service.chat('q', Delivery)).rejects.toMatchObject({ code });
    expect(model.requests).toHaveLength(2);
    // A refusal of the loop is one of the typed chat, after one request.
    const first = agent([turn]);
    await expect(first.service.chat('q', Delivery)).rejects.toMatchObject({ code });
    expect(first.model.requests).toHaveLength(1);
  });

  it('is sent again where the provider failed, and the tool is not', async () => {
    const { service } = agent([call('refund', { orderId: 1 }), text('…'), httpError(503), text('{"carrier":"DHL"}')], {
      retry: { minDelayMs: 0, maxDelayMs: 0 },
    });
    expect(await service.chat('q', Delivery)).toEqual({ carrier: 'DHL' });
    expect(ran).toEqual([1]);
  });

  it('where a rule of the application’s throws, that is the cause: to write it anew would mend nothing', async () => {
    class Checked {
      @IsString() name!: string;
    }
    registerDecorator({
      name: 'known',
      target: Checked,
      propertyName: 'name',
      validator: { validate: () => Promise.reject(new Error('SECRET db')) },
    });
    const { model, service } = agent([text('…'), text('{"name":"a"}')]);
    const error: unknown = await service.chat('q', Checked).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AIResponseError);
    expect(error).toMatchObject({ code: 'malformed', cause: new Error('SECRET db'), run: { turns: 2 } });
    expect((error as Error).message).toMatch(/a rule of its type failed with an error of its own; see cause/);
    expect(String(error)).not.toContain('SECRET');
    expect(model.requests).toHaveLength(2);
  });

  it('the error says where it did not fit, quotes and all, where no log shows it', async () => {
    const { service } = agent([text('…'), text('{"carrier":{}}'), text('{"carrier":[]}')]);
    const error: unknown = await service.chat('q', Delivery).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'malformed', text: '{"carrier":[]}' });
    expect((error as AIResponseError).problems).toEqual(['answer.carrier: expected a string, got an array of 0']);
    expect(JSON.stringify(error)).not.toContain('array');
  });
});

describe('a type that cannot be an answer is refused before anything is sent', () => {
  class Bare {
    name!: string;
  }
  class Mailed {
    @IsEmail() to!: string;
    @ValidateNested() nested!: Bare;
  }
  it.each<[string, unknown, RegExp]>([
    ['a class without rules', Bare, /the answer: .* no rule of Bare.*, or hand over a schema of zod or arktype$/],
    ['a class that is wrong inside', Mailed, /chat, the answer, Mailed.nested/],
    ['an arrow', () => Delivery, /expected a class with class-validator's rules, or a Standard Schema/],
    ['a schema that nothing can say', z.date(), /zod cannot say this schema/],
    [
      'one that says nothing',
      v.object({ a: v.string() }),
      /hand over one that does, .* toStandardJsonSchema of @valibot/,
    ],
  ])('%s', async (_title, answer, message) => {
    const { model, service } = agent([text('…')]);
    const error = await service.chat('q', answer as typeof Delivery).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect((error as Error).message).toMatch(message);
    expect(model.requests).toHaveLength(0);
  });

  it('and so is something else in its place', async () => {
    const { service } = agent([text('…')]);
    await expect(service.chat('q', 'Delivery' as never, {})).rejects.toThrow(/chat: what stands between/);
    await expect(service.chat('q', { signl: 1 } as never)).rejects.toThrow(/there is no option "signl"/);
    await expect(service.run('q', Delivery as never)).rejects.toThrow(
      /run: gives a text; for a typed answer write chat/,
    );
    await expect(service.run('q', null as never)).rejects.toThrow(/expected an options object, found null/);
  });
});
