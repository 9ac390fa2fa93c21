import { childController, untilAborted } from '../abort.js';
import { type Abortable, signalOf } from '../cancellation.js';
import type { AILogger } from '../logger.js';
import type { ChatModel } from '../model/chat-model.js';
import { throwProblems } from '../declaration.js';
import type { AILimits, ModelPrices, ModelSettings, RetryOptions, ToolChoice } from '../run-options.js';
import type { DenialTest } from '../tool/denial.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import type { SourceChange } from '../tool/late-tools.js';
import type { WireName } from '../wire-name.js';
import type { Wire } from '../wire/wire.js';
import { wireFor, wireProblems } from '../wire/wires.js';
import { copyOfMetadata } from '../schema/copy.js';
import { type ChatOptions, checkQuestion, narrow } from './chat-options.js';
import { Deadline } from './deadline.js';
import type { RunWatch } from './event-stream.js';
import { runIdentity, type SurroundingCall, surroundingCall } from './nesting.js';
import { perToolProblems } from './limits.js';
import { Run } from './loop.js';
import { type Answered, type Question, type RunClock, watched } from './question.js';
import type { AIMiddleware } from './middleware.js';
import { type AIObserver, Observers } from './observer.js';
import { rejection } from './rejection.js';
import { RunState } from './run-state.js';
import type { AgentTools } from './tool-list.js';
import { type AnswerType, compileAnswer } from './typed-answer.js';

/** What besides its text a question may ask for. */
export interface Asked {
  /** The type of its answer. */
  readonly type?: AnswerType<unknown> | undefined;
  /** Who follows its run. */
  readonly watch?: RunWatch | undefined;
  /** The call that it is, of another run. */
  readonly charged?: SurroundingCall | undefined;
}

/** What an agent is: immutable, shared by all its runs. */
export interface AgentDefinition {
  /** Which agent, for events and messages: `SupportController#0`. */
  readonly site: string;
  readonly tools: AgentTools;
  readonly system: string;
  readonly maxToolCalls: number;
  readonly maxAttempts: number;
  readonly limits: AILimits;
  readonly settings: ModelSettings;
  /** The wire that was asked for; none where the model's profile says. */
  readonly wire: WireName | undefined;
  readonly toolChoice: ToolChoice;
  /** Whether a turn may hold several calls, where the wire has them. */
  readonly parallelToolCalls: boolean;
  /** How many calls of one turn, of tools that only look, run at once. */
  readonly maxParallelCalls: number;
}

/** An agent for one run: narrowed, its wire chosen. */
export interface RunningAgent extends Omit<AgentDefinition, 'wire' | 'tools'> {
  readonly toolset: CompiledToolset;
  readonly wire: Wire;
  /** The same for all runs of an agent. */
  readonly identity: object;
}

/** What calls take from where they are made, whoever makes them. */
export interface CallEnvironment {
  readonly observers: readonly AIObserver[];
  /** The first is the outermost. */
  readonly middleware: readonly AIMiddleware[];
  readonly prices?: ModelPrices | undefined;
  readonly logger: AILogger;
  /** Whether an exception of a tool's is told like a result that is nothing. */
  readonly isDenial: DenialTest;
  /** Handed to each tool unread. */
  readonly host: unknown;
  /** Told of each tool at work and how long it may take. */
  readonly working?: (work: Promise<unknown>, timeoutMs: number) => void;
  /** Ends the run from outside: a scope that closes. */
  readonly signal?: Abortable;
}

/** What a run takes from where it is run: a scope, or nothing but the options of `createAIService`. */
export interface RunEnvironment extends CallEnvironment {
  readonly model: ChatModel;
  readonly retry: Required<RetryOptions>;
}

/** Where a run is run. */
export interface RunPlace<E extends CallEnvironment = RunEnvironment> {
  /** Ends the run from outside: a scope that closes. */
  readonly signal?: Abortable;
  /** What the run takes from there. It may take its time, which counts as the run's. */
  readonly environment: () => E | Promise<E>;
}

/**
 * Answers one question, with a value of `type` where one is given. Throws an `AIDefinitionError` for options that do not
 * narrow, and for a type that cannot be told to a model.
 */
