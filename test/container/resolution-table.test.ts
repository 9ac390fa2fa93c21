import { describe, expect, it } from '@jest/globals';
import { type BindingScope, Container, type Newable } from 'inversify';
import { AIDefinitionError, type AIError, AIScopeError, installAI } from 'inversify-ai';
import { Caller, Desk, OneCallModel, OrderService, OrderTools, quietLogger, rejection } from './orders.js';

/*
 * What an agent's caller is, whoever binds the controller, the tool class and the service below it, and however: the
 * rows of "what runs against which container", each with and without a caller of the application's own, asked warm and
 * cold, in both orders and interleaved.
 */

type Place = 'application' | 'scope';
interface Row {
  readonly service: Newable;
  readonly place: Place;
  readonly scope: BindingScope;
}

const scopes: readonly BindingScope[] = ['Transient', 'Request', 'Singleton'];
const places: readonly Place[] = ['application', 'scope'];

const bind = (container: Container, { service, scope }: Row): void => {
  const bound = container.bind(service).toSelf();
  if (scope === 'Singleton') bound.inSingletonScope();
  else if (scope === 'Request') bound.inRequestScope();
  else bound.inTransientScope();
};

const rowsOf = (service: Newable): Row[] =>
  places.flatMap((place) => scopes.map((scope) => ({ service, place, scope })));

const table = rowsOf(Desk).flatMap((desk) =>
  rowsOf(OrderTools).flatMap((tools) => rowsOf(OrderService).map((orders) => [desk, tools, orders] as const)),
);

/** Why nobody is served: a singleton of the application over a caller, what a tool would get empty, tools out of reach. */
function refusal([desk, tools, orders]: readonly [Row, Row, Row]): typeof AIError | undefined {
  const isKept = ({ place, scope }: Row): boolean => place === 'application' && scope === 'Singleton';
  // A controller that the application builds has only the tool classes that the application has.
  if (isKept(desk) && tools.place === 'scope') return AIDefinitionError;
  return orders.scope === 'Request' || isKept(tools) || isKept(orders) ? AIScopeError : undefined;
}

const titled = table.map(
  (rows) => [rows.map(({ service, place, scope }) => `${service.name} ${place}/${scope}`).join(', '), rows] as const,
);

describe.each([false, true])('with a caller of the application’s own: %s', (withRoot) => {
  const asking = (rows: readonly [Row, Row, Row]) => {
    const container = new Container();
    if (withRoot) container.bind(Caller).toConstantValue({ id: 'ROOT' });
    for (const row of rows) if (row.place === 'application') bind(container, row);
    const ai = installAI(container, { model: new OneCallModel(), logger: quietLogger() });
    return (id: string): Promise<string> =>
      ai.runInScope(
        (own) => {
          own.bind(Caller).toConstantValue({ id });
          for (const row of rows) if (row.place === 'scope') bind(own, row);
        },
        (scope) => scope.container.get(Desk).agent.chat('q'),
      );
  };
  const orders = [
    ['alice', 'bob'],
    ['bob', 'alice', 'carol'],
  ];

  it.each(titled.filter(([, rows]) => refusal(rows) === undefined))('%s: each their own', async (_title, rows) => {
    const ask = asking(rows);
    for (const ids of orders) expect(await Promise.all(ids.map(ask))).toEqual(ids.map((id) => `order 42 for ${id}`));
  });

  it.each(titled.filter(([, rows]) => refusal(rows) !== undefined))('%s: refused', async (_title, rows) => {
    const ask = asking(rows);
    for (const id of orders.flat()) expect(await rejection(() => ask(id))).toBeInstanceOf(refusal(rows));
  });
});

describe('what is asked of the context', () => {
  const SELF = Symbol('the container itself');

  /** An application that binds one thing over what each container says of itself, as scopes do. */
  function application(prepare: (container: Container) => void) {
    const container = new Container();
    container.bind(SELF).toConstantValue('application');
    prepare(container);
    const ai = installAI(container, { model: new OneCallModel(), logger: quietLogger() });
    const seen = (name: string) =>
      ai.runInScope(
        (own) => {
          own.bind(SELF).toConstantValue(name);
        },
        (scope) => scope.container.get<unknown>('asked'),
      );
    return { container, seen };
  }

  it.each<[string, (container: Container) => void]>([
    ['a transient dynamic value', (c) => void c.bind('asked').toDynamicValue((context) => context.get(SELF))],
    ['a transient resolved value', (c) => void c.bind('asked').toResolvedValue((self: unknown) => self, [SELF])],
    [
      'a redirection',
      (c) => {
        c.bind('asked').toService(SELF);
      },
    ],
  ])('%s of the application’s sees the scope', async (_title, prepare) => {
    const { container, seen } = application(prepare);
    expect([await seen('a'), await seen('b'), container.get('asked')]).toEqual(['a', 'b', 'application']);
  });

  it.each<[string, (container: Container) => void]>([
    [
      'a singleton dynamic value',
      (c) =>
        void c
          .bind('asked')
          .toDynamicValue((context) => context.get(SELF))
          .inSingletonScope(),
    ],
    [
      'a constant when it is activated',
      (c) =>
        void c
          .bind<unknown>('asked')
          .toConstantValue('x')
          .onActivation((context) => context.get(SELF)),
    ],
    [
      'a factory',
      (c) => {
        c.bind<() => unknown>('make').toFactory((context) => () => context.get(SELF));
        c.bind('asked').toDynamicValue((context) => context.get<() => unknown>('make')());
      },
    ],
  ])('%s sees what the application has, whoever asks first', async (_title, prepare) => {
    for (const first of ['scope', 'application']) {
      const { container, seen } = application(prepare);
      if (first === 'application') container.get('asked');
      expect([await seen('a'), await seen('b'), container.get('asked')]).toEqual([
        'application',
        'application',
        'application',
      ]);
    }
  });

  it.each<[string, (container: Container) => void]>([
    [
      'a singleton resolved value',
      (c) =>
        void c
          .bind('asked')
          .toResolvedValue((self: unknown) => self, [SELF])
          .inSingletonScope(),
    ],
  ])('%s over what a scope binds is refused, first or not', async (_title, prepare) => {
    for (const first of ['scope', 'application']) {
      const { container, seen } = application(prepare);
      if (first === 'application') container.get('asked');
      for (const name of ['a', 'b', 'a']) expect(await rejection(() => seen(name))).toBeInstanceOf(AIScopeError);
      expect(container.get('asked')).toBe('application');
    }
  });
});
