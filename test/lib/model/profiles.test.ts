import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  AIDefinitionError,
  AIService,
  type AIServiceOptions,
  ChatModel,
  createAIService,
  defineTool,
  installAI,
  type InstallOptions,
  openAI,
  type OpenAIOptions,
  type OpenAIProfile,
  type OpenAIProfileName,
  ReadOnly,
  type WireName,
} from 'inversify-ai';
import OpenAI from 'openai';
import { as, Desk, OrderService, OrderTools, quietLogger, rejection } from '../../container/orders.js';

type Body = Readonly<Record<string, unknown>>;

const find = defineTool({
  name: 'find',
  description: 'Finds an order',
  group: ReadOnly,
  parameters: { orderId: { type: 'integer', description: 'The order id' } },
  execute: ({ orderId }) => `order ${orderId.toString()}`,
});

/** What a question is answered with, whatever wire it travels on: only what was sent is looked at. */
function recording(): { readonly fetch: typeof globalThis.fetch; readonly sent: Body[] } {
  const sent: Body[] = [];
  return {
    sent,
    fetch: async (_input, init) => {
      sent.push(JSON.parse(await new Response(init?.body).text()) as Body);
      return Response.json({ error: { message: 'enough' } }, { status: 400 });
    },
  };
}

/** The body that a question is sent with. */
async function bodyOf(options: Partial<OpenAIOptions>, service: Partial<AIServiceOptions> = {}): Promise<Body> {
  const { fetch, sent } = recording();
  const model = openAI({ model: 'm', apiKey: 'k', fetch, ...options });
  await rejection(() =>
    createAIService({ model, tools: [find], settings: { maxOutputTokens: 9 }, maxAttempts: 1, ...service }).chat('q'),
  );
  expect(sent).toHaveLength(1);
  return sent[0]!;
}

/** The wire that a body is written on. */
function wireOf({ tools, response_format, messages }: Body): WireName {
  if (tools !== undefined) return 'native';
  return JSON.stringify(response_format ?? messages).includes('next') ? 'union' : 'envelope';
}

const profileOf = (options: Partial<OpenAIOptions>): unknown => openAI({ model: 'm', apiKey: 'k', ...options }).profile;

const ALL = ['union', 'envelope', 'native'];
const FLAT = ['envelope', 'native'];
const FIRST_NATIVE = ['native', 'envelope'];
const ROUTED = { provider: { require_parameters: true } };

interface Known {
  readonly name: OpenAIProfileName;
  readonly schema: OpenAIProfile['schema'];
  readonly wires: readonly string[];
  /** The wire that is taken where nobody says otherwise. */
  readonly taken: WireName;
  readonly field: 'max_tokens' | 'max_completion_tokens';
  readonly extra?: Body;
  readonly addresses?: readonly string[];
}

const completion = { field: 'max_completion_tokens' } as const;
const tokens = { field: 'max_tokens' } as const;

