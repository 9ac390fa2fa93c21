import { describe, expect, it } from '@jest/globals';
import { injectable } from 'inversify';
import { AI, AIDefinitionError, type AIOptions, AITool, createAIService } from 'inversify-ai';
import { scriptedModel } from 'inversify-ai/testing';

class Tools {
  @AITool('Finds')
  find(): string {
    return '';
  }
}

type Place = (target: object, key?: string | symbol, parameter?: number | PropertyDescriptor) => void;

const decorate = (options: unknown, ...place: Parameters<Place>): Error => {
  try {
    AI(options as AIOptions)(...place);
  } catch (error) {
    expect(error).toBeInstanceOf(AIDefinitionError);
    return error as Error;
  }
  throw new Error('it was taken');
};

const refused = (options: unknown, message: RegExp): void => {
  class Controller {}
  expect(decorate(options, Controller, undefined, 0).message).toMatch(message);
};

describe('@AI refuses', () => {
  class Controller {
    static agent: unknown;
    find(): void {
      // a method
    }
    get total(): number {
      return 1;
    }
  }
  const method = Object.getOwnPropertyDescriptor(Controller.prototype, 'find');
  const getter = Object.getOwnPropertyDescriptor(Controller.prototype, 'total');
  const options = { tools: [Tools] };

  it.each<[string, Parameters<Place>, RegExp]>([
    [
      'a static',
      [Controller, 'agent', undefined],
      /^@AI on Controller.agent: a static, which nothing injects; write it on a constructor parameter or on a property/,
    ],
    ['a method’s parameter', [Controller.prototype, 'find', 0], /^@AI on Controller.find#0: a parameter of a method/],
    ['a static method’s parameter', [Controller, 'find', 0], /a parameter of a method/],
    ['a method', [Controller.prototype, 'find', method], /^@AI on Controller.find: a method/],
    ['a getter', [Controller.prototype, 'total', getter], /^@AI on Controller.total: a getter without a setter/],
    ['a class', [Controller], /^@AI on Controller: a class/],
  ])('%s', (_title, place, message) => {
    expect(decorate(options, ...place).message).toMatch(message);
  });

  it.each<[string, unknown, RegExp]>([
    ['no options', undefined, /^@AI on Controller#0: expected an options object, found undefined/],
    [
      'no tools',
      {},
      /^@AI on Controller#0: tools is missing; list the classes that this agent may use, tools: \[OrderTools\]/,
    ],
    [
      'an empty list',
      { tools: [] },
      /^@AI on Controller#0: tools is empty; .* or use createAIService for a plain model/,
    ],
    [
      'a class in place of a list',
      { tools: Tools },
      /tools must be a list, found the function or class Tools; write tools: \[OrderTools\]/,
    ],
    [
      'undefined in the list',
      { tools: [Tools, undefined] },
      /^@AI on Controller#0, tools\[1\] is undefined: a circular import, or a class that is declared later; write tools: \(\) => \[OrderTools\]/,
    ],
    [
      'an instance',
      { tools: [new Tools()] },
      /tools\[0\] is an instance of Tools; list the class, the container makes the instance/,
    ],
    [
      'a text that is no key',
      { tools: ['find order'] },
      /tools\[0\]: "find order" is no key of the registry; write 'lookup@crm'/,
    ],
    ['a function in the list', { tools: [() => Tools] }, /tools\[0\] is a function; list classes/],
    [
      'an unknown option',
      { tools: [Tools], toolgroup: 1 },
      /there is no option "toolgroup"; the options are tools, toolGroup, system/,
    ],
    ['a count of 0', { tools: [Tools], maxToolCalls: 0 }, /maxToolCalls must be a whole number of at least 1, found 0/],
    [
      'a fraction of attempts',
      { tools: [Tools], maxAttempts: 1.5 },
      /maxAttempts must be a whole number of at least 1, found 1.5/,
    ],
    [
      'a count that is none',
      { tools: [Tools], maxToolCalls: '4' },
      /maxToolCalls must be a whole number of at least 1, found "4"/,
    ],
  ])('%s', (_title, wrong, message) => {
    refused(wrong, message);
  });

  it('several things at once, in one error', () => {
    refused({ tools: [], maxToolCalls: 0, maxAttempts: 0, toolGroup: 'ReadOnly' }, /^4 problems:/);
  });
});

it('a class that is decorated alone is exposed nowhere', () => {
  @injectable()
  class Unlisted {
    @AITool('Wipes')
    wipe(): string {
      return '';
    }
  }
  expect(new Unlisted().wipe()).toBe('');
  expect(() => createAIService({ model: scriptedModel([]) })).not.toThrow();
});
