import type { Container } from 'inversify';
import { describeKind, optionProblems, throwProblems } from '../lib/declaration.js';
import { AIDefinitionError } from '../lib/errors.js';
import { consoleLogger, guarded, loggerProblems, type AILogger } from '../lib/logger.js';
import { ChatModel, isChatModel } from '../lib/model/chat-model.js';
import {
  type ModelPrices,
  priceProblems,
  retryProblems,
  type RetryOptions,
  RUN_OPTIONS,
  type RunOptions,
  runOptionProblems,
} from '../lib/run-options.js';
import { copiesOf } from '../lib/token.js';
import { denialProblems, guardedDenial } from '../lib/tool/denial.js';
import { Application } from './application.js';
import type { AIDescription } from './describe.js';
import { isRegistry } from './registry-key.js';
import type { AIScope, ScopeBinder } from './scope.js';
import { ToolRegistry } from './tool-registry.js';

/** What `installAI` takes: defaults for all sites. */
export interface InstallOptions extends RunOptions {
  /** Bound as `ChatModel`. Leave it out where the application binds one itself. */
  readonly model?: ChatModel;
  /** How a provider call is repeated. */
  readonly retry?: RetryOptions;
  /** What tokens cost: gives `usage.cost`. Default: no cost. */
  readonly prices?: ModelPrices;
  /** Where failed tools and faulty observers are reported. Default: the console. */
  readonly logger?: AILogger;
  /**
   * Whether an exception of a tool's, or of anything that it is built from, means "this is not yours". The model is then
   * told the tool's `notFound`, or its "nothing", to the byte what it is told of a thing that does not exist; the
   * observer gets the real error. Default: no exception does.
   */
  readonly isDenial?: (error: unknown) => boolean;
}

/** The application's end of the library. */
export interface AIHandle {
  /**
   * Checks the sites of all classes bound in the container: call it at start-up. Throws one `AIDefinitionError` with
   * every problem: what is declared wrong, a singleton that would keep a caller, a subclass that loses its base's agent.
   * Warns of what only a scope can make right: a tool class that is not bound, something bound once for each lookup.
   */
  verify(): void;
  /**
   * What the sites of all bound classes expose to models, as plain data to review and to keep as a snapshot; the same
   * declarations give the same JSON. Throws an `AIDefinitionError` with every problem, as `verify` does.
   */
  describe(): AIDescription;
  /** Opens a scope; `bind` puts the caller and all that is this request's own into its container. Close it. */
  openScope<R>(bind: ScopeBinder<R>): AIScope;
  /** Opens a scope, runs `fn` in it and closes it, whatever happened. */
  runInScope<R, T>(bind: ScopeBinder<R>, fn: (scope: AIScope) => T | PromiseLike<T>): Promise<T>;
  /**
   * The scope whose `run` this code is in, for code that is handed none: a route behind `aiScope`. Throws an
   * `AIScopeError` where there is none, where it has ended, and where it is another application's.
   */
  currentScope(): AIScope;
  /** The tools that `tools` lists name as texts: the application's own `ToolRegistry` where it bound one, else a new one. */
  readonly registry: ToolRegistry;
}

const applications = new WeakMap<object, Application>();

/** The application behind a handle. Throws an `AIDefinitionError` for what is none. */
export function applicationOf(where: string, ai: unknown): Application {
  const application = typeof ai === 'object' && ai !== null ? applications.get(ai) : undefined;
  if (application !== undefined) return application;
  throw new AIDefinitionError(
    `${where}: the first argument must be what installAI of this copy of the package returned; found ${describeKind(ai)}`,
  );
}

const OPTIONS = ['model', ...RUN_OPTIONS, 'retry', 'prices', 'logger', 'isDenial'];
const INSTALLED = Symbol.for('inversify-ai/installed');

/**
 * Makes `@AI` work in a container: binds an agent for every site, those decorated later included. Call it once, on the
 * application's container, before requests are served.
 * Throws an `AIDefinitionError` for unknown options, or where it was done already.
 */
