import { Container } from 'inversify';
import { type AIHandle, type AILogger, type ChatModel, installAI } from 'inversify-ai';
import { Ledger, OrderRepository, OrderService, OrderTools, SecurityContext } from './orders.js';
import { SupportController } from './support.js';

/** The people of the sample, and what they may do. */
export const people: Readonly<Record<string, SecurityContext>> = {
  alice: { email: 'alice@example.test', roles: [] },
  bob: { email: 'bob@example.test', roles: [] },
  sam: { email: 'sam@example.test', roles: ['SUPPORT'] },
};

export interface QuickstartApplication {
  readonly container: Container;
  readonly ai: AIHandle;
}

/** The application, wired: nothing in it knows who will ask. */
export function createApplication(model: ChatModel, logger?: AILogger): QuickstartApplication {
  const container = new Container();
  container.bind(Ledger).toSelf().inSingletonScope();
  container.bind(OrderRepository).toSelf().inSingletonScope();
  container.bind(OrderService).toSelf();
  container.bind(OrderTools).toSelf();
  container.bind(SupportController).toSelf();
  const ai = installAI(container, { model, ...(logger && { logger }) });
  ai.verify();
  return { container, ai };
}

/** Puts a person into a scope: from here on everything that is resolved in it acts as them. */
export function as(caller: SecurityContext): (container: Container) => void {
  return (container) => {
    container.bind(SecurityContext).toConstantValue(caller);
  };
}
