import { AIProviderError } from '../errors.js';
import { type ModelReply, readFinish, readUsage } from './chat-model.js';

/*
 * What came back, read by its shape: the client may be of another copy or version of `openai`, whose classes are not
 * ours to compare with, and compatible servers answer 200 with things that are no completion.
 */

/** Reads a completion; throws a retryable `AIProviderError` where the body is none. */
export function readCompletion(model: string, body: unknown): ModelReply {
  const requestId = text(member(body, '_request_id')) ?? undefined;
  const choices = member(body, 'choices');
  const message = Array.isArray(choices) ? member(choices[0], 'message') : undefined;
  if (typeof message !== 'object' || message === null)
    throw new AIProviderError(`${model}: what came is no chat completion; check the base URL.`, {
      requestId,
      retryable: true,
    });
  const finish = member((choices as unknown[])[0], 'finish_reason');
  const refusal = readRefusal(member(message, 'refusal'));
  const usage = member(body, 'usage');
  return {
    text: readContent(member(message, 'content')),
    finish: readFinish(finish),
    ...(refusal !== undefined && { refusal }),
    usage: readUsage({
      inputTokens: member(usage, 'prompt_tokens'),
      outputTokens: member(usage, 'completion_tokens'),
      cachedInputTokens: member(member(usage, 'prompt_tokens_details'), 'cached_tokens'),
      reasoningTokens: member(member(usage, 'completion_tokens_details'), 'reasoning_tokens'),
    }),
    ...(requestId !== undefined && { requestId }),
  };
}

/** A text, or the text parts of a list: what is thought beside the answer is no part of it. */
function readContent(content: unknown): string {
  if (!Array.isArray(content)) return text(content) ?? '';
  return (content as unknown[])
    .filter((part) => member(part, 'type') === 'text')
    .map((part) => text(member(part, 'text')) ?? '')
    .join('');
}

/** Anything but nothing is a refusal, also where it is no text. */
function readRefusal(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '' || value === false) return undefined;
  return text(value) ?? 'refused without words';
}

/** Classifies what the client threw. Its text stays in `cause`: providers quote the request in it. */
export function providerError(model: string, error: unknown): AIProviderError {
  if (error instanceof AIProviderError) return error;
  const status = member(error, 'status');
  const requestId = text(member(error, 'requestID'));
  if (typeof status === 'number') {
    const code = text(member(error, 'code'));
    const advised = header(error, 'x-should-retry');
    const retryable = advised === undefined ? worthRepeating(status, code) : advised === 'true';
    const id = requestId === undefined ? '' : `, request ${requestId}`;
    return new AIProviderError(
      `${model}: the provider answered ${status.toString()}${hint(status)}${id}.`,
      { status, requestId, retryable },
      { cause: error },
    );
  }
  // No response at all, a body that broke off, or one that is no JSON.
  const code = systemCode(error);
  return new AIProviderError(
    `${model}: no usable response came${code === undefined ? '' : ` (${code})`}.`,
    { requestId, retryable: true },
    { cause: error },
  );
}

/** The operating system's word for what went wrong, however deep: `ECONNREFUSED`, `ENOTFOUND`, `UND_ERR_SOCKET`. */
function systemCode(error: unknown): string | undefined {
  for (
    let depth = 0, current = error;
    depth < 5 && current !== undefined;
    depth++, current = member(current, 'cause')
  ) {
    const code = text(member(current, 'code'));
    if (code !== undefined && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code;
  }
  return undefined;
}

/** The account is empty: waiting does not fill it. */
const FINAL_CODES = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active']);

function worthRepeating(status: number, code: string | undefined): boolean {
  if (code !== undefined && FINAL_CODES.has(code)) return false;
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

function hint(status: number): string {
  if (status === 401 || status === 403) return ': check the key';
  if (status === 404) return ': check the model name and the base URL';
  if (status === 400 || status === 422) return ': it refuses this request, its reason is in cause';
  return '';
}

function header(error: unknown, name: string): string | undefined {
  const headers = member(error, 'headers');
  const get = member(headers, 'get');
  return typeof get === 'function' ? text((get as (name: string) => unknown).call(headers, name)) : undefined;
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
