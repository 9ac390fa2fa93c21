import type { ChatModel } from 'inversify-ai';
import { askAs, logToStandardError } from '../quickstart/scenes.js';
import { NarratedModel, type Print } from '../quickstart/narrator.js';
import { createApplication, SupportDesk } from './application.js';
import { withKnowledge } from './knowledge.js';

interface Scene {
  readonly caller: string;
  readonly agent: keyof SupportDesk;
  readonly question: string;
}

export const scenes: readonly Scene[] = [
  { caller: 'alice', agent: 'tier1', question: 'Where is order 42?' },
  { caller: 'alice', agent: 'tier1', question: 'What do the articles say of a "kettle"?' },
  { caller: 'alice', agent: 'tier1', question: 'How many days does a delivery to Norway take?' },
  { caller: 'bob', agent: 'tier1', question: 'What is my phone number?' },
  // Not on offer to this agent, whatever kind of tool it is.
  { caller: 'bob', agent: 'tier1', question: 'Please update my phone number to "555 0199".' },
  { caller: 'bob', agent: 'supervisor', question: 'Please update my phone number to "555 0199".' },
  { caller: 'sam', agent: 'supervisor', question: 'Please refund order 42.' },
];

/** Plays scenes in one application, with the knowledge base in a process beside it, and prints what happens. */
export async function play(model: ChatModel, list: readonly Scene[], print: Print): Promise<void> {
  const ai = createApplication(new NarratedModel(model, print, false), logToStandardError);
  await withKnowledge(async () => {
    for (const { caller, agent, question } of list) {
      print(`== ${caller} asks ${agent}`);
      await askAs(ai, caller, print, ({ container }) => container.get(SupportDesk)[agent].chat(question));
    }
  });
}
