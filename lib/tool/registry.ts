import { describeKind, isClass, nameProblems, throwProblems, unknownOptions } from '../declaration.js';
import { AIDefinitionError, AIToolSourceError } from '../errors.js';
import { consoleLogger } from '../logger.js';
import { compileHandmade, isTool } from './compile.js';
import { compiledBehind, registeredTool } from './registered-tool.js';
import type { CompiledTool, Tool } from './tool.js';

/** A class whose methods are tools, unread. */
export type ToolClass = abstract new (...args: never[]) => object;

/** The tools of a class, each by its own name: that of the method, or the one that it was given. */
export type ClassReader = (target: ToolClass) => readonly { readonly bare: string; readonly tool: CompiledTool }[];

/** How something is registered. */
export interface RegisterOptions {
  /** Whose tool it is: `crm` makes the key `lookup@crm` of `lookup`, and offers it as `crm_lookup`. */
  readonly module?: string;
  /** Takes the place of what has the same key. Default: false, and that is an error. */
  readonly replace?: boolean;
}

/** What is registered under one key. */
export interface RegistryEntry {
  /** `lookup@crm`, or `lookup` without a module. */
  readonly key: string;
  /** The wire name: `crm_lookup`, or `lookup`. */
  readonly name: string;
  readonly module?: string;
  readonly description: string;
}

/** What happened in a registry. */
export interface RegistryChange extends RegistryEntry {
  readonly change: 'registered' | 'replaced' | 'unregistered';
}

/** What a key leads to, for who makes a set of it. */
export interface FoundEntry {
  /** The one tool, in the same list each time. */
  readonly tools: readonly [CompiledTool];
  /** The class that it is a method of, if it is. */
  readonly target: ToolClass | undefined;
}

interface Registered extends FoundEntry {
  readonly entry: RegistryEntry;
  readonly bare: string;
}

/**
 * Tools by key, so that a `tools` list can name them as texts. A registry is bound in a container, not in the process;
 * what is registered is offered to nobody who does not list it. Keys are `name` or `name@module`.
 */
export class Registry {
  readonly #read: ClassReader;
  readonly #entries = new Map<string, Registered>();
  readonly #listeners = new Set<(change: RegistryChange) => void>();

  constructor(read: ClassReader) {
    this.#read = read;
  }

  /**
   * Registers a tool, or every tool of a class. Without a module a class's tools have their wire names for keys, as
   * `OrderTools_findOrder`; with one they have their own, as `findOrder@orders`. All of it or, with an
   * `AIDefinitionError`, nothing.
   */
  register(source: Tool | ToolClass, options: RegisterOptions = {}): this {
    throwProblems(unknownOptions('ToolRegistry.register', options, ['module', 'replace']));
    const { module, replace = false } = options;
    const problems = moduleProblems('ToolRegistry.register', module);
    if (isClass(source)) this.#registerClass(source, module, replace, problems);
    else if (isTool(source)) {
      const tool = compiledBehind(source) ?? compileHandmade(source, problems);
      throwProblems(problems);
      if (tool !== undefined) this.#add([{ bare: tool.name, tool, target: undefined }], module, replace);
    } else
      problems.push(
        `ToolRegistry.register: found ${describeKind(source)}; register a class with @AITool methods, or a tool that defineTool made`,
      );
    throwProblems(problems);
    return this;
  }

  /** Registers every tool of a class under a module: `scan(WeatherTools, 'weather')` gives `getWeather@weather`. */
  scan(target: ToolClass, module: string, options: Pick<RegisterOptions, 'replace'> = {}): this {
    throwProblems([
      ...unknownOptions('ToolRegistry.scan', options, ['replace']),
      ...(isClass(target)
        ? []
        : [
            `ToolRegistry.scan: takes a class, scan(WeatherTools, 'weather'); found ${describeKind(target)}; the container makes the instance`,
          ]),
      ...((module as unknown) === undefined
        ? ["ToolRegistry.scan: the module is missing, scan(WeatherTools, 'weather')"]
        : moduleProblems('ToolRegistry.scan', module)),
    ]);
    return this.register(target, { ...options, module });
  }

  /**
   * The tool under a key. A key with a module is that one and no other; a bare name is the tool without a module, else
   * the only one of that name. Throws an `AIToolSourceError` where there is none, and where there are several, with their
   * `keys`.
   */
  get(key: string): Tool {
    return registeredTool(this.find(key).tools[0]);
  }

  /** Whether `get` would find it. */
  has(key: string): boolean {
    return this.#matches(key).length === 1;
  }

