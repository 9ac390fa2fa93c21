import { compileTool } from '../tool/compile.js';
import { READ_ONLY } from '../tool/group.js';
import type { CompiledTool } from '../tool/tool.js';
import type { StandardSchema } from '../schema/shape.js';
import { wholeArguments } from '../schema/whole-schema.js';
import type { RemoteTool } from './mcp-client.js';
import type { AllowedTool, ReadMCPOptions } from './mcp-options.js';
import { foreign } from './remote-result.js';

/** In characters; what is more is left out, with a mark. A server does not write the prompt. */
const MAX_DESCRIPTION = 2_000;
/** In characters of JSON; a server that says more of one tool has none to offer. */
const MAX_SCHEMA = 30_000;

/** In characters of a description that is read at all: it is hashed whole, in each run. */
const MAX_READ = 100_000;

/** What of a remote tool is too much to be looked at. */
export function tooMuchOf({ description, inputSchema: declared, annotations }: RemoteTool): string | undefined {
  if (description.length > MAX_READ)
    return `its description takes ${description.length.toString()} characters, and ${MAX_READ.toString()} are read`;
  let length: number;
  try {
    length = JSON.stringify(declared).length;
    if (JSON.stringify(annotations).length > MAX_SCHEMA) return 'its annotations are too long to be read';
  } catch {
    return 'its parameters are no JSON that can be written, or are nested too deep';
  }
  return length > MAX_SCHEMA
    ? `its parameters take ${length.toString()} characters, and ${MAX_SCHEMA.toString()} are read`
    : undefined;
}

/** A remote tool for the engine, or why there can be none. */
export function compileRemote(
  remote: RemoteTool,
  { wireName, groups }: AllowedTool,
  { server, trustAnnotations, timeoutMs, maxResultChars }: ReadMCPOptions,
  prepare: CompiledTool['prepare'],
): CompiledTool | { readonly unusable: string } {
  const problems: string[] = [];
  const origin = `the MCP server ${server}, ${remote.name}`;
  const read = wholeArguments(origin, CHECKED_THERE, inputSchema(remote), problems);
  if (read === undefined) return { unusable: problems.join('; ') };
  const { readOnlyHint, idempotentHint } = trustAnnotations ? remote.annotations : {};
  const tool = compileTool(
    {
      name: wireName,
      origin,
      description: foreign(server, bounded(remote.description)),
      parameters: read.parameters,
      convert: read.convert,
      groups: groups ?? (readOnlyHint === true ? [READ_ONLY] : []),
      options: { timeoutMs, maxResultChars, ...(idempotentHint === true && { repeatable: true }) },
      prepare,
    },
    problems,
  );
  return tool ?? { unusable: problems.join('; ') };
}

/** An object of the parameters that are named. What the server would take besides, nobody can send. */
function inputSchema({ inputSchema: declared }: RemoteTool): object {
  const { properties = {} } = declared;
  return { ...declared, type: 'object', properties };
}

/** The server checks what it gets. What cannot be sent at all is refused here. */
const CHECKED_THERE: StandardSchema<object> = {
  '~standard': {
    version: 1,
    vendor: 'an MCP server',
    validate: (value) =>
      holdsBigint(value)
        ? { issues: [{ message: 'a whole number beyond 2^53 cannot be sent to this server' }] }
        : { value: value as object },
  },
};

function holdsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsBigint);
}

function bounded(description: string): string {
  if (description.trim() === '') return 'It says nothing of this tool.';
  return description.length <= MAX_DESCRIPTION ? description : `${description.slice(0, MAX_DESCRIPTION)}… (cut here)`;
}
