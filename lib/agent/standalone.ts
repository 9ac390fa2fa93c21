import { describeKind, optionProblems, throwProblems, unknownOptions } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import { consoleLogger, guarded, loggerProblems } from '../logger.js';
import { isChatModel } from '../model/chat-model.js';
import {
  DEFAULT_RETRY,
  merge,
  priceProblems,
  retryProblems,
  type RetryOptions,
  RUN_OPTIONS,
  runOptionProblems,
} from '../run-options.js';
import { denialProblems, guardedDenial } from '../tool/denial.js';
import { narrows } from '../tool/group.js';
import { type AgentDefinition, runAgent, type RunEnvironment } from './agent.js';
import { agentOptions } from './agent-options.js';
import { guardProblems } from './limits.js';
import { instanceProblems, isMiddleware } from './middleware.js';
import { isObserver } from './observer.js';
import { type Answer, RunningService } from './running-service.js';
import type { AIService, AIServiceOptions, WithToolsOptions } from './service.js';
import { type AgentTools, NO_TOOLS, type SourceScanner, ToolList } from './tool-list.js';
import { toolProblems, vainOptions } from './tool-problems.js';

const OPTIONS = [
  'model',
  'tools',
  'toolGroup',
  ...RUN_OPTIONS,
  'retry',
  'prices',
  'observers',
  'middleware',
  'logger',
  'isDenial',
];
const SITE = 'createAIService';

/** A service outside any container. `scan` reads the instances in `tools`. */
export function createService(options: AIServiceOptions, scan: SourceScanner): AIService {
  const problems = optionProblems(SITE, options, OPTIONS);
  if (!isChatModel(options.model))
    problems.push(
      `${SITE}: model must be a ChatModel, as openAI({ model: '…' }) makes one; found ${describeKind(options.model)}`,
    );
  problems.push(
    ...loggerProblems(SITE, options.logger),
    ...denialProblems(SITE, options.isDenial),
    ...runOptionProblems(SITE, options),
    ...retryProblems(SITE, options.retry),
    ...priceProblems(SITE, options.prices),
    ...instanceProblems(SITE, 'observers', options.observers, { isOne: isObserver, example: 'new AuditLog()' }),
    ...instanceProblems(SITE, 'middleware', options.middleware, {
      isOne: isMiddleware,
      example: 'new BusinessHours()',
    }),
  );
  throwProblems(problems);
  const tools = options.tools === undefined ? noTools(options) : new ToolList(SITE, options.tools, options, scan);
  throwProblems([
    ...toolProblems(SITE, tools, options, options.model),
    ...(tools.late.length > 0 ? [] : guardProblems(SITE, options.middleware ?? [], tools.known)),
  ]);
  const agent: AgentDefinition = { site: SITE, tools, ...agentOptions(options) };
  const logger = guarded(options.logger ?? consoleLogger);
  for (const line of vainOptions(SITE, tools, options, options.model)) logger.warn(`[inversify-ai] ${line}`);
  return new StandaloneService(
    agent,
    {
      model: options.model,
      observers: [...(options.observers ?? [])],
      middleware: [...(options.middleware ?? [])],
      retry: merge(DEFAULT_RETRY, options.retry as Required<RetryOptions> | undefined),
      prices: options.prices && Object.freeze({ ...options.prices }),
      logger,
      isDenial: guardedDenial(options.isDenial, logger),
      host: undefined,
    },
    scan,
  );
}

class StandaloneService extends RunningService {
  readonly #agent: AgentDefinition;
  readonly #environment: RunEnvironment;
  readonly #scan: SourceScanner;

  constructor(agent: AgentDefinition, environment: RunEnvironment, scan: SourceScanner) {
    super();
    this.#agent = agent;
    this.#environment = environment;
    this.#scan = scan;
  }

  protected override get agent(): AgentDefinition {
    return this.#agent;
  }

  protected override place(): Answer {
    const place = { environment: () => this.#environment };
    return (message, options, asked) => runAgent(this.#agent, message, options, place, asked);
  }

  override withTools(tools: readonly object[], options: WithToolsOptions = {}): AIService {
    throwProblems(unknownOptions('withTools', options, ['toolGroup']));
    return new StandaloneService(
      { ...this.#agent, tools: new ToolList('withTools', tools, options, this.#scan) },
      this.#environment,
      this.#scan,
    );
  }
}

/** Without `tools` there is nothing to narrow. */
function noTools(options: AIServiceOptions): AgentTools {
  if (narrows(options))
    throw new AIDefinitionError(`${SITE}: there are no tools that toolGroup could narrow; list some, or leave it out`);
  return NO_TOOLS;
}
