import { describeKind, throwProblems, unknownOptions } from '../lib/declaration.js';
import type { AIHandle } from './install.js';
import { findMark } from './marks.js';
import { alternating, MOST_STALLS, stopped } from './interleaving.js';
import type { AIScope, ScopeBinder } from './scope.js';
import { type Asked, askWatched, type Step } from './watched-scope.js';

/** Somebody who asks. */
export interface AskingCaller {
  /** For messages. */
  readonly name: string;
  /** Binds this caller, as `openScope` takes it. */
  readonly bind: ScopeBinder;
  /** Texts that only this caller may ever see: an order of theirs, their address. */
  readonly marks: readonly string[];
}

/** What `twoCallers` takes. */
export interface TwoCallersOptions {
  /** Two or more. */
  readonly callers: readonly AskingCaller[];
  /** Asks the application's own agent, and gives what the caller is shown. It is run many times, so use test data. */
  readonly ask: (scope: AIScope) => PromiseLike<unknown>;
}

/**
 * Runs an application's own agent as several callers, and rejects where one is shown what only another may see: in what
 * `ask` gives, or throws, in any request to the model, in any argument or result of a tool.
 *
 * Each asks alone first. Then one is stopped at each step of its run (before and after each request to the model, before
 * and after each look into its container) while the other runs to its end; both go step by step in turn; and both run
 * freely, one starting a few awaits after the other, which is how awaits inside the application's own code interleave.
 *
 * Rejects with an `Error` that names both, the text and when; with an `AIDefinitionError` for wrong options; and where one
 * was never shown a mark of their own, since such a test could not fail.
 *
 * `ask` runs some two hundred times for two callers, so it wants test data, and a model that costs nothing and answers
 * by what it is asked: `embeddedModel()`, or a `ChatModel` of your own; a script would run out.
 */
export async function twoCallers(ai: Pick<AIHandle, 'openScope'>, options: TwoCallersOptions): Promise<void> {
  refuseOptions(options);
  const { callers, ask } = options;
  const check = new Check(callers);
  const run = (caller: AskingCaller, step?: Step): Promise<Asked> => askWatched(ai, caller, ask, step);

  const steps = new Map<AskingCaller, number>();
  let patienceMs = LEAST_PATIENCE_MS;
  for (const caller of [...callers, ...callers]) {
    const begun = performance.now();
    const asked = await run(caller);
    patienceMs = Math.max(patienceMs, 5 * (performance.now() - begun));
    steps.set(caller, asked.steps.length);
    check.asked(caller, asked, 'asking alone, after the others had asked');
    if (asked.error !== undefined) throw failed(caller, 'alone', asked.error.thrown);
  }
  check.refuseIfBlind();

  for (const [first, second] of pairsOf(callers)) {
    let stalls = 0;
    for (const stop of evenly(steps.get(first) ?? 0)) {
      const { at, asked, isStalled } = await stopped(
        stop,
        patienceMs,
        (step) => run(first, step),
        () => run(second),
      );
      check.both(first, second, asked, `while ${first.name} was stopped at step ${(stop + 1).toString()}, ${at}`);
      if (isStalled && ++stalls >= MOST_STALLS) break;
    }
    const inTurn = await alternating(
      patienceMs,
      (step) => run(first, step),
      (step) => run(second, step),
    );
    check.both(first, second, inTurn, 'step by step in turn');
    for (let awaits = 0; awaits < OFFSETS; awaits++) {
      const begun = run(first);
      for (let i = 0; i < awaits; i++) await Promise.resolve();
      const asked = await Promise.all([begun, run(second)]);
      check.both(
        first,
        second,
        asked,
        `with ${second.name} starting ${awaits.toString()} await${awaits === 1 ? '' : 's'} after ${first.name}`,
      );
    }
  }
}

