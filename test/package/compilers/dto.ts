import { Type } from 'class-transformer';
import { IsArray, IsDate, IsEnum, IsInt, IsOptional, IsString, Min, ValidateNested } from 'class-validator';
import { Level } from './status.js';

/** Each rule says the type, too. */
export class LineDto {
  @IsInt() @Min(1) quantity!: number;
  @IsDate() @Type(() => Date) due!: Date;
  @IsEnum(Level) level!: Level;
  @IsOptional() @IsString() note?: string;
  @IsOptional() @IsArray() @IsString({ each: true }) tags?: string[];
}

/** Only the compiler says that these are no lists. */
export class TallyDto {
  @IsInt({ each: true }) counts!: Set<number>;
}
export class StockDto {
  @IsInt({ each: true }) counts!: Map<string, number>;
}
export class CartDto {
  @ValidateNested({ each: true }) @Type(() => LineDto) lines!: Set<LineDto>;
}
export class ShelfDto {
  @ValidateNested({ each: true }) @Type(() => LineDto) lines!: Map<string, LineDto>;
}
/** And only the compiler says of what these are. */
export class NoteDto {
  @IsOptional() text?: string;
}
