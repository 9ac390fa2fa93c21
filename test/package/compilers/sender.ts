import { Type } from 'class-transformer';
import { IsOptional, IsString, ValidateNested } from 'class-validator';
import { AITool, AIToolParam } from 'inversify-ai';
import { ParcelDto } from './parcel.js';
import { reached } from './reached.js';

export class SenderDto {
  @IsString() name!: string;
  @IsOptional() @ValidateNested() @Type(() => ParcelDto) last?: ParcelDto;
}

export class BareParcel {
  @AITool('Sends a parcel')
  parcel(@AIToolParam('parcel', 'The parcel') parcel: ParcelDto): void {
    reached(parcel);
  }
}

export class ExplicitParcel {
  @AITool('Sends a parcel')
  parcel(@AIToolParam('parcel', 'The parcel', { type: () => ParcelDto }) parcel: ParcelDto): void {
    reached(parcel);
  }
}
