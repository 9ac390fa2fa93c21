import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';

/*
 * One GET to addresses that were looked at. Why our own: fetch looks the name up by itself, after whoever checked it, and
 * a second answer may be another (DNS rebinding). request-filtering-agent 3 and ssrf-req-filter 1 check what the socket is
 * about to connect to, but know neither an allowlist of hosts, nor the networks that an application permits, nor what an
 * IPv6 address holds of an IPv4 one.
 */

/** Asks for a URL at one of these addresses and no other; gives the response with its body unread. */
export function pinnedRequest(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<IncomingMessage> {
  const pinned = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const lookup: LookupFunction = (_host, options, callback) => {
    const [first] = pinned;
    if (options.all === true) callback(null, pinned);
    else callback(null, first?.address ?? '', first?.family);
  };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? overHttps : overHttp;
    const request = send(url, {
      method: 'GET',
      // A pool would have sockets to addresses that somebody else asked for.
      agent: false,
      lookup,
      signal,
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'inversify-ai' },
    });
    request
      .on('response', resolve)
      .on('error', reject)
      .on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(new Error('it would speak another protocol'));
      })
      .end();
  });
}
