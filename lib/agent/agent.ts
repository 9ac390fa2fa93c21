import { childController, untilAborted } from '../abort.js';
import type { AILogger } from '../logger.js';
import type { ChatModel } from '../model/chat-model.js';
import { countProblems, describeKind, isObject, optionProblems, shortly, throwProblems } from '../declaration.js';
import type { AILimits, ModelPrices, ModelSettings, RetryOptions, ToolChoice } from '../run-options.js';
import { groupNames, narrows, type ToolGroup } from '../tool/group.js';
import type { DenialTest } from '../tool/denial.js';
import type { CompiledToolset } from '../tool/compiled-toolset.js';
import type { WireName } from '../wire-name.js';
import type { Wire } from '../wire/wire.js';
import { wireFor, wireProblems } from '../wire/wires.js';
import { copyOfMetadata } from '../schema/copy.js';
import { Deadline } from './deadline.js';
import type { RunWatch } from './event-stream.js';
import { type Answered, Run } from './loop.js';
import type { AIMiddleware } from './middleware.js';
import type { AIObserver } from './observer.js';
import { rejection } from './rejection.js';
import { RunState } from './run-state.js';
import { type AnswerType, compileAnswer } from './typed-answer.js';

/** What one question may say besides its text. Options only narrow: they never give an agent more than its site did. */
export interface ChatOptions {
  /** Ends the run; its reason is rethrown unchanged. */
  readonly signal?: AbortSignal;
  /** Handed to tools in their context; the model does not see it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Only the tools of this agent that are also in one of these groups. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
  /** At most so many calls; not above the agent's own bound. */
  readonly maxToolCalls?: number;
  /** Whether a tool must be called first, and which of this question's. Default: the agent's own. */
  readonly toolChoice?: ToolChoice;
}

