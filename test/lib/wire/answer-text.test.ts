import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AnswerText, jsonAnswerText, plainAnswerText } from '../../../lib/wire/answer-text.js';

/** What a reader shows of each piece. */
const shown = (reader: AnswerText, pieces: readonly string[]): readonly string[] =>
  pieces.map((piece) => reader.push(piece));

const endsInHalf = (text: string): boolean => /[\ud800-\udbff]$/.test(text);

/** What is awkward in JSON or in UTF-16, among any other characters. */
const characters = fc.oneof(
  fc.constantFrom(
    '"',
    '\\',
    '/',
    '\n',
    '\r',
    '\t',
    '\b',
    '\f',
    '\0',
    'ü',
    '😀',
    '👩‍🚀',
    '\u2028',
    '{',
    '}',
    ',',
    ':',
    'u',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const answers = fc.array(characters, { maxLength: 20 }).map((list) => list.join(''));

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

/** A unit as JSON may have it: as it is, as a short escape, as four hexadecimal digits of either case. */
function written(character: string, style: number): string {
  const digits = character.charCodeAt(0).toString(16).padStart(4, '0');
  const must = character === '"' || character === '\\' || character < ' ';
  const escapes = [SHORT[character], `\\u${digits}`, `\\u${digits.toUpperCase()}`].filter((text) => text !== undefined);
  const ways = must ? escapes : [character, ...escapes];
  return ways[style % ways.length]!;
}

/** Decides, again and again, what a writer is free to decide. */
class Choices {
  #next = 0;
  constructor(private readonly list: readonly number[]) {}

  next(): number {
    return this.list[this.#next++ % this.list.length]!;
  }
}

const choices = fc.array(fc.nat(59), { minLength: 1, maxLength: 40 });

function text(value: string, by: Choices): string {
  const units = Array.from({ length: value.length }, (_, at) => written(value[at]!, by.next()));
  return `"${units.join('')}"`;
}

const space = (by: Choices): string => ['', '', ' ', '\n', '\t\r\n  '][by.next() % 5]!;

/** Entries rather than an object: their order matters, and a key may be any. */
class Entries {
  constructor(readonly list: readonly (readonly [key: string, value: unknown])[]) {}
}

/** A value as JSON, with white space and escapes as they are chosen. */
function json(value: unknown, by: Choices): string {
  const between = (parts: readonly string[], [open, close]: readonly [string, string]): string =>
    `${open}${space(by)}${parts.map((part) => `${space(by)}${part}${space(by)}`).join(',')}${close}`;
  if (typeof value === 'string') return text(value, by);
  if (Array.isArray(value))
    return between(
      (value as unknown[]).map((part) => json(part, by)),
      ['[', ']'],
    );
  if (value instanceof Entries)
    return between(
      value.list.map(([key, part]) => `${text(key, by)}${space(by)}:${space(by)}${json(part, by)}`),
      ['{', '}'],
    );
  return JSON.stringify(value);
}

/** A text in pieces of any length, also in the middle of a pair, of an escape, of a key. */
function cut(whole: string, by: Choices): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < whole.length;) {
    const length = by.next() % 7;
    pieces.push(whole.slice(at, at + length));
    at += length;
    if (length === 0) pieces.push(whole.slice(at, ++at));
  }
  return pieces;
}

/** The words that are looked for, and others. */
const keys = fc.constantFrom('answer', 'tool', 'next', 'arguments', 'name', 'value', '', 'answers', '"answer":"no"');

/** Any JSON, with the same words in it. */
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, false, 0, -1.5e10, 'ANSWER', 'answer', 'tool', '"answer":"no"'), answers),
    fc.array(tie('anything'), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(keys, tie('anything')), { maxLength: 3, selector: ([key]) => key })
      .map((e) => new Entries(e)),
  ),
}));

const others = (...taken: readonly string[]) =>
  fc.array(
    fc.tuple(
      keys.filter((key) => !taken.includes(key)),
      anything,
    ),
    { maxLength: 3 },
  );

type Part = readonly [key: string, value: unknown];

interface Written {
  readonly answer: string;
  readonly whole: string;
  readonly pieces: readonly string[];
}

/** A turn of the wire, with other keys before, between and after. */
const turns = (depth: 1 | 2, order: (tool: Part, answer: Part) => readonly [Part, Part]): fc.Arbitrary<Written> =>
  fc
    .record({
      answer: answers,
      tool: fc.oneof(fc.constantFrom('ANSWER', 'find', 'answer'), answers),
      parts: fc.tuple(others('tool', 'answer'), others('tool', 'answer'), others('tool', 'answer')),
      around: fc.tuple(others('next'), others('next')),
      writer: choices,
      cutter: choices,
    })
    .map(({ answer, tool, parts: [before, between, after], around: [ahead, behind], writer, cutter }) => {
      const [first, second] = order(['tool', tool], ['answer', answer]);
      const turn = new Entries([...before, first, ...between, second, ...after]);
      const root = depth === 1 ? turn : new Entries([...ahead, ['next', turn], ...behind]);
      const by = new Choices(writer);
      const whole = `${space(by)}${json(root, by)}${space(by)}`;
      return { answer, whole, pieces: cut(whole, new Choices(cutter)) };
    });

const toolFirst = (tool: Part, answer: Part) => [tool, answer] as const;
const answerFirst = (tool: Part, answer: Part) => [answer, tool] as const;

