import { AITool, AIToolParam } from 'inversify-ai';
import { CartDto, NoteDto, ShelfDto, StockDto, TallyDto } from './dto.js';
import { reached } from './reached.js';

/* Something is said, but not all: what is in a set or a map, and not that it is one. */

export class PartlySet {
  @AITool('Takes a set')
  set(@AIToolParam('ids', 'The ids', { items: 'integer' }) ids: Set<number>): void {
    reached(ids);
  }
}

export class PartlyMap {
  @AITool('Takes a map')
  map(@AIToolParam('prices', 'The prices', { values: 'integer' }) prices: Map<string, number>): void {
    reached(prices);
  }
}

export class PartlyTally {
  @AITool('Takes a class with a set')
  tally(@AIToolParam('tally', 'The tally', { type: () => TallyDto }) tally: TallyDto): void {
    reached(tally);
  }
}

export class PartlyStock {
  @AITool('Takes a class with a map')
  stock(@AIToolParam('stock', 'The stock', { type: () => StockDto }) stock: StockDto): void {
    reached(stock);
  }
}

export class PartlyCart {
  @AITool('Takes a class with a set of another class')
  cart(@AIToolParam('cart', 'The cart', { type: () => CartDto }) cart: CartDto): void {
    reached(cart);
  }
}

export class PartlyShelf {
  @AITool('Takes a class with a map of another class')
  shelf(@AIToolParam('shelf', 'The shelf', { type: () => ShelfDto }) shelf: ShelfDto): void {
    reached(shelf);
  }
}

export class PartlyNote {
  @AITool('Takes a class with a rule that tells no type')
  note(@AIToolParam('note', 'The note', { type: () => NoteDto }) note: NoteDto): void {
    reached(note);
  }
}
