import 'reflect-metadata';
import { Container, inject, injectable } from 'inversify';
import { AITool, AIToolContext, AIToolParam, installAI, ReadOnly, type ToolCallContext } from 'inversify-ai';
import { mcpServer } from 'inversify-ai/mcp';
import { scriptedModel } from 'inversify-ai/testing';

/* A server over standard streams, as a program that a client starts. Says on the standard error what its scopes do. */

abstract class Caller {
  abstract readonly id: string;
}

let aborted = 0;

@injectable()
class DeskTools {
  constructor(@inject(Caller) private readonly caller: Caller) {}

  @ReadOnly
  @AITool({ name: 'who', description: 'Says who is asking' })
  who(@AIToolParam('n', 'A number', { type: 'integer' }) n: number): string {
    return `${this.caller.id} ${n.toString()}`;
  }

  @ReadOnly
  @AITool({ name: 'wait', description: 'Waits until it is given up' })
  wait(@AIToolContext() { signal }: ToolCallContext): Promise<never> {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted++;
        reject(signal.reason as Error);
      });
    });
  }

  @ReadOnly
  @AITool({ name: 'aborted', description: 'Says how many were given up' })
  aborted(): string {
    return aborted.toString();
  }

  @AITool({ name: 'fail', description: 'Fails' })
  fail(): never {
    throw new Error('hunter2');
  }
}

const container = new Container();
container.bind(DeskTools).toSelf();
const ai = installAI(container, { model: scriptedModel([]) });
const server = mcpServer(ai, [DeskTools], { name: 'desk', version: '1.0.0', authenticate: false });
await server.stdio({
  bind: (scope) => {
    scope.bind(Caller).toConstantValue({ id: process.argv[2] ?? 'nobody' });
    scope.onDeactivation(Caller, () => {
      console.error('a scope was closed');
    });
  },
});
process.on('SIGTERM', () => {
  server.close().then(
    () => {
      console.error('the server was closed');
    },
    (error: unknown) => {
      console.error('closing failed', error);
    },
  );
});