describe.each([
  [1, 'an envelope'],
  [2, 'a union'],
] as const)('at depth %i, of %s', (depth, _name) => {
  it('what is shown is the answer, never half a character, wherever the reply is cut', () => {
    fc.assert(
      fc.property(turns(depth, toolFirst), ({ answer, whole, pieces }) => {
        expect(pieces.join('')).toBe(whole);
        const shows = shown(jsonAnswerText(depth), pieces);
        expect(shows.join('')).toBe(answer);
        expect(shows.filter(endsInHalf)).toEqual([]);
      }),
    );
  });

  it('nothing is shown where the tool comes after the answer', () => {
    fc.assert(
      fc.property(turns(depth, answerFirst), ({ pieces }) => {
        expect(shown(jsonAnswerText(depth), pieces).join('')).toBe('');
      }),
    );
  });

  it('nothing is shown of an answer at any other place', () => {
    const at = fc.record({ value: anything, root: others('next'), own: others('answer'), writer: choices });
    fc.assert(
      fc.property(at, ({ value, root, own, writer }) => {
        const by = new Choices(writer);
        const turn = new Entries([['tool', 'ANSWER'], ...own, ['arguments', value]]);
        const whole = json(depth === 1 ? turn : new Entries([...root, ['next', turn], ...root]), by);
        expect(shown(jsonAnswerText(depth), [whole])).toEqual(['']);
        // What is an envelope is no union, and the other way round.
        const [other] = depth === 1 ? ([2] as const) : ([1] as const);
        const answered = new Entries([
          ['tool', 'ANSWER'],
          ['answer', 'no'],
        ]);
        const foreign = json(other === 2 ? new Entries([['next', answered]]) : answered, by);
        expect(shown(jsonAnswerText(depth), [foreign])).toEqual(['']);
      }),
    );
  });

  it('each character is shown as soon as it is there', () => {
    const begun = depth === 1 ? '{"tool":"ANSWER","arguments":[],"answer":"' : '{"next":{"tool":"ANSWER","answer":"';
    fc.assert(
      fc.property(answers, choices, (answer, writer) => {
        const by = new Choices(writer);
        const reader = jsonAnswerText(depth);
        expect(reader.push(begun)).toBe('');
        for (const character of answer) {
          const units = [...Array(character.length).keys()].map((at) => written(character[at]!, by.next())).join('');
          const shows = Array.from(units.split(''), (piece) => reader.push(piece));
          expect(shows).toEqual([...shows.slice(1).map(() => ''), character]);
        }
        expect(reader.push('"}}')).toBe('');
      }),
    );
  });

  it.each([
    ['null in place of a tool', '{"tool":null,"answer":"no"}'],
    ['an object in place of a tool', '{"tool":{"tool":"ANSWER"},"answer":"no"}'],
    ['a list in place of a tool', '{"tool":["ANSWER"],"answer":"no"}'],
    ['an object in place of an answer', '{"tool":"ANSWER","answer":{"answer":"no","text":"no"}}'],
    ['a list in place of an answer', '{"tool":"ANSWER","answer":["no","answer","no"]}'],
    ['a key that begins like the answer’s', '{"tool":"ANSWER","answer_":"no","answerXXXXXXXXXXXX":"no","Answer":"no"}'],
    ['an answer that is a key’s name', '{"tool":"answer","x":"answer","y":"no"}'],
    ['a list at the root', '["tool","ANSWER","answer","no",{"x":"no"}]'],
    ['a text', '"tool"'],
    ['nothing', ''],
  ])('%s shows nothing', (_title, turn) => {
    const whole = depth === 1 ? turn : `{"next":${turn === '' ? 'null' : turn}}`;
    expect(shown(jsonAnswerText(depth), whole.split('')).join('')).toBe('');
  });

  it('keys and tools that are written with escapes are the same keys and tools', () => {
    const turn = '{"\\u0074oo\\u006C":"\\u0041NSWER","\\u0061nswer":"yes"}';
    const whole = depth === 1 ? turn : `{"n\\u0065xt":${turn}}`;
    expect(shown(jsonAnswerText(depth), whole.split('')).join('')).toBe('yes');
  });

  it('a second answer is not shown: a reply with a key twice is none', () => {
    const turn = '{"tool":"ANSWER","answer":"yes","answer":"no"}';
    expect(jsonAnswerText(depth).push(depth === 1 ? turn : `{"next":${turn}}`)).toBe('yes');
  });
});

describe('a reply that is its text', () => {
  it('is shown, never half a character, wherever it is cut', () => {
    fc.assert(
      fc.property(answers, choices, (whole, cutter) => {
        const shows = shown(plainAnswerText(), cut(whole, new Choices(cutter)));
        expect(shows.join('')).toBe(whole);
        expect(shows.filter(endsInHalf)).toEqual([]);
      }),
    );
  });

  it('is shown also where it has halves without their other half, and no pair is split', () => {
    const units = fc.constantFrom('\ud83d', '\ude00', '\udbff', 'a');
    fc.assert(
      fc.property(fc.array(units, { maxLength: 12 }), choices, (list, cutter) => {
        const whole = list.join('');
        const shows = shown(plainAnswerText(), cut(whole, new Choices(cutter))).filter((piece) => piece !== '');
        // A half at the end waits for its other half.
        expect(shows.join('')).toBe(endsInHalf(whole) ? whole.slice(0, -1) : whole);
        const splits = shows.filter((piece, at) => endsInHalf(piece) && /^[\udc00-\udfff]/.test(shows[at + 1] ?? ''));
        expect(splits).toEqual([]);
      }),
    );
  });

  it('holds back half a pair alone, and gives it with its other half', () => {
    expect(shown(plainAnswerText(), ['a\ud83d', '', '\ude00b', '\ud83d', '\ude00'])).toEqual([
      'a',
      '',
      '😀b',
      '',
      '😀',
    ]);
  });
});
