/*
 * What may be said of a run besides its tools: data that a site, an application and `createAIService` take alike, and
 * what is wrong with it.
 */

import { WIRE_NAMES, type WireName } from './wire-name.js';
import {
  countProblems,
  describeKind,
  isObject,
  shortly,
  textProblems,
  timerProblems,
  unknownOptions,
} from './declaration.js';

/** What ends a run that does not end itself. What is left out is not limited. */
export interface AILimits {
  /** For the whole run, tools and waiting included, in milliseconds. A timer: it cuts short whatever is at work. */
  readonly deadlineMs?: number;
  /** Input and output tokens of the run together. Looked at before each turn and each call: a reply that is there counts, and is used. */
  readonly maxTokens?: number;
  /** Provider calls, a corrective and a typed turn included. The calls of the last one still run. */
  readonly maxTurns?: number;
  /** How often a tool may be executed in one run, by wire name. At its bound it is offered no longer. */
  readonly perTool?: Readonly<Record<string, number>>;
}

/** What is sent along with every request. What is left out is not sent: some servers refuse what they do not know. */
export interface ModelSettings {
  /** At most so many tokens in one reply, those that it thinks in included. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  /** How long a model thinks that can, in the provider's word: `low`. */
  readonly reasoningEffort?: string;
}

/** How one provider call is repeated. Delays are in milliseconds and may be 0. */
export interface RetryOptions {
  /** The first delay is up to so long, each further one up to twice as long. Default: 500. */
  readonly minDelayMs?: number;
  /** No delay of ours is longer. Default: 20,000. */
  readonly maxDelayMs?: number;
  /** A provider that asks for more, in `Retry-After`, is not waited for: the call fails at once. Default: 60,000. */
  readonly maxRetryAfterMs?: number;
  /** For one provider call with all its attempts and delays. Default: 180,000. */
  readonly deadlineMs?: number;
  /** From 0 to 1, in place of `Math.random`: what a delay is multiplied by. */
  readonly random?: () => number;
}

/** What a million tokens cost, in a currency of your own; `usage.cost` is in the same. */
export interface ModelPrices {
  readonly inputPerMillion: number;
  /** Default: as `inputPerMillion`. */
  readonly cachedInputPerMillion?: number;
  readonly outputPerMillion: number;
}

/**
 * Whether a question must call a tool before it is answered, and which: `auto` leaves it to the model, `required` wants
 * one of them, `none` none, and a wire name that tool. It holds until a call was made as it wants.
 */
export type ToolChoice = 'auto' | 'required' | 'none' | (string & {});

/** How an agent asks: what a site, an application and `createAIService` take alike. A site's stand in place of the application's. */
export interface RunOptions {
  /** What the application says to the model before every question. Default: nothing. */
  readonly system?: string;
  /** Calls in one run, unknown, wrong and failed ones included. Default: 5. */
  readonly maxToolCalls?: number;
  /** How often one provider call is sent where that may help; 1 is no retry. Default: 3. */
  readonly maxAttempts?: number;
  /** What ends a run that does not end itself; a site's bounds stand each for itself in place of the application's. Default: nothing but `maxToolCalls`. */
  readonly limits?: AILimits;
  /** Sent along with every request; a site's stand each for itself in place of the application's. Default: nothing. */
  readonly settings?: ModelSettings;
  /** How turns travel. Default: what the model's profile prefers, else the strongest wire that it has. */
  readonly wire?: WireName;
  /** Whether a tool must be called first, and which. Default: `auto`. */
  readonly toolChoice?: ToolChoice;
  /** Whether the model may make several calls in one turn; on the native wire alone. Default: false. */
  readonly parallelToolCalls?: boolean;
  /** How many calls of one turn run at once, of tools that only look, with `parallelToolCalls`. Default: 4. */
  readonly maxParallelCalls?: number;
}

/** Their names. */
export const RUN_OPTIONS = [
  'system',
  'maxToolCalls',
  'maxAttempts',
  'limits',
  'settings',
  'wire',
  'toolChoice',
  'parallelToolCalls',
  'maxParallelCalls',
] as const satisfies readonly (keyof RunOptions)[];

const LIMITS = ['deadlineMs', 'maxTokens', 'maxTurns', 'perTool'];
const SETTINGS = ['maxOutputTokens', 'temperature', 'topP', 'seed', 'reasoningEffort'];
const RETRY = ['minDelayMs', 'maxDelayMs', 'maxRetryAfterMs', 'deadlineMs', 'random'];
const PRICES = ['inputPerMillion', 'cachedInputPerMillion', 'outputPerMillion'];

/** One line for each thing that is wrong with them. */
export function runOptionProblems(where: string, options: RunOptions): string[] {
  const { system, maxToolCalls, maxAttempts, limits, settings } = options;
  const { wire, toolChoice, parallelToolCalls, maxParallelCalls } = options;
  const problems = [
    ...textProblems(where, 'system', system),
    ...countProblems(where, 'maxToolCalls', maxToolCalls),
    ...countProblems(where, 'maxAttempts', maxAttempts),
    ...limitProblems(where, limits),
    ...settingProblems(where, settings),
  ];
  if (wire !== undefined && !WIRE_NAMES.includes(wire))
    problems.push(`${where}: wire must be 'envelope', 'union' or 'native'; found ${shortly(wire)}`);
  if (toolChoice !== undefined && (typeof toolChoice !== 'string' || toolChoice === ''))
    problems.push(
      `${where}: toolChoice must be 'auto', 'required', 'none' or the wire name of a tool; found ${shortly(toolChoice)}`,
    );
  if (parallelToolCalls !== undefined && typeof parallelToolCalls !== 'boolean')
    problems.push(`${where}: parallelToolCalls must be true or false, found ${shortly(parallelToolCalls)}`);
  problems.push(...countProblems(where, 'maxParallelCalls', maxParallelCalls));
  return problems;
}

