import type { CallEnvironment } from '../lib/agent/agent.js';
import { AIMiddleware, isMiddleware } from '../lib/agent/middleware.js';
import { AIObserver, isObserver } from '../lib/agent/observer.js';
import type { OfferedTools } from '../lib/agent/tool-call-run.js';
import { describeKind, throwProblems } from '../lib/declaration.js';
import type { AILogger } from '../lib/logger.js';
import type { ModelPrices } from '../lib/run-options.js';
import type { DenialTest } from '../lib/tool/denial.js';
import { copiesOf } from '../lib/token.js';
import type { UnboundFinder } from './registry-key.js';
import type { RequestScope } from './request-scope.js';
import type { CompiledTools } from './site.js';

/** Tools of an application that are called in its scopes, whoever calls them; all of it is shared. */
export interface ScopedTools {
  readonly definition: OfferedTools;
  readonly tools: CompiledTools;
  readonly logger: AILogger;
  readonly isDenial: DenialTest;
  readonly prices: ModelPrices | undefined;
  /** The application whose scopes they may be called in. */
  readonly application: object;
  /** What to write for each of these classes that nobody bound, neither in the application nor in the scope. */
  readonly unbound: UnboundFinder;
}

/** What a call takes from the scope that it is made in: the application's observers and middleware first, then the scope's. */
export async function callEnvironment(
  { definition: { site }, logger, isDenial, prices }: ScopedTools,
  scope: RequestScope,
): Promise<CallEnvironment> {
  const observers = hasNone(scope, 'AIObserver', AIObserver) ? [] : await allOf(scope, 'AIObserver', AIObserver);
  const middleware = hasNone(scope, 'AIMiddleware', AIMiddleware)
    ? []
    : await allOf(scope, 'AIMiddleware', AIMiddleware);
  throwProblems([
    ...memberProblems(site, 'AIObserver', observers, isObserver),
    ...memberProblems(site, 'AIMiddleware', middleware, isMiddleware),
  ]);
  return {
    observers,
    middleware,
    logger,
    isDenial,
    prices,
    host: scope,
    working: (work, timeoutMs) => {
      scope.waitFor(work, timeoutMs);
    },
  };
}

function hasNone(scope: RequestScope, name: string, token: abstract new () => unknown): boolean {
  return !copiesOf(name, token).some((copy) => scope.isBound(copy));
}

/** What is bound under a class, of this copy of the package or of another: the application's first, then the scope's. */
async function allOf<T>(scope: RequestScope, name: string, token: abstract new () => T): Promise<readonly T[]> {
  const found: { readonly application: readonly T[]; readonly own: readonly T[] }[] = [];
  for (const copy of copiesOf(name, token)) found.push(await scope.all(copy));
  return [...found.flatMap(({ application }) => application), ...found.flatMap(({ own }) => own)];
}

/** A binding that gives nothing, or something else, must not look like one that is not there. */
function memberProblems(
  site: string,
  token: string,
  list: readonly unknown[],
  isOne: (value: unknown) => boolean,
): string[] {
  return list
    .filter((entry) => !isOne(entry))
    .map(
      (entry) =>
        `${site}: what is bound as ${token} is none, found ${describeKind(entry)}; bind a class that extends ${token}, and nothing where there is to be none`,
    );
}
