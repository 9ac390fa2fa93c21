import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import { Container, injectable } from 'inversify';
import { z } from 'zod';
import {
  AI,
  AIDefinitionError,
  type AIEvent,
  AIMiddleware,
  AIResponseError,
  type AIRun,
  AIScopeError,
  AIService,
  type AIServiceOptions,
  AIToolIterationError,
  ChatModel,
  createAIService,
  defineTool,
  installAI,
  type ModelDelta,
  type ModelReply,
  type NextTool,
  openAI,
  type OpenAIProfileName,
  ReadOnly,
  type ToolInvocation,
  type ToolOutcome,
  type WireName,
} from 'inversify-ai';
import { call, calls, httpError, scriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { tablesOnPage, tokenTables } from '../../bench/tokens.js';
import type { LateTools } from '../../lib/tool/late-tools.js';
import { LATE_TOOLS } from '../../lib/tool-source.js';
import { DEFAULT_MAX_PARALLEL_CALLS } from '../../lib/agent/agent-options.js';
import { profileProblems } from '../../lib/model/profiles.js';
import { CompiledToolset } from '../../lib/tool/compiled-toolset.js';
import { wireFor } from '../../lib/wire/wires.js';
import { provider } from '../conformance/transports.js';
import { application, as, Desk, rejection } from '../container/orders.js';
import { Events } from '../events.js';
import { readmeBlocks } from '../readme.js';
import { schemaProblems } from '../wire/open-ai-bodies.js';
import { plain, tables } from './tables.js';

const PAGE = 'docs/wires.md';
const WIRES = ['envelope', 'union', 'native'] as const;
const [replies, abilities, checks, profiles, batches, , eventRows] = tables(PAGE);
const pageText = (): string => readFileSync(PAGE, 'utf8');
const firsts = (rows: typeof replies): readonly string[] => rows!.map(([first]) => first!);

const orderId = { type: 'integer', description: 'The order id' } as const;
const find = defineTool({
  name: 'find_order',
  description: 'Looks up a single order by id',
  group: ReadOnly,
  parameters: { orderId },
  execute: () => 'In transit',
});
const refund = defineTool({
  name: 'refund_order',
  description: 'Refunds an order',
  parameters: { orderId },
  execute: () => 'Refunded',
});
const quiet = { warn: jest.fn(), error: jest.fn() };
const QUESTION = 'Where is order 42?';
const FIND = { name: 'find_order', arguments: { orderId: 42 } };

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly json_schema: { readonly schema: Schema } };
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: Schema } }[];
  readonly tool_choice?: 'required' | { readonly function: { readonly name: string } };
}
interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

/** What was sent for a script, and how it ended. */
async function play(
  wire: WireName,
  turns: readonly ScriptedTurn[],
  options: Partial<AIServiceOptions> = {},
): Promise<{ readonly bodies: readonly Body[]; readonly run?: AIRun; readonly error?: unknown }> {
  const model = scriptedModel(turns);
  const service = createAIService({ model, tools: [find, refund], wire, logger: quiet, ...options });
  const ended = await service.run(QUESTION).then(
    (run) => ({ run }),
    (error: unknown) => ({ error }),
  );
  return { ...ended, bodies: model.requests.map(({ body }) => JSON.parse(body) as Body) };
}

/** A model that writes just this. */
class Writes extends ChatModel {
  readonly name = 'writes';
  readonly requests: unknown[] = [];
  constructor(
    private readonly replies: readonly Partial<ModelReply>[],
    readonly profile: ChatModel['profile'] = { schema: 'accepted', wires: WIRES },
  ) {
    super();
  }
  override async complete(request: unknown): Promise<ModelReply> {
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
    const reply = this.replies[this.requests.length] ?? {};
    this.requests.push(request);
    return { text: '', finish: 'stop', usage, ...reply };
  }
}

async function all(
  stream: AsyncIterable<AIEvent>,
): Promise<{ readonly events: readonly AIEvent[]; readonly error?: unknown }> {
  const events: AIEvent[] = [];
  try {
    for await (const event of stream) events.push(event);
  } catch (error) {
    return { events, error };
  }
  return { events };
}
const texts = (events: readonly AIEvent[]) =>
  events.flatMap((event) => (event.type === 'text' ? [[event.turn, event.delta]] : []));