export function installAI(container: Container, options: InstallOptions): AIHandle {
  if (typeof (container as Partial<Container> | undefined)?.isCurrentBound !== 'function')
    throw new AIDefinitionError(
      `installAI: the first argument must be inversify's container, installAI(container, { model }); found ${describeKind(container)}`,
    );
  const problems = [
    ...optionProblems('installAI', options, OPTIONS).map(boundInstead),
    ...runOptionProblems('installAI', options),
    ...retryProblems('installAI', options.retry),
    ...priceProblems('installAI', options.prices),
    ...loggerProblems('installAI', options.logger),
    ...denialProblems('installAI', options.isDenial),
  ];
  if (options.model !== undefined && !isChatModel(options.model))
    problems.push(
      `installAI: model must be a ChatModel, as openAI({ model: '…' }) makes one; found ${describeKind(options.model)}`,
    );
  if (container.isCurrentBound(INSTALLED))
    problems.push('installAI: done already on this container; keep the handle of the first call');
  else if (
    options.model !== undefined &&
    copiesOf('ChatModel', ChatModel).some((token) => container.isCurrentBound(token))
  )
    problems.push(
      'installAI: ChatModel is bound in this container already; leave out the option model, or the binding',
    );
  throwProblems(problems);
  container.bind(INSTALLED).toConstantValue(true);
  if (options.model !== undefined) container.bind(ChatModel).toConstantValue(options.model);
  const logger = guarded(options.logger ?? consoleLogger);
  const application = new Application(
    container,
    {
      ...options,
      logger,
      isDenial: guardedDenial(options.isDenial, logger),
    },
    registryOf(container),
  );
  const handle: AIHandle = Object.freeze({
    verify: () => {
      application.verify();
    },
    describe: () => application.describe(),
    openScope: (bind: (container: Container) => unknown) => open(application, bind),
    currentScope: () => application.currentScope(),
    registry: application.registry,
    runInScope: async <T>(bind: (container: Container) => unknown, fn: (scope: AIScope) => T | PromiseLike<T>) => {
      if (typeof bind === 'function' && (fn as unknown) === undefined)
        throw new AIDefinitionError(
          'runInScope takes two functions, ai.runInScope((container) => { container.bind(Caller)… }, (scope) => …); found one',
        );
      refuseNonFunction('runInScope: fn', '(scope) => …', fn);
      const scope = open(application, bind);
      let result: T;
      try {
        result = await scope.run(fn);
      } catch (error) {
        // What went wrong first is what the caller must hear of.
        await scope.close().catch(() => undefined);
        throw error;
      }
      await scope.close();
      return result;
    },
  });
  applications.set(handle, application);
  return handle;
}

function registryOf(container: Container): ToolRegistry {
  const token = copiesOf('ToolRegistry', ToolRegistry).find((copy) => container.isCurrentBound(copy));
  if (token === undefined) {
    const registry = new ToolRegistry();
    container.bind(ToolRegistry).toConstantValue(registry);
    return registry;
  }
  const bound: unknown = container.get(token);
  if (isRegistry(bound)) return bound;
  throw new AIDefinitionError(
    `installAI: what is bound as ToolRegistry is none, found ${describeKind(bound)}; bind new ToolRegistry(), or leave it to installAI`,
  );
}

/** What is an option of createAIService, and a binding here. */
function boundInstead(problem: string): string {
  const [, option] = /^installAI: there is no option "(observers|middleware)"/.exec(problem) ?? [];
  if (option === undefined) return problem;
  const token = option === 'observers' ? 'AIObserver' : 'AIMiddleware';
  return `installAI: there is no option "${option}"; bind them, container.bind(${token}).to(…)`;
}

function open(application: Application, bind: (container: Container) => unknown): AIScope {
  refuseNonFunction('openScope: bind', '(container) => { container.bind(Caller)… }', bind);
  return application.openScope(bind);
}

function refuseNonFunction(what: string, example: string, found: unknown): void {
  if (typeof found !== 'function')
    throw new AIDefinitionError(`${what} must be a function, ${example}; found ${describeKind(found)}`);
}