export async function runAgent(
  agent: AgentDefinition,
  question: string,
  options: ChatOptions,
  place: RunPlace,
  { type, watch, charged }: Asked = {},
): Promise<Answered> {
  const where = `${agent.site}, ${watch === undefined ? 'chat' : 'stream'}`;
  checkQuestion(where, agent, question, options);
  const outer = surroundingCall();
  const { late, known } = agent.tools;
  const early = late.length === 0 ? narrow(where, agent, known, options) : undefined;
  const typed = type === undefined ? undefined : compileAnswer(agent.site, type);
  const signals = [options.signal, place.signal, watch?.signal].filter((signal) => signal !== undefined);
  const { controller, stop } = childController(...signals);
  const deadline = new Deadline(agent.site, agent.limits.deadlineMs, controller);
  try {
    const environment = await environmentOf(place, controller).catch((error: unknown) => {
      throw rejection(error, {
        site: agent.site,
        // Nothing was sent, and nobody was there yet to be told.
        run: new RunState(question, undefined).soFar(),
        isForeign: error !== place.signal?.reason && !deadline.isReason(error) && error === controller.reason,
        isOwn: false,
        pastDeadline: deadline.isReason(error) ? deadline.error() : undefined,
      });
    });
    const observers = observersOf(environment, charged);
    const asked = {
      text: question,
      metadata: copyOfMetadata(options.metadata ?? {}),
      typed,
      watch,
      outer,
      charged,
    };
    const changes: SourceChange[] = [];
    const narrowed =
      early ??
      narrow(
        where,
        agent,
        await lateTools(agent, { ...environment, observers }, asked, { signal: controller, deadline, changes }),
        options,
      );
    const { model } = environment;
    throwProblems(wireProblems(agent.site, agent.wire, model, narrowed.toolset));
    return await new Run(
      { ...agent, ...narrowed, identity: agent, wire: wireFor(model.profile, agent.wire, narrowed.toolset) },
      asked,
      { ...environment, ...(place.signal !== undefined && { signal: place.signal }), observers },
      { signal: controller, deadline, changes },
    ).answer();
  } finally {
    deadline.stop();
    stop();
  }
}

/**
 * Whoever watches the run that this one is a call of watches this one too. In the same scope it has the same observers
 * already, which would hear of everything twice.
 */
function observersOf({ observers, host }: RunEnvironment, charged: SurroundingCall | undefined): readonly AIObserver[] {
  if (charged === undefined || (host !== undefined && charged.host === host)) return observers;
  return [...new Set([...observers, ...charged.observers])];
}

/** The tools that are known only now. Where they cannot be had, the run is over before its first turn, and is told of. */
async function lateTools(
  { site, tools, limits }: AgentDefinition,
  { host, observers, logger, prices, signal: scope }: RunEnvironment,
  { text: question, metadata, watch, outer, charged }: Question,
  { signal, deadline, changes }: RunClock,
): Promise<CompiledToolset> {
  const begun = performance.now();
  try {
    const tell = (change: SourceChange): void => {
      changes.push(Object.freeze({ ...change }));
    };
    const { toolset, isWhole } = await untilAborted(
      signal,
      tools.find({ where: site, signal: signalOf(signal), host, tell }),
    );
    if (isWhole) throwProblems(perToolProblems(site, limits, toolset));
    return toolset;
  } catch (thrown) {
    const state = new RunState(question, prices, charged);
    const told = new Observers(watched(observers, watch), logger, runIdentity(state.runId, site, outer));
    const run = state.soFar();
    const error = rejection(thrown, {
      site,
      run,
      isForeign: signal.aborted && thrown === signal.reason && thrown !== scope?.reason && !deadline.isReason(thrown),
      isOwn: false,
      pastDeadline: deadline.isReason(thrown) ? deadline.error() : undefined,
    });
    told.tell('runStarted', { question, metadata, tools: [] });
    for (const change of changes) told.tell('toolSourceChanged', change);
    told.tell('runEnded', { run, error, durationMs: performance.now() - begun });
    throw error;
  }
}

/** Where it is there at once, a run that was ended beforehand is still one that its observers hear of. */
async function environmentOf({ environment }: RunPlace, signal: Abortable): Promise<RunEnvironment> {
  const made = environment();
  return made instanceof Promise ? untilAborted(signal, made) : made;
}
