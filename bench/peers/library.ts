import type { ToolSpec } from './work.js';

/** Answers one question as one request of an application's would. */
export type Ask = (question: string) => Promise<string>;

/** Something that is measured. */
export interface Library {
  readonly name: string;
  readonly version: () => string;
  readonly wire?: 'envelope' | 'union' | 'native';
  /** What an application does once: tools, client, agent. */
  readonly prepare: (tools: readonly ToolSpec[], fetch: typeof globalThis.fetch) => Promise<Ask>;
  /** What an application installs, and what it imports, by name; ours is packed and measured by itself. */
  readonly packages: readonly string[];
  readonly imports: readonly string[];
}

/** A library's name, with its wire where it has several. */
export const titleOf = ({ name, wire }: Pick<Library, 'name' | 'wire'>): string =>
  wire === undefined ? name : `${name}, ${wire}`;

/** Nothing listens there: all goes through the fetch that is injected. */
export const BASE_URL = 'http://127.0.0.1:9/v1';