describe('the page on wires shows', () => {
  it.each(WIRES.map((wire, n) => [wire, n] as const))('the request on %s as it is', async (wire, n) => {
    const { bodies } = await play(wire, [text('ok')], { tools: [find] });
    const { messages, model: _, ...rest } = bodies[0] as Body & { readonly model: string };
    expect(rest).toEqual(JSON.parse(readmeBlocks('json', PAGE)[n]!));
    expect(messages[0]!.content.includes('find_order')).toBe(wire !== 'native');
  });

  it.each(replies!)('a call, a result and an answer on %s', async (name, called, result, answered) => {
    const wire = plain(name!) as WireName;
    const turns = [call(FIND.name, FIND.arguments), text('It is in transit.')];
    const events = new Events();
    const { bodies } = await play(wire, turns, { observers: [events] });
    const written = events.all.flatMap(([what, event]) => (what === 'modelReplied' ? [event as ModelReply] : []));
    const [{ text: said, calls: made = [] }, { text: answer }] = written as [ModelReply, ModelReply];
    expect(made.map((one) => `the function \`${one.name}\` with \`${one.arguments}\``)[0] ?? `\`${said}\``).toBe(
      called,
    );
    const { role, content } = bodies[1]!.messages.at(-1)!;
    expect(`role \`${role}\`: \`${content}\``).toBe(result);
    expect(`\`${answer}\``).toBe(answered);
    // And what the page shows is taken.
    const [, tool, args] = /^the function `(.*)` with `(.*)`$/.exec(called!) ?? [];
    const first = tool === undefined ? { text: plain(called!) } : { calls: [{ name: tool, arguments: args! }] };
    const service = createAIService({
      model: new Writes([first, { text: plain(answered!) }]),
      tools: [find],
      wire,
    });
    expect(await service.run(QUESTION)).toMatchObject({ text: 'It is in transit.', calls: [{ outcome: 'ok' }] });
  });
});

/** What a turn may hold. */
function mayHold({ response_format, tools = [], tool_choice: choice }: Body): string {
  const schema = response_format?.json_schema.schema;
  const next = schema?.properties['next'];
  const branches = next === undefined ? [schema] : (next.anyOf ?? [next]);
  const names =
    schema === undefined
      ? [...tools.map((tool) => tool.function.name), ...(choice === undefined ? ['ANSWER'] : [])]
      : branches.flatMap((branch) => branch?.properties['tool']?.enum ?? []);
  return names.map((name) => (name === 'ANSWER' ? 'an answer' : `\`${name}\``)).join(', ');
}

const yes = (is: boolean): string => (is ? 'yes' : 'no');
const chosen = async (wire: WireName, toolChoice: string): Promise<string> => {
  const { bodies } = await play(wire, toolChoice === 'none' ? [text('ok')] : [calls([FIND]), text('ok')], {
    toolChoice,
  });
  // It holds until the first call was made.
  expect(bodies.slice(1).map(mayHold)).toEqual(
    toolChoice === 'none' ? [] : ['`find_order`, `refund_order`, an answer'],
  );
  return mayHold(bodies[0]!);
};
const first = async (wire: WireName, tools?: readonly object[]): Promise<Body> =>
  (await play(wire, [text('ok')], tools && { tools })).bodies[0]!;
const argumentsOf = ({ response_format, tools }: Body): Schema => {
  const { next, arguments: args } = response_format?.json_schema.schema.properties ?? {};
  return (args ?? next?.anyOf?.[0]?.properties['arguments'] ?? tools?.[0]?.function.parameters)!;
};

