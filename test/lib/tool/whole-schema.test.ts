import { describe, expect, it } from '@jest/globals';
import { type } from 'arktype';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import {
  AIMiddleware,
  type AIRun,
  createAIService,
  defineTool,
  type NextTool,
  ReadOnly,
  type StandardSchema,
  type Tool,
  type ToolInvocation,
  type ToolOutcome,
  type WireName,
} from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import * as v from 'valibot';
import { z } from 'zod';

/* `parameters` as one schema of another library, which says all arguments at once. */

const QUIET = { warn: () => undefined, error: () => undefined };
const WIRES: readonly WireName[] = ['envelope', 'union', 'native'];

async function run(
  tool: Tool,
  sent: Readonly<Record<string, unknown>>,
  { wire = 'envelope', middleware = [] }: { wire?: WireName; middleware?: readonly AIMiddleware[] } = {},
): Promise<AIRun & { readonly asked: string }> {
  const model = scriptedModel([call(tool.name, sent), text('done')]);
  const ran = await createAIService({ model, tools: [tool], wire, middleware, logger: QUIET }).run('q');
  return { ...ran, asked: model.requests[0]?.body ?? '' };
}

function lookup<O extends object>(parameters: StandardSchema<O>): { readonly tool: Tool; readonly got: unknown[] } {
  const got: unknown[] = [];
  const tool = defineTool({
    name: 'lookup',
    description: 'Looks up',
    group: ReadOnly,
    parameters,
    execute: (args) => {
      got.push(args);
      return 'found';
    },
  });
  return { tool, got };
}

