/** What a parameter may be declared as, and what a result may be. */
import 'reflect-metadata';
import { injectable } from 'inversify';
import { Type } from 'class-transformer';
import { IsEmail, IsInt, IsOptional, Min, ValidateNested } from 'class-validator';
import { z } from 'zod';
import { AITool, AIToolParam, ReadOnly } from 'inversify-ai';

export enum Status {
  Open = 'OPEN',
  Closed = 'CLOSED',
}
export enum Level {
  Low,
  High,
}

export class Line {
  @IsInt() @Min(1) quantity!: number;
}
export class NewOrder {
  @IsEmail() email!: string;
  @ValidateNested({ each: true }) @Type(() => Line) lines!: Line[];
  @IsOptional() note?: string;
}

@injectable()
export class CatalogTools {
  @ReadOnly
  @AITool({ description: 'Searches the catalog', notFound: 'Nothing found.', maxResultChars: 4_000 })
  search(
    @AIToolParam('text', 'Words to look for', { minLength: 2, maxLength: 80, pattern: '^[^<>]*$' }) text: string,
    @AIToolParam('limit', 'How many at most', { type: 'integer', minimum: 1, maximum: 50, default: 10 }) limit: number,
    @AIToolParam('status', 'Only those in this state', { enum: Status, optional: true }) status: Status | undefined,
    @AIToolParam('level', 'How deep', { enum: Level }) level: Level,
    @AIToolParam('sort', 'Order of the results', { enum: ['price', 'name'] }) sort: 'price' | 'name',
    @AIToolParam('since', 'Not older than', { type: Date, nullable: true }) since: Date | null,
    @AIToolParam('ids', 'Exactly these', { items: BigInt, maxItems: 20, optional: true }) ids: bigint[] | undefined,
    @AIToolParam('prices', 'Highest price by currency', { type: Map, values: Number, optional: true })
    prices: Map<string, number> | undefined,
    @AIToolParam('filter', 'More conditions', { schema: z.object({ colour: z.string().optional() }) })
    filter: { colour?: string | undefined },
  ): unknown[] {
    return [text, limit, status, level, sort, since, ids, prices, filter];
  }

  @AITool('Places an order')
  order(
    @AIToolParam('order', 'The order') order: NewOrder,
    @AIToolParam('gifts', 'Lines to add for free', { items: () => Line, optional: true }) gifts?: Line[],
    @AIToolParam('photo', 'A picture of it', { type: Buffer, maxBytes: 1_000_000, optional: true }) photo?: Buffer,
    @AIToolParam('extra', 'Anything else', {
      jsonSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
      optional: true,
    })
    extra?: object,
  ): NewOrder | undefined {
    return gifts === undefined && photo === undefined && extra === undefined ? order : undefined;
  }
}
