import { describe, expect, it } from '@jest/globals';
import { Container, inject, injectable } from 'inversify';
import {
  AI,
  AIDefinitionError,
  type AIHandle,
  AIObserver,
  AIService,
  AITool,
  AIToolParam,
  AIToolSourceError,
  createAIService,
  defineTool,
  installAI,
  Mutating,
  ReadOnly,
  type RegistryChange,
  type Tool,
  type ToolCallContext,
  ToolRegistry,
  toolset,
} from 'inversify-ai';
import { call, scriptedModel, type ScriptedModel, type ScriptedTurn, text } from 'inversify-ai/testing';
import { Events } from '../events.js';
import { quietLogger, rejection } from './orders.js';

/* Tools by key: what a key leads to is decided in the container, when a run begins. */

abstract class Caller {
  abstract readonly id: string;
}

@injectable()
class WeatherTools {
  constructor(@inject(Caller) private readonly caller: Caller) {}

  @ReadOnly
  @AITool('The weather here')
  getWeather(): string {
    return `sun for ${this.caller.id}`;
  }

  @Mutating
  @AITool({ name: 'alarm', description: 'Sets an alarm' })
  setAlarm(@AIToolParam('hour', 'The hour', { type: 'integer' }) hour: number): string {
    return `alarm at ${hour.toString()}`;
  }
}

const tool = (name: string, said = `Does ${name}`): Tool =>
  defineTool({ name, description: said, parameters: {}, group: ReadOnly, execute: () => said });
const keys = (registry: ToolRegistry): readonly string[] => registry.list().map(({ key }) => key);
const thrown = (act: () => unknown): Error => {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
};

describe('a registry', () => {
  it('gives what was registered, by its key', () => {
    const registry = new ToolRegistry().register(tool('lookup'), { module: 'crm' }).register(tool('now'));
    expect(registry.list()).toEqual([
      { key: 'lookup@crm', name: 'crm_lookup', module: 'crm', description: 'Does lookup' },
      { key: 'now', name: 'now', description: 'Does now' },
    ]);
    expect(registry.get('lookup@crm')).toMatchObject({ name: 'crm_lookup', description: 'Does lookup' });
    expect(registry.get('lookup').name).toBe('crm_lookup');
    expect(registry.get('now').name).toBe('now');
    expect([registry.has('lookup'), registry.has('nope')]).toEqual([true, false]);
  });

  it('scans a class: each method by its own name, offered under the module', () => {
    const registry = new ToolRegistry().scan(WeatherTools, 'weather');
    expect(registry.list().map(({ key, name }) => `${key} ${name}`)).toEqual([
      'alarm@weather weather_alarm',
      'getWeather@weather weather_getWeather',
    ]);
    expect(keys(new ToolRegistry().register(WeatherTools))).toEqual(['WeatherTools_getWeather', 'alarm']);
  });

  it('never takes another module’s tool for one with a module', () => {
    const registry = new ToolRegistry().register(tool('lookup'), { module: 'crm' });
    const error = thrown(() => registry.get('lookup@erp'));
    expect(error).toBeInstanceOf(AIToolSourceError);
    expect(error.message).toBe('the registry key "lookup@erp" is not registered; there are lookup@crm');
    expect(error).toMatchObject({ code: 'tool-source', source: 'the registry key "lookup@erp"', keys: [] });
  });

  it('names the keys where a bare name may be several', () => {
    const registry = new ToolRegistry()
      .register(tool('lookup'), { module: 'erp' })
      .register(tool('lookup'), { module: 'crm' });
    const error = thrown(() => registry.get('lookup'));
    expect(error).toBeInstanceOf(AIToolSourceError);
    expect(error.message).toContain('may be any of lookup@crm, lookup@erp; write which');
    expect(error).toMatchObject({ keys: ['lookup@crm', 'lookup@erp'] });
    expect(registry.has('lookup')).toBe(false);
    registry.register(tool('lookup', 'Its own'));
    expect(registry.get('lookup').description).toBe('Its own');
  });

  it('replaces nothing unless it is told to, and registers all of a class or none', () => {
    const registry = new ToolRegistry().register(tool('alarm'), { module: 'weather' });
    expect(thrown(() => registry.scan(WeatherTools, 'weather')).message).toMatch(
      /the registry key alarm@weather is taken, by tool alarm; unregister it, or write \{ replace: true \}/,
    );
    expect(keys(registry)).toEqual(['alarm@weather']);
    registry.scan(WeatherTools, 'weather', { replace: true });
    expect(registry.get('alarm@weather').description).toBe('Sets an alarm');
  });

  it('takes out one tool by its whole key, or all of a module', () => {
    const registry = new ToolRegistry().scan(WeatherTools, 'weather').register(tool('lookup'), { module: 'crm' });
    expect(registry.unregister('lookup')).toBe(false);
    expect(registry.unregister('lookup@crm')).toBe(true);
    expect(registry.unregisterModule('weather')).toBe(2);
    expect(keys(registry)).toEqual([]);
  });

  it('tells of each change, and of no fault of who listens', () => {
    const registry = new ToolRegistry();
    const seen: string[] = [];
    const stop = registry.subscribe(({ change, key }: RegistryChange) => seen.push(`${change} ${key}`));
    registry.register(tool('now')).register(tool('now'), { replace: true }).unregister('now');
    stop();
    registry.register(tool('now'));
    expect(seen).toEqual(['registered now', 'replaced now', 'unregistered now']);
  });

  it('knows what it gave: a class method’s tool has no scope to be executed in by hand', async () => {
    const registry = new ToolRegistry().scan(WeatherTools, 'weather');
    const found = registry.get('alarm@weather');
    expect(found.parameters).toMatchObject({ hour: { description: 'The hour', optional: false } });
    expect(found.groups).toEqual([{ groupName: 'Mutating' }]);
    const error = await rejection(() => Promise.resolve(found.execute({ hour: 7 }, {} as ToolCallContext)));
    expect(error).toMatchObject({ code: 'scope' });
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'an instance',
      () => new ToolRegistry().register(new WeatherTools({ id: 'a' }) as never),
      /found an instance of WeatherTools; register a class/,
    ],
    ['a class without tools', () => new ToolRegistry().register(Caller), /Caller has no tools/],
    [
      'a module that is no word',
      () => new ToolRegistry().register(tool('a'), { module: 'a@b' }),
      /module must be a word .*found "a@b"/,
    ],
    ['no module to scan for', () => new ToolRegistry().scan(WeatherTools, undefined as never), /the module is missing/],
    ['something to scan that is no class', () => new ToolRegistry().scan(tool('a') as never, 'm'), /takes a class/],
    [
      'an unknown option',
      () => new ToolRegistry().register(tool('a'), { modul: 'm' } as never),
      /there is no option "modul"; the options are module, replace/,
    ],
    [
      'a name that is too long with its module',
      () => new ToolRegistry().register(tool('t'.repeat(60)), { module: 'crmcrm' }),
      /has 67 characters, 64 are allowed/,
    ],
  ])('refuses %s', (_title, act, message) => {
    expect(act).toThrow(AIDefinitionError);
    expect(act).toThrow(message);
  });
});

