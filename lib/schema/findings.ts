import { MAX_VALUES } from './call-limits.js';
import { JsonTextError, parseJson } from './json.js';
import { cut } from './quote.js';

const MAX_LINES = 10;
/** In characters: of one line, and of all lines together. */
const MAX_LINE = 600;
const MAX_LINES_TEXT = 2_048;
/** Past so many faults nothing further is looked at: what is wrong with thousands of parts must not fill the memory. */
const ENOUGH = 100;
const MAX_DEPTH = 32;

/** A text that was read as JSON, or why it cannot be trusted. */
export type ReadText =
  | { readonly value: unknown; readonly levels: number }
  /** It is JSON, but none to be trusted. */
  | { readonly reason: string }
  /** It is no JSON. */
  | undefined;

/** What is wrong with the arguments of one call, and how much of them may still be looked at. */
export class Findings {
  readonly #lines: string[] = [];
  #count = 0;
  #isCut = false;
  #values = MAX_VALUES;
  #depth = MAX_DEPTH;

  /** How many faults were found. */
  get count(): number {
    return this.#count;
  }

  /** So many that nobody looks further; asked by whoever would. */
  isEnough(): boolean {
    this.#isCut ||= this.#count >= ENOUGH;
    return this.#isCut;
  }

  add(line: string): void {
    if (this.#count++ < MAX_LINES) this.#lines.push(cut(line, MAX_LINE));
  }

  /** The first lines that fit, always one, and how many do not. */
  get lines(): readonly string[] {
    let length = 0;
    const shown = this.#lines.filter((line) => (length += line.length) <= MAX_LINES_TEXT);
    const more = this.#count - shown.length;
    if (more === 0) return shown;
    return [...shown, `and ${this.#isCut ? 'at least ' : ''}${more.toString()} more`];
  }

  /** Reads a text in which a list or an object is declared; `close` it when what is in it was looked at. */
  open(text: string): ReadText {
    let values = 0;
    let levels = 0;
    try {
      const value = parseJson(text, {
        maxValues: this.#values,
        maxDepth: this.#depth,
        counted: (count, depth) => {
          values = count;
          levels = depth;
        },
      });
      this.#values -= values;
      this.#depth -= levels;
      return { value, levels };
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      return error.isSyntax ? undefined : { reason: error.message };
    }
  }

  close(read: ReadText): void {
    if (read !== undefined && 'levels' in read) this.#depth += read.levels;
  }
}
