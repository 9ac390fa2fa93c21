import { Type } from 'class-transformer';
import { IsArray, IsOptional, IsString, ValidateNested } from 'class-validator';
import type { Later } from './later.js';
import { OrderDto } from './order.js';

export class CustomerDto {
  @IsString() name!: string;
  @IsOptional() @ValidateNested() @Type(() => OrderDto) last?: Later<OrderDto>;
  @IsOptional() @IsArray() @ValidateNested({ each: true }) @Type(() => OrderDto) orders?: OrderDto[];
}
