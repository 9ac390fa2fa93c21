import { describe, expect, it } from '@jest/globals';
import { IsInt } from 'class-validator';
import {
  AIDefinitionError,
  AITool,
  AIToolContext,
  AIToolParam,
  createAIService,
  FromScope,
  ReadOnly,
  type ToolCallContext,
} from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';

const refused = (declare: () => unknown, message: RegExp): void => {
  let error: unknown;
  try {
    declare();
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(AIDefinitionError);
  expect((error as Error).message).toMatch(message);
};

/** The decorators as plain functions, for places where TypeScript would not let them stand. */
const tool = AITool('what it does');
const param = AIToolParam('id', 'The id');

const scan = (instance: object): unknown => createAIService({ model: scriptedModel([]), tools: [instance] });

describe('@AITool refuses', () => {
  class Orders {
    find(id: number): number {
      return id;
    }
    get total(): number {
      return 1;
    }
    static all(): void {
      // a static
    }
  }
  const descriptor = (key: string) => Object.getOwnPropertyDescriptor(Orders.prototype, key);

  it('a blank description', () => {
    refused(() => {
      class T {
        @AITool(' ')
        find(): void {
          // nothing
        }
      }
      return T;
    }, /^@AITool on T.find: the description is blank; say in a few words what it is for, the model reads nothing else$/);
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'a static method',
      () => tool(Orders, 'all', Object.getOwnPropertyDescriptor(Orders, 'all')),
      /^@AITool on Orders.all: a static method; .* make it an instance method/,
    ],
    [
      'an accessor',
      () => tool(Orders.prototype, 'total', descriptor('total')),
      /^@AITool on Orders.total: an accessor; write a method/,
    ],
    [
      'a property that holds a function',
      () => tool(Orders.prototype, 'arrow'),
      /^@AITool on Orders.arrow: a property; write a method, not a property that holds a function/,
    ],
    [
      'a method named by a symbol',
      () => tool(Orders.prototype, Symbol('find'), descriptor('find')),
      /^@AITool on Orders.Symbol\(find\): a method named by a symbol/,
    ],
    ['a method called then', () => tool(Orders.prototype, 'then', descriptor('find')), /cannot be called then/],
    [
      'a parameter that is not decorated',
      () => tool(Orders.prototype, 'find', descriptor('find')),
      /^@AITool on Orders.find, parameter 0: not decorated; write @AIToolParam\('name', 'what it is'\)/,
    ],
  ])('%s', (_title, declare, message) => {
    refused(declare, message);
  });

  it.each<[string, object, RegExp]>([
    [
      'an unknown option',
      { description: 'd', timeout: 5 },
      /there is no option "timeout"; the options are description, name, timeoutMs/,
    ],
    [
      'a name with other characters',
      { description: 'd', name: 'find order' },
      /the wire name "find order" has characters that providers refuse/,
    ],
    ['a name that is too long', { description: 'd', name: 'a'.repeat(65) }, /has 65 characters, 64 are allowed/],
    ['the name ANSWER', { description: 'd', name: 'ANSWER' }, /the name ANSWER is taken/],
    ['an empty name', { description: 'd', name: '' }, /the tool has no name/],
    [
      'a timeout of 0',
      { description: 'd', timeoutMs: 0 },
      /timeoutMs must be a whole number from 1 to 2147483647, found 0/,
    ],
    ['a timeout that no timer takes', { description: 'd', timeoutMs: 2 ** 31 }, /timeoutMs must be a whole number/],
    [
      'a flag that is none',
      { description: 'd', idempotent: 'yes' },
      /idempotent must be true or false, found a string/,
    ],
    ['a blank notFound', { description: 'd', notFound: '' }, /notFound must be a sentence for the model/],
    ['no description', { name: 'x' }, /the description is blank/],
    ['nothing at all', undefined as never, /expected an options object, found undefined/],
  ])('%s', (_title, options, message) => {
    refused(() => {
      class T {
        @AITool(options as never)
        find(): void {
          // nothing
        }
      }
      return T;
    }, message);
  });
});

