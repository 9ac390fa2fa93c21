import { describe, expect, it } from '@jest/globals';
import { Container, injectable, injectFromBase, type Newable } from 'inversify';
import {
  AI,
  AIDefinitionError,
  AIService,
  AITool,
  AIToolGroup,
  AIToolParam,
  ChatModel,
  createAIService,
  defineTool,
  installAI,
  Mutating,
  ReadOnly,
  type ToolGroup,
} from 'inversify-ai';
import { scriptedModel, text } from 'inversify-ai/testing';
import { quietLogger, rejection } from './orders.js';

const Billing = AIToolGroup('Billing');
const Biling = AIToolGroup('Biling');

@injectable()
class Orders {
  @ReadOnly
  @AITool('Finds')
  find(): string {
    return 'found';
  }

  @Billing
  @AITool('Refunds')
  refund(): string {
    return 'refunded';
  }
}

class Nothing {
  find(): string {
    return '';
  }
}

/** A controller with one site, made here so that each test has its own. */
function site(options: { tools: unknown; toolGroup?: unknown }): new (agent: AIService) => { agent: AIService } {
  @injectable()
  class Controller {
    constructor(@AI(options as never) readonly agent: AIService) {}
  }
  return Controller;
}

function install(...classes: Newable[]) {
  const container = new Container();
  const logger = quietLogger();
  for (const target of classes) container.bind(target).toSelf();
  return { container, logger, ai: installAI(container, { model: scriptedModel([text('ok')]), logger }) };
}

const resolve = async (options: { tools: unknown; toolGroup?: unknown }, ...classes: Newable[]) => {
  const Controller = site(options);
  const { container } = install(Controller, ...classes);
  return rejection(() => container.get(Controller));
};

