import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { describeKind, shortly, throwProblems, unknownOptions } from '../declaration.js';
import { AIDefinitionError, AIProviderError } from '../errors.js';
import type { ModelReply, ModelRequest } from '../model/chat-model.js';
import { canonical } from '../schema/canonical.js';
import type { NextTool, ToolInvocation, ToolOutcome } from '../tool/middleware.js';
import { isDenied, isToldAsItIs, outcomeOf } from '../tool/outcome.js';
import { progressOf } from '../tool/progress.js';
import { declareOurs } from '../tool/thrown.js';
import { AIMiddleware, type TurnContext } from './middleware.js';
import { firstDifference, parseRecording, type RecordedRun, recordedReply, type RecordedStep } from './recording.js';

/** What `Recorder` takes. */
export interface RecorderOptions {
  /** A JSON file. Recording replaces it with the first step of the first run. */
  readonly file: string;
  /** `record`: runs go their way and are written down; `replay`: they are played from the file, and nothing runs. */
  readonly mode: 'record' | 'replay';
}

/**
 * Writes runs to a file, and plays them again: a run of yesterday as a test of today. In replay neither the model nor a
 * tool is ever called; each request, tool name and arguments are compared with what was recorded, and the first
 * difference ends the run with an `AIDefinitionError` that says where.
 *
 * For tests and for finding out, not for service: it keeps every run, and writes all of them at each step. Bind one for
 * a file, and bind it first, so that it stands outside all other middleware. A step that cannot be written ends the run,
 * after the tool that it tells of. The file holds what was asked, sent and returned: it is
 * readable by its owner alone, and as confidential as the application's data.
 */