interface Installed {
  readonly container: Container;
  readonly ai: AIHandle;
  readonly model: ScriptedModel;
  readonly logger: ReturnType<typeof quietLogger>;
  readonly Desk: new () => { readonly agent: AIService };
}

function install(tools: readonly unknown[], turns: readonly ScriptedTurn[], own?: ToolRegistry): Installed {
  @injectable()
  class Desk {
    @AI({ tools } as never) readonly agent!: AIService;
  }
  const container = new Container();
  container.bind(Desk).toSelf();
  container.bind(WeatherTools).toSelf();
  if (own !== undefined) container.bind(ToolRegistry).toConstantValue(own);
  const model = scriptedModel(turns);
  const logger = quietLogger();
  return { container, ai: installAI(container, { model, logger }), model, logger, Desk };
}

const as = (id: string, registry?: ToolRegistry) => (container: Container) => {
  container.bind(Caller).toConstantValue({ id });
  if (registry !== undefined) container.bind(ToolRegistry).toConstantValue(registry);
};
const ask = ({ ai, Desk }: Installed, id = 'ann', registry?: ToolRegistry) =>
  ai.runInScope(as(id, registry), ({ container }) => container.get(Desk).agent.run('q'));

describe('a key in a tools list', () => {
  it('is a tool as any other, and a class’s is resolved for the caller', async () => {
    const app = install(
      ['getWeather@weather', 'now', tool('pay')],
      [call('weather_getWeather'), call('now'), text('ok')],
    );
    app.ai.registry.scan(WeatherTools, 'weather').register(tool('now'));
    app.ai.verify();
    const { calls } = await ask(app);
    expect(calls.map(({ result }) => result)).toEqual(['sun for ann', 'Does now']);
    expect(app.model.requests[0]!.tools).toEqual(['now', 'pay', 'weather_getWeather']);
    expect(app.model.requests[0]!.body).not.toContain('alarm');
  });

  it('offers nothing that is registered and not listed', async () => {
    const app = install(['now'], [call('weather_alarm', { hour: 1 }), call('alarm@weather', { hour: 1 }), text('ok')]);
    app.ai.registry.scan(WeatherTools, 'weather').register(tool('now'));
    const { calls } = await ask(app);
    expect(calls.map(({ outcome }) => outcome)).toEqual(['unknown-tool', 'unknown-tool']);
  });

  it('may be registered after the agent was injected, and leads to what is there when a run begins', async () => {
    const app = install(['now'], [text('1'), call('now'), text('2'), call('now'), text('3')]);
    await app.ai.runInScope(as('ann'), async ({ container }) => {
      const { agent } = container.get(app.Desk);
      const none = await rejection(() => agent.run('q'));
      expect(none).toBeInstanceOf(AIToolSourceError);
      expect((none as Error).message).toContain('the registry key "now" is not registered; nothing is');
      app.ai.registry.register(tool('now', 'one'));
      await agent.run('q');
      expect((await agent.run('q')).calls[0]!.result).toBe('one');
      app.ai.registry.register(tool('now', 'two'), { replace: true });
      expect((await agent.run('q')).calls[0]!.result).toBe('two');
    });
  });

  it('keeps its tool for a run that has begun', async () => {
    const app = install(['now'], [call('now'), call('now'), text('ok')]);
    const { registry } = app.ai;
    registry.register(
      defineTool({
        name: 'now',
        description: 'Leaves',
        parameters: {},
        group: ReadOnly,
        execute: () => {
          registry.unregister('now');
          return 'left';
        },
      }),
    );
    expect((await ask(app)).calls.map(({ result }) => result)).toEqual(['left', 'left']);
    expect(await rejection(() => ask(app))).toBeInstanceOf(AIToolSourceError);
  });

  it('sends nothing where it leads nowhere, and observers hear of the run', async () => {
    const app = install(['lookup'], [text('ok')]);
    app.ai.registry.register(tool('lookup'), { module: 'crm' }).register(tool('lookup'), { module: 'erp' });
    const events = new Events();
    app.container.bind(AIObserver).toConstantValue(events);
    const error = await rejection(() => ask(app));
    expect(error).toMatchObject({ code: 'tool-source', run: { calls: [], turns: 0 } });
    expect(app.model.requests).toHaveLength(0);
    expect(events.all.map(([name]) => name)).toEqual(['runStarted', 'runEnded']);
  });

  it('is looked up in the scope’s own registry where it binds one', async () => {
    const app = install(['now'], [call('now'), text('ok'), call('now'), text('ok')]);
    app.ai.registry.register(tool('now', 'of all'));
    const own = new ToolRegistry().register(tool('now', 'of this tenant'));
    expect((await ask(app, 'ann', own)).calls[0]!.result).toBe('of this tenant');
    expect((await ask(app, 'bob')).calls[0]!.result).toBe('of all');
  });

  it('is looked up in the registry that the application bound', async () => {
    const own = new ToolRegistry().register(tool('now', 'own'));
    const app = install(['now'], [call('now'), text('ok')], own);
    expect(app.ai.registry).toBe(own);
    expect((await ask(app)).calls[0]!.result).toBe('own');
  });

  it('may stand in a toolset, and two namespaces hold two classes of one name (C07)', async () => {
    const make = (said: string) => {
      @injectable()
      class OrderTools {
        @ReadOnly
        @AITool('Finds')
        find(): string {
          return said;
        }
      }
      return OrderTools;
    };
    const [orders, legacy] = [make('orders'), make('legacy')];
    const app = install(
      [toolset('find@orders').only(ReadOnly), 'find@legacy'],
      [call('legacy_find'), call('orders_find'), text('ok')],
    );
    app.container.bind(orders).toSelf();
    app.container.bind(legacy).toSelf();
    app.ai.registry.scan(orders, 'orders').scan(legacy, 'legacy');
    expect((await ask(app)).calls.map(({ result }) => result)).toEqual(['legacy', 'orders']);
  });

  it('is part of what is described', () => {
    const app = install(['getWeather@weather'], []);
    app.ai.registry.scan(WeatherTools, 'weather');
    expect(app.ai.describe().sites[0]!.tools).toMatchObject([
      { name: 'weather_getWeather', declaredAt: 'WeatherTools.getWeather', effect: 'read-only' },
    ]);
  });

  it('may be given as the tool itself: with all that was said of it, and a class’s for the caller', async () => {
    const registry = new ToolRegistry().scan(WeatherTools, 'weather');
    const twice = defineTool({
      name: 'poll',
      description: 'd',
      parameters: {},
      repeatable: true,
      notFound: 'Not yet.',
      execute: () => undefined,
    });
    registry.register(twice);
    const app = install(
      [registry.get('poll'), registry.get('getWeather@weather')],
      [call('poll'), call('poll'), call('weather_getWeather'), text('ok')],
    );
    expect((await ask(app)).calls.map(({ outcome, result }) => `${outcome} ${result}`)).toEqual([
      'ok Not yet.',
      'ok Not yet.',
      'ok sun for ann',
    ]);
  });

  it('given as the tool itself, does not keep a caller in a singleton', async () => {
    const registry = new ToolRegistry().scan(WeatherTools, 'weather');
    const app = install([registry.get('getWeather@weather')], [call('weather_getWeather'), text('ok')]);
    app.container.unbind(WeatherTools);
    app.container.bind(WeatherTools).toSelf().inSingletonScope();
    expect(await rejection(() => ask(app))).toMatchObject({ code: 'scope' });
  });

  it('outside a container has no scope to be resolved from', async () => {
    const registry = new ToolRegistry().scan(WeatherTools, 'weather');
    const model = scriptedModel([call('weather_getWeather'), text('ok')]);
    const service = createAIService({ model, tools: [registry.get('getWeather@weather')] });
    expect(await rejection(() => service.run('q'))).toMatchObject({ code: 'scope' });
  });

  it('may be given as the tool itself, which is one like any other', async () => {
    const registry = new ToolRegistry().scan(WeatherTools, 'weather').register(tool('now'));
    const model = scriptedModel([call('now'), text('ok')]);
    const run = await createAIService({ model, tools: [registry.get('now')] }).run('q');
    expect(run.calls[0]!.result).toBe('Does now');
  });
});