const KNOWN: readonly Known[] = [
  {
    name: 'openai',
    schema: 'enforced',
    wires: ALL,
    taken: 'union',
    ...completion,
    addresses: ['https://api.openai.com/v1'],
  },
  {
    name: 'azure',
    schema: 'enforced',
    wires: ALL,
    taken: 'union',
    ...completion,
    addresses: ['https://desk.openai.azure.com/openai/v1/', 'https://desk.services.ai.azure.com/openai/v1'],
  },
  {
    name: 'gemini',
    schema: 'enforced',
    wires: ALL,
    taken: 'union',
    ...tokens,
    addresses: ['https://generativelanguage.googleapis.com/v1beta/openai/'],
  },
  { name: 'xai', schema: 'enforced', wires: ALL, taken: 'union', ...tokens, addresses: ['https://api.x.ai/v1'] },
  { name: 'ollama', schema: 'enforced', wires: FLAT, taken: 'envelope', ...tokens },
  { name: 'vllm', schema: 'enforced', wires: FLAT, taken: 'envelope', ...tokens },
  { name: 'lm-studio', schema: 'enforced', wires: FLAT, taken: 'envelope', ...tokens },
  { name: 'llama.cpp', schema: 'accepted', wires: ALL, taken: 'union', ...tokens },
  {
    name: 'ollama-cloud',
    schema: 'accepted',
    wires: FLAT,
    taken: 'envelope',
    ...tokens,
    addresses: ['https://ollama.com/v1'],
  },
  {
    name: 'groq',
    schema: 'accepted',
    wires: FLAT,
    taken: 'envelope',
    ...tokens,
    addresses: ['https://api.groq.com/openai/v1'],
  },
  {
    name: 'mistral',
    schema: 'accepted',
    wires: FLAT,
    taken: 'envelope',
    ...tokens,
    addresses: ['https://api.mistral.ai/v1'],
  },
  {
    name: 'openrouter',
    schema: 'accepted',
    wires: FLAT,
    taken: 'envelope',
    ...tokens,
    extra: ROUTED,
    addresses: ['https://openrouter.ai/api/v1'],
  },
  {
    name: 'anthropic',
    schema: 'accepted',
    wires: FIRST_NATIVE,
    taken: 'native',
    ...tokens,
    addresses: ['https://api.anthropic.com/v1/'],
  },
  {
    name: 'deepseek',
    schema: 'none',
    wires: FIRST_NATIVE,
    taken: 'native',
    ...tokens,
    addresses: ['https://api.deepseek.com', 'https://api.deepseek.com/v1'],
  },
  {
    name: 'compatible',
    schema: 'accepted',
    wires: FLAT,
    taken: 'envelope',
    ...tokens,
    addresses: [
      'http://127.0.0.1:11434/v1',
      'http://[::1]:8000/v1',
      'https://desk.example.com/v1',
      'https://api.openai.com.example.com/v1',
      'https://desk-api.openai.com.example.com/v1',
      'https://openai.azure.com.example.com/v1',
      'https://example.com/api.openai.com/v1',
      'https://api.openai.com@example.com/v1',
      'https://notopenrouter.ai/v1',
    ],
  },
];

describe('the profile', () => {
  it.each(KNOWN)('$name, asked for by its name', async ({ name, schema, wires, taken, field, extra }) => {
    const options = { baseURL: 'http://127.0.0.1:1/v1', profile: name };
    expect(profileOf(options)).toMatchObject({ schema, wires });
    const body = await bodyOf(options);
    expect(wireOf(body)).toBe(taken);
    expect(body).toMatchObject({ [field]: 9, ...extra });
    // And nothing else than what is known of it: some servers answer 422 to a field that they do not know.
    const beside = taken === 'native' ? ['tools', 'parallel_tool_calls'] : ['response_format'];
    expect(Object.keys(body).sort()).toEqual(
      ['model', 'messages', field, ...beside, ...Object.keys(extra ?? {})].sort(),
    );
  });

  it.each(KNOWN)('$name has each of its wires', async ({ name, wires, schema, field }) => {
    for (const wire of wires as readonly WireName[]) {
      const body = await bodyOf({ baseURL: 'http://127.0.0.1:1/v1', profile: name }, { wire });
      expect(wireOf(body)).toBe(wire);
      expect(body[field]).toBe(9);
      expect('response_format' in body).toBe(wire !== 'native' && schema !== 'none');
    }
  });

  it.each(KNOWN.flatMap(({ name, addresses = [] }) => addresses.map((address) => [address, name] as const)))(
    'of %s is %s',
    (baseURL, name) => {
      expect(profileOf({ baseURL })).toBe(profileOf({ baseURL, profile: name }));
      const client = new OpenAI({ apiKey: 'k', baseURL });
      expect(profileOf({ client })).toBe(profileOf({ client, profile: name }));
    },
  );

  it.each([
    ['HTTPS://API.OpenAI.com/v1', 'openai'],
    ['https://api.openai.com:443/v1', 'openai'],
    ['https://api.openai.com:8443/v1', 'openai'],
    ['https://user:secret@api.groq.com/openai/v1', 'groq'],
  ] as const)('of %s is %s: neither letter case nor port nor user counts', (baseURL, name) => {
    expect(profileOf({ baseURL })).toBe(profileOf({ baseURL, profile: name }));
  });

  it('that is asked for counts more than the address', () => {
    expect(profileOf({ baseURL: 'https://api.openai.com/v1', profile: 'deepseek' })).toMatchObject({ schema: 'none' });
  });

  it('of a client that tells no address is that of any server', () => {
    const create = () => Promise.resolve({});
    const client = { chat: { completions: { create } } };
    expect(profileOf({ client })).toBe(profileOf({ client, profile: 'compatible' }));
  });

  describe('without a base URL', () => {
    const before = process.env.OPENAI_BASE_URL;
    beforeEach(() => {
      delete process.env.OPENAI_BASE_URL;
    });
    afterEach(() => {
      if (before === undefined) delete process.env.OPENAI_BASE_URL;
      else process.env.OPENAI_BASE_URL = before;
    });

    it('is OpenAI’s, or that of the address in the environment', () => {
      expect(profileOf({})).toBe(profileOf({ profile: 'openai' }));
      process.env.OPENAI_BASE_URL = 'https://api.mistral.ai/v1';
      expect(profileOf({})).toBe(profileOf({ profile: 'mistral' }));
    });
  });
});