/** What an agent is: immutable, shared by all its runs. */
export interface AgentDefinition {
  /** Which agent, for events and messages: `SupportController#0`. */
  readonly site: string;
  readonly toolset: CompiledToolset;
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
export interface RunningAgent extends Omit<AgentDefinition, 'wire'> {
  readonly wire: Wire;
}

/** What a run takes from where it is run: a scope, or nothing but the options of `createAIService`. */
export interface RunEnvironment {
  readonly model: ChatModel;
  readonly observers: readonly AIObserver[];
  /** The first is the outermost. */
  readonly middleware: readonly AIMiddleware[];
  readonly retry: Required<RetryOptions>;
  readonly prices?: ModelPrices | undefined;
  readonly logger: AILogger;
  /** Whether an exception of a tool's is told like a result that is nothing. */
  readonly isDenial: DenialTest;
  /** Handed to each tool unread. */
  readonly host: unknown;
  /** Told of each tool at work and how long it may take. */
  readonly working?: (work: Promise<unknown>, timeoutMs: number) => void;
  /** Ends the run from outside: a scope that closes. */
  readonly signal?: AbortSignal;
}

/** Where a run is run. */
export interface RunPlace {
  /** Ends the run from outside: a scope that closes. */
  readonly signal?: AbortSignal;
  /** What the run takes from there. It may take its time, which counts as the run's. */
  readonly environment: () => RunEnvironment | Promise<RunEnvironment>;
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
  { type, watch }: { readonly type?: AnswerType<unknown> | undefined; readonly watch?: RunWatch | undefined } = {},
): Promise<Answered> {
  const narrowed = narrow(agent, question, options);
  const typed = type === undefined ? undefined : compileAnswer(agent.site, type);
  const signals = [options.signal, place.signal, watch?.signal].filter((signal) => signal !== undefined);
  const { controller, stop } = childController(...signals);
  const deadline = new Deadline(agent.site, agent.limits.deadlineMs, controller);
  try {
    const environment = await environmentOf(place, controller.signal).catch((error: unknown) => {
      throw rejection(error, {
        site: agent.site,
        // Nothing was sent, and nobody was there yet to be told.
        run: new RunState(question, undefined).soFar(),
        isForeign: error !== place.signal?.reason && !deadline.isReason(error) && error === controller.signal.reason,
        isOwn: false,
        pastDeadline: deadline.isReason(error) ? deadline.error() : undefined,
      });
    });
    const { model } = environment;
    throwProblems(wireProblems(agent.site, agent.wire, model, narrowed.toolset));
    return await new Run(
      { ...agent, ...narrowed, wire: wireFor(model.profile, agent.wire, narrowed.toolset) },
      { text: question, metadata: copyOfMetadata(options.metadata ?? {}), typed, say: watch?.say },
      {
        ...environment,
        ...(place.signal !== undefined && { signal: place.signal }),
        ...(watch !== undefined && { observers: [...environment.observers, watch.observer] }),
      },
      controller.signal,
      deadline,
    ).answer();
  } finally {
    deadline.stop();
    stop();
  }
}

/** Where it is there at once, a run that was ended beforehand is still one that its observers hear of. */
async function environmentOf({ environment }: RunPlace, signal: AbortSignal): Promise<RunEnvironment> {
  const made = environment();
  return made instanceof Promise ? untilAborted(signal, made) : made;
}

const CHAT_OPTIONS = ['signal', 'metadata', 'toolGroup', 'maxToolCalls', 'toolChoice'];

function narrow(
  agent: AgentDefinition,
  question: unknown,
  options: ChatOptions,
): Pick<AgentDefinition, 'toolset' | 'maxToolCalls' | 'toolChoice'> {
  const where = `${agent.site}, chat`;
  const problems = [
    ...optionProblems(where, options, CHAT_OPTIONS),
    ...countProblems(where, 'maxToolCalls', options.maxToolCalls),
  ];
  if (typeof question !== 'string' || question.trim() === '')
    problems.push(`${where}: the question must be a text that is not blank`);
  if (options.maxToolCalls !== undefined && options.maxToolCalls > agent.maxToolCalls)
    problems.push(
      `${where}: maxToolCalls ${options.maxToolCalls.toString()} is above the agent's own ${agent.maxToolCalls.toString()}; options of a call only narrow, raise it where the agent is declared`,
    );
  if (options.signal !== undefined && !isSignal(options.signal))
    problems.push(`${where}: signal must be an AbortSignal, found ${describeKind(options.signal)}`);
  if (options.metadata !== undefined && !isObject(options.metadata))
    problems.push(`${where}: metadata must be an object, found ${describeKind(options.metadata)}`);
  throwProblems(problems);
  const { maxToolCalls = agent.maxToolCalls, toolChoice = agent.toolChoice } = options;
  const toolset = narrowedSet(agent, options, where);
  throwProblems(toolChoiceProblems(where, toolChoice, toolset));
  return { toolset, maxToolCalls, toolChoice };
}

function narrowedSet({ toolset }: AgentDefinition, options: ChatOptions, where: string): CompiledToolset {
  if (!narrows(options)) return toolset;
  const problems: string[] = [];
  const groups = groupNames(where, options.toolGroup, problems);
  if (toolset.tools.length === 0) problems.push(`${where}: there are no tools that toolGroup could narrow`);
  throwProblems(problems);
  return toolset.only(groups, where);
}

const CHOICES: readonly string[] = ['auto', 'required', 'none'];

/** A problem where a choice is of a tool that is not there. */
export function toolChoiceProblems(where: string, choice: unknown, toolset: CompiledToolset): string[] {
  if (choice === undefined || (typeof choice === 'string' && CHOICES.includes(choice))) {
    return choice === 'required' && toolset.tools.length === 0
      ? [`${where}: toolChoice is 'required', and there are no tools`]
      : [];
  }
  if (typeof choice === 'string' && toolset.get(choice) !== undefined) return [];
  return [
    `${where}: toolChoice must be 'auto', 'required', 'none' or one of its tools, ${toolset.names.join(', ')}; found ${shortly(choice)}`,
  ];
}

/** Any implementation will do: a polyfill's, or another realm's. */
function isSignal(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { aborted, addEventListener, removeEventListener } = value;
  return (
    typeof aborted === 'boolean' && typeof addEventListener === 'function' && typeof removeEventListener === 'function'
  );
}