const ABILITIES: Readonly<Record<string, (wire: WireName) => Promise<string>>> = {
  'tools are sent as': async (wire) =>
    Object.keys(await first(wire))
      .filter((key) => ['response_format', 'tools'].includes(key))
      .map((key) => `\`${key}\``)
      .join(', '),
  'the schema has `anyOf`': async (wire) => yes(JSON.stringify(await first(wire)).includes('anyOf')),
  "the schema knows each tool's arguments and their kinds": async (wire) => {
    const schema = argumentsOf(await first(wire));
    if (schema.type === 'array') return yes(schemaProblems(schema, [{ name: 'nothing', value: 'x' }]) !== '');
    expect(schemaProblems(schema, { orderId: 42 })).toBe('');
    return yes(schemaProblems(schema, { orderId: 'x' }) !== '' && schemaProblems(schema, {}) !== '');
  },
  'arguments that the [strict form](arguments.md#what-a-provider-enforces) cannot say': async (wire) => {
    const span = { schema: z.tuple([z.string(), z.string()]), description: 'From and to' };
    const list = defineTool({ name: 'l', description: 'Lists', parameters: { span }, execute: ({ span }) => span });
    const sent = { span: ['a', 'b'] };
    const { bodies, run } = await play(
      wire,
      [call('l', wire === 'union' ? JSON.stringify(JSON.stringify(sent)) : sent), text('ok')],
      { tools: [list] },
    );
    expect(run!.calls).toMatchObject([{ outcome: 'ok', result: '["a","b"]' }]);
    const { type } = argumentsOf(bodies[0]!);
    if (wire === 'native' && !('strict' in bodies[0]!.tools![0]!.function)) return 'as declared, without `strict`';
    return type === 'string' ? 'JSON in a text' : 'text';
  },
  'calls in one turn': async (wire) => {
    const { run, error } = await play(wire, [calls([FIND, FIND]), text('ok')]);
    expect(error).toBeUndefined();
    return run!.calls.length === 2 ? 'several' : 'one';
  },
  'text beside a call': async (wire) => {
    const beside = {
      envelope: '{"tool":"find_order","arguments":[{"name":"orderId","value":"42"}],"answer":"I look."}',
      union: '{"next":{"tool":"find_order","arguments":{"orderId":42},"answer":"I look."}}',
      native: 'I look.',
    };
    const made = wire === 'native' ? { calls: [{ name: 'find_order', arguments: '{"orderId":42}' }] } : {};
    const answer = scriptedReplyOf(wire, 'ok');
    const model = new Writes([{ text: beside[wire], ...made }, answer]);
    const { transcript, calls: ran } = await createAIService({ model, tools: [find], wire }).run(QUESTION);
    const kept = transcript.some((entry) => entry.role === 'assistant' && entry.text === 'I look.');
    return kept === (ran.length === 1) ? yes(kept) : 'neither';
  },
  'the answer is shown while it is written': async (wire) => {
    const model = scriptedModel([text('It is in transit.')]);
    const { events } = await all(createAIService({ model, tools: [find], wire }).stream(QUESTION));
    const deltas = texts(events).map(([, delta]) => delta);
    return yes(deltas.length > 1 && deltas.join('') === 'It is in transit.');
  },
  "reasoning is carried, with `api: 'responses'`": async (wire) => {
    const { sent, run } = await reasoning(wire);
    expect(run.text).toBe('ok');
    expect(JSON.stringify(run)).not.toContain('THOUGHT');
    return yes(JSON.stringify(sent[1]!.body).includes('THOUGHT'));
  },
  'the first turn may hold': async (wire) => mayHold(await first(wire)),
  "with `toolChoice: 'required'`": (wire) => chosen(wire, 'required'),
  "with `toolChoice: 'find_order'`": (wire) => chosen(wire, 'find_order'),
  "with `toolChoice: 'none'`": (wire) => chosen(wire, 'none'),
  'after the last permitted call': async (wire) => {
    const { bodies } = await play(wire, [calls([FIND]), text('ok')], { maxToolCalls: 1 });
    return mayHold(bodies[1]!);
  },
};

function scriptedReplyOf(wire: WireName, answer: string): Partial<ModelReply> {
  const turn = wire === 'union' ? { next: { tool: 'ANSWER', answer } } : { tool: 'ANSWER', arguments: [], answer };
  return { text: wire === 'native' ? answer : JSON.stringify(turn) };
}

/** A call by a model that reasons, over Responses, and an answer. */
async function reasoning(wire: WireName, options: Partial<AIServiceOptions> = {}) {
  const called = {
    envelope: { text: '{"tool":"find_order","arguments":[{"name":"orderId","value":"42"}],"answer":""}' },
    union: { text: '{"next":{"tool":"find_order","arguments":{"orderId":42}}}' },
    native: { calls: [{ id: 'c1', name: 'find_order', arguments: '{"orderId":42}' }] },
  };
  const { fetch, sent } = provider([{ ...called[wire], thoughts: 'THOUGHT' }, scriptedReplyOf(wire, 'ok')]);
  const model = openAI({ model: 'm', apiKey: 'k', api: 'responses', fetch });
  const run = await createAIService({ model, tools: [find], wire, ...options }).run(QUESTION);
  return { sent, run };
}

describe('the page on wires says what each can do', () => {
  it('in a row for each of these', () => {
    expect(firsts(abilities)).toEqual(Object.keys(ABILITIES));
  });

  it.each(abilities!)('%s', async (what, ...cells) => {
    expect(await Promise.all(WIRES.map((wire) => ABILITIES[what!]!(wire)))).toEqual(cells);
  });
});