function limitProblems(where: string, limits: unknown): string[] {
  if (limits === undefined) return [];
  const at = `${where}, limits`;
  const problems = unknownOptions(at, limits, LIMITS);
  if (!isObject(limits)) return problems;
  const { deadlineMs, maxTokens, maxTurns, perTool } = limits;
  problems.push(
    ...timerProblems(at, 'deadlineMs', deadlineMs),
    ...countProblems(at, 'maxTokens', maxTokens),
    ...countProblems(at, 'maxTurns', maxTurns),
  );
  if (perTool === undefined) return problems;
  if (!isObject(perTool))
    problems.push(
      `${at}: perTool must be an object, { OrderTools_refundOrder: 1 }, a number for each wire name; found ${describeKind(perTool)}`,
    );
  else
    for (const [tool, bound] of Object.entries(perTool))
      problems.push(...(bound === undefined ? [] : countProblems(`${at}, perTool`, tool, bound)));
  return problems;
}

function settingProblems(where: string, settings: unknown): string[] {
  if (settings === undefined) return [];
  const at = `${where}, settings`;
  const problems = unknownOptions(at, settings, SETTINGS);
  if (!isObject(settings)) return problems;
  const { maxOutputTokens, temperature, topP, seed, reasoningEffort } = settings;
  problems.push(
    ...countProblems(at, 'maxOutputTokens', maxOutputTokens),
    ...numberProblems(at, 'temperature', temperature),
    ...numberProblems(at, 'topP', topP),
  );
  if (seed !== undefined && !Number.isSafeInteger(seed))
    problems.push(`${at}: seed must be a whole number, found ${shortly(seed)}`);
  if (reasoningEffort !== undefined && (typeof reasoningEffort !== 'string' || reasoningEffort === ''))
    problems.push(`${at}: reasoningEffort must be the provider's word, 'low'; found ${describeKind(reasoningEffort)}`);
  return problems;
}

/** One line for each thing that is wrong with how a provider call is repeated. */
export function retryProblems(where: string, retry: unknown): string[] {
  if (retry === undefined) return [];
  const at = `${where}, retry`;
  const problems = unknownOptions(at, retry, RETRY);
  if (!isObject(retry)) return problems;
  const { minDelayMs, maxDelayMs, maxRetryAfterMs, deadlineMs, random } = retry;
  for (const [option, value] of Object.entries({ minDelayMs, maxDelayMs, maxRetryAfterMs }))
    if (value !== 0) problems.push(...timerProblems(at, option, value).map((line) => line.replace('from 1', 'from 0')));
  problems.push(...timerProblems(at, 'deadlineMs', deadlineMs));
  if (random !== undefined && typeof random !== 'function')
    problems.push(`${at}: random must be a function that gives a number from 0 to 1, found ${describeKind(random)}`);
  const least = typeof minDelayMs === 'number' ? minDelayMs : DEFAULT_RETRY.minDelayMs;
  const most = typeof maxDelayMs === 'number' ? maxDelayMs : DEFAULT_RETRY.maxDelayMs;
  if (problems.length === 0 && least > most)
    problems.push(
      `${at}: minDelayMs ${least.toString()}${minDelayMs === undefined ? ', the default,' : ''} is above maxDelayMs ${most.toString()}${maxDelayMs === undefined ? ', the default' : ''}; raise the latter`,
    );
  return problems;
}

/** One line for each thing that is wrong with prices. */
export function priceProblems(where: string, prices: unknown): string[] {
  if (prices === undefined) return [];
  const at = `${where}, prices`;
  const problems = unknownOptions(at, prices, PRICES);
  if (!isObject(prices)) return problems;
  for (const option of PRICES)
    if (prices[option] === undefined) {
      if (option !== 'cachedInputPerMillion')
        problems.push(`${at}: ${option} is missing; what do a million tokens cost?`);
    } else problems.push(...numberProblems(at, option, prices[option]));
  return problems;
}

export const DEFAULT_RETRY: Required<RetryOptions> = Object.freeze({
  minDelayMs: 500,
  maxDelayMs: 20_000,
  maxRetryAfterMs: 60_000,
  deadlineMs: 180_000,
  random: () => Math.random(),
});

/** The same settings with those of `over` in their place; each bound of a tool counts for itself. */
export function mergeLimits(base: AILimits = {}, over: AILimits = {}): AILimits {
  const perTool = { ...given(base.perTool), ...given(over.perTool) } as NonNullable<AILimits['perTool']>;
  return Object.freeze({ ...given(base), ...given(over), perTool: Object.freeze(perTool) });
}

/** `over` in place of `base`, option by option; one that is `undefined` is not given. */
export function merge<T extends object>(base: T | undefined, over: T | undefined): T {
  return Object.freeze({ ...given(base), ...given(over) }) as T;
}

function given(options: object = {}): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function numberProblems(where: string, option: string, value: unknown): string[] {
  return value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0)
    ? []
    : [`${where}: ${option} must be a number from 0 on, found ${shortly(value)}`];
}
