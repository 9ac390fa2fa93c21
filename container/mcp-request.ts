import type { IncomingMessage } from 'node:http';
import { isObject } from '../lib/declaration.js';
import { JsonTextError, parseJson } from '../lib/schema/json.js';
import type { ServerSDK } from './mcp-sdk.js';
import { Refusal } from './mcp-response.js';
import type { ReadServerOptions } from './mcp-server-options.js';

/** One message of JSON-RPC, as far as it is read here: the SDK checks the rest. */
export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** What can be refused before anybody is asked who it is. */
export function checkHeaders(sdk: ServerSDK, request: IncomingMessage, { hosts, origins }: ReadServerOptions): void {
  const { headers, method } = request;
  const names = request.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  // What stands before this server may have looked at the other one.
  for (const once of ['host', 'origin', 'authorization'])
    if (names.filter((name) => name === once).length > 1) throw new Refusal(400, `The header ${once} was sent twice`);
  // HTTP/2 calls it otherwise.
  const host = headers.host ?? headers[':authority'];
  if (typeof host !== 'string' || !sdk.validateHostHeader(host, [...hosts]).ok)
    throw new Refusal(403, 'This host is not served: mcpServer’s option hosts does not name it');
  if (!sdk.validateOriginHeader(headers.origin ?? null, [...origins]).ok)
    throw new Refusal(403, 'This origin is not served: mcpServer’s option origins does not name it');
  // There is no session that could be streamed or ended.
  if (method !== 'POST') throw new Refusal(405, 'Method not allowed', { headers: { allow: 'POST' } });
}

/** Headers that came once, by their names in small letters. */
export function textHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.freeze(Object.fromEntries(texts));
}

/** What two requests of one client say differently, and what says nothing of who it is. */
const OF_THE_REQUEST = /^(mcp-.*|content-.*|accept|transfer-encoding|connection|last-event-id|traceparent|tracestate)$/;

/** All headers that may say who is asking, in one order: a token, a cookie, a key. */
export function saidOfCaller(request: IncomingMessage): readonly string[] {
  return Object.entries(textHeaders(request))
    .filter(([name]) => !OF_THE_REQUEST.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
}

/** What the protocol reads of a request, and no more: its credentials are not the SDK's to see. */
export function webRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const read = Object.entries(textHeaders(request)).filter(
    ([name]) => name.startsWith('mcp-') || name === 'accept' || name === 'content-type',
  );
  return new Request('http://localhost/', { method: 'POST', headers: Object.fromEntries(read), signal });
}

/** The message of a request, read strictly and without losing a digit. */
export async function readMessage(request: IncomingMessage, maxBytes: number): Promise<Message> {
  // What a parser of the application's has read already.
  const { body } = request as { readonly body?: unknown };
  if (request.readableEnded && body !== undefined) return oneMessage(body);
  const text = await readBody(request, maxBytes);
  try {
    return oneMessage(parseJson(text));
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new Refusal(400, `Parse error: the body ${error.message}`, { code: -32_700 });
  }
}

/** Batches are no part of the protocol any more: each message has a request, and so a caller's scope, of its own. */
function oneMessage(body: unknown): Message {
  if (isObject(body)) return body;
  const found = Array.isArray(body) ? 'not a batch' : 'an object';
  throw new Refusal(400, `Invalid Request: send one message, ${found}`, { code: -32_600 });
}

/** The arguments as they came: the SDK copies what it validates, and leaves out keys on the way. */
export function argumentsIn({ params }: Message): Readonly<Record<string, unknown>> | undefined {
  const { arguments: args } = isObject(params) ? params : {};
  return isObject(args) ? args : undefined;
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const tooLong = new Refusal(413, `Payload Too Large: the body may have ${maxBytes.toString()} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong;
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // Not read any further, and not destroyed: its client is still to be told.
      request.off('data', take).pause();
      reject(tooLong);
    };
    request.on('data', take);
    request.once('end', resolve);
    request.once('error', reject);
    request.once('close', () => {
      reject(new Error('the client left before all of its request was there'));
    });
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Refusal(400, 'Parse error: the body is not valid UTF-8', { code: -32_700 });
  }
}
