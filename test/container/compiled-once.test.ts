import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Container, injectable } from 'inversify';
import { AI, AIService, AITool, AIToolParam, installAI, ReadOnly } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';

describe('a toolset', () => {
  it('is compiled once, however many sites, scopes and questions there are', async () => {
    const counted = { schemas: 0, checks: 0 };
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'counting',
        validate: (value: unknown) => {
          counted.checks++;
          return { value: Number(value) };
        },
        jsonSchema: {
          input: () => {
            counted.schemas++;
            return { type: 'integer' };
          },
        },
      },
    } as const;

    @injectable()
    class Tools {
      @ReadOnly
      @AITool('Doubles')
      double(@AIToolParam('n', 'A number', { schema }) n: number): number {
        return 2 * n;
      }
    }
    @injectable()
    class Desk {
      constructor(
        @AI({ tools: [Tools] }) readonly agent: AIService,
        @AI({ tools: [Tools], toolGroup: ReadOnly }) readonly reader: AIService,
      ) {}
    }

    const questions = 20;
    const turns = Array.from({ length: 2 * questions }, () => [call('Tools_double', { n: 2 }), text('done')]).flat();
    const model = scriptedModel(turns);
    const container = new Container();
    container.bind(Tools).toSelf();
    container.bind(Desk).toSelf();
    const ai = installAI(container, { model });
    ai.verify();
    for (let n = 0; n < questions; n++)
      await ai.runInScope(
        () => undefined,
        async ({ container: own }) => {
          const desk = own.get(Desk);
          await desk.agent.chat('q');
          await desk.reader.chat('q');
        },
      );
    ai.describe();
    expect(counted.schemas).toBe(1);
    expect(counted.checks).toBe(2 * questions);
  });
});
