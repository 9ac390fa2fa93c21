import {
  countProblems,
  describeKind,
  isObject,
  nameProblems,
  optionProblems,
  throwProblems,
  timerProblems,
  unknownOptions,
} from '../declaration.js';
import { effectProblems } from '../tool/compile.js';
import { groupNames, type ToolGroup } from '../tool/group.js';
import type { MCPClient } from './mcp-client.js';

/** A server that is started as a process, and spoken to over its standard streams. */
export interface MCPCommand {
  readonly command: string;
  readonly args?: readonly string[];
  /** Its whole environment but for the few variables that a program needs to start: nothing of ours is handed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Headers for a caller, from what is bound in the caller's scope. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- whoever asks says what is bound there
export type MCPHeaders = (get: <T>(token: unknown) => T) => Readonly<Record<string, string>>;

/** A server that is spoken to over HTTP (the streamable transport). */
export interface MCPAddress {
  readonly url: string | URL;
  /**
   * Sent with every request to it, and to nobody else. A function makes them for each scope, and then each scope has a
   * connection of its own: no caller's credentials serve another.
   */
  readonly headers?: Readonly<Record<string, string>> | MCPHeaders;
}

/** A server: a connected client of the official SDK, of version 1 or 2; a command; an address. */
export type MCPServer = MCPClient | MCPCommand | MCPAddress;

/** What `mcpTools` takes besides the server. */
export interface MCPToolsOptions {
  /** What it is called here: the first part of each wire name, `kb` of `kb_find`. */
  readonly server: string;
  /** The only tools of it that an agent may have, by the names that the server gives them. */
  readonly tools: readonly string[];
  /** The groups of its tools. One that is not named counts as mutating. */
  readonly groups?: Readonly<Record<string, ToolGroup | readonly ToolGroup[]>>;
  /** Whether what the server says of a tool, that it only looks or may be repeated, is believed. Default: false. */
  readonly trustAnnotations?: boolean;
  /** Whether the text of a failed call is told to the model, bounded and marked as foreign. Default: false. */
  readonly trustErrors?: boolean;
  /** For one call, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
  /** For connecting and for reading the list of tools, in milliseconds. Default: 10,000. */
  readonly connectTimeoutMs?: number;
  /** Whether a run fails where the server is down; else it goes on with fewer tools. Default: true. */
  readonly required?: boolean;
  /** The hash of each tool as you have accepted it; one that is not named is accepted as it is first seen. */
  readonly pins?: Readonly<Record<string, string>>;
  /** A longer result is cut. In characters; default 20,000. */
  readonly maxResultChars?: number;
}

/** The same, checked. */
export interface ReadMCPOptions {
  readonly server: string;
  /** By the server's own name, in the order in which they were listed. */
  readonly tools: ReadonlyMap<string, AllowedTool>;
  readonly trustAnnotations: boolean;
  readonly trustErrors: boolean;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly required: boolean;
  readonly pins: ReadonlyMap<string, string>;
  readonly maxResultChars: number;
}

export interface AllowedTool {
  readonly wireName: string;
  /** None where nobody said. */
  readonly groups: readonly string[] | undefined;
}

const OPTIONS = [
  ...['server', 'tools', 'groups', 'trustAnnotations', 'trustErrors', 'timeoutMs', 'connectTimeoutMs', 'required'],
  ...['pins', 'maxResultChars'],
];

/** Throws an `AIDefinitionError` that has all that is wrong. */
export function readMCPOptions(options: MCPToolsOptions): ReadMCPOptions {
  const problems = optionProblems('mcpTools', options, OPTIONS);
  const { server, trustAnnotations = false, trustErrors = false, required = true } = options;
  const { timeoutMs = 60_000, connectTimeoutMs = 10_000, maxResultChars = 20_000 } = options;
  const isNamed = typeof (server as unknown) === 'string' && /^[A-Za-z0-9_-]{1,40}$/.test(server);
  if (!isNamed)
    problems.push(
      `mcpTools: server must be a name of letters, digits, _ and -, at most 40, server: 'kb'; found ${typeof (server as unknown) === 'string' ? `"${server.slice(0, 60)}"` : describeKind(server)}`,
    );
  const where = `mcpTools ${isNamed ? server : ''}`.trim();
  for (const [option, value] of Object.entries({ trustAnnotations, trustErrors, required }))
    if (typeof value !== 'boolean')
      problems.push(`${where}: ${option} must be true or false, found ${describeKind(value)}`);
  problems.push(
    ...timerProblems(where, 'timeoutMs', timeoutMs),
    ...timerProblems(where, 'connectTimeoutMs', connectTimeoutMs),
    ...countProblems(where, 'maxResultChars', maxResultChars),
  );
  const names = readNames(where, options.tools, problems);
  const groups = readGroups(where, options.groups, names, problems);
  const pins = readPins(where, options.pins, names, problems);
  const tools = isNamed ? allowed(where, server, names, groups, problems) : new Map<string, AllowedTool>();
  throwProblems(problems);
  return { server, tools, trustAnnotations, trustErrors, required, timeoutMs, connectTimeoutMs, maxResultChars, pins };
}

function readNames(where: string, tools: unknown, problems: string[]): readonly string[] {
  if (Array.isArray(tools) && tools.length > 0 && tools.every((name) => typeof name === 'string' && name !== ''))
    return [...new Set(tools as readonly string[])];
  problems.push(
    `${where}: tools must list the tools that an agent may have, by the server's own names, tools: ['find']; the server does not decide it. Found ${Array.isArray(tools) ? (tools.length === 0 ? 'an empty list' : 'something else than names') : describeKind(tools)}`,
  );
  return [];
}

function readGroups(
  where: string,
  groups: unknown,
  names: readonly string[],
  problems: string[],
): ReadonlyMap<string, readonly string[]> {
  const read = new Map<string, readonly string[]>();
  if (groups === undefined) return read;
  problems.push(...unknownOptions(`${where}, groups`, groups, names));
  if (!isObject(groups)) return read;
  for (const [name, group] of Object.entries(groups)) {
    const at = `${where}, groups, ${name}`;
    // A tool may bear an effect and other groups: to mix them is a question of narrowing alone.
    const list = Array.isArray(group) ? (group as unknown[]) : [group];
    const found = list.flatMap((one) => groupNames(at, one, problems));
    problems.push(...effectProblems(at, found));
    read.set(name, found);
  }
  return read;
}

function readPins(
  where: string,
  pins: unknown,
  names: readonly string[],
  problems: string[],
): ReadonlyMap<string, string> {
  if (pins === undefined) return new Map();
  problems.push(...unknownOptions(`${where}, pins`, pins, names));
  if (!isObject(pins)) return new Map();
  for (const [name, hash] of Object.entries(pins))
    if (!isHash(hash))
      problems.push(
        `${where}, pins: ${name} must be the hash of a tool, 64 digits and small letters, as the event has it`,
      );
  return new Map(Object.entries(pins as Readonly<Record<string, string>>));
}

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function allowed(
  where: string,
  server: string,
  names: readonly string[],
  groups: ReadonlyMap<string, readonly string[]>,
  problems: string[],
): ReadonlyMap<string, AllowedTool> {
  const taken = new Map<string, string>();
  const tools = new Map<string, AllowedTool>();
  for (const name of names) {
    const wireName = `${server}_${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
    problems.push(...nameProblems(`${where}, ${name}`, wireName));
    const other = taken.get(wireName);
    if (other !== undefined)
      problems.push(
        `${where}: ${other} and ${name} would both be called ${wireName}; leave one out, or make two lists of them`,
      );
    taken.set(wireName, name);
    tools.set(name, { wireName, groups: groups.get(name) });
  }
  return tools;
}
