import { describe, expect, it } from '@jest/globals';
import { createAIService } from 'inversify-ai';
import { call, scriptedModel, text, toolContract } from 'inversify-ai/testing';
import { now, type NowOptions } from 'inversify-ai/tools';

const tell = async (options: NowOptions): Promise<string> => {
  const model = scriptedModel([call(options.name ?? 'now'), text('ok')]);
  return (await createAIService({ model, tools: [now(options)] }).run('q')).calls[0]!.result;
};

describe('now', () => {
  it.each([
    ['UTC', 0, 'Thursday, 1970-01-01T00:00:00Z (UTC)'],
    ['Europe/Berlin', Date.UTC(2026, 11, 1, 7, 30, 5), 'Tuesday, 2026-12-01T08:30:05+01:00 (Europe/Berlin)'],
    ['Europe/Berlin', Date.UTC(2026, 5, 30, 22, 0, 0), 'Wednesday, 2026-07-01T00:00:00+02:00 (Europe/Berlin)'],
    ['America/St_Johns', Date.UTC(2026, 0, 1), 'Wednesday, 2025-12-31T20:30:00-03:30 (America/St_Johns)'],
  ])('tells the time in %s', async (timeZone, at, said) => {
    expect(await tell({ timeZone, clock: () => new Date(at) })).toBe(said);
  });

  it('goes by the system’s clock where none is given, and by its own name', async () => {
    const before = Date.now();
    const said = await tell({ timeZone: 'UTC', name: 'clock' });
    const at = Date.parse(said.split(' ')[1]!);
    expect(at).toBeGreaterThanOrEqual(Math.floor(before / 1_000) * 1_000);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it('keeps the contract, and only looks', async () => {
    const tool = now({ timeZone: 'UTC' });
    expect(tool.groups).toEqual([{ groupName: 'ReadOnly' }]);
    await expect(toolContract(tool, { valid: [{}], invalid: [{ timeZone: 'Asia/Tokyo' }] })).resolves.toBeUndefined();
  });

  it.each<[unknown, RegExp]>([
    [{}, /now: timeZone must be the name of one, timeZone: 'Europe\/Berlin' or 'UTC'; found undefined/],
    [{ timeZone: 'Mars' }, /found "Mars"/],
    [{ timeZone: 'UTC', clock: new Date() }, /clock must be a function that gives a Date, found an instance of Date/],
    [{ timeZone: 'UTC', zone: 'UTC' }, /there is no option "zone"/],
    [undefined, /now: expected an options object, found undefined/],
  ])('refuses %j', (options, message) => {
    expect(() => now(options as NowOptions)).toThrow(message);
  });
});
