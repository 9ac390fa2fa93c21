import { randomUUID } from 'node:crypto';
import { addUsage, costOf, type ModelUsage, NO_USAGE } from '../model/usage.js';
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
  attempts = 0;
  readonly #transcript: TranscriptEntry[] = [];
  readonly #prices: ModelPrices | undefined;
  #usage: ModelUsage = NO_USAGE;
  #turns = 0;

  constructor(question: string, prices: ModelPrices | undefined) {
    this.#prices = prices;
    this.add({ role: 'user', text: question });
  }

  /** Replies received. */
  get turns(): number {
    return this.#turns;
  }

  /** Input and output together. */
  get tokens(): number {
    return this.#usage.inputTokens + this.#usage.outputTokens;
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

  replied(usage: ModelUsage): void {
    this.#turns++;
    this.#usage = addUsage(this.#usage, usage);
  }

  /** The run so far, as a copy that does not go on. */
  soFar(): PartialRun {
    const cost = this.#prices === undefined ? {} : { cost: costOf(this.#usage, this.#prices) };
    return Object.freeze({
      runId: this.runId,
      calls: Object.freeze([...this.calls]),
      usage: Object.freeze({ ...this.#usage, modelCalls: this.#turns, attempts: this.attempts, ...cost }),
      turns: this.#turns,
      transcript: Object.freeze([...this.#transcript]),
    });
  }
}
