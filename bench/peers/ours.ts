import 'reflect-metadata';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  type AIHandle,
  AIService,
  AITool,
  AIToolParam,
  installAI,
  openAI,
  ReadOnly,
  type WireName,
} from 'inversify-ai';
import { manifestIn, ROOT } from './folder.js';
import { BASE_URL, type Library } from './library.js';
import { CAP, findOrder, ORDER_ID, SYSTEM, type ToolSpec, WITH_LINES } from './work.js';

/** Who is asking: each scope has its own. */
abstract class Caller {
  abstract readonly id: string;
}

@injectable()
class OrderService {
  constructor(@inject(Caller) private readonly caller: Caller) {}

  find(orderId: number, withLines: boolean): string {
    if (this.caller.id === '') throw new Error('there is no caller');
    return findOrder(orderId, withLines);
  }
}

/** A class with two tools, as an application has them, with everything that they need from its scope. */
function classOf(first: ToolSpec, second: ToolSpec): new (orders: OrderService) => object {
  @injectable()
  class OrderTools {
    constructor(@inject(OrderService) private readonly orders: OrderService) {}

    @ReadOnly
    @AITool({ name: first.name, description: first.description })
    first(
      @AIToolParam('orderId', ORDER_ID, { type: 'integer' }) orderId: number,
      @AIToolParam('withLines', WITH_LINES) withLines: boolean,
    ): string {
      return this.orders.find(orderId, withLines);
    }

    @ReadOnly
    @AITool({ name: second.name, description: second.description })
    second(
      @AIToolParam('orderId', ORDER_ID, { type: 'integer' }) orderId: number,
      @AIToolParam('withLines', WITH_LINES) withLines: boolean,
    ): string {
      return this.orders.find(orderId, withLines);
    }
  }
  return OrderTools;
}

interface Application {
  readonly ai: AIHandle;
  readonly Controller: new (agent: AIService) => { readonly agent: AIService };
}

function application(specs: readonly ToolSpec[], wire: WireName, fetch: typeof globalThis.fetch): Application {
  const tools = specs.flatMap((first, index) => {
    const second = specs[index + 1];
    return index % 2 === 0 && second !== undefined ? [classOf(first, second)] : [];
  });

  @injectable()
  class Controller {
    constructor(@AI({ tools, system: SYSTEM, wire, maxToolCalls: CAP }) readonly agent: AIService) {}
  }
  const container = new Container();
  for (const service of [OrderService, Controller, ...tools]) container.bind<object>(service).toSelf();
  const ai = installAI(container, {
    model: openAI({ model: 'scripted', apiKey: 'none', baseURL: BASE_URL, fetch, profile: 'openai' }),
  });
  ai.verify();
  return { ai, Controller };
}

function bindCaller(container: Container): void {
  container.bind(Caller).toConstantValue({ id: 'alice' });
}

/** This library on one of its wires; each question has a scope of its own, which is opened and closed in the time. */
export function ours(wire: WireName): Library {
  return {
    name: 'inversify-ai',
    version: () => manifestIn(ROOT).version,
    wire,
    packages: [],
    imports: [],
    prepare: (specs, fetch) => {
      const { ai, Controller } = application(specs, wire, fetch);
      return Promise.resolve((question) =>
        ai.runInScope(bindCaller, ({ container }) => container.get(Controller).agent.chat(question)),
      );
    },
  };
}

/** Opens a scope with a controller in it, and what it is compared with: the same without this library. */
export function keptScopes(
  specs: readonly ToolSpec[],
): Readonly<Record<'bare child container' | 'scope with an agent', () => unknown>> {
  const { ai, Controller } = application(specs, 'native', globalThis.fetch);
  const parent = new Container();
  parent.bind(OrderService).toSelf();
  return {
    'bare child container': () => {
      const container = new Container({ parent });
      bindCaller(container);
      return [container, container.get(OrderService)];
    },
    'scope with an agent': () => {
      const scope = ai.openScope(bindCaller);
      return [scope, scope.container.get(Controller)];
    },
  };
}