describe('@AIToolParam, @FromScope, @AIToolContext refuse', () => {
  class Token {}

  it.each<[string, () => unknown, RegExp]>([
    [
      'a constructor',
      () => param(Token, undefined, 0),
      /^@AIToolParam on parameter 0 of the constructor of Token: only parameters of tool methods take it; use @inject/,
    ],
    ['a static method', () => param(Token, 'find', 0), /a static method is no tool/],
    [
      'a method named by a symbol',
      () => param(Token.prototype, Symbol('s'), 0),
      /a method named by a symbol is no tool/,
    ],
    [
      'no name',
      () => AIToolParam(undefined as never, 'd')(Token.prototype, 'find', 0),
      /undefined is no name for a parameter; use letters, digits, _ and -, at most 64, as in @AIToolParam\('orderId', …\)/,
    ],
    [
      'a blank description',
      () => AIToolParam('id', '')(Token.prototype, 'find', 0),
      /^@AIToolParam on parameter 0 of Token.find: the description is blank; say in a few words what it is for/,
    ],
    [
      'a token that is not there yet',
      () => (FromScope(undefined as never) as typeof param)(Token.prototype, 'find', 0),
      /the token is undefined; a class that is declared later, or a circular import/,
    ],
    [
      'a selector that is none',
      () => (FromScope(Token, 'email' as never) as typeof param)(Token.prototype, 'find', 0),
      /must be a function, \(caller\) => caller.email/,
    ],
    [
      'the context in a constructor',
      () => AIToolContext()(Token, undefined, 0),
      /only parameters of tool methods take it/,
    ],
  ])('%s', (_title, declare, message) => {
    refused(declare, message);
  });

  it('two sources for one parameter', () => {
    class T {
      find(id: string): string {
        return id;
      }
    }
    const scope = FromScope(Token) as typeof param;
    scope(T.prototype, 'find', 0);
    refused(
      () => param(T.prototype, 'find', 0),
      /^@AIToolParam on parameter 0 of T.find: the parameter is decorated already; keep one of @AIToolParam, @FromScope and @AIToolContext/,
    );
  });

  it('two @AITool on one method', () => {
    refused(() => {
      class T {
        @AITool('one')
        @AITool('two')
        find(): string {
          return '';
        }
      }
      return T;
    }, /^@AITool on T.find: the method is a tool already; keep one @AITool/);
  });

  it('being called as standard decorators', () => {
    const context = { kind: 'method', name: 'find' } as never as string;
    refused(
      () => tool(Token.prototype, context),
      /^@AITool: called as a standard decorator; set "experimentalDecorators": true in tsconfig.json/,
    );
    refused(() => tool(Token, undefined as never as string), /^@AITool on Token: a class; write it on a method/);
  });

  it('one name for two parameters', () => {
    refused(() => {
      class T {
        @AITool('d')
        find(@AIToolParam('id', 'a') a: number, @AIToolParam('id', 'b') b: number): number {
          return a + b;
        }
      }
      return T;
    }, /two parameters are called id; the model could not tell them apart/);
  });
});

