import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReadOnly, toolset } from 'inversify-ai';
import { mcpTools } from 'inversify-ai/mcp';

/** What the desk knows, as the server of the knowledge base keeps it: one JSON object a line. */
const ARTICLES = [
  ['Returning a kettle', 'Within 30 days, unused, in its box.'],
  ['Descaling a kettle', 'Boil one part of vinegar and two of water.'],
  ['Changing a bulb', 'Unplug the lamp first.'],
].map(([name, text]) => JSON.stringify({ type: 'entity', name, entityType: 'article', observations: [text] }));

const FILE = join(tmpdir(), `support-desk-${process.pid.toString()}.jsonl`);

/** Somebody else's server, from npm, in a process of its own. Of its nine tools an agent may have this one. */
const server = mcpTools(
  {
    command: process.execPath,
    args: [createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/dist/index.js')],
    env: { MEMORY_FILE_PATH: FILE },
  },
  { server: 'kb', tools: ['search_nodes'], groups: { search_nodes: ReadOnly } },
);

/** In the desk's words: the server's own speak of a graph and its nodes. */
export const knowledge = toolset(server)
  .rename({ kb_search_nodes: 'kb_search' })
  .describe({ kb_search: 'Searches the articles of the knowledge base', 'kb_search.query': 'One word' });

/** Works with the knowledge base. Its process starts with the first question, and ends here. */
export async function withKnowledge(work: () => Promise<void>): Promise<void> {
  await writeFile(FILE, ARTICLES.join('\n'));
  try {
    await work();
  } finally {
    await server.close();
    await rm(FILE);
  }
}
