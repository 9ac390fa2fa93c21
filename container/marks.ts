import { Stream } from 'node:stream';

/** Where one of some texts stands in a value: looked for in every text that can be reached from it. */
export function findMark(value: unknown, marks: readonly string[]): string | undefined {
  const wanted = marks.map((mark) => ({ mark, forms: [mark, quoted(mark), quoted(quoted(mark))] }));
  const seen = new Set<object>();
  const next: unknown[] = [value];
  while (next.length > 0) {
    const current = next.pop();
    if (typeof current === 'object' && current !== null) {
      if (seen.has(current) || seen.size >= MOST) continue;
      seen.add(current);
      next.push(...partsOf(current));
    } else if (typeof current === 'string' || typeof current === 'number' || typeof current === 'bigint') {
      const text = current.toString();
      // A text inside a text, as a result in a request, is written as JSON.
      const found = wanted.find(({ forms }) => forms.some((form) => text.includes(form)));
      if (found !== undefined) return found.mark;
    }
  }
  return undefined;
}

function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Objects that are looked into; an answer that leads to a whole application is not followed to its end. */
const MOST = 100_000;

/** What is in an object; nothing of it is run. */
function partsOf(value: object): unknown[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('utf8')];
  if (ArrayBuffer.isView(value)) return [];
  const parts: unknown[] = [];
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value)))
    parts.push(key, descriptor.value);
  if (value instanceof Map) for (const [key, held] of value) parts.push(key, held);
  if (value instanceof Set) parts.push(...value);
  return parts;
}

/** A value as whoever answers a request would write it: what hides in `toJSON` comes out there. */
export function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // a cycle, a bigint
  }
}

/** What would have to be read or called to know what is in it. */
export function isOpaque(value: unknown): boolean {
  return (
    typeof value === 'function' ||
    value instanceof Response ||
    value instanceof ReadableStream ||
    value instanceof Stream ||
    (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)
  );
}
