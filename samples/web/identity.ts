import { people } from '../quickstart/application.js';
import type { SecurityContext } from '../quickstart/orders.js';

/** Stands in for real authentication, and is none: whoever sends `x-user: alice` is alice. */
export async function authenticate(user: unknown): Promise<SecurityContext | undefined> {
  await Promise.resolve();
  return typeof user === 'string' && Object.hasOwn(people, user) ? people[user] : undefined;
}

/** Nobody is nobody: never a caller without a name, which a service might take for one. */
export function signedIn(caller: SecurityContext | undefined): SecurityContext {
  if (caller === undefined) throw new Error('Nobody is signed in.');
  return caller;
}
