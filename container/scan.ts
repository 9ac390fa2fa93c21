import type { ServiceIdentifier } from 'inversify';
import { descriptionProblems, describeKind, nameProblems, isClass } from '../lib/declaration.js';
import { AIDefinitionError, AIScopeError } from '../lib/errors.js';
import type { EmittedType } from '../lib/schema/emitted-type.js';
import { declareParameter } from '../lib/schema/parameter.js';
import type { Parameter } from '../lib/schema/shape.js';
import { compileTool, type ToolDraft } from '../lib/tool/compile.js';
import { effectOf } from '../lib/tool/group.js';
import type { CompiledTool, ToolCallContext } from '../lib/tool/tool.js';
import { className } from '../decorators/member.js';
import type { Class, ParameterSource } from '../decorators/metadata.js';
import { identifierName } from './inversify-error.js';
import { type ToolMember, toolMembers } from '../decorators/tool-members.js';

/** What a decorated method needs of a scope, at each call. */
export interface ToolHost {
  /** The tool's own object, resolved anew, so that its constructor receives this caller. */
  resolve(target: Class): Promise<object>;
  value(token: ServiceIdentifier): Promise<unknown>;
}

/** A scanned class: its tools, or what is wrong with it. */
export interface ScannedClass {
  readonly tools: readonly CompiledTool[];
  /** The name of each without its class, in the same order. */
  readonly bareNames: readonly string[];
  readonly problems: readonly string[];
}

const scanned = new WeakMap<Class, ScannedClass>();

/** Reads the tools of a class that somebody listed; nothing else is ever looked at. Done once for a class. */
export function scanClass(target: Class): ScannedClass {
  let result = scanned.get(target);
  if (result === undefined) {
    result = read(target, (host) => hostOf(host).resolve(target));
    scanned.set(target, result);
  }
  return result;
}

/** Reads the tools of an instance, which is used as it is: for services outside a container. */
export function scanInstance(source: unknown, where: string, problems: string[]): readonly CompiledTool[] {
  if (isClass(source)) {
    problems.push(
      `${where}: tools holds the class ${source.name}; outside a container there is nothing that makes an instance, so pass one: new ${source.name}(…)`,
    );
    return [];
  }
  if (typeof source === 'string') {
    problems.push(
      `${where}: tools holds the text "${source.slice(0, 80)}"; outside a container there is no registry, so pass the tool itself, registry.get('lookup@crm')`,
    );
    return [];
  }
  if (typeof source !== 'object' || source === null) {
    problems.push(
      `${where}: tools holds ${describeKind(source)}; pass instances of classes with @AITool methods, or tools made by defineTool`,
    );
    return [];
  }
  const { constructor: target } = source as { readonly constructor?: unknown };
  if (!isClass(target)) {
    problems.push(
      `${where}: tools holds an object of no class; pass instances of classes with @AITool methods, or tools made by defineTool`,
    );
    return [];
  }
  const { tools, problems: found } = read(target, () => Promise.resolve(source));
  problems.push(...found);
  return tools;
}

type Receiver = (host: unknown) => Promise<object>;

function read(target: Class, receiver: Receiver): ScannedClass {
  const problems: string[] = [];
  const members = toolMembers(target, problems);
  if (members.length === 0 && problems.length === 0)
    problems.push(
      `${target.name || '(anonymous class)'} has no tools; write @AITool('what it does') on the methods that the model may call`,
    );
  const read = members.flatMap((member) => {
    const tool = compileMember(target, member, receiver, problems);
    return tool === undefined ? [] : [{ tool, bare: member.declaration.name ?? member.key }];
  });
  return { tools: read.map(({ tool }) => tool), bareNames: read.map(({ bare }) => bare), problems };
}

function compileMember(
  target: Class,
  member: ToolMember,
  receiver: Receiver,
  problems: string[],
): CompiledTool | undefined {
  const before = problems.length;
  const { key, declaration, sources } = member;
  const origin = `${member.owner}.${key}`;
  const name = declaration.name ?? `${target.name}_${key}`;
  if (declaration.name === undefined && target.name === '')
    problems.push(
      `${origin}: the class has no name to call the tool by; write @AITool({ name: 'find_order', description: '…' })`,
    );
  else problems.push(...nameProblems(origin, name));
  problems.push(...descriptionProblems(origin, declaration.description), ...validatorProblems(target, member));
  const parameters = sources.flatMap(
    (source, index) => declare(origin, source, index, declaration.paramTypes, problems) ?? [],
  );
  if (problems.length > before) return undefined;
  const waits = sources.some((source) => source.from === 'scope');
  const draft: ToolDraft = {
    name,
    origin,
    description: declaration.description,
    parameters,
    fromScope: sources.flatMap((source) => (source.from === 'scope' ? [identifierName(source.token)] : [])),
    groups: member.groups,
    options: declaration.options,
    prepare: async (args, context, host) => {
      const instance = await receiver(host);
      refuseOtherContract(target, member, instance);
      const given = sources.map((source) => valueOf(origin, source, args, context, host));
      // Most methods take nothing that has to be waited for.
      const values = waits ? await Promise.all(given) : given;
      const method = (instance as Readonly<Record<string, unknown>>)[key] as (...values: unknown[]) => unknown;
      return () => Reflect.apply(method, instance, values);
    },
  };
  return compileTool(draft, problems);
}