describe('verify()', () => {
  it('names each key that leads nowhere, and each that may be several', () => {
    const app = install(['nope', 'lookup', 'now'], []);
    app.ai.registry
      .register(tool('lookup'), { module: 'a' })
      .register(tool('lookup'), { module: 'b' })
      .register(tool('now'));
    const { problems } = thrown(() => {
      app.ai.verify();
    }) as AIDefinitionError;
    expect(problems).toEqual([
      '@AI on Desk.agent: the registry key "nope" is not registered; there are lookup@a, lookup@b, now',
      '@AI on Desk.agent: the registry key "lookup" may be any of lookup@a, lookup@b; write which',
    ]);
  });

  it('names what does not go together', () => {
    const app = install(['now', 'now@clock', tool('clock_now')], []);
    app.ai.registry.register(tool('now')).register(tool('now'), { module: 'clock' });
    expect(
      thrown(() => {
        app.ai.verify();
      }).message,
    ).toMatch(/both have the wire name clock_now/);
  });

  it('warns of a registered class that nobody bound, and the run is refused', async () => {
    const app = install(['getWeather@weather'], [text('ok')]);
    app.container.unbind(WeatherTools);
    app.ai.registry.scan(WeatherTools, 'weather');
    app.ai.verify();
    expect(app.logger.warn.mock.calls.flat().join()).toContain('the tool class WeatherTools is not bound');
    const error = await rejection(() => ask(app));
    expect(error).toMatchObject({ code: 'definition' });
    expect(app.model.requests).toHaveLength(0);
  });

  it('finds a singleton that would keep a caller below a registered class', () => {
    const app = install(['getWeather@weather'], [text('ok')]);
    app.container.unbind(WeatherTools);
    app.container.bind(WeatherTools).toSelf().inSingletonScope();
    app.ai.registry.scan(WeatherTools, 'weather');
    expect(
      thrown(() => {
        app.ai.verify();
      }).message,
    ).toMatch(/WeatherTools/);
  });
});

describe('outside a container', () => {
  it('a key is refused', () => {
    expect(() => createAIService({ model: scriptedModel([]), tools: ['now' as never] })).toThrow(
      /tools holds the text "now"; outside a container there is no registry/,
    );
  });
});
