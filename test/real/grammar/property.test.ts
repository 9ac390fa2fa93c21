import { describe, expect, it, jest } from '@jest/globals';
import type { ModelReply, ModelRequest } from 'inversify-ai';
import { schemaProblems } from '../../wire/open-ai-bodies.js';
import { eagerModel } from './eager.js';
import { ANSWER, FIND, LIST, REFUND, requestsOf } from './requests.js';

jest.setTimeout(60_000);

const SAMPLES = 200;

const model = eagerModel();

/** Replies to the same request, each with a seed of its own. */
async function sample(request: ModelRequest, samples = SAMPLES, maxOutputTokens = 200): Promise<ModelReply[]> {
  const replies: ModelReply[] = [];
  for (let seed = 1; seed <= samples; seed++) {
    const settings = { seed, temperature: 1, maxOutputTokens };
    replies.push(await model().complete({ ...request, settings }, { signal: new AbortController().signal }));
  }
  return replies;
}

/** How often each tool was named, in the place where a tool is named, also in a reply that was cut off after it. */
function named(replies: readonly ModelReply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { text } of replies) {
    const name = /^\s*\{\s*(?:"next"\s*:\s*\{\s*)?"tool"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? 'nothing';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** What the schema says against the replies that are whole; nearly all must be. */
function problemsIn(replies: readonly ModelReply[], { responseSchema }: ModelRequest): string {
  const whole = replies.filter(({ finish }) => finish === 'stop');
  expect(whole.length).toBeGreaterThan(0.9 * replies.length);
  // The decoder's integers may have an exponent, 7e-3 or 7e999: those are refused where arguments are converted.
  const values = whole.map(({ text }) => JSON.parse(text.replaceAll(/(?<=:\s*-?\d+)e[+-]?\d+/gi, '')) as unknown);
  return schemaProblems({ type: 'array', items: responseSchema?.schema }, values);
}

const mentions = (replies: readonly ModelReply[]): number => replies.filter(({ text }) => text.includes(REFUND)).length;

describe.each(['envelope', 'union'] as const)('a model that wants to refund at every step, on the %s', (wire) => {
  it('refunds in more than nine of ten replies where the tool is on offer', async () => {
    const [full] = await requestsOf(wire, 'supervisor');
    expect(full.tools).toEqual([FIND, LIST, REFUND]);
    const replies = await sample(full);
    expect(named(replies)[REFUND]).toBeGreaterThan(0.9 * SAMPLES);
    expect(problemsIn(replies, full)).toBe('');
  });

  it('cannot name it where it is not, and names everything that is', async () => {
    const [narrowed] = await requestsOf(wire, 'tier1');
    expect(narrowed.tools).toEqual([FIND, LIST]);
    const replies = await sample(narrowed);
    expect(Object.keys(named(replies)).sort()).toEqual([ANSWER, FIND, LIST]);
    expect(problemsIn(replies, narrowed)).toBe('');
    // It says the name where text may stand. Only the place of the tool says what is called.
    expect(mentions(replies)).toBeGreaterThan(0.1 * SAMPLES);
  });

  it('can only answer where no more calls are allowed', async () => {
    const [, last] = await requestsOf(wire, 'supervisor');
    expect(last.tools).toEqual([]);
    const replies = await sample(last);
    expect(named(replies)).toEqual({ [ANSWER]: SAMPLES });
    expect(problemsIn(replies, last)).toBe('');
    expect(mentions(replies)).toBeGreaterThan(0.1 * SAMPLES);
  });

  it('is held by the grammar alone: without it, a narrowed turn has the name in more than nine of ten replies', async () => {
    const [{ responseSchema: _, ...free }] = await requestsOf(wire, 'tier1');
    expect(mentions(await sample(free, 50, 40))).toBeGreaterThan(0.9 * 50);
  });
});
