import { Container, type ResolutionContext } from 'inversify';
import { AIDefinitionError, isErrorOf } from '../lib/errors.js';
import { SCOPE } from './current-scope.js';
import { guardScope } from './guard.js';
import { LongLived } from './long-lived.js';
import { APPLICATIONS } from './rank.js';

const CALLER = Symbol('a caller');
const KEPT = Symbol('a singleton that would keep it');
const TOP = Symbol('something whose plan fails halfway');

let isTried = false;

/**
 * Tries the guard on a capture, once in a process. The guard reads inversify's plans, which inversify does not promise
 * to leave as they are: with a version that has other plans, installing must fail, not the guard.
 */
export function tryGuard(): void {
  if (isTried) return;
  const application = new Container();
  application
    .bind(KEPT)
    .toResolvedValue((caller: object) => caller, [CALLER])
    .inSingletonScope();
  application.bind(TOP).toResolvedValue((kept: object, other: object) => [kept, other], [KEPT, Symbol('missing')]);
  const scope = new Container({ parent: application });
  guardScope(scope, {
    self: scope,
    longLived: new LongLived({
      context: () => application as unknown as ResolutionContext,
      rankOf: () => APPLICATIONS,
      isActivated: () => false,
    }),
    isAutobound: () => false,
    binds: (id) => id === CALLER,
    isOfApplication: ({ serviceIdentifier }) => serviceIdentifier !== CALLER,
    ended: () => undefined,
    changed: () => undefined,
  });
  scope.bind(CALLER).toConstantValue({});
  const below = new Container({ parent: scope });
  for (const container of [scope, below, scope]) {
    failureOf(() => container.get(TOP));
    if (
      container.get(SCOPE) !== scope ||
      !isErrorOf(
        failureOf(() => container.get(KEPT)),
        'scope',
      )
    )
      throw new AIDefinitionError(
        'installAI: this version of inversify plans otherwise than this library knows, so a singleton that would keep a caller could not be told; install one that it was made for, npm install inversify@8.2.3',
      );
  }
  isTried = true;
}

function failureOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}
