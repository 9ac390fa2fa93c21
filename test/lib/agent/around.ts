import {
  AIMiddleware,
  type ModelReply,
  type NextTool,
  type ToolInvocation,
  type ToolOutcome,
  type TurnContext,
} from 'inversify-ai';

type AroundTool = (call: ToolInvocation, next: NextTool) => Promise<ToolOutcome>;
type AroundTurn = (context: TurnContext, next: () => Promise<ModelReply>) => Promise<ModelReply>;

export class Around extends AIMiddleware {
  constructor(
    private readonly aroundTool: AroundTool = (_call, next) => next(),
    private readonly aroundTurn: AroundTurn = (_context, next) => next(),
  ) {
    super();
  }
  override tool(invocation: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
    return this.aroundTool(invocation, next);
  }
  override turn(context: TurnContext, next: () => Promise<ModelReply>): Promise<ModelReply> {
    return this.aroundTurn(context, next);
  }
}

/** A middleware around tools alone. */
export const tool = (around: AroundTool): AIMiddleware => new Around(around);

/** A middleware around turns alone. */
export const turn = (around: AroundTurn): AIMiddleware => new Around(undefined, around);
