import { inject, injectable } from 'inversify';
import { AITool, AIToolParam, FromScope, Mutating, ReadOnly } from 'inversify-ai';

/** Who is asking: bound in each scope, by the application. */
export abstract class SecurityContext {
  abstract readonly email: string;
  abstract readonly roles: readonly string[];
}

export interface Order {
  readonly id: number;
  readonly customer: string;
  readonly summary: string;
}

/** What was paid back; one for the whole application. */
@injectable()
export class Ledger {
  readonly refunds: number[] = [];
}

@injectable()
export class OrderRepository {
  readonly #orders: readonly Order[] = [
    { id: 7, customer: 'bob@example.test', summary: 'Order 7, two lamps, delivered on 2026-11-20' },
    { id: 42, customer: 'alice@example.test', summary: 'Order 42, one kettle, in transit, tracking NL1234567890' },
  ];

  find(id: number): Order | undefined {
    return this.#orders.find((order) => order.id === id);
  }

  listOf(customer: string): readonly Order[] {
    return this.#orders.filter((order) => order.customer === customer);
  }
}

export class Forbidden extends Error {}

/** The rules about orders stand here, where they hold for every way in; a tool is only one of them. */
@injectable()
export class OrderService {
  constructor(
    @inject(SecurityContext) private readonly caller: SecurityContext,
    @inject(OrderRepository) private readonly orders: OrderRepository,
    @inject(Ledger) private readonly ledger: Ledger,
  ) {}

  /** Nothing, rather than an error, for somebody else's order: it then reads like one that does not exist. */
  find(id: number): Order | undefined {
    const order = this.orders.find(id);
    return order !== undefined && (order.customer === this.caller.email || this.#isSupport()) ? order : undefined;
  }

  listOf(customer: string): readonly Order[] {
    return customer === this.caller.email || this.#isSupport() ? this.orders.listOf(customer) : [];
  }

  refund(id: number): string {
    if (!this.#isSupport()) throw new Forbidden(`${this.caller.email} may not refund order ${id.toString()}`);
    this.ledger.refunds.push(id);
    return `Order ${id.toString()} is refunded.`;
  }

  #isSupport(): boolean {
    return this.caller.roles.includes('SUPPORT');
  }
}

/** What the model may do with orders. */
@injectable()
export class OrderTools {
  constructor(@inject(OrderService) private readonly orders: OrderService) {}

  @ReadOnly
  @AITool({ description: 'Looks up a single order by id', notFound: 'No order found with that id.' })
  findOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): string | undefined {
    return this.orders.find(orderId)?.summary;
  }

  @ReadOnly
  @AITool('Lists the orders of the person who is asking')
  listMyOrders(@FromScope(SecurityContext, (caller) => caller.email) email: string): string[] {
    return this.orders.listOf(email).map(({ summary }) => summary);
  }

  @Mutating
  @AITool('Refunds an order and pays the money back to the customer')
  refundOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): string {
    return this.orders.refund(orderId);
  }
}
