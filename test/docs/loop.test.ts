import { describe, expect, it } from '@jest/globals';
import { DEFAULT_MAX_ATTEMPTS, DEFAULT_MAX_TOOL_CALLS } from '../../lib/agent/agent-options.js';
import { DEFAULT_RETRY } from '../../lib/run-options.js';
import { readmeTable } from '../readme.js';
import { calls, others, play, replies } from './loop-rows.js';
import { plain, tables } from './tables.js';

const PAGE = 'docs/loop.md';
const [defaults, afterReplies, afterCalls, ends] = tables(PAGE);
const firsts = (rows: typeof defaults): readonly string[] => rows!.map(([first]) => first!);

/** A told text as a cell writes it: `\n` is a line break, `…` whatever stands there. */
function pattern(cell: string): RegExp {
  const literal = plain(cell)
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('\\\\n', '\\n')
    .replaceAll('…', '[^]*');
  return new RegExp(`^${literal}$`);
}

describe('the page on the loop', () => {
  it('has a program for every row, and a row for every program', () => {
    expect(firsts(afterReplies)).toEqual(Object.keys(replies));
    expect(firsts(afterCalls)).toEqual(Object.keys(calls));
    expect(firsts(ends)).toEqual(Object.keys(others));
  });

  it.each(afterReplies!)('says what comes of a reply: %s', async (reply, leadsTo, told) => {
    const seen = await play(replies[reply!]!);
    expect(seen.leadsTo).toBe(leadsTo);
    expect(seen.told).toMatch(pattern(told!));
  });

  it.each(afterCalls!)('says what comes of a call: %s', async (call, outcome, told) => {
    const seen = await play(calls[call!]!());
    expect(seen.outcome).toBe(outcome);
    const { result } = JSON.parse(seen.told === '-' ? '{"result":"-"}' : seen.told.split('\n\n')[0]!) as {
      readonly result: string;
    };
    expect(result).toMatch(pattern(told!));
  });

  it.each(ends!)('says what else ends a run: %s', async (what, requests, leadsTo) => {
    const seen = await others[what!]!();
    expect([seen.requests.toString(), seen.leadsTo]).toEqual([requests, leadsTo]);
  });

  it('has the defaults that hold', () => {
    const row = (option: string): string => defaults!.find(([name]) => name === `\`${option}\``)![1]!;
    expect(row('maxToolCalls')).toBe(DEFAULT_MAX_TOOL_CALLS.toString());
    expect(row('maxAttempts')).toBe(DEFAULT_MAX_ATTEMPTS.toString());
    for (const option of ['minDelayMs', 'maxDelayMs', 'maxRetryAfterMs', 'deadlineMs'] as const)
      expect(row(`retry.${option}`)).toBe(DEFAULT_RETRY[option].toString());
    // The README's are measured in its own test.
    const [toolTimeout, modelTimeout] = readmeTable('Defaults').filter(([name]) => name === '`timeoutMs`');
    expect(row('@AITool({ timeoutMs })')).toBe(toolTimeout![2]);
    expect(row('openAI({ timeoutMs })')).toBe(modelTimeout![2]);
    const [chars] = readmeTable('Defaults').filter(([name]) => name === '`maxResultChars`');
    expect(row('@AITool({ maxResultChars })')).toBe(chars![2]);
  });
});
