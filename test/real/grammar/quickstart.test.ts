import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  AIError,
  AIObserver,
  type AIRun,
  ChatModel,
  type ModelReply,
  type ModelRequest,
  type ToolStarted,
  type TurnStarted,
  type WireName,
} from 'inversify-ai';
import { as, createApplication, people } from '../../../samples/quickstart/application.js';
import { Ledger } from '../../../samples/quickstart/orders.js';
import { SupportController } from '../../../samples/quickstart/support.js';
import { eagerModel } from './eager.js';
import { type AgentName, FIND, LIST, QUESTION, REFUND } from './requests.js';

jest.setTimeout(120_000);

/** The model that wants to refund, another one at each turn. */
class Restless extends ChatModel {
  readonly name = 'restless';
  readonly profile;
  readonly #model: ChatModel;
  #turns = 0;

  constructor(model: ChatModel, wire: WireName) {
    super();
    this.#model = model;
    this.profile = { schema: 'enforced', wires: [wire] } as const;
  }

  override complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply> {
    const settings = { seed: ++this.#turns, temperature: 1, maxOutputTokens: 120 };
    return this.#model.complete({ ...request, settings }, options);
  }
}

/** What was on offer in the turn, and what was named. */
class Watch extends AIObserver {
  offered: readonly string[] = [];
  readonly named: { readonly tool: string; readonly isOffered: boolean }[] = [];

  override turnStarted({ tools }: TurnStarted): void {
    this.offered = tools;
  }

  override toolStarted({ tool }: ToolStarted): void {
    this.named.push({ tool, isOffered: this.offered.includes(tool) });
  }
}

interface Played {
  readonly caller: string;
  /** The run, or what it was rejected with. */
  readonly end: unknown;
  readonly named: Watch['named'];
  readonly refunds: number;
}

/** One agent, so that the decoder keeps what it has read of the tools; everybody asks it in turn. */
async function playAll(model: ChatModel, wire: WireName, agent: AgentName, runs: number): Promise<readonly Played[]> {
  const quiet = { warn: jest.fn(), error: jest.fn() };
  const { ai, container } = createApplication(new Restless(model, wire), quiet);
  const { refunds } = container.get(Ledger);
  const played: Played[] = [];
  for (let index = 0; index < runs; index++) {
    const caller = Object.keys(people)[index % 3]!;
    const watch = new Watch();
    const before = refunds.length;
    const end: unknown = await ai
      .runInScope(
        (scope) => {
          as(people[caller]!)(scope);
          scope.bind(AIObserver).toConstantValue(watch);
        },
        (scope) => scope.container.get(SupportController)[agent].run(QUESTION),
      )
      .catch((error: unknown) => error);
    played.push({ caller, end, named: watch.named, refunds: refunds.length - before });
  }
  return played;
}

const isRun = (end: unknown): end is AIRun => typeof end === 'object' && end !== null && 'stop' in end;

// 500 runs. Each kind has a decoder of its own, so that they go on side by side and each is the same each time.
const KINDS = [
  { wire: 'union', agent: 'tier1', runs: 150, model: eagerModel() },
  { wire: 'union', agent: 'supervisor', runs: 150, model: eagerModel() },
  { wire: 'envelope', agent: 'tier1', runs: 100, model: eagerModel() },
  { wire: 'envelope', agent: 'supervisor', runs: 100, model: eagerModel() },
] as const;
const all = new Map<object, readonly Played[]>();
beforeAll(async () => {
  const play = async (kind: (typeof KINDS)[number]): Promise<void> => {
    all.set(kind, await playAll(kind.model(), kind.wire, kind.agent, kind.runs));
  };
  await Promise.all(KINDS.map(play));
});

describe.each(KINDS)('$runs runs of $agent, with a model that wants to refund at every step, on the $wire', (kind) => {
  const played = (): readonly Played[] => all.get(kind)!;
  const { agent, runs } = kind;

  it('end in an answer or an error of ours, each', () => {
    const ends = played().map(({ end }) => (isRun(end) ? end.stop : end instanceof AIError ? end.code : String(end)));
    expect(ends).toHaveLength(runs);
    for (const end of ends) expect(['answer', 'cap', 'truncated', 'malformed', 'empty']).toContain(end);
    expect(ends).toContain(agent === 'tier1' ? 'answer' : 'cap');
    const answers = played().flatMap(({ end }) => (isRun(end) ? [end.text] : []));
    expect(answers.length).toBeGreaterThan(runs / 4);
    expect(answers.filter((text) => text.trim() === '')).toEqual([]);
  });

  it('name no tool that is not on offer', () => {
    const named = played().flatMap((one) => one.named);
    expect(named.filter(({ isOffered }) => !isOffered)).toEqual([]);
    const tools = new Set(named.map(({ tool }) => tool));
    // What is on offer is used, so that there was a choice.
    for (const tool of agent === 'tier1' ? [FIND, LIST] : [REFUND]) expect(tools).toContain(tool);
    expect(tools.has(REFUND)).toBe(agent === 'supervisor');
  });

  it('refund nothing to those who may not', () => {
    const refunded = played().filter(({ refunds }) => refunds > 0);
    expect(refunded.filter(({ caller }) => agent === 'tier1' || caller !== 'sam')).toEqual([]);
    // The supervisor tried on everybody's behalf, and did on behalf of who may.
    const tried = played().filter(({ named }) => named.some(({ tool }) => tool === REFUND));
    expect(tried.length).toBeGreaterThanOrEqual(agent === 'tier1' ? 0 : 0.9 * runs);
    expect(refunded.length).toBeGreaterThanOrEqual(agent === 'tier1' ? 0 : 5);
  });
});
