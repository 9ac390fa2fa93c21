import { defineTool, ReadOnly } from 'inversify-ai';
import type { MCPClient } from 'inversify-ai/mcp';

/** What is logged is looked at elsewhere. */
export const QUIET = { warn: () => undefined, error: () => undefined };

/** A tool beside those of the server. */
export const findOrder = defineTool({
  name: 'findOrder',
  description: 'Finds an order',
  group: ReadOnly,
  parameters: {},
  execute: () => 'found',
});

/** A tool as a server lists it. */
export interface FakeTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: object;
  readonly annotations?: object;
}

type Answer = (
  call: { readonly name: string; readonly arguments: object },
  options: { readonly signal: AbortSignal },
) => unknown;

/** A connected client whose server says what a test says. It has the form of version 1. */
export class FakeClient implements MCPClient {
  tools: readonly FakeTool[];
  answer: Answer;
  listed = 0;
  readonly called: { readonly name: string; readonly arguments: object }[] = [];
  /** Called before each list. */
  listing: () => unknown = () => undefined;

  constructor(tools: readonly FakeTool[], answer: Answer = ({ name }) => said(`did ${name}`)) {
    this.tools = tools;
    this.answer = answer;
  }

  async listTools(params?: unknown): Promise<unknown> {
    this.listed++;
    await this.listing();
    // Two tools a page.
    const { cursor } = (params ?? {}) as { readonly cursor?: string };
    const from = Number(cursor ?? '0');
    const page = this.tools.slice(from, from + 2).map((tool) => ({ inputSchema: { type: 'object' }, ...tool }));
    return { tools: page, ...(from + 2 < this.tools.length && { nextCursor: (from + 2).toString() }) };
  }

  async callTool(params: never, _schema?: never, options?: unknown): Promise<unknown> {
    const call = params as { readonly name: string; readonly arguments: object };
    this.called.push(call);
    await Promise.resolve();
    return this.answer(call, (options ?? { signal: new AbortController().signal }) as never);
  }
}

export const said = (text: string, more: object = {}): object => ({ content: [{ type: 'text', text }], ...more });

export const SEND: FakeTool = {
  name: 'send',
  description: 'Sends a message',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { to: { type: 'string', description: 'To whom' }, copies: { type: 'integer', default: 1 } },
    required: ['to'],
    additionalProperties: false,
  },
};
