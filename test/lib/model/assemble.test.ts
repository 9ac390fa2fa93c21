import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AIProviderError, type ModelCall, type ModelDelta, type ModelReply } from 'inversify-ai';
import { ReplyAssembler } from '../../../lib/model/assemble.js';

type Call = Omit<Extract<ModelDelta, { readonly type: 'call' }>, 'type'>;

const usage = { inputTokens: 3, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 0 };
const end: ModelDelta = { type: 'end', finish: 'tool_calls', usage };

function assembled(deltas: readonly ModelDelta[]): ModelReply {
  const assembler = new ReplyAssembler();
  for (const delta of deltas) assembler.take(delta);
  return assembler.reply('m');
}

const callsOf = (pieces: readonly Call[]): readonly ModelCall[] | undefined =>
  assembled([...pieces.map((piece) => ({ type: 'call' as const, ...piece })), end]).calls;

describe('the pieces of several calls', () => {
  it.each<[string, readonly Call[], readonly ModelCall[]]>([
    [
      'without an id go to the call of their index, not to the last one (continuedev/continue#13223, openai/codex#7517)',
      [
        { index: 0, id: 'a', name: 'find', arguments: '' },
        { index: 1, id: 'b', name: 'list', arguments: '' },
        { index: 0, arguments: '{"id"' },
        { index: 1, arguments: '{"of"' },
        { index: 0, arguments: ':1}' },
        { index: 1, arguments: ':2}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'b', name: 'list', arguments: '{"of":2}' },
      ],
    ],
    [
      'with an empty id after the first go to the call of their index, too (continuedev/continue#13223)',
      [
        { index: 0, id: 'a', name: 'find' },
        { index: 1, id: 'b', name: 'list' },
        { index: 0, id: '', name: '', arguments: '{}' },
        { index: 1, id: '', name: '', arguments: '[]' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{}' },
        { id: 'b', name: 'list', arguments: '[]' },
      ],
    ],
    [
      'with id and name in each of them are one call for each id',
      [
        { index: 0, id: 'a', name: 'find', arguments: '{"id"' },
        { index: 0, id: 'a', name: 'find', arguments: ':1}' },
        { index: 1, id: 'b', name: 'find', arguments: '{"id"' },
        { index: 1, id: 'b', name: 'find', arguments: ':2}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'b', name: 'find', arguments: '{"id":2}' },
      ],
    ],
    [
      'whose name comes in two have it whole',
      [
        { index: 0, id: 'a', name: 'find_' },
        { index: 0, name: 'order' },
        { index: 0, arguments: '{}' },
      ],
      [{ id: 'a', name: 'find_order', arguments: '{}' }],
    ],
    [
      'that share index 0 and have two ids are two calls (earendil-works/pi#8861, vercel/ai#14277)',
      [
        { index: 0, id: 'a', name: 'find', arguments: '{"id":1}' },
        { index: 0, id: 'b', name: 'find', arguments: '{"id":2}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'b', name: 'find', arguments: '{"id":2}' },
      ],
    ],
    [
      'that share index 0 go on with the call that was opened last, where they have no id (vercel/ai#14277)',
      [
        { index: 0, id: 'a', name: 'find', arguments: '{"id":' },
        { index: 0, arguments: '1}' },
        { index: 0, id: 'b', name: 'list', arguments: '{"of":' },
        { index: 0, arguments: '2}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'b', name: 'list', arguments: '{"of":2}' },
      ],
    ],
    [
      'that share index 0 and take turns go by their ids (earendil-works/pi#8861)',
      [
        { index: 0, id: 'a', name: 'find', arguments: '{"id":' },
        { index: 0, id: 'b', name: 'list', arguments: '{"of":' },
        { index: 0, id: 'a', arguments: '1}' },
        { index: 0, id: 'b', arguments: '2}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'b', name: 'list', arguments: '{"of":2}' },
      ],
    ],
    [
      'that share an id are two calls where they have two indexes (HKUDS/nanobot#4059)',
      [
        { index: 0, id: 'a', name: 'find', arguments: '{"id":' },
        { index: 1, id: 'a', name: 'find', arguments: '{"id":' },
        { index: 0, id: 'a', arguments: '1}' },
        { index: 1, id: 'a', arguments: '2}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'a', name: 'find', arguments: '{"id":2}' },
      ],
    ],
    [
      'that have empty ids are two calls where they have two indexes (huggingface/smolagents#2684)',
      [
        { index: 0, id: '', name: 'find', arguments: '{"id":1}' },
        { index: 1, id: '', name: 'find', arguments: '{"id":2}' },
      ],
      [
        { id: '', name: 'find', arguments: '{"id":1}' },
        { id: '', name: 'find', arguments: '{"id":2}' },
      ],
    ],
    [
      'without any index go by their ids (openai/codex#7517)',
      [
        { id: 'a', name: 'find', arguments: '{"id":' },
        { arguments: '1}' },
        { id: 'b', name: 'list', arguments: '{"of":' },
        { arguments: '2}' },
        { id: 'a', arguments: ' ' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1} ' },
        { id: 'b', name: 'list', arguments: '{"of":2}' },
      ],
    ],
    [
      'without index or id begin a call with each name (huggingface/smolagents#2684)',
      [
        { name: 'find', arguments: '{"id":' },
        { arguments: '1}' },
        { name: 'find', arguments: '{"id":2}' },
        { id: '', name: 'list', arguments: '{}' },
      ],
      [
        { name: 'find', arguments: '{"id":1}' },
        { name: 'find', arguments: '{"id":2}' },
        { id: '', name: 'list', arguments: '{}' },
      ],
    ],
    [
      'keep the order in which the calls were opened, whatever their indexes',
      [
        { index: 5, id: 'a', name: 'find', arguments: '{}' },
        { index: 2, id: 'b', name: 'list', arguments: '{}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{}' },
        { id: 'b', name: 'list', arguments: '{}' },
      ],
    ],
  ])('%s', (_title, pieces, calls) => {
    expect(callsOf(pieces)).toEqual(calls);
  });

  it.each<[string, readonly Call[], readonly ModelCall[]]>([
    [
      'that share index 0 and an empty id are two calls, another name after arguments says so (vercel/ai#14277, huggingface/smolagents#2684)',
      [
        { index: 0, id: '', name: 'find', arguments: '{"id":1}' },
        { index: 0, id: '', name: 'list', arguments: '{"of":2}' },
      ],
      [
        { id: '', name: 'find', arguments: '{"id":1}' },
        { id: '', name: 'list', arguments: '{"of":2}' },
      ],
    ],
    [
      'that share an id and have no index are two calls, another name after arguments says so (HKUDS/nanobot#4059)',
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'a', name: 'list', arguments: '{"of":2}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'a', name: 'list', arguments: '{"of":2}' },
      ],
    ],
    [
      'that leave out the index after the first go by their ids (openai/codex#7517)',
      [
        { index: 0, id: 'a', name: 'find', arguments: '{"id":' },
        { index: 1, id: 'b', name: 'list', arguments: '{}' },
        { id: 'a', arguments: '1}' },
      ],
      [
        { id: 'a', name: 'find', arguments: '{"id":1}' },
        { id: 'b', name: 'list', arguments: '{}' },
      ],
    ],
    [
      'whose id comes after an empty one have that id (huggingface/smolagents#2684)',
      [
        { index: 0, id: '', name: 'find' },
        { index: 0, id: 'a', arguments: '{}' },
      ],
      [{ id: 'a', name: 'find', arguments: '{}' }],
    ],
  ])('%s', (_title, pieces, calls) => {
    expect(callsOf(pieces)).toEqual(calls);
  });
});

describe('a reply in pieces', () => {
  it('without its end is no reply, and may be asked for again', () => {
    const begun: readonly ModelDelta[] = [
      { type: 'text', text: 'In tran' },
      { type: 'call', index: 0, id: 'a', name: 'find', arguments: '{}' },
    ];
    expect(() => assembled(begun)).toThrow(
      new AIProviderError('m: the stream ended before the reply was whole.', { retryable: true }),
    );
    expect(() => assembled([])).toThrow(AIProviderError);
    expect(thrown(() => assembled(begun))).toMatchObject({ code: 'provider', retryable: true, status: undefined });
  });

  it('has what comes with its end, and no key for what did not come', () => {
    const carried = [{ type: 'reasoning', encrypted_content: 'x' }];
    expect(assembled([{ type: 'end', finish: 'stop', usage, requestId: 'r', carried }])).toStrictEqual({
      text: '',
      finish: 'stop',
      usage,
      requestId: 'r',
      carried,
    });
  });

  it('has a refusal’s words whole', () => {
    const pieces = ['I ca', 'nnot', ''].map((text): ModelDelta => ({ type: 'refusal', text }));
    expect(assembled([...pieces, { type: 'end', finish: 'stop', usage }])).toStrictEqual({
      text: '',
      refusal: 'I cannot',
      finish: 'stop',
      usage,
    });
  });
});

function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** Texts with whole and halved pairs of surrogates, quotes and line breaks. */
const texts = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('😀', 'ü', '"', '\\', '\n', '\ud83d', '\ude00'),
  ),
  maxLength: 30,
});

/** A text in pieces, which may split a pair, and of which some may be empty. */
const cutTexts = fc
  .tuple(texts, fc.array(fc.nat(30), { maxLength: 4 }))
  .map(([text, places]) => ({ text, pieces: cut(text, places) }));

function cut(text: string, places: readonly number[]): readonly string[] {
  const at = [0, ...places.map((place) => Math.min(place, text.length)), text.length].sort((a, b) => a - b);
  return at.slice(1).map((to, index) => text.slice(at[index], to));
}

interface Streamed {
  readonly call: ModelCall;
  readonly pieces: readonly string[];
}

/** What some servers repeat with every piece. */
interface Manners {
  readonly repeatsId: boolean;
  readonly repeatsName: boolean;
  readonly opensEmpty: boolean;
}

const manners = fc.record({ repeatsId: fc.boolean(), repeatsName: fc.boolean(), opensEmpty: fc.boolean() });
const ids = fc.constantFrom(undefined, '', 'call_1', 'call_2', 'c-3');
const names = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const streamedCall = fc.record({ id: ids, name: names, cut: cutTexts }).map(({ id, name, cut: { text, pieces } }) => ({
  call: { ...(id !== undefined && { id }), name, arguments: text },
  pieces,
}));

function piecesOf({ call, pieces }: Streamed, index: number | undefined, how: Manners): readonly Call[] {
  const at = { ...(index !== undefined && { index }) };
  const id = { ...(call.id !== undefined && { id: call.id }) };
  const name = { name: call.name };
  return (how.opensEmpty ? ['', ...pieces] : pieces).map((piece, place) => ({
    ...at,
    ...((place === 0 || how.repeatsId) && id),
    ...((place === 0 || how.repeatsName) && name),
    arguments: piece,
  }));
}

/** One list of several, each in its own order; first pieces come in the order of the lists, so that the calls have one. */
function shuffled<T>(lists: readonly (readonly T[])[], order: readonly number[]): readonly T[] {
  const waiting = lists.map((list) => [...list]);
  const mixed: T[] = [];
  let opened = 0;
  for (let turn = 0; waiting.some((list) => list.length > 0); turn++) {
    const open = waiting.slice(0, opened).filter((list) => list.length > 0);
    const wish = order[turn % Math.max(order.length, 1)] ?? 0;
    const list = wish < open.length ? open[wish] : (waiting[opened++] ?? open[0]);
    const next = list?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return mixed;
}

const order = fc.array(fc.nat(3), { minLength: 1, maxLength: 12 });
const indexes = fc.uniqueArray(fc.nat(9), { minLength: 4, maxLength: 4 });

describe('a reply cut at random places is the whole reply', () => {
  it('with texts, a refusal and calls that take turns, each with an index of its own and any id', () => {
    fc.assert(
      fc.property(
        fc.record({
          text: cutTexts,
          refusal: cutTexts,
          calls: fc.array(streamedCall, { maxLength: 4 }),
          how: manners,
          indexes,
          order,
        }),
        ({ text, refusal, calls, how, indexes, order }) => {
          const lists: readonly (readonly ModelDelta[])[] = [
            text.pieces.map((piece) => ({ type: 'text', text: piece })),
            refusal.pieces.map((piece) => ({ type: 'refusal', text: piece })),
            ...calls.map((call, place) =>
              piecesOf(call, indexes[place], how).map((piece) => ({ type: 'call' as const, ...piece })),
            ),
          ];
          expect(assembled([...shuffled(lists, order), end])).toStrictEqual({
            text: text.text,
            ...(refusal.text !== '' && { refusal: refusal.text }),
            ...(calls.length > 0 && { calls: calls.map(({ call }) => call) }),
            finish: 'tool_calls',
            usage,
          });
        },
      ),
    );
  });

  const withIds = fc
    .tuple(fc.array(streamedCall, { maxLength: 4 }), fc.uniqueArray(names, { minLength: 4, maxLength: 4 }))
    .map(([calls, unique]) => calls.map(({ call, pieces }, at) => ({ call: { ...call, id: unique[at]! }, pieces })));

  it.each([
    ['that share index 0 (earendil-works/pi#8861, vercel/ai#14277)', 0],
    ['without an index (openai/codex#7517)', undefined],
  ])('with calls %s, each with an id of its own', (_title, index) => {
    fc.assert(
      fc.property(withIds, manners, order, (calls, how, order) => {
        // A name alone, with neither index nor id, begins a call.
        const repeatsName = how.repeatsName && (index !== undefined || how.repeatsId);
        const lists = calls.map((call) => piecesOf(call, index, { ...how, repeatsName }));
        // Without an id in every piece, a call must end before the next one begins.
        expect(callsOf(how.repeatsId ? shuffled(lists, order) : lists.flat()) ?? []).toStrictEqual(
          calls.map(({ call }) => call),
        );
      }),
    );
  });
});
