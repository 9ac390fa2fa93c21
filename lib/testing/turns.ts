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
  } = {},
): ScriptedTurn {
  const raw = typeof argumentsOrRawText === 'string' ? argumentsOrRawText : writeJson(argumentsOrRawText);
  return { kind: 'call', tool, raw, text: options.text ?? '', finish: options.finish ?? 'stop' };
}

/** An answer. */
export function text(answer: string, options: { readonly finish?: string } = {}): ScriptedTurn {
  return { kind: 'text', text: answer, finish: options.finish ?? 'stop' };
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
