import { randomUUID } from 'node:crypto';
import { addUsage, costOf, type ModelUsage, NO_USAGE } from '../model/usage.js';
import type { Spent, SurroundingCall } from './nesting.js';
import type { PartialRun, ToolCallRecord, TranscriptEntry } from '../run.js';
import type { ModelPrices } from '../run-options.js';

/** What a run has come to: the only thing about it that changes. */
export class RunState {
  readonly runId = randomUUID();
  readonly calls: ToolCallRecord[] = [];
  /** In the order in which the model made them, whichever ends first. */
  readonly #order = new Map<string, number>();
  readonly #carried = new WeakMap<TranscriptEntry, readonly object[]>();
  /** Requests sent, failed ones included. */
  #attempts = 0;
  /** What runs inside its calls have spent, which is a part of what it costs. */
  #inside = { attempts: 0, modelCalls: 0, usage: NO_USAGE, cost: 0 };
  readonly #transcript: TranscriptEntry[] = [];
  readonly #prices: ModelPrices | undefined;
  #usage: ModelUsage = NO_USAGE;
  #turns = 0;
  readonly #outer: SurroundingCall | undefined;

  /**
   * @param question none where a call is made and nothing was asked
   * @param outer the call that it is run inside, as another agent's tool
   */
  constructor(question: string | undefined, prices: ModelPrices | undefined, outer?: SurroundingCall) {
    this.#prices = prices;
    this.#outer = outer;
    if (question !== undefined) this.add({ role: 'user', text: question });
  }

  /** Replies received. */
  get turns(): number {
    return this.#turns;
  }

  /** Replies received, by runs inside its calls too. */
  get modelCalls(): number {
    return this.#turns + this.#inside.modelCalls;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** Input and output together, of runs inside its calls too. */
  get tokens(): number {
    const { inputTokens, outputTokens } = addUsage(this.#usage, this.#inside.usage);
    return inputTokens + outputTokens;
  }

  get transcript(): readonly TranscriptEntry[] {
    return this.#transcript;
  }

  /** @param carried what the model's turn brought along to be sent back; it is no part of the transcript */
  add(entry: TranscriptEntry, carried?: readonly object[]): void {
    this.#transcript.push(Object.freeze(entry));
    if (carried !== undefined) this.#carried.set(entry, carried);
  }

  carriedBy(entry: TranscriptEntry): readonly object[] | undefined {
    return this.#carried.get(entry);
  }

  /** Calls that the model made, in its order. */
  expect(callIds: readonly string[]): void {
    for (const callId of callIds) this.#order.set(callId, this.#order.size);
  }

  record(call: ToolCallRecord): void {
    const place = ({ callId }: ToolCallRecord): number => this.#order.get(callId) ?? 0;
    const after = this.calls.findLastIndex((other) => place(other) < place(call));
    this.calls.splice(after + 1, 0, call);
  }

  sent(): void {
    this.#attempts++;
    this.#outer?.spent({ attempts: 1 });
  }

  replied(usage: ModelUsage): void {
    this.#turns++;
    this.#usage = addUsage(this.#usage, usage);
    this.#outer?.spent({ modelCalls: 1, usage, ...(this.#prices && { cost: costOf(usage, this.#prices) }) });
  }

  /** A run inside one of its calls has spent something. */
  spentInside({ attempts = 0, modelCalls = 0, usage = NO_USAGE, cost }: Spent): void {
    const inside = this.#inside;
    // Another agent's model has prices of its own; one without is counted by these.
    const costs = cost ?? (this.#prices === undefined ? 0 : costOf(usage, this.#prices));
    this.#inside = {
      attempts: inside.attempts + attempts,
      modelCalls: inside.modelCalls + modelCalls,
      usage: addUsage(inside.usage, usage),
      cost: inside.cost + costs,
    };
    this.#outer?.spent({ attempts, modelCalls, usage, cost: costs });
  }

  /** The run so far, as a copy that does not go on. */
  soFar(): PartialRun {
    const inside = this.#inside;
    const cost = this.#prices === undefined ? {} : { cost: costOf(this.#usage, this.#prices) + inside.cost };
    return Object.freeze({
      runId: this.runId,
      calls: Object.freeze([...this.calls]),
      usage: Object.freeze({
        ...addUsage(this.#usage, inside.usage),
        modelCalls: this.modelCalls,
        attempts: this.#attempts + inside.attempts,
        ...cost,
      }),
      turns: this.#turns,
      transcript: Object.freeze([...this.#transcript]),
    });
  }
}
