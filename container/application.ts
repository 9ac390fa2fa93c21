import { Plugin, type PluginApi, type PluginContext } from '@inversifyjs/plugin';
import type { Container, Newable, ResolutionContext, ServiceIdentifier } from 'inversify';
import { type Class, type Site, type SiteListener, watchSites } from '../decorators/metadata.js';
import { agentOptions } from '../lib/agent/agent-options.js';
import { toolProblems, vainOptions } from '../lib/agent/tool-problems.js';
import { describeKind, throwProblems } from '../lib/declaration.js';
import { AIDefinitionError, AIScopeError } from '../lib/errors.js';
import type { AILogger } from '../lib/logger.js';
import { groupNames, narrows } from '../lib/tool/group.js';
import type { DenialTest } from '../lib/tool/denial.js';
import { ChatModel, isChatModel } from '../lib/model/chat-model.js';
import {
  DEFAULT_RETRY,
  merge,
  mergeLimits,
  type ModelPrices,
  type RetryOptions,
  type RunOptions,
} from '../lib/run-options.js';
import { copiesOf } from '../lib/token.js';
import { currentScope, SCOPE } from './current-scope.js';
import { type CheckedApplication, checkApplication, type SiteLook } from './check.js';
import { type AIDescription, describeAgents } from './describe.js';
import { noteNoScopes, showKeptPlans } from './guard.js';
import { tryGuard } from './guard-trial.js';
import { type InjectedAgent, InjectedService } from './injected-service.js';
import { Inspections } from './inspections.js';
import { LongLived } from './long-lived.js';
import { lookAsOwner } from './plan-walk.js';
import { probe } from './probe.js';
import { ABOVE, APPLICATIONS } from './rank.js';
import { RequestScope } from './request-scope.js';
import type { ScopeOwner } from './scope-owner.js';
import type { UnboundFinder } from './registry-key.js';
import { refuseOtherApplication } from './scope-error.js';
import type { ScopedTools } from './scoped-tools.js';
import { classesIn, type CompiledTools, compileSite, compileTools, readList } from './site.js';
import type { ToolRegistry } from './tool-registry.js';
import { unusedWarnings } from './unused.js';

/** The defaults of an application's sites. */
export interface ApplicationDefaults extends RunOptions {
  /** The one that was passed; what is bound is known when a run asks for it. */
  readonly model?: ChatModel;
  readonly retry?: RetryOptions;
  readonly prices?: ModelPrices;
  readonly logger: AILogger;
  readonly isDenial: DenialTest;
}

/** What inversify shows a plugin, for somebody who stays. */
function pluginOf(container: Container): { readonly plugin: PluginContext; readonly api: PluginApi } {
  let shown: { readonly plugin: PluginContext; readonly api: PluginApi } | undefined;
  class ApplicationPlugin extends Plugin<Container> {
    override load(api: PluginApi): void {
      shown = { plugin: this._context, api };
    }
  }
  container.register(ApplicationPlugin);
  return shown as unknown as { readonly plugin: PluginContext; readonly api: PluginApi };
}

/** The context that a container resolves in, one for all its life; inversify gives it to a dynamic value alone. */
function contextOf(container: Container): ResolutionContext {
  const id = Symbol('the context of the application');
  container
    .bind(id)
    .toDynamicValue((context) => context)
    .inTransientScope();
  const context = container.get<ResolutionContext>(id);
  container.unbind(id);
  return context;
}

/** One application container with its sites: binds an agent for each, opens scopes, checks what it can before the first request. */
export class Application implements SiteListener {
  readonly #container: Container;
  readonly #defaults: ApplicationDefaults;
  readonly #agents = new Map<symbol, InjectedAgent>();
  readonly #sites: Site[] = [];
  readonly #offers: ScopedTools[] = [];
  readonly #owner: ScopeOwner;
  readonly longLived: LongLived;
  readonly #plugin: PluginContext;