/** What a model writes that goes wrong, on each wire. */
const written = (tool: string, pairs: string, object: string): Readonly<Record<WireName, Partial<ModelReply>>> => ({
  envelope: { text: `{"tool":"${tool}","arguments":[${pairs}],"answer":""}` },
  union: { text: `{"next":{"tool":"${tool}","arguments":{${object}}}}` },
  native: { calls: [{ name: tool, arguments: `{${object}}` }] },
});
const one = '{"name":"orderId","value":"42"}';
const right = written('find_order', one, '"orderId":42');
const each = (
  change: (reply: Partial<ModelReply>, wire: WireName) => Partial<ModelReply>,
): Readonly<Record<WireName, Partial<ModelReply>>> => ({
  envelope: change(right.envelope, 'envelope'),
  union: change(right.union, 'union'),
  native: change(right.native, 'native'),
});

const CHECKS: Readonly<Record<string, Readonly<Record<WireName, Partial<ModelReply>>>>> = {
  'names a tool that is not in the set': written('drop_order', one, '"orderId":42'),
  'leaves an argument out': written('find_order', '', ''),
  'sends one of the wrong kind': written('find_order', '{"name":"orderId","value":"all"}', '"orderId":"all"'),
  'sends one that is not declared': written(
    'find_order',
    `${one},{"name":"caller","value":"bob"}`,
    '"orderId":42,"caller":"bob"',
  ),
  'sends one twice': written('find_order', `${one},${one}`, '"orderId":42,"orderId":42'),
  'breaks off within its arguments': each(({ text = '', calls: made }) => ({
    text: text.slice(0, -4),
    ...(made && { calls: made.map((call) => ({ ...call, arguments: call.arguments.slice(0, -1) })) }),
  })),
  'is cut off at the limit on output tokens': each((reply) => ({ ...reply, finish: 'length' })),
  'writes prose before its call': each((reply) => ({ ...reply, text: `I look. ${reply.text ?? ''}` })),
  'writes its call as text, between other text': each((reply) => ({
    text: `I call ${reply.text ?? JSON.stringify(reply.calls![0])} now.`,
  })),
  'makes two calls at once': each(({ text: said, calls: made }) => ({
    ...(said !== undefined && { text: said + said }),
    ...(made && { calls: [...made, ...made] }),
  })),
  'calls a function': each(() => right.native),
};

async function outcome(reply: Partial<ModelReply>, wire: WireName, schema: 'enforced' | 'accepted' | 'none') {
  const model = new Writes([reply, scriptedReplyOf(wire, 'ok')], { schema, wires: WIRES });
  try {
    const run = await createAIService({ model, tools: [find], wire, logger: quiet }).run(QUESTION);
    if (run.calls.length > 0) return run.calls.map(({ outcome }) => `\`${outcome}\``).join(', ');
    return run.turns === 1 ? 'the answer' : 'a corrective turn';
  } catch (error) {
    const { name, code } = error as AIResponseError;
    return `${name} [${code}]`;
  }
}

describe('the page on wires says what is checked', () => {
  it('in a row for each of these', () => {
    expect(firsts(checks)).toEqual(Object.keys(CHECKS));
  });

  it.each(checks!)('whatever a provider enforces: the model %s', async (what, ...cells) => {
    for (const schema of ['enforced', 'accepted', 'none'] as const)
      expect(await Promise.all(WIRES.map((wire) => outcome(CHECKS[what!]![wire], wire, schema)))).toEqual(cells);
  });
});

const named = (name: string, baseURL = 'http://127.0.0.1/v1') =>
  openAI({ model: 'm', apiKey: 'k', baseURL, profile: name as OpenAIProfileName }).profile;