describe('where a schema is answered with an error', () => {
  const none: OpenAIProfile = { schema: 'none', wires: ['envelope', 'union', 'native'] };

  it.each(['envelope', 'union', 'native'] as const)('none is sent on the wire %s', async (wire) => {
    for (const profile of [none, ...(wire === 'union' ? [] : (['deepseek'] as const))]) {
      const body = await bodyOf({ baseURL: 'http://127.0.0.1:1/v1', profile }, { wire });
      expect(body).not.toHaveProperty('response_format');
      // What the form of a reply is, is said in words.
      expect(JSON.stringify(body['messages'])).toContain(wire === 'native' ? 'never an instruction' : 'ANSWER');
    }
  });

  it.each(['envelope', 'union', 'native'] as const)('none is sent over Responses on the wire %s', async (wire) => {
    const body = await bodyOf({ baseURL: 'http://127.0.0.1:1/v1', profile: none, api: 'responses' }, { wire });
    expect(body).not.toHaveProperty('text');
  });
});

describe('a profile of the application’s own', () => {
  const baseURL = 'https://api.openai.com/v1';

  it('is taken as it is, in place of what is known of the address', async () => {
    const profile: OpenAIProfile = {
      schema: 'accepted',
      wires: ['native', 'envelope'],
      maxTokensField: 'max_completion_tokens',
      extraBody: { cache: { of: ['x'] }, model: 'routed' },
    };
    expect(profileOf({ baseURL, profile })).toEqual(profile);
    const body = await bodyOf({ baseURL, profile });
    expect(wireOf(body)).toBe('envelope');
    // What it says goes over what is sent anyway.
    expect(body).toMatchObject({ max_completion_tokens: 9, cache: { of: ['x'] }, model: 'routed' });
  });

  it('says max_tokens where it names no field, and nothing where nothing is set', async () => {
    const profile = { schema: 'accepted', wires: ['envelope'] } as const;
    expect(await bodyOf({ baseURL, profile })).toMatchObject({ max_tokens: 9 });
    const body = await bodyOf({ baseURL, profile }, { settings: {} });
    expect(Object.keys(body)).toEqual(['model', 'messages', 'response_format']);
  });

  it.each<[string, OpenAIProfile, WireName]>([
    ['the union, where it has all', { schema: 'enforced', wires: ['native', 'envelope', 'union'] }, 'union'],
    ['the envelope, where it has no union', { schema: 'enforced', wires: ['native', 'envelope'] }, 'envelope'],
    ['native, where it has nothing else', { schema: 'none', wires: ['native'] }, 'native'],
    ['what it prefers', { schema: 'enforced', wires: ['union', 'envelope'], prefers: 'envelope' }, 'envelope'],
    ['what it prefers, native too', { schema: 'enforced', wires: ['union', 'native'], prefers: 'native' }, 'native'],
  ])('has a wire that is taken: %s', async (_title, profile, wire) => {
    expect(wireOf(await bodyOf({ baseURL, profile }))).toBe(wire);
    expect(wireOf(await bodyOf({ baseURL, profile }, { tools: [find], system: 'Be kind.' }))).toBe(wire);
  });

  it('is overruled by the wire that a service asks for', async () => {
    const profile = { schema: 'enforced', wires: ['union', 'envelope', 'native'], prefers: 'envelope' } as const;
    expect(wireOf(await bodyOf({ baseURL, profile }, { wire: 'native' }))).toBe('native');
  });

  it('is not changed by what becomes of the object later', async () => {
    const wires: WireName[] = ['envelope'];
    const profile = { schema: 'accepted' as OpenAIProfile['schema'], wires };
    const model = openAI({ model: 'm', apiKey: 'k', baseURL, profile });
    wires.push('union');
    profile.schema = 'none';
    expect(model.profile).toEqual({ schema: 'accepted', wires: ['envelope'] });
    expect([model.profile, model.profile.wires].map(Object.isFrozen)).toEqual([true, true]);
  });

  it('cannot be changed by who reads it, nor can one that is known by its name', () => {
    const profile = profileOf({ profile: 'openai' }) as OpenAIProfile;
    expect([profile, profile.wires].map(Object.isFrozen)).toEqual([true, true]);
  });
});

