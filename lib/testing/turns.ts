import type { ModelUsage } from '../model/usage.js';
import { writeJson } from '../schema/json.js';
import type { ScriptedTurn } from './scripted-model.js';

/** A call of one tool. Arguments as an object, or as the very text that a provider would deliver. */
export function call(
  tool: string,
  argumentsOrRawText: Readonly<Record<string, unknown>> | string = '',
  options: {
    /** The provider's id of the call; the envelope has none. */
    readonly id?: string;
    /** Text beside the call. */
    readonly text?: string;
    /** The finish reason, in the provider's words. */
    readonly finish?: string;
    /** What the provider counts for this reply. Default: nothing. */
    readonly usage?: Partial<ModelUsage>;
  } = {},
): ScriptedTurn {
  const { id, text = '', finish, usage } = options;
  const calls = [{ name: tool, raw: rawText(argumentsOrRawText), id }];
  return { kind: 'calls', calls, text, finish, ...(usage !== undefined && { usage }) };
}

/**
 * Several calls in one turn, in the provider's own function calling. On a wire that has one call a turn they stand one
 * after the other, which is no reply there.
 */
export function calls(
  list: readonly {
    readonly name: string;
    readonly arguments?: Readonly<Record<string, unknown>> | string;
    readonly id?: string;
  }[],
  options: { readonly text?: string; readonly finish?: string; readonly usage?: Partial<ModelUsage> } = {},
): ScriptedTurn {
  const { text = '', finish, usage } = options;
  const made = list.map(({ name, arguments: args = '', id }) => ({ name, raw: rawText(args), id }));
  return { kind: 'calls', calls: made, text, finish, ...(usage !== undefined && { usage }) };
}

function rawText(argumentsOrRawText: Readonly<Record<string, unknown>> | string): string {
  return typeof argumentsOrRawText === 'string' ? argumentsOrRawText : writeJson(argumentsOrRawText);
}

/** An answer; in a typed turn the JSON of its value. */
export function text(
  answer: string,
  options: { readonly finish?: string; readonly usage?: Partial<ModelUsage> } = {},
): ScriptedTurn {
  const { finish = 'stop', usage } = options;
  return { kind: 'text', text: answer, finish, ...(usage !== undefined && { usage }) };
}

/** The model refuses, in its own words. */
export function refusal(words: string): ScriptedTurn {
  return { kind: 'refusal', text: words };
}

/** A reply that ends at the limit on output tokens. */
export function truncated(partly = ''): ScriptedTurn {
  return { kind: 'text', text: partly, finish: 'length' };
}

/** A reply that the provider's content filter stopped. */
export function filtered(partly = ''): ScriptedTurn {
  return { kind: 'text', text: partly, finish: 'content_filter' };
}

/** The request fails with an HTTP status. */
export function httpError(
  status: number,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown } = {},
): ScriptedTurn {
  return { kind: 'http', status, headers: options.headers ?? {}, body: options.body };
}

/** The request is never answered. */
export function never(): ScriptedTurn {
  return { kind: 'never' };
}
