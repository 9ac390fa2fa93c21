import { type Ask, type Library, titleOf } from './library.js';
import { scriptedFetch, servedRequests } from './server.js';
import { collectGarbage, median, quantile, round } from './statistics.js';
import { answerAfter, executedCalls, FEW, MANY, questionFor, toolSpecs } from './work.js';

/** One library with its tools, asked for so many calls. */
interface Cell {
  readonly ask: Ask;
  readonly calls: number;
  /** Microseconds of each run. */
  readonly samples: number[];
}

export interface Times {
  readonly run2Us: number;
  readonly stepUs: number;
  readonly step26Us: number;
}

export interface Measured extends Times {
  readonly library: Library;
  readonly runsPerSecond32: number;
  readonly p10: Times;
}

/** A run of two model calls, and one of so many more that a step stands out of the noise. */
const SHORT = 1;
const LONG = 8;
const IN_FLIGHT = 32;

export interface Effort {
  /** Runs of each cell before anything counts. */
  readonly warmUp: number;
  readonly rounds: number;
  readonly batch: number;
  /** For all rounds, in milliseconds; at least one is made. */
  readonly limitMs: number;
}

interface Contestant {
  readonly library: Library;
  readonly few: { readonly short: Cell; readonly long: Cell };
  readonly many: { readonly short: Cell; readonly long: Cell };
  readonly perSecond: number[];
}

/** Measures all of them in turns: what the machine does meanwhile falls on all alike. */
export async function measure(libraries: readonly Library[], effort: Effort): Promise<readonly Measured[]> {
  const contestants: Contestant[] = [];
  for (const library of libraries) contestants.push(await prepare(library));
  for (const contestant of contestants) await timeAll(contestant, effort.warmUp, false);
  const turns = (round: number): readonly Contestant[] => [
    ...contestants.slice(round % contestants.length),
    ...contestants.slice(0, round % contestants.length),
  ];
  const end = performance.now() + effort.limitMs;
  for (let round = 0; round === 0 || (round < effort.rounds && performance.now() < end); round++)
    for (const contestant of turns(round)) await timeAll(contestant, effort.batch, true);
  for (let round = -1; round < THROUGHPUT_ROUNDS; round++)
    for (const { library, few, perSecond } of turns(round + 1)) {
      const runs = await runsPerSecond(titleOf(library), few.short);
      if (round >= 0) perSecond.push(runs);
    }
  return contestants.map(resultOf);
}

const THROUGHPUT_ROUNDS = 7;

async function prepare(library: Library): Promise<Contestant> {
  const cells = async (count: number): Promise<Contestant['few']> => {
    const ask = await library.prepare(toolSpecs(count), scriptedFetch);
    return { short: { ask, calls: SHORT, samples: [] }, long: { ask, calls: LONG, samples: [] } };
  };
  return { library, few: await cells(FEW), many: await cells(MANY), perSecond: [] };
}

async function timeAll({ library, few, many }: Contestant, batch: number, isCounted: boolean): Promise<void> {
  for (const cell of [few.short, few.long, many.short, many.long]) {
    collectGarbage('minor');
    const samples = await checked(titleOf(library), cell, batch, () => time(cell, batch));
    if (isCounted) cell.samples.push(...samples);
  }
}

async function time({ ask, calls }: Cell, batch: number): Promise<readonly number[]> {
  const question = questionFor(calls);
  const samples: number[] = [];
  for (let run = 0; run < batch; run++) {
    const begun = performance.now();
    const answer = await ask(question);
    samples.push((performance.now() - begun) * 1000);
    refuseOther(answer, calls);
    // Each request has a turn of its own, as on a server; what is weakly held is let go of between turns alone.
    await new Promise(setImmediate);
  }
  return samples;
}

/** With as many runs in flight as a server has them. */
async function runsPerSecond(title: string, cell: Cell): Promise<number> {
  const runs = 10 * IN_FLIGHT;
  const question = questionFor(cell.calls);
  let left = runs;
  const worker = async (): Promise<void> => {
    while (left-- > 0) refuseOther(await cell.ask(question), cell.calls);
  };
  collectGarbage('minor');
  return checked(title, cell, runs, async () => {
    const begun = performance.now();
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
    return (runs * 1000) / (performance.now() - begun);
  });
}

function refuseOther(answer: string, calls: number): void {
  if (answer !== answerAfter(calls)) throw new Error(`an answer is ${JSON.stringify(answer)}`);
}

/** One that left out a tool call, or made one more, would look fast, or slow, for nothing. */
async function checked<T>(title: string, { calls }: Cell, runs: number, work: () => Promise<T>): Promise<T> {
  executedCalls();
  servedRequests();
  const result = await work();
  const found = [executedCalls(), servedRequests()];
  const expected = [runs * calls, runs * (calls + 1)];
  if (found.join() !== expected.join())
    throw new Error(`${title}: ${found.join(' tool calls and ')} requests, and not ${expected.join(' and ')}`);
  return result;
}

function resultOf({ library, few, many, perSecond }: Contestant): Measured {
  const at = (share: number): Times => {
    const of = ({ samples }: Cell): number => quantile(samples, share);
    const step = ({ short, long }: Contestant['few']): number => (of(long) - of(short)) / (LONG - SHORT);
    return { run2Us: round(of(few.short)), stepUs: round(step(few), 1), step26Us: round(step(many), 1) };
  };
  return { library, ...at(0.5), runsPerSecond32: round(median(perSecond)), p10: at(0.1) };
}
