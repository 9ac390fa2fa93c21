import { lookup as systemLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { TextDecoder } from 'node:util';
import { childController, untilAborted } from '../abort.js';
import { AIToolError } from '../errors.js';
import { defineTool } from './define-tool.js';
import { READ_ONLY } from './group.js';
import { type HttpGetOptions, readOptions, type ReadOptions } from './http-get-options.js';
import { pinnedRequest } from './pinned-request.js';
import { isIn, isPublicAddress } from './public-address.js';
import type { Tool } from './tool.js';

/**
 * A tool that reads a page of one of the hosts that you list, by GET and without anything of the model's but the URL.
 * Where a name leads is looked at before anything is sent, at each redirect too: to an address that is not public nothing
 * is sent, unless `networks` has it. What comes is told as foreign text, with where it is from.
 * Throws an `AIDefinitionError` for options that are none.
 */
export function httpGet(options: HttpGetOptions): Tool {
  const read = readOptions(options);
  return defineTool({
    name: read.name,
    description: `Reads a page by HTTP GET. The hosts are: ${[...read.hosts].join(', ')}`,
    group: { groupName: READ_ONLY },
    parameters: { url: { type: 'string', description: 'The whole URL', maxLength: 2_048 } },
    // Its own timer is over before.
    timeoutMs: read.timeoutMs + 1_000,
    execute: async ({ url }, { signal }) => new PageReader(read, signal).read(url),
  });
}

/** What is sent to a server that answers so. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** One call. What it refuses is told to the model in fixed words; what was found is the observer's to know. */
class PageReader {
  readonly #options: ReadOptions;
  readonly #signal: AbortSignal;

  constructor(options: ReadOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async read(text: string): Promise<string> {
    const { timeoutMs, maxRedirects } = this.#options;
    const { controller, stop } = childController(this.#signal);
    const late = this.#error(`nothing came in time; it may take ${timeoutMs.toString()} ms`);
    const timer = setTimeout(() => {
      controller.abort(late);
    }, timeoutMs);
    try {
      let url = this.#checked(text);
      for (let redirects = 0; ; redirects++) {
        const response = await this.#get(url, controller.signal);
        const { statusCode = 0, headers } = response;
        if (!REDIRECTS.has(statusCode) || headers.location === undefined)
          return await this.#told(url, response, controller.signal);
        response.destroy();
        if (redirects >= maxRedirects)
          throw this.#error(`${url.host} sends from one page to another, more than ${maxRedirects.toString()} times`);
        url = this.#checked(headers.location, url);
      }
    } catch (error) {
      this.#signal.throwIfAborted();
      throw controller.signal.aborted ? late : error;
    } finally {
      clearTimeout(timer);
      stop();
      // What is still open is closed: a body that is not read to its end.
      controller.abort(new Error('the call is over'));
    }
  }

  /** A URL that may be asked for, by what it says itself. */
  #checked(text: string, from?: URL): URL {
    if (!URL.canParse(text, from?.href)) throw this.#error('this is no URL; write all of it, https://…');
    const url = new URL(text, from?.href);
    const { hosts, allowHttp } = this.#options;
    const isSecure = url.protocol === 'https:';
    if (!isSecure && !(url.protocol === 'http:' && allowHttp))
      throw this.#error('only https is read; write the URL with https');
    if (!isSecure && from?.protocol === 'https:') throw this.#error(`${from.host} sends on to a page without https`);
    if (url.username !== '' || url.password !== '') throw this.#error('a URL holds no name and no password');
    if (!hosts.has(url.host))
      throw this.#error(
        `${from === undefined ? 'this host' : `the host that ${from.host} sends on to`} is not on the list`,
      );
    return url;
  }

  async #get(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      const addresses = await untilAborted(signal, this.#addresses(url.hostname));
      return await pinnedRequest(url, addresses, signal);
    } catch (error) {
      signal.throwIfAborted();
      // One sentence for a name that there is not, an address that is refused and a port that is closed: what differs maps a network.
      throw this.#error(`${url.host} cannot be reached from here`, error);
    }
  }

  /** Where a host leads to. One address that is refused refuses all: which is taken would be chance. */
  async #addresses(hostname: string): Promise<readonly string[]> {
    const { networks, lookup } = this.#options;
    const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
    const isLiteral = literal !== hostname || /^[0-9.]+$/.test(hostname);
    const addresses = isLiteral ? [literal] : await (lookup ?? lookUp)(hostname);
    if (addresses.length === 0) throw new Error(`${hostname} has no address`);
    for (const address of addresses)
      if (!isPublicAddress(address) && !isIn(address, networks))
        throw new Error(
          `${hostname} leads to ${address}, which is not public; where that is meant, write it in networks`,
        );
    return addresses;
  }

  async #told(url: URL, response: IncomingMessage, signal: AbortSignal): Promise<string> {
    const { statusCode = 0, headers } = response;
    if (statusCode < 200 || statusCode > 299) throw this.#error(`${url.host} answered ${statusCode.toString()}`);
    const [type, charset = 'utf-8'] = contentType(headers['content-type']);
    if (!this.#options.isTold(type))
      throw this.#error(`${url.host} has no text there${type === '' ? '' : `, but ${type}`}`);
    if (![undefined, '', 'identity'].includes(headers['content-encoding']?.toLowerCase()))
      throw this.#error(`${url.host} sends it packed, which was not asked for`);
    let decoder: TextDecoder;
    try {
      decoder = new TextDecoder(charset);
    } catch (error) {
      throw this.#error(`${url.host} writes in a character set that is not known here`, error);
    }
    const { bytes, isCut } = await this.#body(response, signal);
    // A character that was cut in two is left out.
    const text = decoder.decode(bytes, { stream: isCut });
    const mark = isCut ? `\n[cut here: ${this.#options.maxBytes.toString()} bytes were read]` : '';
    return `[from ${url.href.replaceAll(']', '%5D')}, ${type}]\n${text}${mark}`;
  }

  async #body(
    response: IncomingMessage,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
    const { maxBytes } = this.#options;
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) break;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw this.#error('the page broke off', error);
    }
    return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes };
  }

  #error(message: string, cause?: unknown): AIToolError {
    return new AIToolError(`${this.#options.name}: ${message}.`, { cause });
  }
}

async function lookUp(hostname: string): Promise<readonly string[]> {
  return (await systemLookup(hostname, { all: true })).map(({ address }) => address);
}

/** The type and the character set of a header, RFC 9110, 8.3. */
function contentType(header: string | undefined): readonly [type: string, charset: string | undefined] {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim());
  // Of a header that is none, nothing is told: it is a stranger's text.
  const isOne = /^[a-z0-9!#$&^_.+-]{1,60}\/[a-z0-9!#$&^_.+-]{1,60}$/i.test(type);
  const charset = parameters.find((parameter) => /^charset=/i.test(parameter));
  return [isOne ? type.toLowerCase() : '', charset?.slice('charset='.length).replace(/^"(.*)"$/, '$1')];
}
