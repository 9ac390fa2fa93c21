import { isIPv4, isIPv6 } from 'node:net';
import type { TextFormat } from './shape.js';

/*
 * ajv-formats has these too, but brings ajv, and takes a date-time without an offset. Node's own parsers do the rest.
 */

interface Format {
  /** As the model is told what was expected. */
  readonly expected: string;
  readonly matches: (text: string) => boolean;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

export const FORMATS: Readonly<Record<TextFormat, Format>> = {
  date: { expected: 'a date like "2026-03-01"', matches: isDate },
  'date-time': { expected: 'a date-time like "2026-03-01T09:30:00Z"', matches: isDateTime },
  time: { expected: 'a time like "09:30:00Z"', matches: (text) => TIME.test(text) },
  email: {
    expected: 'an email address',
    matches: (text) => {
      const at = text.lastIndexOf('@');
      return at > 0 && at <= 64 && /^[^\s@<>()[\],;:"\\]+$/.test(text.slice(0, at)) && isHostname(text.slice(at + 1));
    },
  },
  hostname: { expected: 'a host name', matches: isHostname },
  ipv4: { expected: 'an IPv4 address', matches: isIPv4 },
  ipv6: { expected: 'an IPv6 address', matches: (text) => isIPv6(text) && !text.includes('%') },
  uri: { expected: 'a URI with its scheme', matches: (text) => !/\s/.test(text) && URL.canParse(text) },
  uuid: {
    expected: 'a UUID',
    matches: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  },
};

/** A day that exists in the calendar. */
export function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

/** A moment: with an offset, since without one it is another moment on every machine. */
export function isDateTime(text: string): boolean {
  return text[10] === 'T' && isDate(text.slice(0, 10)) && TIME.test(text.slice(11));
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => LABEL.test(label));
}
