import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { embeddedModel } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { play, scenes } from '../../samples/support-desk-tools/scenes.js';

jest.setTimeout(60_000);

beforeEach(() => {
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
});

const LOOKS = 'tools: CustomerTools_getPhone, deliveryDays, kb_search, orders_findOrder';
const ALL =
  'tools: CustomerTools_getPhone, CustomerTools_updatePhone, deliveryDays, kb_search, orders_findOrder, orders_refundOrder';

const script = () => {
  const update = call('CustomerTools_updatePhone', { phone: '555 0199' });
  const answer = text('Done.');
  return scriptedModel([
    ...[call('orders_findOrder', { orderId: 42 }), answer],
    ...[call('kb_search', { query: 'kettle' }), answer],
    ...[call('deliveryDays', { country: 'Norway' }), answer],
    ...[call('CustomerTools_getPhone'), answer],
    ...[update, answer],
    ...[update, answer],
    ...[call('orders_refundOrder', { orderId: 42 }), answer],
  ]);
};

describe.each([
  // What tier1 has not got, a script can ask for.
  [
    'the scripted model',
    script,
    [
      'call: CustomerTools_updatePhone(phone=555 0199)',
      'result: There is no tool named "CustomerTools_updatePhone". The tools are: CustomerTools_getPhone, deliveryDays, kb_search, orders_findOrder.',
    ],
  ],
  ['the offline stand-in', embeddedModel, ['call: CustomerTools_getPhone()', 'result: 555 0101']],
])('the desk with tools of every kind, on %s', (_title, model, asked) => {
  it('offers, calls and answers with each of them, as the caller', async () => {
    const lines: string[] = [];
    await play(model(), scenes, (line) => lines.push(...line.split('\n')));
    expect(lines.filter((line) => line.startsWith('tools: '))).toEqual([...Array<string>(5).fill(LOOKS), ALL, ALL]);
    const called = lines.filter((line) => /^(call|result): /.test(line));
    expect(called).toEqual([
      'call: orders_findOrder(orderId=42)',
      'result: Order 42, one kettle, in transit, tracking NL1234567890',
      'call: kb_search(query=kettle)',
      expect.stringMatching(
        /^result: \[from the MCP server kb\] .*"Returning a kettle".*"Descaling a kettle"(?!.*bulb)/,
      ),
      'call: deliveryDays(country=Norway)',
      'result: 3 days to Norway',
      'call: CustomerTools_getPhone()',
      'result: 555 0101',
      ...asked,
      'call: CustomerTools_updatePhone(phone=555 0199)',
      'result: The number is 555 0199.',
      'call: orders_refundOrder(orderId=42)',
      'result: Order 42 is refunded.',
    ]);
  });
});
