/** Tries every class of tools, and prints what became of each as JSON. */
import 'reflect-metadata';
import { Container, injectable } from 'inversify';
import { AI, AIDefinitionError, AIService, createAIService, installAI } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import * as bare from './bare.js';
import * as explicit from './explicit.js';
import * as partly from './partly.js';
import { takeReached } from './reached.js';

interface Tools {
  new (): object;
  readonly prototype: object;
}

/** By method, the arguments of calls in turn: right ones, then wrong ones. */
type Script = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const LINE = { quantity: '2', due: '2026-03-01T10:00:00+01:00', level: 'High', note: 'red', tags: ['a'] };
const PARCEL = { weight: 1, sender: { name: 'alice', last: { weight: 2, sender: { name: 'bob' } } } };
const ORDER = { id: 7, customer: { name: 'alice', last: { id: 6, customer: { name: 'alice' } } } };

const SCRIPT: Script = {
  find: [{ id: 42 }, { id: '43' }, { id: 'forty-two' }],
  when: [{ d: '2026-03-01T10:00:00Z' }, { d: 'tomorrow' }],
  opt: [{ x: 'gift' }, { x: null }, { x: 7 }],
  iface: [{ f: { colour: 'red', size: 3 } }, { f: { colour: 'red' } }, { f: { colour: 'red', size: 'big' } }],
  arr: [{ xs: [LINE, { ...LINE, note: null, tags: null }] }, { xs: [{ ...LINE, quantity: 0 }] }],
  order: [{ order: ORDER }, { order: { id: 7 } }],
  customer: [{ customer: { name: 'alice', orders: [ORDER] } }, { customer: { name: 'alice', orders: [{ id: 'x' }] } }],
  single: [
    {
      text: 'a',
      number: '1.5',
      flag: 'true',
      digits: '2512292042121000001',
      bytes: 'aGk=',
      word: 'low',
      size: 'L',
      moment: null,
    },
    {
      text: 'a',
      number: 1,
      flag: 'yes?',
      digits: 1.5,
      bytes: '!',
      word: 'mid',
      size: 1,
      moment: '',
      left: 'x',
      made: 'x',
    },
  ],
  many: [
    {
      list: ['1', 2],
      dates: ['2026-03-01T10:00:00Z'],
      set: ['1', '1', '2'],
      map: { eur: '1.5' },
      record: { from: '2026-03-01T10:00:00Z' },
      lines: { first: LINE },
      filter: { colour: 'red' },
    },
    { list: 'x', dates: ['x'], set: ['x'], map: { eur: 'x' }, record: { from: 'x' }, lines: { first: {} }, filter: {} },
  ],
  state: [
    { status: 'OPEN', level: 'High', only: 'OPEN' },
    { status: 'LOST', level: 2 },
  ],
  parcel: [{ parcel: PARCEL }, { parcel: { weight: 'x' } }],
  set: [{ ids: [1, 2] }],
  map: [{ prices: { eur: 5 } }],
  tally: [{ tally: { counts: [1, 2] } }],
  stock: [{ stock: { counts: { eur: 5 } } }],
  cart: [{ cart: { lines: [LINE] } }],
  shelf: [{ shelf: { lines: { top: LINE } } }],
  note: [{ note: { text: 'hello' } }],
};

async function outcomeOf(Tools: Tools): Promise<object> {
  const turns = Object.entries(SCRIPT).flatMap(([method, calls]) =>
    method in Tools.prototype ? calls.map((args) => call(`${Tools.name}_${method}`, args)) : [],
  );
  const model = scriptedModel([...turns, text('done')]);
  try {
    const run = await createAIService({ model, tools: [new Tools()] }).run('q');
    return {
      request: model.requests[0]?.body,
      description: describe(Tools),
      calls: run.calls.map(({ outcome, result }) => [outcome, result]),
      reached: takeReached(),
    };
  } catch (error) {
    // Any other error is a fault of this program.
    if (!(error instanceof AIDefinitionError)) throw error;
    return { error: error.message };
  }
}

function describe(Tools: Tools): unknown {
  @injectable()
  class Desk {
    constructor(@AI({ tools: [Tools] }) readonly agent: AIService) {}
  }
  const container = new Container();
  container.bind(Tools).toSelf();
  container.bind(Desk).toSelf();
  return installAI(container, { model: scriptedModel([]) }).describe();
}

const outcomes: Record<string, object> = {};
for (const Tools of Object.values<Tools>({ ...bare, ...explicit, ...partly }))
  outcomes[Tools.name] = await outcomeOf(Tools);

// This pair may not even load.
try {
  await import('./parcel.js');
  const { BareParcel, ExplicitParcel } = await import('./sender.js');
  for (const Tools of [BareParcel, ExplicitParcel]) outcomes[Tools.name] = await outcomeOf(Tools);
} catch (error) {
  for (const name of ['BareParcel', 'ExplicitParcel']) outcomes[name] = { notLoaded: String(error) };
}

console.log(JSON.stringify(outcomes));
