import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** What a client gets in place of an answer: a status, and words that hold nothing but what it did itself. */
export class Refusal extends Error {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param code of JSON-RPC; by default one that says nothing */
  constructor(
    readonly status: number,
    message: string,
    { code = -32_000, headers = {} }: { readonly code?: number; readonly headers?: Refusal['headers'] } = {},
  ) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** Tells a client that it is refused, where it was told nothing yet. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, message, code, headers } = refusal;
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...headers,
    // What was not read of its body will not be. Of HTTP/2 a connection has many requests.
    ...(!request.readableEnded && request.httpVersionMajor === 1 && { connection: 'close' }),
  });
  response.end(body);
}

/** Sends what the SDK answers, a stream as it comes. Rejects where the client leaves before its end. */
export async function send(
  response: ServerResponse,
  answer: Response,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  // The connection is Node's to keep or to end, and of HTTP/2 none may speak of it.
  const { connection: _, ...own } = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, { 'cache-control': 'no-store', ...own, ...headers });
  response.flushHeaders();
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response);
}
