import { deepFreeze } from '../declaration.js';
import type { ToolCallRecord, TranscriptEntry } from '../run.js';
import { cut } from '../schema/quote.js';
import type { RequestedCall } from '../tool/conversion.js';
import type { Dispatcher, DispatchedCall } from '../tool/dispatcher.js';
import { told } from '../tool/told.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import type { WireCall } from '../wire/wire.js';
import type { RunningAgent } from './agent.js';
import type { RunState } from './run-state.js';

/** What the calls of a run have in common. */
interface TurnCallsContext {
  readonly agent: RunningAgent;
  readonly state: RunState;
  readonly dispatcher: Dispatcher;
  /** Throws where nothing more may be run. */
  readonly check: () => void;
  /** Aborts what is at work, where the run ends with an error. */
  readonly giveUp: () => void;
}

/**
 * The calls of one turn: in the model's order, each answered whatever happens to the others. Those of tools that only
 * look may run together; one that may change something runs alone, after all before it and before all after it.
 */
export class TurnCalls {
  readonly #context: TurnCallsContext;
  readonly #ids = new Set<string>();

  constructor(context: TurnCallsContext) {
    this.#context = context;
  }

  /**
   * Runs them; at most `left`, those beyond are refused. Gives the result that is the answer, where a tool says that its
   * is and no call of the turn failed.
   */
  async run(
    calls: readonly WireCall[],
    {
      text,
      carried,
      offered,
      left,
    }: {
      readonly text: string;
      readonly carried: readonly object[] | undefined;
      readonly offered: CompiledToolset;
      readonly left: number;
    },
  ): Promise<string | undefined> {
    const { agent, state, dispatcher, check, giveUp } = this.#context;
    const { toolset } = agent;
    const requested = calls.map((call): RequestedCall => ({
      ...call,
      // A name that no tool has may be of any length.
      tool: toolset.get(call.tool) === undefined ? cut(call.tool) : call.tool,
      callId: this.#uniqueId(call.id),
      turn: state.turns,
    }));
    state.expect(requested.map(({ callId }) => callId));
    const entry: TranscriptEntry = {
      role: 'assistant',
      text,
      calls: Object.freeze(
        requested.map(({ callId, tool, sent }) => Object.freeze({ callId, tool, arguments: deepFreeze(sent) })),
      ),
    };
    state.add(entry, carried);
    let last: ToolCallRecord | undefined;
    let allSeemOk = true;
    let used = 0;
    for (const batch of this.#batches(requested)) {
      check();
      const from = used;
      let fatal: { readonly error: unknown } | undefined;
      const dispatch = async (call: RequestedCall, index: number): Promise<DispatchedCall | undefined> => {
        const refused = from + index < left ? undefined : told.beyondCap;
        try {
          return await dispatcher.dispatch(call, { toolset, offered, refused });
        } catch (error) {
          // The run is over: what runs beside it is given up, and ends with an error that says only that.
          fatal ??= { error };
          if (batch.length > 1) giveUp();
          return undefined;
        }
      };
      const [only] = batch;
      const ended =
        batch.length === 1 && only !== undefined ? [await dispatch(only, 0)] : await Promise.all(batch.map(dispatch));
      used += batch.length;
      for (const { record, seemsOk } of ended.filter((one) => one !== undefined)) {
        last = record;
        allSeemOk &&= seemsOk;
        state.add({ role: 'tool', callId: record.callId, tool: record.tool, text: record.result });
      }
      // Set in a callback, which the compiler does not follow.
      const first = fatal as { readonly error: unknown } | undefined;
      if (first !== undefined) throw first.error;
    }
    return last !== undefined && allSeemOk && toolset.get(last.tool)?.returnDirect === true ? last.result : undefined;
  }

  /** Consecutive calls that may run together. */
  #batches(requested: readonly RequestedCall[]): readonly (readonly RequestedCall[])[] {
    const { toolset, parallelToolCalls, maxParallelCalls, limits } = this.#context.agent;
    const width = parallelToolCalls ? maxParallelCalls : 1;
    const batches: { readonly together: boolean; readonly calls: RequestedCall[] }[] = [];
    for (const call of requested) {
      const tool = toolset.get(call.tool);
      // One with a bound of its own is counted call by call.
      const together = tool?.effect === 'read-only' && !Object.hasOwn(limits.perTool ?? {}, tool.name);
      const open = batches.at(-1);
      if (together && open?.together === true && open.calls.length < width) open.calls.push(call);
      else batches.push({ together, calls: [call] });
    }
    return batches.map(({ calls }) => calls);
  }

  /** The provider's id where it is one that no other call of the run has: some send none, or the same twice. */
  #uniqueId(given: string | undefined): string {
    let id = given !== undefined && /^[\x21-\x7e]{1,64}$/.test(given) ? given : undefined;
    for (let n = this.#ids.size + 1; id === undefined || this.#ids.has(id); n++) id = `call_${n.toString()}`;
    this.#ids.add(id);
    return id;
  }
}
