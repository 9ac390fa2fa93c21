import { jest } from '@jest/globals';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  type AIHandle,
  AIObserver,
  AIService,
  AITool,
  AIToolParam,
  ChatModel,
  FromScope,
  installAI,
  type ModelReply,
  type ModelRequest,
  ReadOnly,
} from 'inversify-ai';
import { Events } from '../events.js';

/** Who is asking. */
export abstract class Caller {
  abstract readonly id: string;
}

@injectable()
export class OrderService {
  constructor(@inject(Caller) readonly caller: Caller) {}

  find(id: number): string {
    return `order ${id.toString()} for ${this.caller.id}`;
  }
}

@injectable()
export class OrderTools {
  constructor(@inject(OrderService) private readonly orders: OrderService) {}

  @ReadOnly
  @AITool('Looks up a single order by id')
  async findOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): Promise<string> {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
    return this.orders.find(orderId);
  }

  @ReadOnly
  @AITool('Tells who is asking')
  whoAmI(@FromScope(Caller, (caller) => caller.id) id: string): string {
    return id;
  }

  @AITool('Refunds an order')
  refundOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): string {
    return `refunded ${orderId.toString()} for ${this.orders.caller.id}`;
  }
}

@injectable()
export class Desk {
  @AI({ tools: [OrderTools], toolGroup: ReadOnly }) readonly reader!: AIService;

  constructor(@AI({ tools: [OrderTools] }) readonly agent: AIService) {}
}

export const quietLogger = () => ({ warn: jest.fn(), error: jest.fn() });

export interface App {
  readonly container: Container;
  readonly ai: AIHandle;
  readonly audit: Events;
  readonly logger: ReturnType<typeof quietLogger>;
}

/** An application with everything bound transient but the caller, which nobody bound. */
export function application(model: ChatModel, prepare?: (container: Container) => void, parent?: Container): App {
  const container = new Container(parent && { parent });
  const audit = new Events();
  const logger = quietLogger();
  if (prepare === undefined) container.bind(OrderService).toSelf();
  else prepare(container);
  if (!container.isBound(OrderTools)) container.bind(OrderTools).toSelf();
  if (!container.isBound(Desk)) container.bind(Desk).toSelf();
  container.bind(AIObserver).toConstantValue(audit);
  return { container, ai: installAI(container, { model, logger }), audit, logger };
}

/** Binds a caller into a scope. */
export const as = (id: string) => (container: Container) => {
  container.bind(Caller).toConstantValue({ id });
};

/** What a promise rejects with; a failure of the test where it does not. */
export async function rejection(run: () => unknown): Promise<Error> {
  try {
    await run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

/** Calls one tool, then answers with what it was told: unlike a script, it can serve interleaved questions. */
export class OneCallModel extends ChatModel {
  readonly name = 'one-call';
  readonly profile = { schema: 'accepted', wires: ['envelope'] } as const;

  constructor(private readonly pairs: readonly { name: string; value: string }[] = [{ name: 'orderId', value: '42' }]) {
    super();
  }

  override async complete({ messages, tools }: ModelRequest): Promise<ModelReply> {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
    const last = JSON.parse(messages.at(-1)!.content.startsWith('{') ? messages.at(-1)!.content : '{}') as {
      result?: string;
    };
    const envelope =
      last.result === undefined
        ? { tool: tools[0], arguments: this.pairs, answer: '' }
        : { tool: 'ANSWER', arguments: [], answer: last.result };
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
    return { text: JSON.stringify(envelope), finish: 'stop', usage };
  }
}
