/** Finds what may be shown of a reply while it is being written. */
export interface AnswerText {
  /** Takes more of the reply; gives what is new of the answer's text, never half a character. */
  push(text: string): string;
}

/** Where a reply is its text, all of it is shown. */
export function plainAnswerText(): AnswerText {
  const whole = new WholeCharacters();
  return { push: (text) => whole.push(text) };
}

/**
 * Where a reply is a JSON object, the text under "answer" is shown, once "tool" stands before it, at that depth: 1 for
 * `{ tool, answer }`, 2 for `{ next: { tool, answer } }`. It only looks: whether the reply is one that can be used is
 * decided when it is whole. Why our own: a streaming JSON parser gives values when they end, and one that gives parts of
 * a text (jsonriver, partial-json) repairs what it reads.
 */
export function jsonAnswerText(depth: 1 | 2): AnswerText {
  const scanner = new Scanner(depth);
  const whole = new WholeCharacters();
  return { push: (text) => whole.push(scanner.push(text)) };
}

/** A pair of surrogates may come in two pieces; half of one is no text. */
class WholeCharacters {
  #held = '';

  push(text: string): string {
    const all = this.#held + text;
    const last = all.charCodeAt(all.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#held = isHalf ? all.slice(-1) : '';
    return isHalf ? all.slice(0, -1) : all;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

interface OpenString {
  readonly kind: 'key' | 'answer' | 'tool' | 'other';
  text: string;
}

class Scanner {
  readonly #depth: number;
  #level = 0;
  /** The keys that led here, one for each level. */
  readonly #keys: (string | undefined)[] = [];
  /** Whether the next string at this level is a key. */
  #isKey = false;
  #string: OpenString | undefined;
  /** What came of an escape that is not whole yet. */
  #escape: string | undefined;
  #knowsTool = false;
  #answered = false;

  constructor(depth: number) {
    this.#depth = depth;
  }

  push(text: string): string {
    let shown = '';
    for (const character of units(text)) {
      const string = this.#string;
      shown += string === undefined ? this.#outside(character) : this.#inside(string, character);
    }
    return shown;
  }

  #outside(character: string): string {
    switch (character) {
      case '{':
      case '[':
        this.#level++;
        this.#keys.length = this.#level;
        this.#keys[this.#level - 1] = undefined;
        this.#isKey = character === '{';
        break;
      case '}':
      case ']':
        this.#level--;
        this.#isKey = false;
        break;
      case ',':
        this.#isKey = this.#keys[this.#level - 1] !== undefined;
        break;
      case '"':
        this.#string = { kind: this.#kind(), text: '' };
        break;
    }
    return '';
  }

  #kind(): OpenString['kind'] {
    if (this.#isKey) return 'key';
    if (this.#level !== this.#depth || (this.#depth === 2 && this.#keys[0] !== 'next')) return 'other';
    const key = this.#keys[this.#level - 1];
    if (key === 'tool') return 'tool';
    return key === 'answer' && this.#knowsTool && !this.#answered ? 'answer' : 'other';
  }

  #inside(string: OpenString, character: string): string {
    if (this.#escape !== undefined) {
      this.#escape += character;
      const whole = unescaped(this.#escape);
      if (whole === undefined) return '';
      this.#escape = undefined;
      return this.#take(string, whole);
    }
    if (character === '\\') {
      this.#escape = '';
      return '';
    }
    if (character !== '"') return this.#take(string, character);
    this.#string = undefined;
    if (string.kind === 'key') {
      this.#keys[this.#level - 1] = string.text;
      this.#isKey = false;
    }
    if (string.kind === 'tool') this.#knowsTool = true;
    if (string.kind === 'answer') this.#answered = true;
    return '';
  }

  #take(string: OpenString, text: string): string {
    if (string.kind === 'answer') return text;
    // No key that is looked for is longer.
    if (string.text.length < 16) string.text += text;
    return '';
  }
}

/** What an escape stands for, once it is whole. */
function unescaped(escape: string): string | undefined {
  const first = escape[0] as string;
  if (first !== 'u') return ESCAPES[first] ?? first;
  return escape.length < 5 ? undefined : String.fromCharCode(Number.parseInt(escape.slice(1), 16));
}

/** UTF-16 units: an escape, or a piece of a stream, may split a pair. */
function* units(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) yield text[at] as string;
}
