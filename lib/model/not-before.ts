import type { ChatModel } from './chat-model.js';

/*
 * When a provider says "slow down" it says so to all that ask through this model, whichever run was told: otherwise a
 * hundred runs in flight would each find out by a request of their own, and each repeat it.
 */

const instants = new WeakMap<ChatModel, number>();

/** The instant, on the monotonic clock in milliseconds, before which nothing is to be sent to this model. */
export function earliest(model: ChatModel): number {
  return instants.get(model) ?? 0;
}

/** Nobody sends to this model before that instant; never shortens what was said before. */
export function postpone(model: ChatModel, instant: number): void {
  if (instant > earliest(model)) instants.set(model, instant);
}