describe('openAI refuses', () => {
  const NAMES =
    'openai, azure, gemini, xai, ollama, vllm, lm-studio, llama.cpp, ollama-cloud, groq, mistral, openrouter, anthropic, deepseek, compatible';
  const good = { schema: 'accepted', wires: ['envelope'] };

  it.each<[string, unknown, string]>([
    [
      'a name that no profile has',
      'claude',
      `openAI, profile: there is none called 'claude'; take one of ${NAMES}, or write { schema, wires }`,
    ],
    ['an empty name', '', `openAI, profile: there is none called ''; take one of ${NAMES}, or write { schema, wires }`],
    [
      'a name that every object has',
      'toString',
      `openAI, profile: there is none called 'toString'; take one of ${NAMES}, or write { schema, wires }`,
    ],
    ['null', null, 'openAI, profile: expected an options object, found null'],
    ['a list', ['envelope'], 'openAI, profile: expected an options object, found an array'],
    [
      'an option that there is not',
      { ...good, wire: 'envelope' },
      'openAI, profile: there is no option "wire"; the options are schema, wires, prefers, maxTokensField, extraBody',
    ],
    [
      'a word for schema that it does not know',
      { ...good, schema: 'strict' },
      "openAI, profile: schema must be 'enforced', 'accepted' or 'none'; found \"strict\"",
    ],
    [
      'no schema',
      { wires: ['envelope'] },
      "openAI, profile: schema must be 'enforced', 'accepted' or 'none'; found undefined",
    ],
    [
      'no wires',
      { schema: 'none' },
      'openAI, profile: wires must list some of envelope, union, native; found undefined',
    ],
    [
      'an empty list of wires',
      { ...good, wires: [] },
      'openAI, profile: wires must list some of envelope, union, native; found an empty list',
    ],
    [
      'a wire that there is not',
      { ...good, wires: ['envelope', 'json'] },
      'openAI, profile: wires must list some of envelope, union, native; found "envelope", "json"',
    ],
    [
      'a wire in place of a list',
      { ...good, wires: 'envelope' },
      'openAI, profile: wires must list some of envelope, union, native; found a string',
    ],
    [
      'to prefer a wire that is not in the list',
      { ...good, prefers: 'union' },
      'openAI, profile: prefers must be one of its wires, envelope; found "union"',
    ],
    [
      'a field for tokens that there is not',
      { ...good, maxTokensField: 'maxTokens' },
      "openAI, profile: maxTokensField must be 'max_completion_tokens' or 'max_tokens'; found \"maxTokens\"",
    ],
    [
      'an extra body that is no object',
      { ...good, extraBody: '{}' },
      'openAI, profile: extraBody must be an object that is sent along; found a string',
    ],
  ])('%s', (_title, profile, message) => {
    expect(() => openAI({ model: 'm', apiKey: 'k', profile: profile as OpenAIProfile })).toThrow(
      new AIDefinitionError(message),
    );
  });

  it('everything that is wrong at once, with what is wrong besides', () => {
    const options = { model: 'm', apiKey: 'k', api: 'both', timeoutMs: 0, profile: { schema: 1, wires: [] } };
    let problems: readonly string[] = [];
    try {
      openAI(options as unknown as OpenAIOptions);
    } catch (error) {
      ({ problems } = error as AIDefinitionError);
    }
    expect(problems).toEqual([
      expect.stringMatching(/timeoutMs/),
      expect.stringMatching(/schema must be/),
      expect.stringMatching(/wires must list/),
      "openAI: api must be 'chat' or 'responses', found \"both\"",
    ]);
  });
});

