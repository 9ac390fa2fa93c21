import { countProblems, describeKind, optionProblems, throwProblems, timerProblems } from '../declaration.js';
import { type Network, readNetworks } from './public-address.js';

/** What `httpGet` takes. */
export interface HttpGetOptions {
  /**
   * The hosts that may be asked, each in full: `docs.example.com`, with a port where it is not the scheme's own,
   * `docs.example.com:8443`. Required; there is no pattern.
   */
  readonly hosts: readonly string[];
  /** `http:` besides `https:`. Default: false. */
  readonly allowHttp?: boolean;
  /** Of a body; the rest is left out, with a mark. Default: 200,000. */
  readonly maxBytes?: number;
  /** For all of it: name, redirects, body. In milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** How often a page may send on to another. Default: 3. */
  readonly maxRedirects?: number;
  /** Content types that are told, `text/*` for all of a kind. Default: `text/*`, JSON and XML. */
  readonly types?: readonly string[];
  /** Networks that are not public and may be reached all the same: `['10.1.0.0/16']`. Default: none. */
  readonly networks?: readonly string[];
  /** Looks a name up, in place of the system: gives its addresses. */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>;
  /** The wire name. Default: `httpGet`. */
  readonly name?: string;
}

/** The same, checked and with their defaults. */
export interface ReadOptions {
  readonly name: string;
  readonly hosts: ReadonlySet<string>;
  readonly allowHttp: boolean;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly maxRedirects: number;
  readonly isTold: (type: string) => boolean;
  readonly networks: readonly Network[];
  readonly lookup: HttpGetOptions['lookup'];
}

const OPTIONS = [
  ...['hosts', 'allowHttp', 'maxBytes', 'timeoutMs', 'maxRedirects', 'types', 'networks', 'lookup', 'name'],
];

/** Throws an `AIDefinitionError` that has all that is wrong. */
export function readOptions(options: HttpGetOptions): ReadOptions {
  const where = 'httpGet';
  const problems = optionProblems(where, options, OPTIONS);
  const { allowHttp = false, maxBytes = 200_000, timeoutMs = 10_000, maxRedirects = 3, lookup, name = where } = options;
  const hosts = readHosts(where, options.hosts, problems);
  const isTold = readTypes(where, options.types, problems);
  const networks = readNetworks(where, options.networks, problems);
  if (typeof allowHttp !== 'boolean')
    problems.push(`${where}: allowHttp must be true or false, found ${describeKind(allowHttp)}`);
  problems.push(...countProblems(where, 'maxBytes', maxBytes), ...timerProblems(where, 'timeoutMs', timeoutMs));
  if (maxRedirects !== 0) problems.push(...countProblems(where, 'maxRedirects', maxRedirects));
  if (lookup !== undefined && typeof lookup !== 'function')
    problems.push(
      `${where}: lookup must be a function, async (hostname) => ['93.184.215.14'], found ${describeKind(lookup)}`,
    );
  throwProblems(problems);
  return { name, hosts, allowHttp, maxBytes, timeoutMs, maxRedirects, isTold, networks, lookup };
}

function readHosts(where: string, hosts: unknown, problems: string[]): ReadonlySet<string> {
  if (!Array.isArray(hosts) || hosts.length === 0) {
    problems.push(
      `${where}: hosts must list the hosts that may be asked, hosts: ['docs.example.com']; found ${Array.isArray(hosts) ? 'an empty list' : describeKind(hosts)}`,
    );
    return new Set();
  }
  for (const host of hosts as unknown[])
    if (typeof host !== 'string' || !isHost(host))
      problems.push(
        `${where}: hosts holds ${typeof host === 'string' ? `"${host.slice(0, 80)}"` : describeKind(host)}; write a host in full and in small letters as a URL has it, 'docs.example.com' or 'docs.example.com:8443', without scheme, path or *`,
      );
  return new Set(hosts as readonly string[]);
}

/** A host as a URL writes it, so that comparing the two is all there is to do. */
function isHost(host: string): boolean {
  const href = `https://${host}`;
  return (
    host !== '' &&
    !host.includes('*') &&
    URL.canParse(href) &&
    new URL(href).host === host &&
    new URL(href).href === `${href}/`
  );
}

const TYPES = ['text/*', 'application/json', 'application/xml', 'application/*+json', 'application/*+xml'];

function readTypes(where: string, types: unknown, problems: string[]): (type: string) => boolean {
  const list: unknown[] = types === undefined ? TYPES : Array.isArray(types) ? types : [types];
  const patterns = list.map((type) => {
    if (typeof type === 'string' && /^[a-z0-9.+-]+\/[a-z0-9.+*-]+$/.test(type))
      return new RegExp(`^${type.replaceAll(/[.+]/g, '\\$&').replaceAll('*', '[a-z0-9.+-]*')}$`);
    problems.push(
      `${where}: types holds ${typeof type === 'string' ? `"${type.slice(0, 60)}"` : describeKind(type)}; write content types, types: ['text/*', 'application/json']`,
    );
    return /^$/;
  });
  return (type) => patterns.some((pattern) => pattern.test(type));
}