export class Recorder extends AIMiddleware {
  readonly #file: string;
  readonly #mode: RecorderOptions['mode'];
  /** Of this recorder, by run. */
  readonly #runs = new Map<string, RecordedRun>();
  readonly #recorded: RecordedRun[] = [];
  #loaded: Promise<RecordedRun[]> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: RecorderOptions) {
    super();
    throwProblems(unknownOptions('Recorder', options, ['file', 'mode']));
    const { file, mode } = options;
    const problems: string[] = [];
    if (typeof file !== 'string' || file === '')
      problems.push(`Recorder: file must be a path, 'run.json'; found ${describeKind(file)}`);
    if (!['record', 'replay'].includes(mode))
      problems.push(`Recorder: mode must be 'record' or 'replay', found ${shortly(mode)}`);
    throwProblems(problems);
    this.#file = file;
    this.#mode = mode;
    declareOurs(this);
  }

  override async turn(context: TurnContext, next: () => Promise<ModelReply>): Promise<ModelReply> {
    const { turn, request } = context;
    const run = await this.#run(context);
    const sent = requestOf(request);
    if (this.#mode === 'replay') {
      const step = this.#next(run, 'turn', turn.toString());
      this.#compare(`turn ${turn.toString()}, the request`, step.request, sent);
      if (step.failure !== undefined) throw new AIProviderError(step.failure.message, step.failure);
      return step.reply as ModelReply;
    }
    try {
      const reply = await next();
      await this.#record(run, { step: 'turn', at: turn.toString(), request: sent, reply: recordedReply(reply) });
      return reply;
    } catch (error) {
      if (error instanceof AIProviderError) {
        const { message, status, requestId, retryable, attempts, elapsedMs } = error;
        const failure = { message, status, requestId, retryable, attempts, elapsedMs };
        await this.#record(run, { step: 'turn', at: turn.toString(), request: sent, failure });
      }
      throw error;
    }
  }

  override async tool(call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
    const run = await this.#run(call);
    const made = { tool: call.tool, arguments: canonical(call.arguments) };
    if (this.#mode === 'replay') {
      const step = this.#next(run, 'tool', call.callId);
      this.#compare(`call ${call.callId}, the tool`, step.tool, made.tool);
      this.#compare(`call ${call.callId}, the arguments of ${made.tool}`, step.arguments, made.arguments);
      const { outcome, result, denied, executed, asItIs } = step.outcome;
      const marks = { counts: executed === true, asItIs: asItIs === true };
      return outcomeOf({ outcome, result, ...(denied === true && { denied }) }, marks);
    }
    const ended = await next();
    const { outcome, result } = ended;
    await this.#record(run, {
      step: 'tool',
      at: call.callId,
      ...made,
      outcome: {
        outcome,
        result,
        ...(isDenied(ended) && { denied: true }),
        // It counts towards limits.perTool, whatever a middleware further in said of it.
        ...(progressOf(call)?.executed === true && { executed: true }),
        ...(isToldAsItIs(ended) && { asItIs: true }),
      },
    });
    return ended;
  }

  /** The recording that a run is written to, or played from: the first of that question that was not yet played. */
  async #run({ runId, site, question }: TurnContext | ToolInvocation): Promise<RecordedRun> {
    let run = this.#runs.get(runId);
    if (run !== undefined) return run;
    if (this.#mode === 'record') {
      run = { site, question, steps: [] };
      this.#recorded.push(run);
    } else {
      const left = await (this.#loaded ??= this.#load());
      const index = left.findIndex((recorded) => recorded.site === site && recorded.question === question);
      run = left[index];
      if (run === undefined)
        throw new AIDefinitionError(
          `Recorder, replay of ${this.#file}: it holds no further run of ${site} with this question; record it anew`,
        );
      left.splice(index, 1);
    }
    this.#runs.set(runId, run);
    return run;
  }

  async #load(): Promise<RecordedRun[]> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (cause) {
      throw new AIDefinitionError(
        `Recorder: ${this.#file} cannot be read; record a run first, new Recorder({ file, mode: 'record' })`,
        { cause },
      );
    }
    return parseRecording(this.#file, text);
  }

  #next<S extends RecordedStep['step']>(run: RecordedRun, step: S, at: string): Extract<RecordedStep, { step: S }> {
    const index = run.steps.findIndex((recorded) => recorded.step === step && recorded.at === at);
    const [found] = index < 0 ? [] : run.steps.splice(index, 1);
    if (found === undefined)
      throw new AIDefinitionError(
        `Recorder, replay of ${this.#file}: the recorded run has no ${step === 'turn' ? 'turn' : 'call'} ${at}; it went another way, record it anew`,
      );
    return found as Extract<RecordedStep, { step: S }>;
  }

  #compare(what: string, recorded: unknown, now: unknown): void {
    const difference = firstDifference(recorded, now);
    if (difference !== undefined)
      throw new AIDefinitionError(
        `Recorder, replay of ${this.#file}: ${what} is not as it was recorded${difference === '' ? '' : `, at ${difference}`}; record it anew where that is meant`,
      );
  }

  async #record(run: RecordedRun, step: RecordedStep): Promise<void> {
    run.steps.push(step);
    const text = `${JSON.stringify({ version: 1, runs: this.#recorded }, undefined, 2)}\n`;
    // One after the other, and never half: what is there is replaced when the new one is whole.
    const writing = this.#writing.catch(() => undefined).then(() => replaceFile(this.#file, text));
    this.#writing = writing;
    writing.catch(() => undefined);
    await writing;
  }
}

/** Under a name that nobody has or could have put there, so that it is ours alone until it is whole. */
async function replaceFile(file: string, text: string): Promise<void> {
  const part = `${file}.${randomUUID()}.part`;
  try {
    await writeFile(part, text, { mode: 0o600, flag: 'wx' });
    await rename(part, file);
  } catch (cause) {
    await rm(part, { force: true }).catch(() => undefined);
    const { code } = cause as NodeJS.ErrnoException;
    throw new AIDefinitionError(
      `Recorder: ${file} cannot be written (${code ?? 'for an unknown reason'}); its folder must be there, and writable`,
      { cause },
    );
  }
}

/** What is compared of a request: all that a model is sent. */
function requestOf(request: ModelRequest): object {
  const { wire, messages, responseSchema, tools, functions, functionChoice, parallelCalls, settings } = request;
  const sent = { wire, messages, responseSchema, tools, functions, functionChoice, parallelCalls, settings };
  return JSON.parse(JSON.stringify(sent)) as object;
}
