import { type AIHandle, type AILogger, AIObserver, type AIScope, type ChatModel } from 'inversify-ai';
import { as, createApplication, people, type QuickstartApplication } from './application.js';
import { NarratedModel, Narrator, type Print } from './narrator.js';
import { Ledger, type SecurityContext } from './orders.js';
import { SupportController } from './support.js';

export type AgentName = 'tier1' | 'supervisor';

/** One question: who asks, whom, and what. */
export interface Scene {
  readonly caller: string;
  readonly agent: AgentName;
  readonly question: string;
}

export const scenes: readonly Scene[] = [
  { caller: 'alice', agent: 'tier1', question: 'Where is order 42?' },
  // Not his: told what he would be told of an order that does not exist.
  { caller: 'bob', agent: 'tier1', question: 'Where is order 42?' },
  // The tool is not on offer to this agent.
  { caller: 'alice', agent: 'tier1', question: 'Please refund order 42.' },
  // It is to this one, but the service refuses her.
  { caller: 'alice', agent: 'supervisor', question: 'Please refund order 42.' },
  { caller: 'sam', agent: 'supervisor', question: 'Please refund order 42.' },
];

/** Plays scenes in one application, each as its caller, and prints what happens. */
export async function play(model: ChatModel, list: readonly Scene[], print: Print, wire = false): Promise<void> {
  const application = createApplication(new NarratedModel(model, print, wire), logToStandardError);
  for (const scene of list) await ask(application, scene, print);
  const { refunds } = application.container.get(Ledger);
  print(
    `ledger: ${refunds.length === 0 ? 'no refunds' : `refunded ${refunds.map((id) => `order ${id.toString()}`).join(', ')}`}`,
  );
}

async function ask({ ai }: QuickstartApplication, { caller, agent, question }: Scene, print: Print): Promise<void> {
  print(`== ${caller} asks ${agent}`);
  await askAs(ai, caller, print, ({ container }) => container.get(SupportController)[agent].chat(question));
}

/** Asks in a scope of that person's, and prints each call and the answer. */
export async function askAs(
  ai: AIHandle,
  caller: string,
  print: Print,
  question: (scope: AIScope) => Promise<string>,
): Promise<void> {
  await ai.runInScope(
    (container) => {
      as(people[caller] as SecurityContext)(container);
      container.bind(AIObserver).toConstantValue(new Narrator(print));
    },
    async (scope) => {
      print(`answer: ${await question(scope)}`);
    },
  );
}

// The log is for the people who run the application: it holds the real errors, so it goes another way than the scenes.
const log = (message: string, error?: unknown): void => {
  process.stderr.write(`log: ${message}: ${String(error)}\n`);
};
export const logToStandardError: AILogger = { warn: log, error: log };
