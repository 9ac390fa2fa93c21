import { Type } from 'class-transformer';
import { IsInt, ValidateNested } from 'class-validator';
import { SenderDto } from './sender.js';

/** Imported first, so that the other file of the pair is evaluated while this class is not there yet. */
export class ParcelDto {
  @IsInt() weight!: number;
  @ValidateNested() @Type(() => SenderDto) sender!: SenderDto;
}
