/*
 * Names and words that somebody else chose, as they stand in a text that is read line by line: a line break in one would
 * begin a tool, or an argument, that nobody declared.
 */

/** What ends a line for some reader, or moves where the next character is drawn; JSON escapes only some of it. */
// eslint-disable-next-line no-control-regex
export const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** JSON on one line, whatever is in it. */
export function oneLineJson(value: unknown): string {
  return JSON.stringify(value).replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A name as it is where that is all it can be, and in quotes where it could be read as more. */
export function nameText(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : oneLineJson(name);
}

/** Somebody's words without their line breaks. */
export function oneLine(text: string): string {
  return text.replace(INVISIBLE, ' ').replace(/\s+/g, ' ').trim();
}