describe('the page on wires has the profiles', () => {
  it('that there are', () => {
    const [, names] = /take one of (.*), or write/.exec(profileProblems('none of these')[0]!)!;
    expect(firsts(profiles).map(plain)).toEqual(names!.split(', '));
  });

  it.each(profiles!)('%s', async (name, schema, wires, taken, field, addresses) => {
    const profile = named(plain(name!));
    expect([profile.schema, profile.wires.map((wire) => `\`${wire}\``).join(', ')]).toEqual([schema, wires]);
    expect(`\`${wireFor(profile, undefined, CompiledToolset.EMPTY).name}\``).toBe(taken);
    const { fetch, sent } = provider([{ text: 'ok' }]);
    const model = openAI({ model: 'm', apiKey: 'k', fetch, profile: plain(name!) as OpenAIProfileName });
    await createAIService({ model, settings: { maxOutputTokens: 7 } }).run('q');
    expect(sent[0]!.body).toMatchObject({ [plain(field!)]: 7 });
    expect(sent[0]!.body['provider']).toEqual(name === '`openrouter`' ? { require_parameters: true } : undefined);
    const hosts = addresses!.startsWith('`') ? addresses!.split(', ').map((host) => plain(host).replace('…', 'x')) : [];
    for (const host of [...hosts, ...(addresses === 'any other' ? ['x.example'] : [])])
      expect(openAI({ model: 'm', apiKey: 'k', baseURL: `https://${host}/v1` }).profile).toBe(profile);
  });

  it('and what else is said of them', async () => {
    const [, own] = /`profile: (\{ schema: .*? extraBody: \{\} \})`/.exec(pageText())!;
    // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- the page's own text
    expect(profileProblems(new Function(`return (${own!});`)())).toEqual([]);
    expect(profileProblems({ schema: 'none', wires: ['native'] })).toEqual([]);
    // A typed answer's schema is told in words where it is not enforced.
    for (const schema of ['enforced', 'accepted', 'none'] as const) {
      const model = new Writes([{ text: '{"state":"x"}' }], { schema, wires: WIRES });
      await createAIService({ model }).chat('q', z.object({ state: z.string() }));
      expect(JSON.stringify(model.requests[0]).includes('It must match this JSON Schema')).toBe(schema !== 'enforced');
    }
    // None is sent where one is answered with an error.
    const { fetch, sent } = provider([scriptedReplyOf('envelope', 'ok')]);
    const model = openAI({ model: 'm', apiKey: 'k', fetch, profile: 'deepseek' });
    await createAIService({ model, tools: [find], wire: 'envelope' }).run('q');
    expect(Object.keys(sent[0]!.body)).toEqual(['model', 'messages']);
  });

  it('and a wire that a model does not speak is an error at once, or at the question', async () => {
    const model = new Writes([], { schema: 'accepted', wires: ['envelope'] });
    expect(() => createAIService({ model, wire: 'native' })).toThrow(/does not speak the wire native/);
    @injectable()
    class Site {
      @AI({ tools: [find], wire: 'native' }) readonly agent!: AIService;
    }
    const container = new Container();
    container.bind(Site).toSelf();
    expect(() => {
      installAI(container, { model }).verify();
    }).toThrow(/does not speak the wire native/);
    const other = new Container();
    other.bind(Site).toSelf();
    other.bind(ChatModel).toConstantValue(model);
    const ai = installAI(other, {});
    ai.verify();
    await expect(
      ai.runInScope(
        () => undefined,
        (scope) => scope.container.get(Site).agent.run('q'),
      ),
    ).rejects.toThrow(/does not speak the wire native/);
  });
});

describe('the page on wires says of toolChoice that', () => {
  it.each(WIRES)('on %s a model that answers all the same is told once, and then the run ends', async (wire) => {
    const { bodies, error } = await play(wire, [text('No.'), text('No.')], { toolChoice: 'required' });
    expect(bodies[1]!.messages.at(-1)!.content).toMatch(/call one of these tools before you answer/);
    expect(error).toBeInstanceOf(AIResponseError);
    expect(error).toMatchObject({ code: 'malformed' });
  });

  it.each(WIRES)('on %s another tool than the chosen one is refused, and the choice holds', async (wire) => {
    const other = { name: 'refund_order', arguments: { orderId: 42 } };
    const chosen = { name: 'find_order', arguments: { orderId: 42 } };
    const turns = [calls([other]), calls([chosen]), text('ok')];
    const { run, bodies } = await play(wire, turns, { toolChoice: 'find_order' });
    expect(run!.calls).toMatchObject([{ outcome: 'refused' }, { outcome: 'ok' }]);
    expect(mayHold(bodies[1]!)).toBe('`find_order`');
    expect(mayHold(bodies[2]!)).toBe('`find_order`, `refund_order`, an answer');
  });

  it.each(WIRES)('on %s a call where there is to be none ends the run', async (wire) => {
    const { error } = await play(wire, [calls([FIND])], { toolChoice: 'none' });
    expect(error).toBeInstanceOf(AIToolIterationError);
  });

  it('a question’s wins over the site’s', async () => {
    const model = scriptedModel([text('ok')]);
    const service = createAIService({ model, tools: [find], toolChoice: 'required' });
    expect(await service.chat('q', { toolChoice: 'auto' })).toBe('ok');
  });
});

