import { Container, injectable } from 'inversify';
import {
  AI,
  type AIHandle,
  AIService,
  type AILogger,
  type ChatModel,
  defineTool,
  installAI,
  ReadOnly,
} from 'inversify-ai';
import { Ledger, OrderRepository, OrderService, OrderTools } from '../quickstart/orders.js';
import { CustomerRepository, CustomerTools } from './customers.js';
import { knowledge } from './knowledge.js';

/** A tool that needs nothing but its arguments. */
const deliveryDays = defineTool({
  name: 'deliveryDays',
  description: 'Tells how many days a delivery takes',
  group: ReadOnly,
  parameters: { country: { type: 'string', description: 'Where to', enum: ['Norway', 'Italy', 'Japan'] } },
  execute: ({ country }) => `${country === 'Japan' ? '9' : '3'} days to ${country}`,
});

/** Keys of the registry, a class, a function, and another program's tools. */
function deskTools() {
  return ['findOrder@orders', 'refundOrder@orders', CustomerTools, deliveryDays, knowledge];
}

/** Two agents over all of them: one that can only look, and one that can do what the caller may. */
@injectable()
export class SupportDesk {
  constructor(
    @AI({ tools: deskTools, toolGroup: ReadOnly }) readonly tier1: AIService,
    @AI({ tools: deskTools }) readonly supervisor: AIService,
  ) {}
}

/** The application, wired: nothing in it knows who will ask. */
export function createApplication(model: ChatModel, logger?: AILogger): AIHandle {
  const container = new Container();
  container.bind(Ledger).toSelf().inSingletonScope();
  container.bind(OrderRepository).toSelf().inSingletonScope();
  container.bind(OrderService).toSelf();
  container.bind(OrderTools).toSelf();
  container.bind(CustomerRepository).toSelf().inSingletonScope();
  container.bind(CustomerTools).toSelf();
  container.bind(SupportDesk).toSelf();
  const ai = installAI(container, { model, ...(logger && { logger }) });
  ai.registry.scan(OrderTools, 'orders');
  ai.verify();
  return ai;
}