  /** @param registry the one that is bound in the container */
  constructor(
    container: Container,
    defaults: ApplicationDefaults,
    readonly registry: ToolRegistry,
  ) {
    this.#container = container;
    this.#defaults = defaults;
    tryGuard();
    const context = contextOf(container);
    this.longLived = new LongLived({
      context: () => context,
      rankOf: ({ id, serviceIdentifier }) => {
        const own = this.#plugin.bindingService.getNonParentBindings(serviceIdentifier as ServiceIdentifier) ?? [];
        for (const binding of own) if (binding.id === id) return APPLICATIONS;
        return ABOVE;
      },
      isActivated: (id) => this.#plugin.activationService.get(id as ServiceIdentifier) !== undefined,
    });
    const { longLived } = this;
    const { plugin, api } = pluginOf(container);
    this.#plugin = plugin;
    const traits = probe(container, plugin.bindingService);
    const look: Parameters<typeof showKeptPlans>[1] = (asked, plan) => {
      lookAsOwner(plan, asked, { longLived, isAutobound: traits.isAutobound });
    };
    noteNoScopes(plugin.planResultCacheService);
    showKeptPlans(plugin.planResultCacheService, look);
    api.onPlan(look);
    const inspections = new Inspections(() => {
      longLived.bindingsChanged();
    });
    this.#plugin.planResultCacheService.subscribe(inspections as never);
    this.#owner = {
      ...traits,
      longLived,
      inspections,
      logger: defaults.logger,
      isBound: (token) => this.#isBound(token),
      isOfApplication: ({ id }) => this.#plugin.bindingService.getById(id) !== undefined,
    };
    for (const site of watchSites(this)) this.siteAdded(site);
  }

  /** Binds what is injected at a site. Transient: what is built for one request is not there for the next. */
  siteAdded(site: Site): void {
    this.#sites.push(site);
    this.#container
      .bind<InjectedService>(site.id)
      .toDynamicValue((context) => this.#inject(site, context.get<RequestScope>(SCOPE, { optional: true })))
      .inTransientScope();
  }

  #inject(site: Site, scope: RequestScope | undefined): InjectedService {
    const { agent, problems, unbound } = this.#look(site, scope);
    const all = [...problems, ...unbound];
    if (agent === undefined || all.length > 0) throw new AIDefinitionError(all);
    scope?.inspect(agent.tools);
    return new InjectedService(agent, scope);
  }

  /** A site's agent, compiled once, or what is wrong with it; and which of its classes nobody bound. */
  #look(site: Site, scope: RequestScope | undefined): SiteLook {
    const known = this.#agents.get(site.id);
    if (known !== undefined)
      return { agent: known, problems: [], unbound: this.#unbound(`@AI on ${site.name}`, known.tools.classes, scope) };
    let unbound: readonly string[] = [];
    try {
      const list = readList(site);
      unbound = this.#unbound(`@AI on ${site.name}`, classesIn(list), scope);
      const agent = this.#compile(site, list);
      this.#agents.set(site.id, agent);
      return { agent, problems: [], unbound };
    } catch (error) {
      if (!(error instanceof AIDefinitionError)) throw error;
      return { problems: error.problems, unbound };
    }
  }

  #compile(site: Site, list: unknown): InjectedAgent {
    const { options } = site;
    if (options.model !== undefined && !isChatModel(options.model))
      throw new AIDefinitionError(
        `@AI on ${site.name}: model must be a ChatModel, as openAI({ model: '…' }) makes one; found ${describeKind(options.model)}`,
      );
    const unbound: UnboundFinder = (where, classes, scope) => this.#unbound(where, classes, scope);
    const tools = compileSite(site, list, unbound);
    const definition = Object.freeze({ site: site.name, tools: tools.list, ...agentOptions(options, this.#defaults) });
    const { toolChoice, wire, parallelToolCalls } = definition;
    // Which model it is, is known beforehand only where it was passed; bounds of the application's are of other sites too.
    const model = options.model ?? this.#defaults.model;
    const where = `@AI on ${site.name}`;
    const checked = { limits: options.limits, toolChoice, wire, parallelToolCalls };
    throwProblems(toolProblems(where, tools.list, checked, model));
    return Object.freeze({
      definition,
      tools,
      toolGroup: narrows(options) ? groupNames(site.name, options.toolGroup, []) : [],
      model: options.model,
      warnings: model === undefined ? [] : vainOptions(where, tools.list, checked, model),
      logger: this.#defaults.logger,
      isDenial: this.#defaults.isDenial,
      retry: merge(DEFAULT_RETRY, this.#defaults.retry as Required<RetryOptions> | undefined),
      prices: this.#defaults.prices,
      application: this,
      unbound,
    });
  }

  /**
   * Tools for callers that bring a model of their own: read as a site's are, at once; what is late, when it is asked for.
   * Throws what is wrong with them together with `problems`, which were found before.
   */
  offer(site: string, list: unknown, options: object, problems: readonly string[]): ScopedTools {
    const unbound: UnboundFinder = (where, classes, scope) => this.#unbound(where, classes, scope);
    let tools: CompiledTools;
    try {
      tools = compileTools(site, list, options, unbound);
    } catch (error) {
      if (!(error instanceof AIDefinitionError)) throw error;
      throw new AIDefinitionError([...problems, ...error.problems]);
    }
    throwProblems(problems);
    const { limits, logger, isDenial, prices } = this.#defaults;
    const definition = Object.freeze({ site, tools: tools.list, limits: mergeLimits(limits) });
    const offer = Object.freeze({ definition, tools, logger, isDenial, prices, application: this, unbound });
    this.#offers.push(offer);
    return offer;
  }

  /** The tool classes that nobody bound. */
  #unbound(where: string, classes: readonly Class[], scope: RequestScope | undefined): readonly string[] {
    return classes
      .map((target) => target as Newable)
      .filter((target) => scope?.container.isCurrentBound(target) !== true && !this.#isBound(target))
      .map(({ name }) => `${where}: the tool class ${name} is not bound; write container.bind(${name}).toSelf()`);
  }

  /** Whether somebody bound it, here or in an ancestor. inversify's `isBound` is not asked: with autobind it would bind it. */
  #isBound(token: ServiceIdentifier): boolean {
    if (this.#container.isCurrentBound(token)) return true;
    for (const id of this.#plugin.bindingService.getBoundServices()) if (id === token) return true;
    return false;
  }

  openScope(bind: (container: Container) => unknown): RequestScope {
    return new RequestScope(this, this.#container, this.#owner, bind);
  }

  /** The current scope, for code that is handed none. */
  currentScope(): RequestScope {
    const scope = currentScope();
    if (scope === undefined)
      throw new AIScopeError(
        'ai.currentScope(): there is no scope here. Ask inside ai.runInScope(…), or in a route behind aiScope(ai, …).',
      );
    refuseOtherApplication('ai.currentScope()', scope, this);
    scope.refuseIfClosed('ai.currentScope()');
    return scope;
  }

  #checked(): CheckedApplication {
    return {
      container: this.#container,
      bindings: this.#plugin.bindingService,
      owner: this.#owner,
      sites: this.#sites,
      look: (site) => this.#look(site, undefined),
      offers: this.#offers,
      registry: this.registry,
      hasModel: copiesOf('ChatModel', ChatModel).some((token) => this.#isBound(token)),
    };
  }

  /** Checks the sites of all bound classes; throws all their problems in one error. */
  verify(): void {
    const { problems, warnings, agents } = checkApplication(this.#checked());
    for (const warning of unusedWarnings(
      [...agents, ...this.#offers],
      this.#defaults.limits,
      this.#plugin.bindingService,
    ))
      this.#defaults.logger.warn(`[inversify-ai] ${warning}`);
    for (const warning of agents.flatMap((agent) => agent.warnings))
      this.#defaults.logger.warn(`[inversify-ai] ${warning}`);
    for (const warning of warnings)
      this.#defaults.logger.warn(`[inversify-ai] ${warning} If it is bound in scopes alone, this is no mistake.`);
    throwProblems(problems);
  }

  /** What the sites of all bound classes expose; throws where one is wrong. */
  describe(): AIDescription {
    const { problems, agents } = checkApplication(this.#checked());
    throwProblems(problems);
    return describeAgents(agents, this.registry);
  }
}
