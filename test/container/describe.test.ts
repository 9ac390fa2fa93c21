import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  AIDefinitionError,
  AIService,
  AITool,
  AIToolGroup,
  AIToolParam,
  FromScope,
  installAI,
  ReadOnly,
} from 'inversify-ai';
import { exposedTools, scriptedModel } from 'inversify-ai/testing';
import { Caller, quietLogger } from './orders.js';

const Billing = AIToolGroup('Billing');
const Audit = AIToolGroup('Audit');

interface Wording {
  readonly description?: string;
  readonly parameter?: string;
  readonly type?: 'integer' | 'string';
  readonly optional?: boolean;
}

/** An application that is declared the same each time, but for the wording that is given. */
function describedApplication({
  description = 'Opens an invoice',
  parameter = 'id',
  type = 'integer',
  optional = false,
}: Wording = {}) {
  @Billing
  @injectable()
  class InvoiceTools {
    @Audit
    @ReadOnly
    @AITool(description)
    open(
      @FromScope(Caller) _caller: Caller,
      @AIToolParam(parameter, 'Which one', { type, optional }) _id: unknown,
      @AIToolParam('status', 'In what state', { enum: ['open', 'paid'], optional: true }) _status?: string,
    ): string {
      return 'x';
    }
    @AITool('Pays an invoice')
    pay(): string {
      return 'x';
    }
  }
  @injectable()
  class Zed {
    @AI({ tools: [InvoiceTools], toolGroup: ReadOnly, maxToolCalls: 2, system: 'Be brief.' })
    readonly agent!: AIService;
  }
  @injectable()
  class Desk {
    constructor(@AI({ tools: [InvoiceTools] }) readonly agent: AIService) {}
  }
  const container = new Container();
  for (const service of [Zed, Desk, InvoiceTools]) container.bind<object>(service).toSelf();
  return installAI(container, { model: scriptedModel([]), logger: quietLogger() });
}

describe('what ai.describe() gives', () => {
  it('says what is exposed: every site, its tools, their groups, effects and parameters', () => {
    const { sites } = describedApplication().describe();
    expect(
      sites.map(({ site, toolGroup, maxToolCalls, tools }) => [
        site,
        toolGroup,
        maxToolCalls,
        tools.map(({ name }) => name),
      ]),
    ).toEqual([
      ['Desk#0', [], 5, ['InvoiceTools_open', 'InvoiceTools_pay']],
      ['Zed.agent', ['ReadOnly'], 2, ['InvoiceTools_open']],
    ]);
    expect(sites.map(({ system }) => system)).toEqual(['', 'Be brief.']);
    const { schemaHash, ...open } = sites[0]!.tools[0]!;
    expect(open).toEqual({
      name: 'InvoiceTools_open',
      declaredAt: 'InvoiceTools.open',
      effect: 'read-only',
      groups: ['Audit', 'Billing', 'ReadOnly'],
      description: 'Opens an invoice',
      parameters: {
        type: 'object',
        properties: {
          id: { type: 'integer', description: 'Which one' },
          status: { type: 'string', enum: ['open', 'paid'], description: 'In what state' },
        },
        required: ['id'],
        additionalProperties: false,
      },
      fromScope: ['Caller'],
    });
    expect(schemaHash).toMatch(/^[0-9a-f]{64}$/);
    expect(sites[0]!.tools[1]).toMatchObject({ effect: 'mutating', groups: ['Billing'], fromScope: [] });
  });

  it('is the same JSON for the same declarations, and another for any that the model reads', () => {
    const snapshot = JSON.stringify(describedApplication().describe());
    expect(JSON.stringify(describedApplication().describe())).toBe(snapshot);
    const hash = (wording?: Wording) => describedApplication(wording).describe().sites[0]!.tools[0]!.schemaHash;
    const hashes = [
      hash(),
      hash({ description: 'Opens a bill' }),
      hash({ parameter: 'number' }),
      hash({ type: 'string' }),
      hash({ optional: true }),
    ];
    expect(new Set(hashes).size).toBe(5);
    expect(hash()).toBe(hashes[0]);
  });

  it('cannot be changed by who reads it', () => {
    const { sites } = describedApplication().describe();
    const tool = sites[0]!.tools[0]!;
    for (const part of [
      sites,
      sites[0]!,
      tool,
      tool.groups,
      tool.parameters.properties,
      tool.parameters.properties['id']!,
    ])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it('has sites that are decorated later, and none of a class that nobody bound', () => {
    const ai = describedApplication();
    const before = exposedTools(ai);
    @injectable()
    class Nowhere {
      @ReadOnly
      @AITool('d')
      look(): string {
        return 'x';
      }
    }
    @injectable()
    class Unbound {
      constructor(@AI({ tools: [Nowhere] }) readonly agent: AIService) {}
    }
    expect(Unbound.name).toBe('Unbound');
    expect(exposedTools(ai)).toEqual(before);
    const container = new Container();
    const later = installAI(container, { model: scriptedModel([]), logger: quietLogger() });
    expect(exposedTools(later)).toEqual([]);
    container.bind(Nowhere).toSelf();
    container.bind('late').to(Unbound);
    expect(exposedTools(later)).toEqual(['Unbound#0: Nowhere_look [ReadOnly]']);
  });

  it('throws where a site is wrong', () => {
    @injectable()
    class Tools {
      @AITool('d')
      find(@AIToolParam('x', 'y') _x: unknown): string {
        return 'x';
      }
    }
    @injectable()
    class Desk {
      constructor(
        @AI({ tools: [Tools] }) readonly agent: AIService,
        @inject('x') readonly x: unknown,
      ) {}
    }
    const container = new Container();
    container.bind(Tools).toSelf();
    container.bind(Desk).toSelf();
    const ai = installAI(container, { model: scriptedModel([]) });
    expect(() => ai.describe()).toThrow(AIDefinitionError);
    expect(() => ai.describe()).toThrow(/@AI on Desk#0: Tools.find, parameter x/);
  });
});
