import type { Abortable } from '../cancellation.js';
import { describeKind } from '../declaration.js';
import { AIDefinitionError, isErrorOf } from '../errors.js';
import type { AILogger } from '../logger.js';
import type { ArgumentKey } from '../schema/call-key.js';
import type { Conversion } from '../schema/convert.js';
import { type Ending, unlessCutShort } from './execution.js';
import { editedArguments } from './edit.js';
import type { ToolInvocation } from './middleware.js';
import { told } from './told.js';
import type { CompiledTool } from './tool.js';

/** A call as a wire decoded it. */
export interface RequestedCall {
  readonly callId: string;
  readonly turn: number;
  readonly tool: string;
  readonly sent: Readonly<Record<string, unknown>>;
  /** What is wrong with the arguments as a whole: a name given twice, text that is no JSON. */
  readonly problem?: string;
  /** Nothing was sent in the place of arguments. */
  readonly nothing?: true;
}

/** A call whose arguments fit, on its way through the middleware. */
export interface FittingCall {
  readonly tool: CompiledTool;
  readonly call: RequestedCall;
  /** The arguments as sent, or as a middleware would have had them sent. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly values: Readonly<Record<string, unknown>>;
  /** What makes two calls the same call. */
  readonly keys: () => readonly ArgumentKey[];
}

/** What a conversion needs to know of the run. */
export interface ConversionContext {
  readonly runId: string;
  readonly signal: Abortable;
  readonly logger: AILogger;
  /** Told of what is at work and how long it may take: whoever closes what it works in waits so long. */
  readonly working?: ((work: Promise<unknown>, timeoutMs: number) => void) | undefined;
}

type Converted = Extract<Conversion, { ok: true }> | Ending;

/** The arguments for the tool, or how the call ends. Rules of the application's may take as long as the tool, and no longer. */
export function convertArguments(
  context: ConversionContext,
  tool: CompiledTool,
  call: RequestedCall,
  sent: Readonly<Record<string, unknown>>,
): Converted | Promise<Converted> {
  // Its arguments may have been lost on the way: where a tool takes some, none at all must be said.
  const problem =
    call.problem ??
    (call.nothing === true && tool.parameters.length > 0 ? 'no arguments came; send {} for none' : undefined);
  const converting = problem === undefined ? tool.convert(sent) : { ok: false as const, lines: [problem] };
  if (!(converting instanceof Promise)) return converted(context, tool, call, converting);
  const inTime = unlessCutShort(context.signal, tool, () => {
    context.working?.(converting, tool.timeoutMs);
    return converting;
  });
  return inTime.then((conversion) => converted(context, tool, call, conversion));
}

function converted(
  context: ConversionContext,
  tool: CompiledTool,
  call: RequestedCall,
  conversion: Conversion | Ending,
): Converted {
  if ('outcome' in conversion) {
    // Nothing was executed, whatever the rules did.
    const result = conversion.outcome === 'timed-out' ? told.unchecked(tool.name) : conversion.result;
    return looked(context, tool, call, { ...conversion, result });
  }
  if (conversion.ok) return { ...conversion, values: Object.freeze(conversion.values) };
  const { error } = conversion;
  return looked(context, tool, call, {
    outcome: 'invalid-arguments',
    result: told.invalidArguments(tool.name, conversion.lines),
    ...(error !== undefined && { error }),
    ...(isErrorOf(error, 'scope') && { fatal: { error } }),
  });
}

/** The arguments of an edit, converted anew. What does not fit is the middleware's mistake, and none of the model's to read. */
export async function convertEdit(
  context: ConversionContext,
  { tool, call, sent, values }: FittingCall,
  edited: unknown,
  by: string,
  invocation: ToolInvocation,
): Promise<FittingCall | Ending> {
  const { arguments: args } = (edited ?? {}) as { readonly arguments?: unknown };
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    throw new AIDefinitionError(
      `${by}.tool: next() takes the edited arguments as next({ arguments: { … } }), found ${describeKind(edited)}`,
    );
  const before = { values, shown: invocation.arguments, sent };
  const again = editedArguments(`${by}.tool`, args as FittingCall['values'], before);
  const conversion = await convertArguments(context, tool, call, again);
  if (!('outcome' in conversion)) return { tool, call, sent: again, values: conversion.values, keys: conversion.keys };
  if (conversion.outcome !== 'invalid-arguments' || conversion.fatal !== undefined) return conversion;
  const error = new AIDefinitionError(
    `${by}.tool: the edited arguments do not fit ${tool.name}: ${conversion.result.split('\n').slice(1).join('; ')}`,
  );
  context.logger.warn(`[inversify-ai] ${tool.name} was not called (run ${context.runId}, call ${call.callId})`, error);
  return { outcome: 'invalid-arguments', result: told.misedited(tool.name), error };
}

/** A rule that throws, or takes too long, is something that somebody must look at. */
function looked({ logger, runId }: ConversionContext, tool: CompiledTool, call: RequestedCall, ending: Ending): Ending {
  if (ending.error !== undefined && ending.fatal === undefined)
    logger.warn(
      `[inversify-ai] the arguments of ${tool.name} could not be checked (run ${runId}, call ${call.callId})`,
      ending.error,
    );
  return ending;
}
