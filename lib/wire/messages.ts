import type { ModelMessage } from '../model/chat-model.js';
import type { WireTurn } from './wire.js';

/* How a turn is written into messages, on every wire. */

/** What is said before the question; nothing where there is nothing to say. */
export function systemMessages(...texts: readonly string[]): ModelMessage[] {
  const content = texts.filter((text) => text !== '').join('\n\n');
  return content === '' ? [] : [{ role: 'system', content }];
}

/** Two messages of a user's become one: some servers' chat templates want the roles to alternate. */
export function append(messages: ModelMessage[], next: ModelMessage): void {
  const last = messages.at(-1);
  if (last?.role !== 'user' || next.role !== 'user') messages.push(next);
  else messages[messages.length - 1] = { role: 'user', content: `${last.content}\n\n${next.content}` };
}

/** What a typed turn asks for. A server that does not enforce the schema is told it in words too. */
export function askForType(ask: string, { schema, spellOut }: NonNullable<WireTurn['answer']>): ModelMessage {
  const content = spellOut ? `${ask} It must match this JSON Schema:\n${JSON.stringify(schema)}` : ask;
  return { role: 'user', content };
}
