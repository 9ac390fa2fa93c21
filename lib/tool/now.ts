import { describeKind, optionProblems, throwProblems } from '../declaration.js';
import { defineTool } from './define-tool.js';
import { READ_ONLY } from './group.js';
import type { Tool } from './tool.js';

/** What `now` takes. */
export interface NowOptions {
  /** In which the time is told: an IANA name, as `Europe/Berlin`, or `UTC`. Nothing is assumed of where the server stands. */
  readonly timeZone: string;
  /** Default: the system's clock. */
  readonly clock?: () => Date;
  /** The wire name. Default: `now`. */
  readonly name?: string;
}

/**
 * A tool that tells date, time, day of the week and time zone: a model knows none of them.
 * Throws an `AIDefinitionError` for a time zone that there is not.
 */
export function now(options: NowOptions): Tool {
  const problems = optionProblems('now', options, ['timeZone', 'clock', 'name']);
  const { timeZone, clock = () => new Date(), name = 'now' } = options;
  if (!isTimeZone(timeZone))
    problems.push(
      `now: timeZone must be the name of one, timeZone: 'Europe/Berlin' or 'UTC'; found ${typeof timeZone === 'string' ? `"${timeZone.slice(0, 60)}"` : describeKind(timeZone)}`,
    );
  if (typeof clock !== 'function')
    problems.push(`now: clock must be a function that gives a Date, found ${describeKind(clock)}`);
  throwProblems(problems);
  return defineTool({
    name,
    description: `The date and the time, with the day of the week, in ${timeZone}`,
    group: { groupName: READ_ONLY },
    parameters: {},
    execute: () => tell(clock(), timeZone),
  });
}

function isTimeZone(timeZone: unknown): boolean {
  if (typeof timeZone !== 'string') return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** `Tuesday, 2026-12-01T08:30:00+01:00 (Europe/Berlin)`: ISO 8601 with the offset of that moment. */
function tell(at: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  }).formatToParts(at);
  const of = (type: Intl.DateTimeFormatPartTypes): string => parts.find((part) => part.type === type)?.value ?? '';
  const offset = of('timeZoneName')
    .slice('GMT'.length)
    .replace(/^(\+00:00)?$/, 'Z');
  const date = `${of('year').padStart(4, '0')}-${of('month')}-${of('day')}`;
  return `${of('weekday')}, ${date}T${of('hour')}:${of('minute')}:${of('second')}${offset} (${timeZone})`;
}