const contracts = new WeakMap<object, ReadonlyMap<string, ToolMember>>();

/** The tools of an object's class, whoever listed what. */
function contractsOf(instance: object): ReadonlyMap<string, ToolMember> {
  const prototype = Object.getPrototypeOf(instance) as object | null;
  if (prototype === null) return new Map();
  let found = contracts.get(prototype);
  if (found === undefined) {
    found = new Map(toolMembers({ prototype } as Class, []).map((member) => [member.key, member]));
    contracts.set(prototype, found);
  }
  return found;
}

/**
 * What a class is bound to may be a subclass that declares the method anew: other parameters in other places, or another
 * effect. It must not be called by the contract of the class that was listed.
 */
function refuseOtherContract(target: Class, { key, owner, declaration, groups }: ToolMember, instance: object): void {
  if (typeof (instance as Readonly<Record<string, unknown>>)[key] !== 'function')
    throw new AIDefinitionError(
      `${owner}.${key}: what ${target.name} is bound to has no method ${key}; bind the class itself, or an object with that method`,
    );
  const actual = contractsOf(instance).get(key);
  // An object of another class, a stand-in in a test, has no contract of its own; a subclass that lost it has broken it.
  const isKept =
    actual === undefined
      ? !(instance instanceof target)
      : actual.declaration === declaration && effectOf(actual.groups) === effectOf(groups);
  if (!isKept) {
    const bound = className((instance as { readonly constructor: { readonly name: string } }).constructor);
    throw new AIDefinitionError(
      `${owner}.${key}: ${target.name} is bound to ${bound}, which declares the tool ${key} otherwise; list ${bound} in tools, or bind ${target.name} to a class that leaves its tools as they are`,
    );
  }
}

function declare(
  origin: string,
  source: ParameterSource,
  index: number,
  paramTypes: readonly unknown[] | undefined,
  problems: string[],
): Parameter | undefined {
  if (source.from !== 'model') return undefined;
  const emitted: EmittedType =
    paramTypes === undefined ? { from: 'nowhere' } : { from: 'compiler', type: paramTypes[index] };
  return declareParameter(
    `${origin}, parameter ${source.name}`,
    source.name,
    source.description,
    source.options,
    emitted,
    problems,
  );
}

/** A promise where it is the scope's to give. */
function valueOf(
  origin: string,
  source: ParameterSource,
  args: Readonly<Record<string, unknown>>,
  context: ToolCallContext,
  host: unknown,
): unknown {
  switch (source.from) {
    case 'model':
      return args[source.name];
    case 'call':
      return context;
    case 'scope':
      return fromScope(origin, source, host);
  }
}

async function fromScope(
  origin: string,
  { token, select }: Extract<ParameterSource, { readonly from: 'scope' }>,
  host: unknown,
): Promise<unknown> {
  const value = present(origin, token, 'is bound, but gives', await hostOf(host).value(token), null);
  if (select === undefined) return value;
  return present(origin, token, 'is bound, but select gives', await select(value as never));
}

/**
 * A caller that is not there must not reach a method as `undefined`: many a query builder reads that as "no filter".
 * Of the token `null` is no value either; a `select` may say so on purpose.
 */
function present(origin: string, token: ServiceIdentifier, what: string, value: unknown, alsoAbsent?: null): unknown {
  if (value !== undefined && (alsoAbsent === undefined || value !== null)) return value;
  throw new AIScopeError(
    `${origin}: ${identifierName(token)} ${what} ${String(value)}, so there is nobody to act for. ` +
      'Refuse the request where nobody is signed in, before the agent is asked; where a missing part is meant, select null: (caller) => caller.team ?? null.',
  );
}

function hostOf(host: unknown): ToolHost {
  if (host === undefined)
    throw new AIScopeError(
      'There is no scope: a service made by createAIService has no container, from which a tool’s class or @FromScope could be resolved. Inject the agent with @AI, or pass the value to the tool itself.',
    );
  return host as ToolHost;
}

/** class-validator files a decorator on a parameter under the method, where it checks nothing: it would only look checked. */
function validatorProblems(target: Class, { key, owner }: ToolMember): string[] {
  const { classValidatorMetadataStorage: storage } = globalThis as {
    classValidatorMetadataStorage?: {
      getTargetValidationMetadatas?: (
        target: unknown,
        schema: string,
        always: boolean,
        strict: boolean,
      ) => { propertyName: string }[];
    };
  };
  const rules = storage?.getTargetValidationMetadatas?.(target, '', true, false) ?? [];
  return rules.some(({ propertyName }) => propertyName === key)
    ? [
        `${owner}.${key}: a class-validator decorator on a parameter checks nothing; say it in @AIToolParam, type: 'integer'`,
      ]
    : [];
}
