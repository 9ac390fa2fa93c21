import { Exclude, Type } from 'class-transformer';
import { IsEmail, IsInt, IsOptional, IsString, MaxLength, Min, ValidateNested } from 'class-validator';

export enum Status {
  Open = 'OPEN',
  Closed = 'CLOSED',
}

export enum Level {
  Low,
  High,
}

export class Line {
  @IsString() sku!: string;
  @IsInt() @Min(1) quantity!: number;
}

export class NewOrder {
  @IsEmail() email!: string;
  @ValidateNested({ each: true }) @Type(() => Line) lines!: Line[];
  @IsOptional() @MaxLength(200) note?: string;
}

export class Folder {
  @IsString() name!: string;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Folder) folders?: Folder[];
}

export class Card {
  @IsString() number!: string;
}

export class Transfer {
  @IsString() iban!: string;
}

/** One of several classes, told apart by a tag. */
export class Payment {
  @ValidateNested()
  @Type(() => Object, {
    discriminator: {
      property: 'by',
      subTypes: [
        { name: 'card', value: Card },
        { name: 'transfer', value: Transfer },
      ],
    },
  })
  means!: Card | Transfer;
}

/** What a tool returns. */
export class Invoice {
  readonly amount = 120;
  readonly #draft = true;
  @Exclude() readonly iban = 'NL00 BANK 0000 0000 00';

  isDraft(): boolean {
    return this.#draft;
  }
}
