import { type AIError, AIProviderError, isErrorOf } from '../errors.js';
import { member, text } from './member.js';

/*
 * What a failed provider call means, read from the shape of what was thrown: the client may be of another copy or version
 * of `openai`, whose classes are not ours to compare with.
 */

/** Classifies what a model or its client threw. Its text stays in `cause`: providers quote the request in it. */
export function providerError(model: string, error: unknown): AIProviderError {
  if (isErrorOf(error, 'provider')) return sameFailure(error);
  const status = member(error, 'status');
  const requestId = readRequestId(member(error, 'requestID'));
  const retryAfterMs = readRetryAfter(error);
  if (typeof status === 'number') {
    const advised = header(error, 'x-should-retry');
    const retryable = advised === undefined ? worthRepeating(status, error) : advised === 'true';
    const id = requestId === undefined ? '' : `, request ${requestId}`;
    return new AIProviderError(
      `${model}: the provider answered ${status.toString()}${hint(status, error)}${id}.`,
      { status, requestId, retryable, retryAfterMs },
      { cause: error },
    );
  }
  const code = systemCode(error);
  if (code === undefined && !isBrokenReply(error))
    return new AIProviderError(`${model}: the model failed with an error of its own; see cause.`, {}, { cause: error });
  return new AIProviderError(
    `${model}: no usable response came${code === undefined ? '' : ` (${code})`}.`,
    { requestId, retryable: !isFinal(error), retryAfterMs },
    { cause: error },
  );
}

/** The same failure as an error of its own, with what can be read of it. */
export function sameFailure(error: AIError, message?: string, retryable?: boolean): AIProviderError {
  const number = (key: string): number | undefined => {
    const value = member(error, key);
    return typeof value === 'number' ? value : undefined;
  };
  const { attempts, elapsedMs } = { attempts: number('attempts'), elapsedMs: number('elapsedMs') };
  return new AIProviderError(
    message ?? text(member(error, 'message')) ?? 'A model failed, with a message that cannot be read.',
    {
      status: number('status'),
      requestId: readRequestId(member(error, 'requestId')),
      retryable: retryable ?? member(error, 'retryable') === true,
      retryAfterMs: number('retryAfterMs'),
      ...(attempts !== undefined && { attempts }),
      ...(elapsedMs !== undefined && { elapsedMs }),
    },
    { cause: member(error, 'cause') },
  );
}

/** An id is what a provider's support is told; what is longer, or has other characters, is none. */
export function readRequestId(id: unknown): string | undefined {
  return typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id) ? id : undefined;
}

/**
 * No response at all, a body that broke off, one that is no JSON, an error inside a stream: what the client throws then
 * has a `status` that is undefined, or is the engine's own.
 */
function isBrokenReply(error: unknown): boolean {
  if (member(error, 'name') === 'SyntaxError') return true;
  if (member(error, 'name') === 'TypeError')
    return /^(terminated|fetch failed)$/.test(text(member(error, 'message')) ?? '');
  return hasStatus(error);
}

function hasStatus(error: unknown): boolean {
  try {
    return typeof error === 'object' && error !== null && 'status' in error;
  } catch {
    return false;
  }
}

/** The operating system's word for what went wrong, however deep: `ECONNREFUSED`, `ENOTFOUND`, `UND_ERR_SOCKET`. */
function systemCode(error: unknown): string | undefined {
  for (
    let depth = 0, current = error;
    depth < 5 && current !== undefined;
    depth++, current = member(current, 'cause')
  ) {
    const code = text(member(current, 'code'));
    if (code !== undefined && /^(E[A-Z]{3,20}|UND_ERR_[A-Z_]{2,30}|EAI_[A-Z]{2,10})$/.test(code)) return code;
  }
  return undefined;
}

/** The account is empty or closed: waiting does not fill it. */
const FINAL_CODES: readonly unknown[] = [
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'access_terminated',
];

/** Whether waiting does not help; within a stream the error is told in an object of its own. */
export function isFinal(error: unknown, depth = 0): boolean {
  if (FINAL_CODES.includes(member(error, 'code')) || FINAL_CODES.includes(member(error, 'type'))) return true;
  const inner = member(error, 'error');
  return depth < 3 && inner !== undefined && isFinal(inner, depth + 1);
}

function worthRepeating(status: number, error: unknown): boolean {
  if (isFinal(error)) return false;
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

function hint(status: number, error: unknown): string {
  if (isFinal(error)) return ': the account has nothing left, or is closed';
  if (status === 401 || status === 403) return ': check the key';
  if (status === 404) return ': check the model name, the base URL, and whether the server has this API (openAI’s api)';
  if (status === 400 || status === 422) return ': it refuses this request, its reason is in cause';
  return '';
}

/** `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, 10.2.3); what is in the past or no number says nothing. */
function readRetryAfter(error: unknown): number | undefined {
  const exact = header(error, 'retry-after-ms')?.trim();
  if (exact !== undefined && /^[0-9]+([.][0-9]+)?$/.test(exact)) return Number(exact);
  const value = header(error, 'retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  const seconds = Number(value);
  if (!Number.isNaN(seconds)) return seconds >= 0 ? seconds * 1_000 : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) || date <= Date.now() ? undefined : date - Date.now();
}

/** From `Headers`, or from a plain object as a proxy of the client may have it. */
function header(error: unknown, name: string): string | undefined {
  const headers = member(error, 'headers');
  const get = member(headers, 'get');
  try {
    return text(
      typeof get === 'function' ? Reflect.apply(get as () => unknown, headers, [name]) : member(headers, name),
    );
  } catch {
    return undefined;
  }
}
