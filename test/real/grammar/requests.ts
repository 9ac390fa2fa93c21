import { ChatModel, type ModelReply, type ModelRequest, type WireName } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { as, createApplication, people } from '../../../samples/quickstart/application.js';
import { SupportController } from '../../../samples/quickstart/support.js';

export const FIND = 'OrderTools_findOrder';
export const LIST = 'OrderTools_listMyOrders';
export const REFUND = 'OrderTools_refundOrder';
export const ANSWER = 'ANSWER';

export const QUESTION = 'Please refund order 42.';

/** The agents of the quickstart; a script makes all the calls that one may make, and then answers. */
const SCRIPTS = {
  tier1: [...Array.from({ length: 5 }, () => call(LIST)), text('Done.')],
  supervisor: [...Array.from({ length: 4 }, () => call(REFUND, { orderId: 42 })), text('Done.')],
};
export type AgentName = keyof typeof SCRIPTS;

/** Keeps what a script was asked. */
class Recording extends ChatModel {
  readonly name = 'recording';
  readonly profile;
  readonly requests: ModelRequest[] = [];
  readonly #script: ChatModel;

  constructor(wire: WireName, agent: AgentName) {
    super();
    this.profile = { schema: 'enforced', wires: [wire] } as const;
    this.#script = scriptedModel(SCRIPTS[agent]);
  }

  override complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply> {
    this.requests.push(request);
    return this.#script.complete(request, options);
  }
}

/** The requests of a whole run: the first has the agent's tools, the last has none. */
export async function requestsOf(
  wire: WireName,
  agent: AgentName,
): Promise<readonly [first: ModelRequest, last: ModelRequest]> {
  const model = new Recording(wire, agent);
  const nothing = (): void => undefined;
  const { ai } = createApplication(model, { warn: nothing, error: nothing });
  await ai.runInScope(as(people['alice']!), (scope) => scope.container.get(SupportController)[agent].chat(QUESTION));
  return [model.requests[0]!, model.requests.at(-1)!];
}

/** Every word that such runs say to a model. */
export async function wordsOf(wire: WireName): Promise<readonly string[]> {
  const runs = await Promise.all([requestsOf(wire, 'supervisor'), requestsOf(wire, 'tier1')]);
  const messages = runs.flatMap(([, last]) => last.messages);
  return [...new Set(messages.flatMap(({ content }) => content.match(/[A-Za-z0-9_]{2,}/g) ?? []))];
}