  /** All there is, by key. */
  list(): readonly RegistryEntry[] {
    return Object.freeze(
      [...this.#entries.values()].map(({ entry }) => entry).sort((a, b) => (a.key < b.key ? -1 : 1)),
    );
  }

  /** Takes out one tool, by its whole key. Gives whether it was there. A run that has begun keeps it. */
  unregister(key: string): boolean {
    const found = this.#entries.get(key);
    if (found === undefined) return false;
    this.#entries.delete(key);
    this.#tell([{ change: 'unregistered', ...found.entry }]);
    return true;
  }

  /** Takes out all tools of a module. Gives how many there were. */
  unregisterModule(module: string): number {
    const found = [...this.#entries.values()].filter(({ entry }) => entry.module === module);
    for (const { entry } of found) this.#entries.delete(entry.key);
    this.#tell(found.map(({ entry }) => ({ change: 'unregistered', ...entry })));
    return found.length;
  }

  /** Calls `listener` for each change from now on; the returned function ends that. What it throws is logged. */
  subscribe(listener: (change: RegistryChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @internal */
  find(key: string): FoundEntry {
    const [found, ...others] = this.#matches(key);
    if (found === undefined)
      throw new AIToolSourceError(`the registry key "${key}"`, `is not registered; ${this.#known()}`);
    if (others.length === 0) return found;
    const keys = [found, ...others].map(({ entry }) => entry.key).sort();
    throw new AIToolSourceError(`the registry key "${key}"`, `may be any of ${keys.join(', ')}; write which`, { keys });
  }

  /** One with a module never stands for another module's: a permission meant for one would go to the other. */
  #matches(key: string): readonly Registered[] {
    const exact = this.#entries.get(key);
    if (exact !== undefined) return [exact];
    return key.includes('@') ? [] : [...this.#entries.values()].filter(({ bare }) => bare === key);
  }

  #known(): string {
    const keys = [...this.#entries.keys()].sort();
    if (keys.length === 0) return 'nothing is';
    return `there are ${keys.slice(0, 20).join(', ')}${keys.length > 20 ? ', …' : ''}`;
  }

  #registerClass(target: ToolClass, module: string | undefined, replace: boolean, problems: string[]): void {
    throwProblems(problems);
    const read = this.#read(target);
    this.#add(
      read.map(({ bare, tool }) => ({ bare: module === undefined ? tool.name : bare, tool, target })),
      module,
      replace,
    );
  }

  #add(
    tools: readonly { readonly bare: string; readonly tool: CompiledTool; readonly target: ToolClass | undefined }[],
    module: string | undefined,
    replace: boolean,
  ): void {
    const problems: string[] = [];
    const added = new Map<string, Registered>();
    for (const { bare, tool, target } of tools) {
      const key = module === undefined ? bare : `${bare}@${module}`;
      const name = module === undefined ? tool.name : `${module}_${bare}`;
      problems.push(...nameProblems(`the registry key ${key}, ${tool.origin}`, name));
      if (!replace && this.#entries.has(key))
        problems.push(
          `the registry key ${key} is taken, by ${String(this.#entries.get(key)?.tools[0].origin)}; unregister it, or write { replace: true }`,
        );
      if (added.has(key)) problems.push(`the registry key ${key} is there twice; give one another name`);
      const entry = Object.freeze({
        key,
        name,
        ...(module !== undefined && { module }),
        description: tool.description,
      });
      added.set(key, { entry, bare, target, tools: Object.freeze([Object.freeze({ ...tool, name })] as const) });
    }
    if (problems.length > 0) throw new AIDefinitionError(problems);
    const changes = [...added.values()].map(({ entry }): RegistryChange => ({
      change: this.#entries.has(entry.key) ? 'replaced' : 'registered',
      ...entry,
    }));
    for (const [key, registered] of added) this.#entries.set(key, registered);
    this.#tell(changes);
  }

  #tell(changes: readonly RegistryChange[]): void {
    for (const change of changes)
      for (const listener of [...this.#listeners])
        try {
          listener(Object.freeze(change));
        } catch (error) {
          consoleLogger.error('[inversify-ai] a listener of the tool registry failed', error);
        }
  }
}

function moduleProblems(where: string, module: unknown): string[] {
  return module === undefined || (typeof module === 'string' && /^[A-Za-z0-9_-]{1,60}$/.test(module))
    ? []
    : [
        `${where}: module must be a word of letters, digits, _ and -, module: 'crm'; found ${typeof module === 'string' ? `"${module.slice(0, 80)}"` : describeKind(module)}`,
      ];
}
