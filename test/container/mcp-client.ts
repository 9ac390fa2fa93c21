import { request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConnection } from 'node:net';

/** What came back over HTTP. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The message in it, whether it came as JSON or as the one event of a stream. */
  readonly message: Message;
}

export interface Message {
  readonly result?: Readonly<Record<string, unknown>> & { readonly tools?: readonly ListedTool[] };
  readonly error?: { readonly code: number; readonly message: string };
}

export interface ListedTool {
  readonly name: string;
  readonly inputSchema: { readonly properties: object };
  readonly annotations: object;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly agent?: NonNullable<Parameters<typeof send>[1]>['agent'];
}

/** Sends a body as it is, with the headers that a client of the protocol has; by hand, so that nothing mends it. */
export function post(
  url: string,
  body: string,
  { method = 'POST', headers = {}, ...rest }: Sent = {},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const all = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': Buffer.byteLength(body).toString(),
      ...headers,
    };
    const request = send(url, { method, headers: all, ...rest }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
        const message = data.startsWith('{') ? (JSON.parse(data) as Message) : {};
        resolve({ status: response.statusCode!, headers: response.headers, text, message });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

export const as = (token: string, headers: Readonly<Record<string, string>> = {}) => ({
  authorization: `Bearer ${token}`,
  ...headers,
});

export function rpc(
  url: string,
  method: string,
  params: object,
  sent: Sent = { headers: as('ann') },
): Promise<Answered> {
  return post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), sent);
}

/** Lists the tools. */
export const list = (url: string, sent?: Sent): Promise<Answered> => rpc(url, 'tools/list', {}, sent);

/** Calls a tool. */
export const call = (url: string, name: string, args: object = {}, sent?: Sent): Promise<Answered> =>
  rpc(url, 'tools/call', { name, arguments: args }, sent);

/** Writes to a connection what no client would, and gives all that came until it was closed. */
export function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write(text));
    let all = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (all += chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(all));
  });
}

export const portOf = (server: { address(): AddressInfo | string | null }): number =>
  (server.address() as AddressInfo).port;
