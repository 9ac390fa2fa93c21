import { randomUUID } from 'node:crypto';
import { addUsage, costOf, type ModelUsage, NO_USAGE } from '../model/usage.js';
import type { PartialRun, ToolCallRecord, TranscriptEntry } from '../run.js';
import type { ModelPrices } from '../run-options.js';

/** What a run has come to: the only thing about it that changes. */
export class RunState {
  readonly runId = randomUUID();
  readonly calls: ToolCallRecord[] = [];
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

  add(entry: TranscriptEntry): void {
    this.#transcript.push(Object.freeze(entry));
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