describe('parameters as one schema', () => {
  it.each(WIRES)('are read, checked and made by their library, on %s', async (wire) => {
    const { tool, got } = lookup(
      z.object({
        id: z.string().describe('The customer id'),
        most: z.int().max(50).optional(),
        since: z.iso
          .date()
          .transform((at) => new Date(at))
          .nullable(),
        lines: z.array(z.object({ sku: z.string(), count: z.int().default(1) })),
      }),
    );
    const sent = { id: '7', most: 5, since: '2020-01-01', lines: [{ sku: 'a' }] };
    const { calls } = await run(tool, sent, { wire });
    expect(calls[0]).toMatchObject({ outcome: 'ok', result: 'found' });
    expect(got).toEqual([{ ...sent, since: new Date('2020-01-01'), lines: [{ sku: 'a', count: 1 }] }]);
  });

  it.each<[string, StandardSchema<object>]>([
    ['zod', z.object({ id: z.string(), most: z.number().optional() })],
    ['arktype', type({ id: 'string', 'most?': 'number' })],
    ['valibot', toStandardJsonSchema(v.object({ id: v.string(), most: v.optional(v.number()) }))],
  ])('of %s give the tool what was sent, and nothing for what was not', async (_name, schema) => {
    const { tool, got } = lookup(schema);
    expect((await run(tool, { id: 'a' })).calls[0]?.outcome).toBe('ok');
    expect((await run(tool, { id: 'a', most: '5' })).calls[0]?.outcome).toBe('ok');
    expect(got).toEqual([{ id: 'a' }, { id: 'a', most: 5 }]);
  });

  it('are told in few words where those say all', async () => {
    const { tool } = lookup(z.object({ id: z.string().describe('The id'), n: z.int().max(9).optional() }));
    expect((await run(tool, { id: 'a' })).asked).toContain(
      String.raw`- lookup(id: string \"The id\", n?: integer of at most 9) -> Looks up`,
    );
  });

  it.each([
    [{ id: 'a', admin: true }, 'admin: no such argument; the arguments are id, n'],
    [{}, 'id: expected a string, got nothing'],
    [{ id: 'a', n: 'x' }, 'n: expected a finite number, got "x"'],
    [{ id: 'a', n: 12 }, 'n: Too big: expected number to be <=9'],
    [{ id: 'bad' }, 'the arguments: not that one'],
    [{ id: 'odd' }, 'id.0: an odd one'],
  ])('refuse %j and say why', async (sent, line) => {
    const schema = z
      .object({ id: z.string(), n: z.number().max(9).optional() })
      .refine(({ id }) => id !== 'bad', 'not that one')
      .refine(({ id }) => id !== 'odd', { error: 'an odd one', path: ['id', '0'] });
    const { tool, got } = lookup(schema);
    const { calls } = await run(tool, sent);
    expect(calls[0]).toMatchObject({ outcome: 'invalid-arguments', executed: false });
    expect(calls[0]?.result.split('\n').slice(1)).toEqual([line]);
    expect(got).toEqual([]);
  });

  it('of a rule that throws tell the model nothing of it', async () => {
    const { tool } = lookup(
      z.object({ id: z.string() }).refine(() => {
        throw new Error('SQLSTATE at db.internal');
      }),
    );
    const { calls } = await run(tool, { id: 'a' });
    expect(calls[0]?.result).toContain('the arguments: this value could not be checked');
    expect(calls[0]?.result).not.toContain('SQLSTATE');
  });

  it('that make no object of the arguments run nothing', async () => {
    const { tool, got } = lookup(z.object({ id: z.string() }).transform(({ id }) => id) as never);
    const { calls } = await run(tool, { id: 'a' });
    expect(calls[0]).toMatchObject({ outcome: 'invalid-arguments', executed: false });
    expect(got).toEqual([]);
  });

  it.each(WIRES)('may hold themselves, on %s', async (wire) => {
    interface Part {
      readonly sku: string;
      readonly parts?: readonly Part[] | undefined;
    }
    const part: z.ZodType<Part> = z.object({
      sku: z.string(),
      get parts() {
        return z.array(part).optional();
      },
    });
    const { tool, got } = lookup(part);
    const sent = { sku: 'a', parts: [{ sku: 'b', parts: [{ sku: 'c' }] }] };
    expect((await run(tool, sent, { wire })).calls[0]?.outcome).toBe('ok');
    expect(got).toEqual([sent]);
  });

  it('make two calls the same by what they hold', async () => {
    const got: unknown[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays',
      parameters: z.object({ amount: z.number(), note: z.string().optional() }),
      execute: (args) => got.push(args),
    });
    const model = scriptedModel([
      call('pay', { amount: 5 }),
      call('pay', { amount: '5', note: 'null' }),
      call('pay', { amount: 6 }),
      text('done'),
    ]);
    const { calls } = await createAIService({ model, tools: [pay] }).run('q');
    expect(calls.map(({ outcome }) => outcome)).toEqual(['ok', 'repeated', 'ok']);
    expect(got).toHaveLength(2);
  });

  it('check what a middleware edits', async () => {
    class Cheaper extends AIMiddleware {
      override tool(invocation: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
        return next({ arguments: { ...invocation.arguments, n: 90 } });
      }
    }
    const { tool, got } = lookup(z.object({ id: z.string(), n: z.number().max(9).optional() }));
    const { calls } = await run(tool, { id: 'a', n: 1 }, { middleware: [new Cheaper()] });
    expect(calls[0]).toMatchObject({ outcome: 'invalid-arguments', executed: false });
    expect(got).toEqual([]);
  });

  it.each<[string, unknown, RegExp]>([
    ['a text', z.string(), /tool lookup: parameters must say an object, z\.object/],
    ['a list', z.array(z.string()), /must say an object/],
    ['a schema of no JSON', z.object({ at: z.date() }), /zod cannot say this schema as JSON Schema/],
    ['a name that no call can have', z.object({ constructor: z.string() }), /is no name for a parameter/],
    ['nothing', undefined, /parameters must be an object, .*found undefined/],
  ])('are refused where they are %s', (_name, parameters, message) => {
    const definition = { name: 'lookup', description: 'd', parameters, execute: () => '' } as never;
    expect(() => defineTool(definition)).toThrow(message);
  });

  it('type what the tool gets', () => {
    const tool = defineTool({
      name: 'lookup',
      description: 'd',
      parameters: z.object({ id: z.string(), n: z.number().optional() }),
      execute: ({ id, n }) => {
        const text: string = id;
        const number: number | undefined = n;
        // @ts-expect-error -- it is a text
        const wrong: number = id;
        return `${text} ${String(number)} ${String(wrong)}`;
      },
    });
    expect(tool.parameters).toHaveProperty('~standard');
  });
});
