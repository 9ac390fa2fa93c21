/* What every library is given to do. */

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
}

export const FEW = 4;
export const MANY = 26;
export const SYSTEM = 'You answer questions about orders.';
/** The most calls that a library must allow in one run. */
export const CAP = 30;

const VERBS = ['find', 'list', 'track', 'check'];

/** So many tools that take the same: `orderId`, an integer, and `withLines`, a boolean. */
export function toolSpecs(count: number): readonly ToolSpec[] {
  return Array.from({ length: count }, (_, i) => ({
    name: `${VERBS[i % VERBS.length] ?? ''}_order_${i}`,
    description: `Looks up a single order by its id, in the way of department ${i}`,
  }));
}

export const ORDER_ID = 'The order id';
export const WITH_LINES = 'Whether the order lines are wanted';

export interface ToolArguments {
  readonly orderId: number;
  readonly withLines: boolean;
}

let executed = 0;

/** What all tools do, whoever calls them. Each call counts. */
export function findOrder(orderId: number, withLines: boolean): string {
  if (!Number.isInteger(orderId) || typeof withLines !== 'boolean')
    throw new Error('a tool was called with arguments that nobody checked');
  executed++;
  return resultOf(orderId);
}

export const resultOf = (orderId: number): string => `Order ${orderId} is in transit`;

/** How many calls there were since this was last asked. */
export function executedCalls(): number {
  const calls = executed;
  executed = 0;
  return calls;
}

/** A question that takes so many calls, one after the other, and one more turn for the answer. */
export const questionFor = (calls: number): string => `Look up ${calls} orders, one after the other.`;

export const answerAfter = (calls: number): string => `All ${calls} orders are in transit.`;