describe('a site that is wrong', () => {
  it.each<[string, { tools: unknown; toolGroup?: unknown }, RegExp]>([
    [
      'a class without tools',
      { tools: [Nothing] },
      /^@AI on Controller#0: Nothing has no tools; write @AITool\('what it does'\) on the methods/,
    ],
    [
      'a group that matches nothing',
      { tools: [Orders], toolGroup: Biling },
      /^@AI on Controller#0: no tool is in toolGroup Biling; of Orders_find, Orders_refund, their groups are Billing, ReadOnly\. Mark the methods, or name another group$/,
    ],
    [
      'a class that is not bound',
      { tools: [Orders] },
      /^@AI on Controller#0: the tool class Orders is not bound; write container.bind\(Orders\).toSelf\(\)$/,
    ],
    ['a class listed twice', { tools: [Orders, Orders] }, /tools lists Orders twice; list it once/],
    ['a lazy list that is empty', { tools: () => [] }, /^@AI on Controller#0: tools is empty/],
    [
      'a lazy list with a hole',
      { tools: () => [Orders, undefined] },
      /^@AI on Controller#0, tools\[1\] is undefined, although the list is read only now: check what is imported/,
    ],
    [
      'a lazy list that is no list',
      { tools: () => Orders },
      /tools must be a list, found the function or class Orders/,
    ],
  ])('%s is refused when it is resolved', async (_title, options, message) => {
    const bound = /not bound/.test(message.source) ? [] : [Orders, Nothing];
    const error = await resolve(options, ...bound);
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(error.message).toMatch(message);
  });

  it('tells all its problems in one error', async () => {
    class Other {
      @AITool({ description: 'Finds', name: 'Orders_find' })
      other(): string {
        return '';
      }
      @AITool('Untyped')
      untyped(@AIToolParam('filter', 'Which') filter: object): string {
        return Object.keys(filter).join();
      }
    }
    const error = await resolve({ tools: [Orders, Other, Nothing] }, Orders);
    expect(error.message).toMatch(/^5 problems:\n/);
    expect(error.message).toMatch(
      /- @AI on Controller#0: Other.untyped, parameter filter: the compiler says only Object/,
    );
    expect(error.message).toMatch(/- @AI on Controller#0: Nothing has no tools/);
    expect(error.message).toMatch(/- @AI on Controller#0: the tool class Nothing is not bound/);
    expect((error as AIDefinitionError).problems).toHaveLength(5);
    expect(error.message).toMatch(
      /- @AI on Controller#0: Orders.find and Other.other both have the wire name Orders_find/,
    );
  });

  it('is one whose model is none', async () => {
    const error = await resolve({ tools: [Orders], model: 'gpt-5' } as never, Orders);
    expect(error.message).toBe(
      "@AI on Controller#0: model must be a ChatModel, as openAI({ model: '…' }) makes one; found a string",
    );
  });

  it('is one in a container where installAI was not called, and inversify says so', async () => {
    const Controller = site({ tools: [Orders] });
    const container = new Container();
    container.bind(Controller).toSelf();
    const error = await rejection(() => container.get(Controller));
    expect(error.message).toContain('@AI Controller#0, bound by installAI(container, …)');
  });

  it('cannot be widened once it is declared', async () => {
    const toolGroup = [ReadOnly];
    const tools = [Orders];
    const Controller = site({ tools, toolGroup });
    toolGroup.push(Mutating);
    tools.push(Nothing as typeof Orders);
    const { container, ai } = install(Controller, Orders);
    const model = scriptedModel([text('ok')]);
    await ai.runInScope(
      (scope) => scope.bind(ChatModel).toConstantValue(model),
      (scope) => scope.container.get(Controller).agent.chat('q'),
    );
    expect(model.requests[0]!.tools).toEqual(['Orders_find']);
    expect(container.get(Controller).agent).toBeInstanceOf(AIService);
  });

  it('names all that is unbound', async () => {
    class More {
      @AITool('More')
      more(): string {
        return '';
      }
    }
    const error = await resolve({ tools: [Orders, More] });
    expect(error.message).toMatch(/tool class Orders is not bound.*\n.*tool class More is not bound/);
  });
});

describe('a tool class that is bound', () => {
  it('in an ancestor of the application’s container, is bound', () => {
    const parent = new Container();
    parent.bind(Orders).toSelf();
    const container = new Container({ parent });
    const Controller = site({ tools: [Orders] });
    container.bind(Controller).toSelf();
    installAI(container, { model: scriptedModel([]) }).verify();
    expect(container.get(Controller).agent).toBeInstanceOf(AIService);
  });

  it('in the scope alone, passes there, and verify only warns', async () => {
    const Controller = site({ tools: [Orders] });
    const { ai, logger } = install(Controller);
    ai.verify();
    expect(logger.warn.mock.calls).toEqual([
      [
        '[inversify-ai] @AI on Controller#0: the tool class Orders is not bound; write container.bind(Orders).toSelf(). If it is bound in scopes alone, this is no mistake.',
        undefined,
      ],
    ]);
    const bind = (container: Container) => {
      container.bind(Orders).toSelf();
    };
    expect(await ai.runInScope(bind, (scope) => scope.container.get(Controller).agent.chat('q'))).toBe('ok');
  });

  it('by autobind alone, is not: exposing a class is a deliberate act', async () => {
    const container = new Container({ autobind: true });
    const Controller = site({ tools: [Orders] });
    container.bind(Controller).toSelf();
    installAI(container, { model: scriptedModel([]), logger: quietLogger() });
    const error = await rejection(() => container.get(Controller));
    expect(error.message).toMatch(/the tool class Orders is not bound/);
    expect(container.isCurrentBound(Orders)).toBe(false);
  });
});

describe('verify', () => {
  it('gathers the problems of all sites whose class is bound, and of no other', async () => {
    const One = site({ tools: [Nothing] });
    const Two = site({ tools: [Orders], toolGroup: Biling });
    site({ tools: [Nothing] });
    const { ai } = install(One, Two, Orders);
    const error = await rejection(() => {
      ai.verify();
    });
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(error.message.match(/^- /gm)).toHaveLength(2);
  });

  it('finds a class behind another identifier, a later one, and a subclass that inherits the site', async () => {
    const Bad = site({ tools: [Nothing] });
    const byToken = install(Orders);
    byToken.container.bind('controller').to(Bad);
    expect(() => {
      byToken.ai.verify();
    }).toThrow(/Nothing has no tools/);

    const late = install(Orders);
    const Late = site({ tools: [Nothing] });
    late.container.bind(Late).toSelf();
    expect(() => {
      late.ai.verify();
    }).toThrow(/Nothing has no tools/);

    @injectable()
    @injectFromBase()
    class Sub extends Bad {}
    expect(() => {
      install(Sub, Orders).ai.verify();
    }).toThrow(/Nothing has no tools/);
  });

  it('warns where no model is known', () => {
    const container = new Container();
    const logger = quietLogger();
    const Controller = site({ tools: [Orders] });
    container.bind(Controller).toSelf();
    container.bind(Orders).toSelf();
    installAI(container, { logger }).verify();
    expect(logger.warn.mock.calls[0]![0]).toMatch(
      /@AI on Controller#0: no model is known; pass one to installAI, or bind ChatModel/,
    );
  });
});

describe('groups', () => {
  class Tools {
    @ReadOnly
    @AITool('Reads')
    read(): string {
      return '';
    }
    @Billing
    @AITool('Bills')
    bill(): string {
      return '';
    }
    @Mutating
    @Billing
    @AITool('Pays')
    pay(): string {
      return '';
    }
    @ReadOnly
    @Billing
    @AITool('Shows bills')
    show(): string {
      return '';
    }
  }

  const names = async (toolGroup: ToolGroup | readonly ToolGroup[]): Promise<readonly string[]> => {
    const model = scriptedModel([text('ok')]);
    await createAIService({ model, tools: [new Tools()], toolGroup }).chat('q');
    return model.requests[0]!.tools;
  };

  it('ReadOnly takes what is marked, Mutating also what bears no mark', async () => {
    expect(await names(ReadOnly)).toEqual(['Tools_read', 'Tools_show']);
    expect(await names(Mutating)).toEqual(['Tools_bill', 'Tools_pay']);
  });

  it('a list means any of them', async () => {
    expect(await names([ReadOnly, Mutating])).toEqual(['Tools_bill', 'Tools_pay', 'Tools_read', 'Tools_show']);
    expect(await names([Biling, Billing])).toEqual(['Tools_bill', 'Tools_pay', 'Tools_show']);
  });

  it('are equal by name, across copies of the package', async () => {
    expect(await names({ groupName: 'Billing' })).toEqual(['Tools_bill', 'Tools_pay', 'Tools_show']);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'an effect with another group',
      [ReadOnly, Billing],
      /toolGroup mixes ReadOnly with Billing; a list means any of them, so mutating tools would come in/,
    ],
    [
      'a text',
      'ReadOnly',
      /toolGroup takes a group: ReadOnly, Mutating, or one that AIToolGroup\('Billing'\) made; found the text "ReadOnly"/,
    ],
    ['the maker of groups', AIToolGroup, /found the function or class AIToolGroup/],
    ['an empty list', [], /toolGroup is an empty list/],
    [
      'nothing in a list',
      [undefined],
      /toolGroup is undefined, which would narrow nothing: a misspelt name, or a circular import/,
    ],
    ['undefined, as a circular import leaves it', undefined, /toolGroup is undefined, which would narrow nothing/],
    ['null', null, /found null/],
  ])('refuses %s', async (_title, toolGroup, message) => {
    const error = await rejection(() => names(toolGroup as ToolGroup));
    expect(error).toBeInstanceOf(AIDefinitionError);
    expect(error.message).toMatch(message);
    expect(() => AI({ tools: [Tools], toolGroup: toolGroup as ToolGroup })(class X {}, undefined, 0)).toThrow(message);
  });

  it('of a class hold for the tools that it declares, and a method’s effect wins', async () => {
    @ReadOnly
    @Billing
    class Base {
      @AITool('a')
      a(): string {
        return '';
      }
      @Mutating
      @AITool('b')
      b(): string {
        return '';
      }
    }
    class Sub extends Base {
      @AITool('c')
      c(): string {
        return '';
      }
    }
    const of = async (toolGroup: ToolGroup) => {
      const model = scriptedModel([text('ok')]);
      await createAIService({ model, tools: [new Sub()], toolGroup }).chat('q');
      return model.requests[0]!.tools;
    };
    expect(await of(ReadOnly)).toEqual(['Sub_a']);
    expect(await of(Mutating)).toEqual(['Sub_b', 'Sub_c']);
    expect(await of(Billing)).toEqual(['Sub_a', 'Sub_b']);
  });

  it('refuses both effects in one place', () => {
    expect(() => {
      class Both {
        @ReadOnly
        @Mutating
        @AITool('x')
        x(): string {
          return '';
        }
      }
      return Both;
    }).toThrow('@ReadOnly on Both.x: marked Mutating as well; keep the one that is true');
    expect(() => {
      @Mutating
      @ReadOnly
      class BothClass {}
      return BothClass;
    }).toThrow('@Mutating on BothClass: marked ReadOnly as well; keep the one that is true');
  });

  it.each(['ReadOnly', 'Mutating'])('does not let an application make its own %s', (name) => {
    expect(() => AIToolGroup(name)).toThrow(/comes with the package; import .* from 'inversify-ai'/);
  });
});

describe('createAIService', () => {
  it.each<[string, object, RegExp]>([
    ['a class', { tools: [Orders] }, /tools holds the class Orders; outside a container .* pass one: new Orders\(…\)/],
    ['an object without tools', { tools: [{}] }, /Object has no tools/],
    ['no list', { tools: new Orders() }, /tools must be a list, tools: \[OrderTools\], found an instance of Orders/],
    ['an unknown option', { tool: [] }, /there is no option "tool"; the options are model, tools/],
    ['no model', { model: undefined }, /model must be a ChatModel/],
    ['a count below 1', { maxToolCalls: 1.5 }, /maxToolCalls must be a whole number of at least 1, found 1.5/],
    ['a group that is undefined', { tools: [new Orders()], toolGroup: undefined }, /toolGroup is undefined/],
    ['a group without tools', { toolGroup: ReadOnly }, /there are no tools that toolGroup could narrow/],
    [
      'an empty list',
      { tools: [] },
      /tools is empty; list what the model may call, or leave tools out for a plain model/,
    ],
    ['an object of no class', { tools: [Object.create(null)] }, /tools holds an object of no class/],
    ['a system that is no text', { system: 3 }, /system must be a text, found a number/],
    [
      'observers that are none',
      { observers: [undefined] },
      /observers\[0\] must be an instance, new AuditLog\(\); found undefined/,
    ],
    ['a logger that is none', { logger: {} }, /logger must have two functions/],
  ])('refuses %s', (_title, options, message) => {
    expect(() => createAIService({ model: scriptedModel([]), ...options })).toThrow(message);
  });

  it('offers the whole set by wire name, whatever the order of declaration', async () => {
    const model = scriptedModel([text('ok')]);
    const tool = (name: string) => defineTool({ name, description: 'd', parameters: {}, execute: () => 1 });
    await createAIService({ model, tools: [tool('b'), new Orders(), tool('Z'), tool('a')] }).chat('q');
    expect(model.requests[0]!.tools).toEqual(['Orders_find', 'Orders_refund', 'Z', 'a', 'b']);
  });
});