describe('a scanned class', () => {
  it.each<[string, () => object, RegExp]>([
    [
      'a type that the compiler does not say',
      () => {
        class T {
          @AITool('d')
          find(@AIToolParam('limit', 'l', { optional: true }) limit: number | undefined): string {
            return String(limit);
          }
        }
        return new T();
      },
      /^T.find, parameter limit: the compiler says only Object, which does not tell what the model must send; write type: 'string' \| 'number' \| 'integer' \| 'boolean' \| BigInt/,
    ],
    [
      'an array',
      () => {
        class T {
          @AITool('d')
          find(@AIToolParam('ids', 'l') ids: number[]): string {
            return String(ids);
          }
        }
        return new T();
      },
      /^T.find, parameter ids: nobody says what is in the array; write items: 'integer', items: \{ type: 'string', maxLength: 80 \}, or items: \(\) => Line$/,
    ],
    [
      'a type that the method does not take, although the declaration says so',
      () => {
        class T {
          @AITool('d')
          find(@AIToolParam('at', 'l', { type: 'string' }) at: Date): string {
            return at.toISOString();
          }
        }
        return new T();
      },
      /^T.find, parameter at: declared as string, but the method takes Date; make them agree$/,
    ],
    [
      'a type that contradicts the method',
      () => {
        class T {
          @AITool('d')
          find(@AIToolParam('id', 'l', { type: 'integer' }) id: string): string {
            return id;
          }
        }
        return new T();
      },
      /^T.find, parameter id: declared as integer, but the method takes string; make them agree/,
    ],
    [
      'an unknown option',
      () => {
        class T {
          @AITool('d')
          find(@AIToolParam('id', 'l', { require: true } as never) id: string): string {
            return id;
          }
        }
        return new T();
      },
      /^@AIToolParam on parameter 0 of T.find: there is no option "require"; the options are type, items, values, enum, optional, nullable, default, /,
    ],
    [
      'a name that becomes a prototype',
      () => {
        class T {
          @AITool('d')
          find(@AIToolParam('__proto__', 'l') id: string): string {
            return id;
          }
        }
        return new T();
      },
      /"__proto__" is no name for a parameter/,
    ],
    [
      'a class-validator decorator on a parameter',
      () => {
        class T {
          @AITool('d')
          find(@(IsInt() as unknown as ParameterDecorator) @AIToolParam('id', 'l') id: number): string {
            return String(id);
          }
        }
        return new T();
      },
      /^T.find: a class-validator decorator on a parameter checks nothing; say it in @AIToolParam, type: 'integer'/,
    ],
    [
      'decorated parameters without @AITool',
      () => {
        class T {
          find(@AIToolParam('id', 'l') id: number): string {
            return String(id);
          }
        }
        return new T();
      },
      /^T.find: has decorated parameters but no @AITool; add @AITool\('what it does'\)/,
    ],
    [
      'a name that grows too long with its class',
      () => {
        class AClassWhoseNameTakesUpMostOfTheSixtyFourOnes {
          @AITool('d')
          aMethodWithALongName(): string {
            return '';
          }
        }
        return new AClassWhoseNameTakesUpMostOfTheSixtyFourOnes();
      },
      /has 65 characters, 64 are allowed; give a shorter one, name: 'find_order'/,
    ],
    [
      'a class without a name',
      () => {
        class T {
          @AITool('d')
          find(): string {
            return '';
          }
        }
        return Object.defineProperty(new T(), 'constructor', {
          value: Object.defineProperty(T, 'name', { value: '' }),
        });
      },
      /the class has no name to call the tool by; write @AITool\(\{ name: 'find_order'/,
    ],
  ])('is refused for %s', (_title, make, message) => {
    refused(() => scan(make()), message);
  });

  it('where the compiler emits no types, says what to turn on or to write', () => {
    class T {
      find(id: number): number {
        return id;
      }
    }
    // What esbuild and tsx leave of the decorators: the calls, without a word on types.
    param(T.prototype, 'find', 0);
    tool(T.prototype, 'find', Object.getOwnPropertyDescriptor(T.prototype, 'find'));
    refused(
      () => scan(new T()),
      /^T.find, parameter id: no type is known, since the compiler emitted none \(esbuild and tsx never do; tsc and vite need "emitDecoratorMetadata": true, swc "decoratorMetadata": true\); turn that on, or write type: 'string' \| 'number'/,
    );
  });

  it('C32: with every type written it is the same without the compiler’s', async () => {
    const got: unknown[] = [];
    class T {
      find(id: number, note: string, urgent: boolean, sort: string): string {
        got.push(id, note, urgent, sort);
        return 'ok';
      }
    }
    const declare = (name: string, options: object) => AIToolParam(name, 'd', options) as typeof param;
    declare('sort', { enum: ['a', 'b'] })(T.prototype, 'find', 3);
    declare('urgent', { type: 'boolean' })(T.prototype, 'find', 2);
    declare('note', { type: String })(T.prototype, 'find', 1);
    declare('id', { type: 'integer' })(T.prototype, 'find', 0);
    tool(T.prototype, 'find', Object.getOwnPropertyDescriptor(T.prototype, 'find'));
    const model = scriptedModel([call('T_find', { id: 7, note: '7', urgent: true, sort: 'b' }), text('ok')]);
    await createAIService({ model, tools: [new T()] }).chat('q');
    expect(got).toEqual([7, '7', true, 'b']);
    expect(model.requests[0]!.body).toContain(
      'T_find(id: integer \\"d\\", note: string \\"d\\", urgent: boolean \\"d\\", sort: \\"a\\" | \\"b\\" \\"d\\")',
    );
  });

  it('gives positional values to the method: from the model, the call, and defaults where nothing came', async () => {
    const got: unknown[][] = [];
    class T {
      @AITool('d')
      find(
        @AIToolContext() context: ToolCallContext,
        @AIToolParam('limit', 'How many', { optional: true }) limit: number = 10,
        @AIToolParam('sort', 'Order', { enum: ['price', 'name'], optional: true }) sort?: 'price' | 'name',
        @AIToolParam('exact', 'Exactly', { type: Boolean, optional: true }) exact?: boolean,
      ): string {
        got.push([
          context.tool,
          context.question,
          context.metadata,
          context.turn,
          context.transcript.length,
          limit,
          sort,
          exact,
        ]);
        return '';
      }
    }
    const model = scriptedModel([
      call('T_find', { sort: 'PRICE', limit: 'null' }),
      call('T_find', { exact: true, limit: 3 }),
      text('ok'),
    ]);
    await createAIService({ model, tools: [new T()] }).chat('q', { metadata: { ticket: 'T-1' } });
    expect(got).toEqual([
      ['T_find', 'q', { ticket: 'T-1' }, 1, 2, 10, 'price', undefined],
      ['T_find', 'q', { ticket: 'T-1' }, 2, 4, 3, undefined, true],
    ]);
    expect(model.requests[0]!.body).toContain(
      '- T_find(limit?: number \\"How many\\", sort?: \\"price\\" | \\"name\\" \\"Order\\", exact?: boolean \\"Exactly\\") -> d',
    );
  });
});

describe('C08: inheritance', () => {
  class Base {
    @ReadOnly
    @AITool('Finds')
    find(@AIToolParam('id', 'The id', { type: 'integer' }) id: number): string {
      return `base ${id.toString()}`;
    }
    @AITool('Slow')
    async slow(): Promise<string> {
      return Promise.resolve('slow');
    }
    @AITool('Guarded')
    guarded(): string {
      return 'base';
    }
  }
  class Sub extends Base {
    override guarded(): string {
      return 'checked';
    }
    @AITool('Own')
    own(): string {
      return 'own';
    }
  }
  class Sibling extends Base {}

  const run = async (instance: object, ...calls: [string, Record<string, unknown>?][]) => {
    const model = scriptedModel([...calls.map(([name, args]) => call(name, args ?? {})), text('ok')]);
    const { calls: records } = await createAIService({ model, tools: [instance] }).run('q');
    return { offered: model.requests[0]!.tools, results: records.map(({ result }) => result) };
  };

  it('a class has the tools of its base, awaited, and its own overrides are called', async () => {
    const { offered, results } = await run(
      new Sub(),
      ['Sub_find', { id: 1 }],
      ['Sub_slow'],
      ['Sub_guarded'],
      ['Sub_own'],
    );
    expect(offered).toEqual(['Sub_find', 'Sub_guarded', 'Sub_own', 'Sub_slow']);
    expect(results).toEqual(['base 1', 'slow', 'checked', 'own']);
  });

  it('nothing that a subclass does changes its base or a sibling', async () => {
    expect((await run(new Base())).offered).toEqual(['Base_find', 'Base_guarded', 'Base_slow']);
    expect((await run(new Sibling())).offered).toEqual(['Sibling_find', 'Sibling_guarded', 'Sibling_slow']);
  });

  it('an override that is not decorated keeps the contract only if it takes no more parameters', () => {
    class Grown extends Base {
      override find(id: number, extra = '', more?: string): string {
        return `${id.toString()}${extra}${more ?? ''}`;
      }
    }
    class Wider extends Base {
      // @ts-expect-error -- TypeScript sees it as well; plain JavaScript would not
      override find(id: number, extra: string): string {
        return `${id.toString()}${extra}`;
      }
    }
    expect(() => scan(new Grown())).not.toThrow();
    refused(
      () => scan(new Wider()),
      /^Wider.find: takes 2 parameters, the tool Base.find that it overrides 1; decorate it anew with @AITool and @AIToolParam/,
    );
  });

  it('an override that is decorated anew has its own contract and no other', async () => {
    class Anew extends Base {
      @AITool('Finds by code')
      override find(@AIToolParam('code', 'The code') code: never): string {
        return `anew ${String(code)}`;
      }
    }
    refused(() => scan(new Anew()), /^Anew.find, parameter code/);
    class Typed extends Base {
      @AITool('Finds by code')
      override find(@AIToolParam('code', 'The code', { type: 'integer' }) code: number): string {
        return `anew ${String(code)}`;
      }
    }
    const { results } = await run(new Typed(), ['Typed_find', { code: 7 }], ['Typed_find', { id: 7 }]);
    expect(results[0]).toBe('anew 7');
    expect(results[1]).toMatch(/code: expected an integer, got nothing\nid: no such argument; the arguments are code/);
    // Its base's mark is not its own: it may do something else.
    const model = scriptedModel([]);
    expect(() => createAIService({ model, tools: [new Typed()], toolGroup: ReadOnly })).toThrow(
      /no tool is in toolGroup ReadOnly/,
    );
  });

  it('an override whose parameters alone are decorated is refused', () => {
    class Half extends Base {
      override find(@AIToolParam('id', 'The id') id: number): string {
        return id.toString();
      }
    }
    refused(() => scan(new Half()), /^Half.find: its parameters are decorated but it has no @AITool/);
  });

  it('an override that is no method is refused', () => {
    class Broken extends Base {}
    Object.defineProperty(Broken.prototype, 'find', { get: () => 1 });
    refused(() => scan(new Broken()), /^Broken.find: replaces the tool Base.find by something that is no method/);
  });
});
