import { inject, injectable } from 'inversify';
import { AITool, AIToolParam, Mutating, ReadOnly } from 'inversify-ai';
import { SecurityContext } from '../quickstart/orders.js';

/** Who is known here; one for the whole application. */
@injectable()
export class CustomerRepository {
  readonly phones = new Map([
    ['alice@example.test', '555 0100'],
    ['bob@example.test', '555 0101'],
  ]);
}

/** What the model may do with the record of the person who is asking, and with no other. */
@injectable()
export class CustomerTools {
  constructor(
    @inject(SecurityContext) private readonly caller: SecurityContext,
    @inject(CustomerRepository) private readonly customers: CustomerRepository,
  ) {}

  @ReadOnly
  @AITool({ description: 'Gets the phone number of the customer who is asking', notFound: 'No number is known.' })
  getPhone(): string | undefined {
    return this.customers.phones.get(this.caller.email);
  }

  @Mutating
  @AITool('Updates the phone number of the customer who is asking')
  updatePhone(@AIToolParam('phone', 'The new number', { pattern: '^[0-9 ]{3,20}$' }) phone: string): string {
    this.customers.phones.set(this.caller.email, phone);
    return `The number is ${phone}.`;
  }
}
