import { LATE_TOOLS } from '../tool-source.js';
import type { CompiledTool } from './tool.js';

/** Something happened to tools that come from elsewhere. */
export interface SourceChange {
  /** The server’s name, as the application calls it. */
  readonly source: string;
  readonly change: 'down' | 'up' | 'tool-changed' | 'tool-missing' | 'tool-unusable';
  /** The tool, by the name that the server has for it. */
  readonly tool?: string;
  /** Of a tool that changed: what to accept it by. */
  readonly hash?: string;
  /** Of a tool that changed: what was accepted. */
  readonly acceptedHash?: string;
  /** What happened, in words; what a server wrote is quoted, and bounded. */
  readonly reason: string;
  /** The real error: for the observer, never for the model. */
  readonly error?: unknown;
}

/** The part of a run's host that tools from elsewhere may ask: a caller's scope. */
export interface CallerHost {
  /** Aborted when the scope closes. */
  readonly signal: AbortSignal;
  /** What is bound under a token, for this caller. */
  get(token: unknown): unknown;
}

export function isCallerHost(host: unknown): host is CallerHost {
  return typeof host === 'object' && host !== null && 'get' in host && 'signal' in host;
}

/** Where tools are asked for: a run that begins. */
export interface LateContext {
  /** For messages: the agent that has them. */
  readonly where: string;
  /** Of the run. */
  readonly signal: AbortSignal;
  /** Where the run is run, unread: see `CompiledTool.prepare`. */
  readonly host: unknown;
  readonly tell: (change: SourceChange) => void;
}

/** Tools that are known when a run begins, and not before: those of a server, or of a registry that is filled later. */
export interface LateTools {
  readonly [LATE_TOOLS]: true;
  /** For messages and descriptions: `the MCP server kb`. */
  readonly label: string;
  /** The wire names that it may come to have. */
  readonly names: readonly string[];
  /**
   * Those that there are now; `undefined` where they are out of reach and may be missing. The same array where nothing
   * changed. Rejects with an `AIToolSourceError` where they are out of reach and may not be missing.
   */
  find(context: LateContext): Promise<readonly CompiledTool[] | undefined>;
}

export function isLateTools(value: unknown): value is LateTools {
  return typeof value === 'object' && value !== null && LATE_TOOLS in value;
}
