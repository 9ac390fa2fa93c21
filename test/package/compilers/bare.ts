import { AITool, AIToolParam } from 'inversify-ai';
import { CustomerDto } from './customer.js';
import { LineDto } from './dto.js';
import { OrderDto } from './order.js';
import { reached } from './reached.js';

/* One class for each method, so that each shows by itself what becomes of it: only name and description are said. */

export interface Filter {
  readonly colour: string;
  readonly size?: number;
}

export class BareFind {
  @AITool('Finds an order')
  find(@AIToolParam('id', 'The order id') id: number): void {
    reached(id);
  }
}

export class BareWhen {
  @AITool('Sets the day')
  when(@AIToolParam('d', 'The moment') d: Date): void {
    reached(d);
  }
}

export class BareOpt {
  @AITool('Sets the note')
  opt(@AIToolParam('x', 'The note') x: string | null): void {
    reached(x);
  }
}

export class BareIface {
  @AITool('Filters the catalog')
  iface(@AIToolParam('f', 'The filter') f: Filter): void {
    reached(f);
  }
}

export class BareArr {
  @AITool('Adds lines')
  arr(@AIToolParam('xs', 'The lines') xs: LineDto[]): void {
    reached(xs);
  }
}

export class BareOrder {
  @AITool('Places an order')
  order(@AIToolParam('order', 'The order') order: OrderDto): void {
    reached(order);
  }
}

export class BareCustomer {
  @AITool('Adds a customer')
  customer(@AIToolParam('customer', 'The customer') customer: CustomerDto): void {
    reached(customer);
  }
}