/** Calls as the page writes them, and how they were run: `+` between those that were at work together. */
async function ranAs(
  list: string,
  options: Partial<AIServiceOptions>,
): Promise<{ readonly as: string; readonly run: AIRun }> {
  const batches: string[][] = [];
  let atWork = 0;
  const tool = (name: string) => ({
    name,
    description: 'Works',
    parameters: { n: { type: 'integer', description: 'Which' } } as const,
    execute: async ({ n }: { readonly n: number }) => {
      if (atWork++ === 0) batches.push([]);
      batches.at(-1)!.push(`${name} ${n.toString()}`);
      // The first one takes longest.
      await new Promise((resolve) => setTimeout(resolve, 12 - 2 * n));
      atWork--;
      return `${name} ${n.toString()}`;
    },
  });
  const made = list.split(', ').map((one) => one.split(' ') as [string, string]);
  const service = createAIService({
    model: scriptedModel([calls(made.map(([name, n]) => ({ name, arguments: { n: Number(n) } }))), text('ok')]),
    tools: [defineTool({ ...tool('look'), group: ReadOnly }), defineTool(tool('pay'))],
    wire: 'native',
    ...options,
  });
  const run = await service.run('q');
  return { as: batches.map((batch) => batch.join(' + ')).join(', '), run };
}

describe('the page on wires says how several calls are run', () => {
  it.each(batches!)('%s, parallelToolCalls %s, maxParallelCalls %s', async (list, parallel, most, as) => {
    const options = { parallelToolCalls: parallel === '`true`', maxParallelCalls: Number(most) };
    const seen = await ranAs(plain(list!), options);
    expect(`\`${seen.as}\``).toBe(as);
    expect(seen.run.calls.map(({ result }) => result)).toEqual(plain(list!).split(', '));
    expect(seen.run.transcript.flatMap((entry) => (entry.role === 'tool' ? [entry.text] : []))).toEqual(
      plain(list!).split(', '),
    );
  });

  it('by default, with a bound, and beyond maxToolCalls', async () => {
    expect(pageText()).toContain(`\`maxParallelCalls\` (${DEFAULT_MAX_PARALLEL_CALLS.toString()})`);
    const parallelToolCalls = true;
    expect((await ranAs('look 1, look 2', { parallelToolCalls, limits: { perTool: { look: 5 } } })).as).toBe(
      'look 1, look 2',
    );
    const { run } = await ranAs('look 1, look 2, look 3', { parallelToolCalls, maxToolCalls: 2 });
    expect(run.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'refused']);
    const failing = defineTool({
      name: 'fail',
      description: 'Fails',
      parameters: {},
      execute: () => Promise.reject(new Error('no')),
    });
    const { run: mixed } = await play('native', [calls([{ name: 'fail' }, FIND]), text('ok')], {
      tools: [failing, find],
      parallelToolCalls,
    });
    expect(mixed!.calls.map(({ outcome }) => outcome)).toEqual(['failed', 'ok']);
  });

  const sentWith = async (wire: WireName, options: Partial<AIServiceOptions>): Promise<unknown> =>
    ((await play(wire, [text('ok')], options)).bodies[0] as { readonly parallel_tool_calls?: unknown })
      .parallel_tool_calls;

  it('and sends parallel_tool_calls on native', async () => {
    expect([await sentWith('native', {}), await sentWith('native', { parallelToolCalls: true })]).toEqual([
      false,
      true,
    ]);
  });

  it.each(['envelope', 'union'] as const)('and sends nothing of it on %s, where more is an error', async (wire) => {
    expect(await sentWith(wire, {})).toBeUndefined();
    await expect(sentWith(wire, { parallelToolCalls: true })).rejects.toThrow(
      /parallelToolCalls needs the wire native/,
    );
  });
});