describe('a wire that the profile does not list', () => {
  const model = (): ChatModel => openAI({ model: 'm', baseURL: 'http://127.0.0.1:1/v1', profile: 'ollama' });
  const words = (where: string): string =>
    `${where}: the model m does not speak the wire union, its profile has envelope, native; take one of these, or say in its profile that it does`;

  it('is an AIDefinitionError in createAIService', () => {
    const make = (): AIService => createAIService({ model: model(), tools: [find], wire: 'union' });
    expect(make).toThrow(new AIDefinitionError(words('createAIService')));
    expect(() => createAIService({ model: model(), wire: 'union' })).toThrow(AIDefinitionError);
    expect(() => createAIService({ model: model(), tools: [find], wire: 'native' })).not.toThrow();
  });

  it.each(['openai', 'azure', 'gemini', 'xai', 'llama.cpp'] as const)(
    'is none where it is %s: it lists all',
    (profile) => {
      const make = (wire: WireName) => () =>
        createAIService({ model: openAI({ model: 'm', apiKey: 'k', profile }), tools: [find], wire });
      for (const wire of ['union', 'envelope', 'native'] as const) expect(make(wire)).not.toThrow();
    },
  );

  @injectable()
  class UnionDesk {
    constructor(@AI({ tools: [OrderTools], toolGroup: ReadOnly, wire: 'union' }) readonly agent: AIService) {}
  }

  @injectable()
  class OwnModelDesk {
    constructor(
      @inject(OrderService) readonly orders: OrderService,
      @AI({ tools: [OrderTools], wire: 'union', model: model() }) readonly agent: AIService,
    ) {}
  }

  /** An application with the desks that are given. */
  function verified(options: Partial<InstallOptions>, ...desks: readonly (new (...args: never[]) => object)[]) {
    const container = new Container();
    for (const service of [OrderService, OrderTools, ...desks]) container.bind<object>(service as never).toSelf();
    const ai = installAI(container, { logger: quietLogger(), ...options });
    let problems: readonly string[] = [];
    try {
      ai.verify();
    } catch (error) {
      expect(error).toBeInstanceOf(AIDefinitionError);
      ({ problems } = error as AIDefinitionError);
    }
    return { ai, container, problems };
  }

  it('is found by verify, where a site asks for it', () => {
    expect(verified({ model: model() }, Desk, UnionDesk).problems).toEqual([words('@AI on UnionDesk#0')]);
  });

  it('is found by verify, where the application asks for it', () => {
    expect([...verified({ model: model(), wire: 'union' }, Desk).problems].sort()).toEqual(
      ['@AI on Desk#0', '@AI on Desk.reader'].map(words),
    );
  });

  it('is found by verify, where the model is the site’s own', () => {
    const speaksAll = openAI({ model: 'all', apiKey: 'k', profile: 'openai' });
    expect(verified({ model: speaksAll }, OwnModelDesk).problems).toEqual([words('@AI on OwnModelDesk#1')]);
  });

  it('is none where a site asks for another than the application does', () => {
    @injectable()
    class EnvelopeDesk {
      constructor(@AI({ tools: [OrderTools], wire: 'envelope' }) readonly agent: AIService) {}
    }
    expect(verified({ model: model(), wire: 'union' }, EnvelopeDesk).problems).toEqual([]);
  });

  it('is refused when the site is resolved, before anything is asked', async () => {
    const { ai } = verified({ model: model() }, UnionDesk);
    const error = await rejection(() => ai.runInScope(as('alice'), (scope) => scope.container.get(UnionDesk).agent));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(error.message).toContain(words('@AI on UnionDesk#0'));
  });

  it('is refused at the question, where the application bound the model itself, and nothing is sent', async () => {
    const { fetch, sent } = recording();
    const { ai, container, problems } = verified({}, UnionDesk);
    container
      .bind(ChatModel)
      .toConstantValue(openAI({ model: 'm', baseURL: 'http://127.0.0.1:1/v1', profile: 'ollama', fetch }));
    expect(problems).toEqual([]);
    const error = await rejection(() =>
      ai.runInScope(as('alice'), (scope) => scope.container.get(UnionDesk).agent.chat('q')),
    );
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(error.message).toContain('the model m does not speak the wire union');
    expect(sent).toEqual([]);
  });
});
