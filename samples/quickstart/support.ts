import { injectable } from 'inversify';
import { AI, AIService, ReadOnly } from 'inversify-ai';
import { OrderTools } from './orders.js';

/** Two agents over the same class: one that can only look, and one that can also pay money back. */
@injectable()
export class SupportController {
  constructor(
    @AI({ tools: [OrderTools], toolGroup: ReadOnly }) readonly tier1: AIService,
    @AI({ tools: [OrderTools], maxToolCalls: 4 }) readonly supervisor: AIService,
  ) {}
}
