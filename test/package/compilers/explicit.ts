import { z } from 'zod';
import { AITool, AIToolParam } from 'inversify-ai';
import type { Filter } from './bare.js';
import { CustomerDto } from './customer.js';
import { LineDto } from './dto.js';
import { OrderDto } from './order.js';
import { reached } from './reached.js';
import { Level, Status } from './status.js';

/* The same methods, with the type said. */

export class ExplicitFind {
  @AITool('Finds an order')
  find(@AIToolParam('id', 'The order id', { type: 'integer' }) id: number): void {
    reached(id);
  }
}

export class ExplicitWhen {
  @AITool('Sets the day')
  when(@AIToolParam('d', 'The moment', { type: Date }) d: Date): void {
    reached(d);
  }
}

export class ExplicitOpt {
  @AITool('Sets the note')
  opt(@AIToolParam('x', 'The note', { type: 'string', nullable: true }) x: string | null): void {
    reached(x);
  }
}

export class ExplicitIface {
  @AITool('Filters the catalog')
  iface(
    @AIToolParam('f', 'The filter', {
      jsonSchema: {
        type: 'object',
        properties: { colour: { type: 'string' }, size: { type: 'integer' } },
        required: ['colour'],
        additionalProperties: false,
      },
    })
    f: Filter,
  ): void {
    reached(f);
  }
}

export class ExplicitArr {
  @AITool('Adds lines')
  arr(@AIToolParam('xs', 'The lines', { items: () => LineDto }) xs: LineDto[]): void {
    reached(xs);
  }
}

export class ExplicitOrder {
  @AITool('Places an order')
  order(@AIToolParam('order', 'The order', { type: () => OrderDto }) order: OrderDto): void {
    reached(order);
  }
}

export class ExplicitCustomer {
  @AITool('Adds a customer')
  customer(@AIToolParam('customer', 'The customer', { type: () => CustomerDto }) customer: CustomerDto): void {
    reached(customer);
  }
}

enum Size {
  S,
  L,
}

/** All other kinds. */
export class ExplicitKinds {
  @AITool('Takes single values')
  single(
    @AIToolParam('text', 'A text', { type: 'string' }) text: string,
    @AIToolParam('number', 'A number', { type: 'number' }) number: number,
    @AIToolParam('flag', 'A flag', { type: 'boolean' }) flag: boolean,
    @AIToolParam('digits', 'Digits', { type: BigInt }) digits: bigint,
    @AIToolParam('bytes', 'Bytes', { type: Buffer }) bytes: Buffer,
    @AIToolParam('word', 'A word', { enum: ['low', 'high'] }) word: 'low' | 'high',
    @AIToolParam('size', 'A size', { enum: Size }) size: Size,
    @AIToolParam('moment', 'A moment', { type: Date, nullable: true }) moment: Date | null,
    @AIToolParam('left', 'May be left out', { type: 'integer', optional: true }) left?: number,
    @AIToolParam('made', 'Has a default', { type: 'integer', default: 10 }) made?: number,
  ): void {
    reached(text, number, flag, digits, bytes, word, size, moment, left, made);
  }

  @AITool('Takes many values')
  many(
    @AIToolParam('list', 'A list', { type: Array, items: 'integer' }) list: readonly number[],
    @AIToolParam('dates', 'A list of moments', { items: Date }) dates: Date[],
    @AIToolParam('set', 'A set', { type: Set, items: BigInt }) set: Set<bigint>,
    @AIToolParam('map', 'A map', { type: Map, values: 'number' }) map: Map<string, number>,
    @AIToolParam('record', 'Values by name', { type: Object, values: Date }) record: Record<string, Date>,
    @AIToolParam('lines', 'Lines by name', { values: () => LineDto }) lines: Record<string, LineDto>,
    @AIToolParam('filter', 'A filter', { schema: z.strictObject({ colour: z.string() }) }) filter: Filter,
  ): void {
    reached(list, dates, set, map, record, lines, filter);
  }
}

export class ExplicitEnums {
  @AITool('Sets the state')
  state(
    @AIToolParam('status', 'The state', { enum: Status }) status: Status,
    @AIToolParam('level', 'The level', { enum: Level }) level: Level,
    @AIToolParam('only', 'The one that is left', { enum: [Status.Open], optional: true }) only?: Status.Open,
  ): void {
    reached(status, level, only);
  }
}
