import { Type } from 'class-transformer';
import { IsInt, ValidateNested } from 'class-validator';
import { CustomerDto } from './customer.js';
import type { Later } from './later.js';

export class OrderDto {
  @IsInt() id!: number;
  @ValidateNested() @Type(() => CustomerDto) customer!: Later<CustomerDto>;
}
