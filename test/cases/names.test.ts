import { describe, expect, it } from '@jest/globals';
import { AITool, createAIService } from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';
import { play } from './cases.js';

describe('C07: two tools, one name', () => {
  const make = (module: string) => {
    class OrderTools {
      readonly ran: string[] = [];
      @AITool(`Finds in ${module}`)
      find(): string {
        this.ran.push(module);
        return module;
      }
    }
    return new OrderTools();
  };
  class ShipTools {
    @AITool('Finds ships')
    find(): string {
      return 'ship';
    }
  }
  class Twice {
    @AITool({ description: 'One', name: 'same' })
    one(): string {
      return '1';
    }
    @AITool({ description: 'Two', name: 'same' })
    two(): string {
      return '2';
    }
  }

  it.each<[string, () => object[], RegExp]>([
    [
      'two classes of one name',
      () => [make('orders'), make('legacy')],
      /OrderTools.find and OrderTools.find both have the wire name OrderTools_find; give one another name/,
    ],
    ['two methods of one name', () => [new Twice()], /Twice.one and Twice.two both have the wire name same/],
  ])('%s in one agent are refused while it is built', (_title, tools, message) => {
    expect(() => createAIService({ model: scriptedModel([]), tools: tools() })).toThrow(message);
  });

  it('in two agents they work', async () => {
    for (const module of ['orders', 'legacy']) {
      const tools = make(module);
      expect((await play([tools], [call('OrderTools_find'), text('ok')]).ask()).run?.calls[0]!.result).toBe(module);
      expect(tools.ran).toEqual([module]);
    }
  });

  it('two classes with a method of one name work', async () => {
    const { run } = await play(
      [make('orders'), new ShipTools()],
      [call('ShipTools_find'), call('OrderTools_find'), text('ok')],
    ).ask();
    expect(run?.calls.map(({ result }) => result)).toEqual(['ship', 'orders']);
  });
});
