import { writeJson } from '../schema/json.js';
import { adoptWithin } from './adopt.js';
import { errorName, isError } from './error-name.js';
import { type Exposure, loadExposure } from './exposed.js';
import { Telling } from './telling.js';
import { NOTHING } from './told.js';
import { UnsupportedResultError } from './unsupported.js';

interface ResultOptions {
  readonly notFound: string | undefined;
  readonly maxResultChars: number;
}

/** The text that the model is told for what a tool returned. Throws where it cannot be told. */
export async function resultText(value: unknown, options: ResultOptions): Promise<string> {
  if (value === undefined || value === null) return nothingText(options);
  return plainText(typeof value === 'string' ? value : await tell(value), options);
}

/** The same for a text, which is told as it is. */
export function plainText(text: string, options: ResultOptions): string {
  return text === '' ? nothingText(options) : shorten(text, options.maxResultChars);
}

/** What is told where a tool returns nothing; the same where it may not tell. */
export function nothingText({ notFound }: Pick<ResultOptions, 'notFound'>): string {
  return notFound ?? NOTHING;
}

/** At most `limit` characters of a text, well-formed, with a mark that says how many are missing. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text.toWellFormed();
  const end = splitsPair(text, limit) ? limit - 1 : limit;
  return `${text.slice(0, end).toWellFormed()} … [${(text.length - end).toString()} more characters left out]`;
}

/** Whether the first half of a character of two units is the last before `at`. */
function splitsPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(at - 1, 0), at + 1));
}

let exposure: Exposure | undefined;

async function tell(value: unknown): Promise<string> {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new UnsupportedResultError(`a ${typeof value} is no result`);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isError(value)) throw new UnsupportedResultError(`an Error was returned (${errorName(value)}); throw it instead`);
  if (exposure === undefined) {
    // Loading takes longer than a promise that was rejected may be left alone.
    adoptWithin(value);
    exposure = await loadExposure();
  }
  const plain = new Telling(exposure).tell(value);
  if (plain === undefined || plain === null) return '';
  return typeof plain === 'string' ? plain : writeJson(plain);
}
