import { describe, expect, it } from '@jest/globals';
import { createAIService, defineTool, embeddedModel, Mutating, ReadOnly, type Tool } from 'inversify-ai';
import { toolContract } from 'inversify-ai/testing';
import { z } from 'zod';

/* The kit that says whether a tool of one's own keeps the contract. */

class Counter implements Tool {
  readonly name: string = 'count';
  readonly description = 'Counts up';
  readonly groups = [Mutating];
  readonly parameters = { by: { type: 'integer', description: 'By how much', minimum: 1 } } as const;
  sum = 0;
  execute(args: { by: number }): unknown {
    return (this.sum += args.by);
  }
}

const VALID = { valid: [{ by: 2 }, { by: '3' }], invalid: [{}, { by: 'x' }, { by: 0 }] };

describe('toolContract', () => {
  it('takes a tool that keeps it, and executes it once with each valid example', async () => {
    const counter = new Counter();
    await toolContract(counter, VALID);
    expect(counter.sum).toBe(5);
  });

  it('takes functions, schemas of another library and agents', async () => {
    const search = defineTool({
      name: 'search',
      description: 'd',
      parameters: z.object({ q: z.string() }),
      execute: () => 1,
    });
    await expect(toolContract(search, { valid: [{ q: 'a' }], invalid: [{}, { q: ['a'] }] })).resolves.toBeUndefined();
    const agent = createAIService({ model: embeddedModel(), tools: [new Counter()] });
    const helper = agent.asTool({ name: 'helper', description: 'Counts for you' });
    const examples = { valid: [{ task: 'count' }], invalid: [{}, { task: 5, by: 1 }] };
    await expect(toolContract(helper, examples)).resolves.toBeUndefined();
  });

  class Throws extends Counter {
    override execute(): unknown {
      throw new Error('the database is down');
    }
  }
  class Streams extends Counter {
    override execute(): unknown {
      return (function* () {
        yield 1;
      })();
    }
  }
  class Renames extends Counter {
    override name = 'count';
    override execute(): unknown {
      this.name = 'other';
      return 1;
    }
  }
  class Writes extends Counter {
    override execute(args: { by: number }): unknown {
      return (args.by += 1);
    }
  }

  class Spaced extends Counter {
    override name = 'count up';
  }

  it.each<[string, Tool, RegExp]>([
    ['that throws', new Throws(), /count, valid\[0\]: the call ended as failed: Error: the database is down/],
    ['whose result cannot be told', new Streams(), /valid\[0\]: the call ended as failed: .*a generator is no result/],
    ['that changes its name', new Renames(), /count: it is not what it was|other: it is not what it was/],
    ['that writes into its arguments', new Writes(), /valid\[0\]: the call ended as failed: TypeError/],
    ['that cannot be offered', new Spaced(), /has characters that providers refuse/],
  ])('refuses a tool %s', async (_title, tool, message) => {
    await expect(toolContract(tool, { valid: [{ by: 1 }] })).rejects.toThrow(message);
  });

  it('refuses examples that the declaration does not agree with', async () => {
    const loose = defineTool({
      name: 'loose',
      description: 'd',
      group: ReadOnly,
      parameters: { by: { type: 'string', description: 'd' } },
      execute: () => 1,
    });
    const refused = toolContract(loose, { valid: [{}], invalid: [{ by: '0' }] });
    await expect(refused).rejects.toThrow(/loose, valid\[0\]: its own declaration refuses them: by: expected a string/);
    await expect(refused).rejects.toThrow(
      /loose, invalid\[0\]: it was executed, and ended as ok; declare what it takes/,
    );
  });

  it.each<[string, unknown, unknown, RegExp]>([
    ['no examples', new Counter(), undefined, /toolContract: expected an options object/],
    ['none that is valid', new Counter(), { valid: [] }, /valid must list arguments that the tool takes/],
    ['a misspelt list', new Counter(), { valid: [{}], invald: [] }, /there is no option "invald"/],
    ['no tool', {}, { valid: [{}] }, /an object is no Tool/],
  ])('refuses %s', async (_title, tool, examples, message) => {
    await expect(toolContract(tool as Tool, examples as never)).rejects.toThrow(message);
  });
});
