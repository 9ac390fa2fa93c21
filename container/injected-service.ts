import type { ServiceIdentifier } from 'inversify';
import { type AgentDefinition, runAgent, type RunEnvironment } from '../lib/agent/agent.js';
import { type Answer, RunningService } from '../lib/agent/running-service.js';
import type { AIService, WithToolsOptions } from '../lib/agent/service.js';
import type { RetryOptions } from '../lib/run-options.js';
import { throwProblems, unknownOptions } from '../lib/declaration.js';
import { AIDefinitionError, AIScopeError } from '../lib/errors.js';
import { ChatModel, isChatModel } from '../lib/model/chat-model.js';
import { copiesOf } from '../lib/token.js';
import { currentScope } from './current-scope.js';
import type { RequestScope } from './request-scope.js';
import { refuseOtherApplication } from './scope-error.js';
import { callEnvironment, type ScopedTools } from './scoped-tools.js';
import { compileTools } from './site.js';
import { WatchedModel } from './watched-model.js';

/** What an injected service is made of; all of it is shared but the scope. */
export interface InjectedAgent extends ScopedTools {
  readonly definition: AgentDefinition;
  /** The groups that it is narrowed to; none where it has all of its list. */
  readonly toolGroup: readonly string[];
  /** The site's own model, if it names one. */
  readonly model: ChatModel | undefined;
  /** For `verify`: what it asks for in vain. */
  readonly warnings: readonly string[];
  readonly retry: Required<RetryOptions>;
}

/** The object behind `@AI`. It keeps no state of a request but the scope that it belongs to, and checks that at each call. */
export class InjectedService extends RunningService {
  readonly #agent: InjectedAgent;
  readonly #own: RequestScope | undefined;

  /** @param own the scope whose container it was resolved from; without one it follows the current scope */
  constructor(agent: InjectedAgent, own: RequestScope | undefined) {
    super();
    this.#agent = agent;
    this.#own = own;
  }

  protected override get agent(): AgentDefinition {
    return this.#agent.definition;
  }

  protected override place(): Answer {
    const scope = this.#scope();
    const place = { signal: scope.closing, environment: () => this.#environment(scope) };
    return async (message, options, asked) => {
      scope.refuseIfClosed(this.#agent.definition.site);
      return scope.run(async () => {
        scope.inspect(this.#agent.tools);
        return runAgent(this.#agent.definition, message, options, place, asked);
      });
    };
  }

  async #environment(scope: RequestScope): Promise<RunEnvironment> {
    const model = this.#agent.model ?? (await this.#boundModel(scope));
    return {
      ...(await callEnvironment(this.#agent, scope)),
      model: scope.watcher === undefined ? model : new WatchedModel(model, scope.watcher),
      retry: this.#agent.retry,
    };
  }

  override withTools(sources: readonly object[], options: WithToolsOptions = {}): AIService {
    throwProblems(unknownOptions('withTools', options, ['toolGroup']));
    const where = `${this.#agent.definition.site}, withTools`;
    const tools = compileTools(where, sources, options, this.#agent.unbound);
    throwProblems(this.#agent.unbound(where, tools.classes, this.#own ?? currentScope()));
    return new InjectedService(
      { ...this.#agent, tools, definition: { ...this.#agent.definition, tools: tools.list } },
      this.#own,
    );
  }

  async #boundModel(scope: RequestScope): Promise<ChatModel> {
    const token = scope.nearest<ServiceIdentifier>(copiesOf('ChatModel', ChatModel));
    if (token === undefined)
      throw new AIDefinitionError(
        `${this.#agent.definition.site}: there is no model; pass one, installAI(container, { model: openAI({ model: '…' }) }), or bind ChatModel`,
      );
    const model = await scope.service(token);
    if (!isChatModel(model))
      throw new AIDefinitionError(
        `${this.#agent.definition.site}: what is bound as ChatModel is none; bind what openAI({ model: '…' }) makes, or a class that extends ChatModel`,
      );
    return model;
  }

  /** Whose question this is. Never nobody's, and never somebody else's. */
  #scope(): RequestScope {
    const current = currentScope();
    const own = this.#own;
    const { site } = this.#agent.definition;
    if (own !== undefined && current !== undefined && current !== own)
      throw new AIScopeError(
        `${site}: this agent belongs to another scope than the one it is used in; resolve it from the current scope's container, and keep no agent beyond its request.`,
      );
    const scope = own ?? current;
    if (scope === undefined)
      throw new AIScopeError(
        `${site}: there is no scope, so there is no caller to act for. Ask inside ai.runInScope((container) => { container.bind(Caller)… }, (scope) => …), or resolve the agent from a scope's container.`,
      );
    refuseOtherApplication(site, scope, this.#agent.application);
    scope.refuseIfClosed(site);
    return scope;
  }
}
