/**
 * Declare, install, ask. Must compile against the packed package (tsc, NodeNext, strict,
 * experimentalDecorators, emitDecoratorMetadata). It is a contract on names and shapes, not a test of behaviour.
 * Where it is silent, DESIGN.md and the habits of the field decide.
 */
import 'reflect-metadata';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  AIError,
  AIDefinitionError,
  AIScopeError,
  AIToolIterationError,
  AIProviderError,
  AIToolError,
  AIService,
  AITool,
  AIToolContext,
  AIToolGroup,
  AIToolParam,
  FromScope,
  Mutating,
  ReadOnly,
  AIObserver,
  createAIService,
  embeddedModel,
  installAI,
  modelFromEnv,
  openAI,
  type AIHandle,
  type AIScope,
  type ChatModel,
  type ToolCallContext,
  type ToolEnded,
} from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';

// ---- declare -------------------------------------------------------------------------------------------------
abstract class SecurityContext {
  abstract readonly email: string;
  abstract readonly roles: readonly string[];
}

const Billing = AIToolGroup('Billing');

@injectable()
class OrderTools {
  constructor(@inject(SecurityContext) private readonly caller: SecurityContext) {}

  @ReadOnly
  @AITool('Looks up a single order by id')
  async findOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): Promise<string> {
    return `${this.caller.email}: ${orderId}`;
  }

  @ReadOnly
  @Billing
  @AITool({ description: 'Lists the orders of the person who is asking', name: 'my_orders', timeoutMs: 2_000 })
  listMyOrders(
    @FromScope(SecurityContext, (caller: SecurityContext) => caller.email) email: string,
    @AIToolParam('limit', 'How many at most', { type: 'integer', optional: true }) limit: number | undefined,
    @AIToolContext() context: ToolCallContext,
  ): string[] {
    context.signal.throwIfAborted();
    return [email, String(limit), context.callId, context.runId, String(context.turn)];
  }

  @Mutating
  @AITool('Refunds an order and pays the money back to the customer')
  refundOrder(@AIToolParam('orderId', 'The order id', { type: 'integer' }) orderId: number): string {
    if (!this.caller.roles.includes('SUPPORT')) throw new AIToolError('Refunds need the SUPPORT role.');
    return `refunded ${orderId}`;
  }
}

@injectable()
class SupportController {
  @AI({ tools: [OrderTools], toolGroup: Billing }) readonly reader!: AIService;

  constructor(
    @AI({ tools: [OrderTools], toolGroup: ReadOnly }) readonly tier1: AIService,
    @AI({ tools: [OrderTools], maxToolCalls: 4, maxAttempts: 3, system: 'You help customers.' })
    readonly supervisor: AIService,
  ) {}
}

@injectable()
class AuditLog extends AIObserver {
  readonly lines: string[] = [];
  override toolEnded(event: ToolEnded): void {
    this.lines.push(
      `${event.runId} ${event.callId} ${event.tool} ${event.outcome} ${event.durationMs} ${String(event.error ?? '')}`,
    );
  }
}

// ---- install, ask --------------------------------------------------------------------------------------------
export async function ask(): Promise<string> {
  // Turns are played in order, across runs; a run that finds none left is rejected with an error that says so.
  const model = scriptedModel([call('OrderTools_findOrder', { orderId: 42 }), text('In transit.'), text('Delivered.')]);
  const container = new Container();
  container.bind(OrderTools).toSelf();
  container.bind(SupportController).toSelf();
  container.bind(AIObserver).to(AuditLog).inSingletonScope();
  const ai: AIHandle = installAI(container, { model });
  ai.verify();

  const alice: SecurityContext = { email: 'alice@example.test', roles: [] };
  const answer: string = await ai.runInScope(
    (container) => {
      container.bind(SecurityContext).toConstantValue(alice);
    },
    (scope) =>
      scope.container.get(SupportController).tier1.chat('Where is order 42?', { signal: AbortSignal.timeout(5_000) }),
  );

  const open: AIScope = ai.openScope((container) => {
    container.bind(SecurityContext).toConstantValue(alice);
  });
  const again = await open.run(() => open.container.get(SupportController).supervisor.chat('And order 7?'));
  await open.close();

  const names: readonly string[] = model.requests[0]!.tools; // the wire names on offer, in order
  const body: string = model.requests[0]!.body; // everything sent, schema included, as JSON text without random ids
  return [answer, again, ...names, body].join('\n');
}

export const models: readonly ChatModel[] = [
  openAI({ model: 'gpt-5-mini', apiKey: 'k', baseURL: 'http://127.0.0.1:9/v1' }),
  embeddedModel(),
  modelFromEnv(), // for samples: a key or base URL in the environment, else the embedded stand-in, and it says which
];

export const outside: AIService = createAIService({
  model: embeddedModel(),
  tools: [new OrderTools({ email: 'x', roles: [] })],
});
export const narrowed: AIService = outside.withTools([new OrderTools({ email: 'y', roles: [] })], {
  toolGroup: ReadOnly,
});

export const errors: ReadonlyArray<abstract new (...args: never[]) => AIError> = [
  AIDefinitionError,
  AIScopeError,
  AIToolIterationError,
  AIProviderError,
  AIToolError,
];
export const codeOf = (error: AIError): string => error.code;