describe('the page on wires says of the Responses API that', () => {
  it.each(WIRES)('on %s nothing is stored, and all of the transcript is sent each time', async (wire) => {
    const events = new Events();
    const { sent } = await reasoning(wire, { observers: [events] });
    expect(sent.map(({ path, body }) => [path, body['store'], body['include']])).toEqual(
      Array(2).fill(['/v1/responses', false, ['reasoning.encrypted_content']]),
    );
    expect(JSON.stringify(sent[1]!.body)).toContain(QUESTION);
    expect(JSON.stringify(events.all)).not.toContain('THOUGHT');
  });

  it('a model without it is asked for it once, which takes an attempt', async () => {
    const answers = provider(Array(3).fill({ text: 'ok' }));
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const body = JSON.parse(await new Response(init?.body).text()) as Readonly<Record<string, unknown>>;
      if (body['include'] === undefined) return answers.fetch(input, init);
      return Response.json({ error: { message: 'Encrypted content is not supported.' } }, { status: 400 });
    };
    const service = (maxAttempts: number) => {
      const model = openAI({ model: 'm', apiKey: 'k', api: 'responses', fetch });
      return createAIService({ model, maxAttempts, retry: { minDelayMs: 0 } });
    };
    const twice = service(2);
    expect((await twice.run('q')).usage.attempts).toBe(2);
    expect((await twice.run('q')).usage.attempts).toBe(1);
    const once = service(1);
    await expect(once.run('q')).rejects.toMatchObject({ status: 400 });
    expect((await once.run('q')).text).toBe('ok');
  });

  it('has no seed', async () => {
    const { fetch } = provider([]);
    const model = openAI({ model: 'm', apiKey: 'k', api: 'responses', fetch });
    await expect(createAIService({ model, settings: { seed: 1 } }).run('q')).rejects.toBeInstanceOf(AIDefinitionError);
  });
});

describe('the page on wires says what it costs', () => {
  it('in tokens, as they are counted', async () => {
    expect(tablesOnPage()).toBe(await tokenTables());
  });

  it('and which is the least and the most', () => {
    const rows = tablesOnPage()
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const order = (size: string) =>
      rows
        .filter(([, tools]) => tools === size)
        .sort((a, b) => Number(a[6]) - Number(b[6]))
        .map(([, , wire]) => wire);
    expect(order('3')).toEqual(['native', 'envelope', 'union']);
    expect(order('50')).toEqual(['envelope', 'native', 'union']);
    for (const what of ['a call', 'an answer']) {
      const [, , ...counts] = rows.find(([, name]) => name?.startsWith(what))!;
      const [envelope, union, native] = counts.map(Number) as [number, number, number];
      expect(native).toBeLessThan(Math.min(envelope, union));
    }
  });
});

/** One event of each kind. */
const KINDS: Readonly<Record<AIEvent['type'], true>> = {
  'run-started': true,
  'turn-started': true,
  text: true,
  'model-replied': true,
  'model-retried': true,
  'tool-started': true,
  'tool-ended': true,
  'tool-source-changed': true,
  'run-ended': true,
};

