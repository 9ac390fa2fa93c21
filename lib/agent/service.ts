import { AIDefinitionError } from '../errors.js';
import { consoleLogger, guarded, loggerProblems, type AILogger } from '../logger.js';
import { type ChatModel, isChatModel } from '../model/chat-model.js';
import {
  countProblems,
  describeKind,
  textProblems,
  optionProblems,
  throwProblems,
  unknownOptions,
} from '../declaration.js';
import type { AIRun } from '../run.js';
import { compileHandmade, isTool } from '../tool/compile.js';
import { denialProblems, guardedDenial } from '../tool/denial.js';
import { groupNames, narrows, type ToolGroup } from '../tool/group.js';
import type { CompiledTool } from '../tool/tool.js';
import { duplicateNames, narrowTools, Toolset } from '../tool/toolset.js';
import {
  type AgentDefinition,
  type ChatOptions,
  DEFAULT_MAX_ATTEMPTS,
  DEFAULT_MAX_TOOL_CALLS,
  runAgent,
} from './agent.js';
import type { AIObserver } from './observer.js';

/** What narrows the tools of `withTools`. */
export interface WithToolsOptions {
  /** Only the tools in one of these groups. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
}

/**
 * An agent, as it is injected: asks the model, lets it call this agent's tools, gives back the answer. It keeps no
 * history; each question is a run of its own, and any number may run at once.
 *
 * `chat` and `run` reject with an `AIError` (its `run` tells how far it came), or with the signal's reason, unchanged.
 */
export abstract class AIService {
  /** The answer. */
  abstract chat(message: string, options?: ChatOptions): Promise<string>;
  /** The answer with all that led to it: calls, usage, transcript. */
  abstract run(message: string, options?: ChatOptions): Promise<AIRun>;
  /** A new service with these tools in place of this one's; this one is not changed. */
  abstract withTools(tools: readonly object[], options?: WithToolsOptions): AIService;
}

/** What `createAIService` takes. */
export interface AIServiceOptions {
  /** The model that is asked. */
  readonly model: ChatModel;
  /** Instances of decorated classes and `Tool`s. Without any, the service is a plain model. */
  readonly tools?: readonly object[];
  /** Only the tools in one of these groups. */
  readonly toolGroup?: ToolGroup | readonly ToolGroup[];
  /** What the application says to the model before every question. */
  readonly system?: string;
  /** Calls in one run, unknown, wrong and failed ones included. Default: 5. */
  readonly maxToolCalls?: number;
  /** How often one provider call is sent where that may help; 1 is no retry. Default: 3. */
  readonly maxAttempts?: number;
  /** Told what happens in every run. Default: none. */
  readonly observers?: readonly AIObserver[];
  /** Default: the console. */
  readonly logger?: AILogger;
  /** Whether an exception means "not yours": the model is then told what it is told of a thing that does not exist. */
  readonly isDenial?: (error: unknown) => boolean;
}

/** Reads what is in a `tools` list besides `Tool`s; the engine itself knows no decorator. */
export type SourceScanner = (source: unknown, where: string, problems: string[]) => readonly CompiledTool[];

const OPTIONS = [
  'model',
  'tools',
  'toolGroup',
  'system',
  'maxToolCalls',
  'maxAttempts',
  'observers',
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
    ...countProblems(SITE, 'maxToolCalls', options.maxToolCalls),
    ...countProblems(SITE, 'maxAttempts', options.maxAttempts),
    ...loggerProblems(SITE, options.logger),
    ...denialProblems(SITE, options.isDenial),
    ...textProblems(SITE, 'system', options.system),
    ...observerProblems(options.observers),
  );
  throwProblems(problems);
  const agent: AgentDefinition = {
    site: SITE,
    toolset: options.tools === undefined ? plainToolset(options) : buildToolset(SITE, options.tools, options, scan),
    system: options.system ?? '',
    maxToolCalls: options.maxToolCalls ?? DEFAULT_MAX_TOOL_CALLS,
    maxAttempts: options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
  };
  const logger = guarded(options.logger ?? consoleLogger);
  return new StandaloneService(
    agent,
    {
      model: options.model,
      observers: options.observers ?? [],
      logger,
      isDenial: guardedDenial(options.isDenial, logger),
      host: undefined,
    },
    scan,
  );
}

function observerProblems(observers: unknown): string[] {
  if (observers === undefined) return [];
  const list: unknown[] | undefined = Array.isArray(observers) ? observers : undefined;
  return list?.every((observer) => typeof observer === 'object' && observer !== null) === true
    ? []
    : [`${SITE}: observers must be a list of instances, [new AuditLog()]`];
}

class StandaloneService extends AIService {
  readonly #agent: AgentDefinition;
  readonly #environment: Parameters<typeof runAgent>[3];
  readonly #scan: SourceScanner;

  constructor(agent: AgentDefinition, environment: Parameters<typeof runAgent>[3], scan: SourceScanner) {
    super();
    this.#agent = agent;
    this.#environment = environment;
    this.#scan = scan;
  }

  override async chat(message: string, options?: ChatOptions): Promise<string> {
    return (await this.run(message, options)).text;
  }

  override async run(message: string, options: ChatOptions = {}): Promise<AIRun> {
    return runAgent(this.#agent, message, options, this.#environment);
  }

  override withTools(tools: readonly object[], options: WithToolsOptions = {}): AIService {
    throwProblems(unknownOptions('withTools', options, ['toolGroup']));
    return new StandaloneService(
      { ...this.#agent, toolset: buildToolset('withTools', tools, options, this.#scan) },
      this.#environment,
      this.#scan,
    );
  }
}

/** Without `tools` there is nothing to narrow. */
function plainToolset(options: AIServiceOptions): Toolset {
  if (narrows(options))
    throw new AIDefinitionError(`${SITE}: there are no tools that toolGroup could narrow; list some, or leave it out`);
  return Toolset.EMPTY;
}

/** Compiles a `tools` list and narrows it; all its problems come in one `AIDefinitionError`. */
export function buildToolset(where: string, sources: unknown, options: object, scan: SourceScanner): Toolset {
  if (!Array.isArray(sources))
    throw new AIDefinitionError(`${where}: tools must be a list, tools: [OrderTools], found ${describeKind(sources)}`);
  if (sources.length === 0)
    throw new AIDefinitionError(
      `${where}: tools is empty; list what the model may call, or leave tools out for a plain model`,
    );
  const problems: string[] = [];
  const tools = (sources as unknown[]).flatMap((source) => readSource(source, where, problems, scan));
  let narrowed: readonly CompiledTool[] = tools;
  if (narrows(options)) {
    const before = problems.length;
    const groups = groupNames(where, options.toolGroup, problems);
    if (problems.length === before) narrowed = narrowTools(tools, groups, where, problems);
  }
  problems.push(...duplicateNames(narrowed).map((problem) => `${where}: ${problem}`));
  throwProblems(problems);
  return new Toolset(narrowed);
}

function readSource(source: unknown, where: string, problems: string[], scan: SourceScanner): readonly CompiledTool[] {
  if (!isTool(source)) return scan(source, where, problems);
  const tool = compileHandmade(source, problems);
  return tool === undefined ? [] : [tool];
}
