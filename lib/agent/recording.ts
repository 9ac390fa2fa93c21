import { isObject } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import type { ModelReply } from '../model/chat-model.js';
import type { ToolCallOutcome } from '../run.js';

/** One run in a recording, its steps in order. */
export interface RecordedRun {
  readonly site: string;
  readonly question: string;
  readonly steps: RecordedStep[];
}

export type RecordedStep =
  | {
      readonly step: 'turn';
      /** Which turn. */
      readonly at: string;
      readonly request: unknown;
      readonly reply?: ModelReply;
      /** In place of a reply: the provider call failed. */
      readonly failure?: {
        readonly message: string;
        readonly status?: number | undefined;
        readonly requestId?: string | undefined;
        readonly retryable: boolean;
        readonly attempts: number;
        readonly elapsedMs: number;
      };
    }
  | {
      readonly step: 'tool';
      /** Which call. */
      readonly at: string;
      readonly tool: string;
      /** As text in which equal arguments are equal. */
      readonly arguments: string;
      readonly outcome: {
        readonly outcome: ToolCallOutcome;
        readonly result: string;
        readonly denied?: true;
        readonly executed?: true;
        readonly asItIs?: true;
      };
    };

/** The runs in a file; throws an `AIDefinitionError` where it is no recording. */
export function parseRecording(file: string, text: string): RecordedRun[] {
  let recording: unknown;
  try {
    recording = JSON.parse(text);
  } catch {
    recording = undefined;
  }
  const { version, runs } = (recording ?? {}) as { readonly version?: unknown; readonly runs?: unknown };
  if (version !== 1 || !Array.isArray(runs) || !(runs as unknown[]).every(isRun))
    throw new AIDefinitionError(`Recorder: ${file} is no recording that this version reads; record it anew`);
  return runs as RecordedRun[];
}

function isRun(run: unknown): boolean {
  const { site, question, steps } = (run ?? {}) as { readonly [K in keyof RecordedRun]?: unknown };
  return typeof site === 'string' && typeof question === 'string' && Array.isArray(steps) && steps.every(isStep);
}

function isStep(step: unknown): boolean {
  if (!isObject(step) || typeof step['at'] !== 'string') return false;
  const { step: kind, reply, failure, tool, arguments: args, outcome } = step;
  if (kind === 'turn')
    return isObject(reply)
      ? typeof reply['text'] === 'string' && typeof reply['finish'] === 'string'
      : isObject(failure) && typeof failure['message'] === 'string';
  if (kind !== 'tool' || typeof tool !== 'string' || typeof args !== 'string' || !isObject(outcome)) return false;
  return OUTCOMES.has(outcome['outcome']) && typeof outcome['result'] === 'string';
}

/** How a call may have ended that a middleware saw the end of; an abort ends the run, and is in none. */
const OUTCOMES: ReadonlySet<unknown> = new Set<ToolCallOutcome>([
  ...(['ok', 'invalid-arguments', 'failed', 'refused', 'repeated', 'timed-out'] as const),
]);

/** What is kept of a reply: what a middleware further in hung on it may be anything. */
export function recordedReply({ text, finish, refusal, calls, carried, usage, requestId }: ModelReply): ModelReply {
  return {
    text,
    finish,
    ...(refusal !== undefined && { refusal }),
    ...(calls !== undefined && { calls }),
    ...(carried !== undefined && { carried }),
    usage,
    ...(requestId !== undefined && { requestId }),
  };
}

/** Where two JSON values first differ, as a path; an empty path for the values themselves, nothing where they are equal. */
export function firstDifference(one: unknown, other: unknown): string | undefined {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return one === other ? undefined : '';
  if (Array.isArray(one) !== Array.isArray(other)) return '';
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const own = (value: object): unknown => (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined);
    const inner = Object.hasOwn(one, key) === Object.hasOwn(other, key) ? firstDifference(own(one), own(other)) : '';
    if (inner !== undefined) return [key, inner].filter((part) => part !== '').join('.');
  }
  return undefined;
}