describe('the page on wires says of a stream that', () => {
  const streamed = (deltas: readonly ModelDelta[]): Writes & { sent: number } => {
    const model = Object.assign(new Writes([]), { sent: 0 });
    return Object.assign(model, {
      async *stream() {
        model.sent++;
        for (const delta of deltas) yield await Promise.resolve(delta);
      },
    });
  };

  it('its events are these', async () => {
    expect(firsts(eventRows).map(plain)).toEqual(Object.keys(KINDS));
    const model = scriptedModel([httpError(503), call(FIND.name, FIND.arguments), text('ok')]);
    const down: LateTools = {
      [LATE_TOOLS]: true,
      label: 'the server kb',
      names: [],
      find: ({ tell }) => {
        tell({ source: 'kb', change: 'down', reason: 'does not answer' });
        return Promise.resolve(undefined);
      },
    };
    const service = createAIService({ model, tools: [find, down], wire: 'native', retry: { minDelayMs: 0 } });
    const { events } = await all(service.stream('q'));
    for (const [kind, cell] of eventRows!) {
      const found = events.find(({ type }) => type === plain(kind!))!;
      const listed = cell!.split(', ').map(plain);
      const has = Object.keys(found).filter((key) => !['type', 'runId', 'site', 'at'].includes(key));
      expect(has.filter((key) => !listed.includes(key) && !listed.includes(`${key}?`))).toEqual([]);
      expect(listed.filter((key) => !key.endsWith('?') && !has.includes(key))).toEqual([]);
    }
  });

  it.each(WIRES)('on %s a turn that could not be used showed no answer', async (wire) => {
    const half = {
      envelope: '{"tool":"ANSWER","arguments":[],"answer":"It is',
      union: '{"next":{"tool":"ANSWER","answer":"It is',
    };
    const turns = [text('It is lost.', { finish: 'length' })];
    const failed = await all(createAIService({ model: scriptedModel(turns), tools: [find], wire }).stream('q'));
    expect(
      texts(failed.events)
        .map(([, delta]) => delta)
        .join(''),
    ).toBe('It is lost.');
    expect(failed.error).toMatchObject({ code: 'truncated' });
    expect(failed.events.map(({ type }) => type)).not.toContain('run-ended');
    const model = streamed([{ type: 'text', text: wire === 'native' ? 'It is' : half[wire] }]);
    const broken = await all(createAIService({ model, tools: [find], wire }).stream('q'));
    expect(texts(broken.events)).toEqual([[1, 'It is']]);
    expect(broken.error).toMatchObject({ code: 'provider' });
    expect(model.sent).toBe(1);
  });

  it('one that breaks off is asked for again as long as nothing was shown', async () => {
    const model = streamed([]);
    const service = createAIService({ model, tools: [find], retry: { minDelayMs: 0 } });
    expect((await all(service.stream('q'))).error).toMatchObject({ code: 'provider', attempts: 3 });
    expect(model.sent).toBe(3);
  });

  it('a middleware around turns makes the text come when the turn is over, one around calls does not', async () => {
    class Turns extends AIMiddleware {
      override turn(_context: unknown, next: () => Promise<ModelReply>): Promise<ModelReply> {
        return next();
      }
    }
    class Calls extends AIMiddleware {
      override tool(_call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
        return next();
      }
    }
    const shown = async (middleware: readonly AIMiddleware[]) => {
      const model = scriptedModel([text('It is in transit.')]);
      const { events } = await all(createAIService({ model, tools: [find], middleware }).stream('q'));
      const kinds = events.map(({ type }) => type);
      return [texts(events).length, kinds.indexOf('text') > kinds.indexOf('model-replied')];
    };
    expect(await shown([new Turns()])).toEqual([1, true]);
    expect(await shown([new Calls()])).toEqual([4, false]);
  });

  it('a model without a stream of its own is asked for the whole', async () => {
    const model = new Writes([scriptedReplyOf('union', 'It is in transit.')]);
    const { events } = await all(createAIService({ model, tools: [find] }).stream('q'));
    expect(texts(events)).toEqual([[1, 'It is in transit.']]);
  });

  it('the scope is taken when it is called, and the run begins with the first event', async () => {
    const model = scriptedModel([text('ok')]);
    const { ai, container } = application(model);
    const outside = container.get(Desk).agent.stream('q')[Symbol.asyncIterator]();
    expect(await rejection(() => outside.next())).toBeInstanceOf(AIScopeError);
    const scope = ai.openScope(as('alice'));
    const stream = scope.run(() => container.get(Desk).agent.stream('q'));
    expect(model.requests).toHaveLength(0);
    expect((await all(stream)).events.at(-1)).toMatchObject({ type: 'run-ended', run: { text: 'ok' } });
    await scope.close();
  });

  it('nothing waits for its reader, who reads one event at a time, and once', async () => {
    const model = scriptedModel([call(FIND.name, FIND.arguments), text('ok')]);
    const ended = new Events();
    const stream = createAIService({ model, tools: [find], observers: [ended] }).stream('q');
    const reader = stream[Symbol.asyncIterator]();
    await reader.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended.all.at(-1)![0]).toBe('runEnded');
    expect((await all(stream)).events.at(-1)!.type).toBe('run-ended');
    expect((await all(stream)).events).toEqual([]);
    const another = createAIService({ model, tools: [find] }).stream('q');
    const open = another[Symbol.asyncIterator]();
    const asked = [open.next(), open.next()];
    expect((await asked[0]!).value).toMatchObject({ type: 'run-started' });
    await expect(asked[1]).rejects.toBeInstanceOf(AIDefinitionError);
    await open.return!();
  });

  it('leaving it aborts what is at work, and a type in place of the options is an error', async () => {
    let reason: unknown;
    const wait = defineTool({
      name: 'wait',
      description: 'Waits',
      parameters: {},
      execute: (_args, { signal }) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(reason as Error);
          });
        }),
    });
    const events = new Events();
    const model = scriptedModel([call('wait')]);
    const service = createAIService({ model, tools: [wait], observers: [events], logger: quiet });
    for await (const event of service.stream('q')) if (event.type === 'tool-started') break;
    expect(reason).toBeInstanceOf(Error);
    expect(events.all.at(-1)![0]).toBe('runEnded');
    const typed = service.stream('q', z.object({}) as never)[Symbol.asyncIterator]();
    expect(await rejection(() => typed.next())).toBeInstanceOf(AIDefinitionError);
  });
});