/** How long one is waited for that does not come to its end, or to its next step: five times what it takes alone, at least this. */
const LEAST_PATIENCE_MS = 250;
/** By so many awaits one starts after the other. */
const OFFSETS = 24;
/** More steps are sampled. */
const MOST_STOPS = 100;
/** What was seen of whose. */
class Check {
  readonly #callers: readonly AskingCaller[];
  readonly #ownSeen = new Set<AskingCaller>();

  constructor(callers: readonly AskingCaller[]) {
    this.#callers = callers;
  }

  both(first: AskingCaller, second: AskingCaller, [one, other]: readonly [Asked, Asked], when: string): void {
    this.asked(first, one, when);
    this.asked(second, other, when);
    for (const [caller, { error }] of [
      [first, one],
      [second, other],
    ] as const)
      if (error !== undefined) throw failed(caller, `${when}, and not alone`, error.thrown);
  }

  asked(caller: AskingCaller, { seen }: Asked, when: string): void {
    for (const [where, what] of seen) {
      for (const other of this.#callers) {
        const mark = other === caller ? undefined : findMark(what, other.marks);
        if (mark !== undefined)
          throw new Error(
            `twoCallers: ${caller.name}, ${when}: was shown ${JSON.stringify(mark)}, which only ${other.name} may see, in ${where}`,
          );
      }
      if (findMark(what, caller.marks) !== undefined) this.#ownSeen.add(caller);
    }
  }

  refuseIfBlind(): void {
    for (const caller of this.#callers)
      if (!this.#ownSeen.has(caller))
        throw new Error(
          `twoCallers: ${caller.name} was shown no mark of their own, so nothing would be found if another were shown it; let ask ask for what ${caller.name} may see, and check the spelling of ${caller.marks.map((mark) => JSON.stringify(mark)).join(', ')}`,
        );
  }
}

function failed({ name }: AskingCaller, when: string, thrown: unknown): Error {
  return new Error(
    `twoCallers: ${name}, ${when}: ask failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    {
      cause: thrown,
    },
  );
}

function pairsOf(callers: readonly AskingCaller[]): (readonly [AskingCaller, AskingCaller])[] {
  return callers.flatMap((first) =>
    callers.filter((second) => second !== first).map((second) => [first, second] as const),
  );
}

/** All of so many, or as many as are worth the time. */
function evenly(count: number): readonly number[] {
  const stops = Math.min(count, MOST_STOPS);
  return Array.from({ length: stops }, (_, index) => Math.floor((index * count) / stops));
}

function refuseOptions(options: TwoCallersOptions): void {
  const problems = unknownOptions('twoCallers', options, ['callers', 'ask']);
  throwProblems(problems);
  const callers: unknown = options.callers;
  if (typeof (options.ask as unknown) !== 'function')
    problems.push(`twoCallers: ask must be a function, (scope) => …; found ${describeKind(options.ask)}`);
  if (!Array.isArray(callers) || callers.length < 2)
    problems.push(
      `twoCallers: callers must be a list of two or more; found ${Array.isArray(callers) ? callers.length.toString() : describeKind(callers)}`,
    );
  else {
    const marks = (callers as (Partial<AskingCaller> | null)[]).flatMap((caller) => [...new Set(caller?.marks ?? [])]);
    for (const mark of new Set(marks))
      if (marks.indexOf(mark) !== marks.lastIndexOf(mark))
        problems.push(
          `twoCallers: the mark ${JSON.stringify(mark)} is given to two callers; a mark is what only one may see`,
        );

    for (const [index, caller] of (callers as (Partial<AskingCaller> | null)[]).entries()) {
      const { name, bind, marks } = caller ?? {};
      const at = `twoCallers: callers[${index.toString()}]`;
      if (typeof name !== 'string' || name === '') problems.push(`${at}: name must be a text, for messages`);
      if (typeof bind !== 'function') problems.push(`${at}: bind must be a function, (container) => …`);
      if (!Array.isArray(marks) || marks.length === 0 || marks.some((mark) => typeof mark !== 'string' || mark === ''))
        problems.push(`${at}: marks must be a list of texts that only this caller may see`);
    }
  }
  throwProblems(problems);
}
