import type { CallEnvironment, RunPlace } from '../lib/agent/agent.js';
import { listTools, runToolCall } from '../lib/agent/tool-call-run.js';
import { throwProblems } from '../lib/declaration.js';
import type { CompiledTool } from '../lib/tool/tool.js';
import type { McpServer, ServerSDK } from './mcp-sdk.js';
import type { RequestScope } from './request-scope.js';
import { callEnvironment, type ScopedTools } from './scoped-tools.js';

/** What is served, and what it calls itself. */
export interface Served {
  readonly name: string;
  readonly version: string;
  readonly offer: ScopedTools;
}

/** Who is asking, and for how long. */
export interface MCPCaller {
  /** Works in the scope of a request. */
  inScope<T>(work: (scope: RequestScope) => Promise<T>): Promise<T>;
  /** Ends what is at work; where there is none, the SDK says when. */
  readonly signal?: AbortSignal;
  /** The arguments of the call as they came, where they were read without losing a digit. */
  readonly sent?: Readonly<Record<string, unknown>> | undefined;
}

const METHOD = { list: 'tools/list', call: 'tools/call' } as const;

/** The protocol's end of one caller: what it lists and calls is done in that caller's scope. */
export function serverFor(sdk: ServerSDK, served: Served, caller: MCPCaller): McpServer {
  const { name, version, offer } = served;
  const mcp = new sdk.McpServer({ name, version }, { capabilities: { tools: {} } });
  // Handled below its own registry of tools, which would convert and check by rules of its own.
  const { server } = mcp;

  /** Nothing of an error reaches a client: neither its message nor its kind. */
  const answer = async <T>(method: string, asked: AbortSignal, work: (place: Place) => Promise<T>): Promise<T> => {
    const signal = caller.signal ?? asked;
    let scope: RequestScope | undefined;
    try {
      return await caller.inScope((own) => {
        scope = own;
        return own.run(() => work(placeIn(offer, own, signal)));
      });
    } catch (error) {
      const message = `[inversify-ai] ${offer.definition.site}: ${method} ended with an error, of which its client was told nothing`;
      // Who has left, or was closed, is no fault of anybody's.
      if (signal.aborted || scope?.open === false) offer.logger.warn(message, error);
      else offer.logger.error(message, error);
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, 'Internal error');
    }
  };

  server.setRequestHandler(METHOD.list, async ({ params }, { mcpReq }) => {
    // There is one page.
    if (params?.cursor !== undefined)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'There is no such page');
    const { tools } = await answer(METHOD.list, mcpReq.signal, ({ signal, place }) =>
      listTools(offer.definition, { signal }, place),
    );
    return { tools: tools.map(describe) };
  });

  server.setRequestHandler(METHOD.call, async ({ params }, { mcpReq }) => {
    const sent = caller.sent ?? params.arguments ?? {};
    const { record, seemsOk } = await answer(METHOD.call, mcpReq.signal, ({ signal, place }) =>
      runToolCall(offer.definition, { tool: params.name, sent, signal }, place),
    );
    return { content: [{ type: 'text', text: record.result }], ...(!seemsOk && { isError: true }) };
  });

  return mcp;
}

/** Where a request is answered. */
interface Place {
  readonly signal: AbortSignal;
  readonly place: RunPlace<CallEnvironment>;
}

/** Looks at the scope as an agent that is injected does, before anything is done in it. */
function placeIn(offer: ScopedTools, scope: RequestScope, signal: AbortSignal): Place {
  throwProblems(offer.unbound(offer.definition.site, offer.tools.classes, scope));
  scope.inspect(offer.tools);
  return { signal, place: { signal: scope.closing, environment: () => callEnvironment(offer, scope) } };
}

/** All that a client is told of a tool. Whether it reaches beyond this machine nobody said, so neither do we. */
function describe({ name, description, schema, effect, idempotent }: CompiledTool) {
  const isReadOnly = effect === 'read-only';
  return {
    name,
    description,
    // As it is: the SDK's own type says of JSON that it can be changed.
    inputSchema: schema as unknown as { type: 'object' },
    annotations: { readOnlyHint: isReadOnly, destructiveHint: !isReadOnly, idempotentHint: idempotent },
  };
}
