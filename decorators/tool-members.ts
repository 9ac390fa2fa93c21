import { MUTATING, READ_ONLY } from '../lib/tool/group.js';
import { type Class, findMetadata, type ParameterSource, type ToolDeclaration } from './metadata.js';

/** A tool method as a class has it, its inheritance worked out. */
export interface ToolMember {
  readonly key: string;
  /** The class that declares it as a tool: it may be a base of the one that is listed. */
  readonly owner: string;
  readonly declaration: ToolDeclaration;
  /** By position. */
  readonly sources: readonly ParameterSource[];
  readonly groups: readonly string[];
}

interface Draft {
  readonly key: string;
  readonly owner: string;
  readonly declaration: ToolDeclaration;
  readonly sources: readonly ParameterSource[];
  /** How many parameters the base's method takes, as the engine counts them: up to the first default. */
  readonly length: number;
  groups: readonly string[];
}

/**
 * The tool methods of a class: its own and those it inherits, each with the contract that counts for this class.
 *
 * An override that is decorated anew has its own contract and no other. One that is not keeps its base's, groups
 * included, as long as it takes no more parameters; groups that stand on it or on its class add up, an effect replaces
 * the base's. A class's groups hold for the methods that stand in it, not for those that it only inherits; for an
 * override that is not decorated anew `ReadOnly` does not, since it was said of others.
 */
export function toolMembers(target: Class, problems: string[]): readonly ToolMember[] {
  const members = new Map<string, Draft>();
  for (const prototype of chain(target)) {
    const owner = (prototype.constructor as { readonly name: string }).name;
    const own = findMetadata(prototype);
    const inheritedKeys = new Set(members.keys());
    for (const [key, inherited] of members) {
      const descriptor = Object.getOwnPropertyDescriptor(prototype, key);
      if (descriptor === undefined || own?.tools.has(key) === true) continue;
      if (keepsContract(`${owner}.${key}`, inherited, descriptor, own?.parameters.has(key) === true, problems)) {
        const marked = own?.groups.get(key) ?? [];
        const outer = mergeGroups(owner, inherited.groups, tightening(own?.classGroups ?? []), problems);
        inherited.groups = mergeGroups(`${owner}.${key}`, outer, marked, problems);
      } else members.delete(key);
    }
    for (const [key, declaration] of own?.tools ?? []) {
      const marked = own?.groups.get(key) ?? [];
      const sources = own?.parameters.get(key) ?? new Map<number, ParameterSource>();
      const method = Object.getOwnPropertyDescriptor(prototype, key)?.value as { readonly length: number } | undefined;
      members.set(key, {
        key,
        owner,
        declaration,
        sources: [...sources].sort(([a], [b]) => a - b).map(([, source]) => source),
        length: Math.max(method?.length ?? 0, declaration.parameterCount),
        groups: mergeGroups(`${owner}.${key}`, checked(owner, own?.classGroups ?? [], problems), marked, problems),
      });
    }
    for (const key of own?.parameters.keys() ?? [])
      if (!members.has(key) && !inheritedKeys.has(key))
        problems.push(`${owner}.${key}: has decorated parameters but no @AITool; add @AITool('what it does')`);
    for (const key of own?.groups.keys() ?? [])
      if (!members.has(key) && !inheritedKeys.has(key) && own?.parameters.has(key) !== true)
        problems.push(
          `${owner}.${key}: is marked with a group but has no @AITool; add @AITool('what it does'), or take the mark away`,
        );
  }
  return [...members.values()];
}

/** Whether something is a class with tools, its own or inherited. */
export function isToolClass(id: unknown): boolean {
  return (
    typeof id === 'function' &&
    chain(id as unknown as Class).some((prototype) => (findMetadata(prototype)?.tools.size ?? 0) > 0)
  );
}

/** From the root to the class itself. */
function chain(target: Class): readonly object[] {
  const prototypes: object[] = [];
  for (
    let prototype = target.prototype as object | null;
    prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype) as object | null
  )
    prototypes.unshift(prototype);
  return prototypes;
}

function keepsContract(
  where: string,
  inherited: Draft,
  override: PropertyDescriptor,
  redecorated: boolean,
  problems: string[],
): boolean {
  const base = `${inherited.owner}.${inherited.key}`;
  const method: unknown = override.value;
  if (typeof method !== 'function')
    problems.push(`${where}: replaces the tool ${base} by something that is no method; override it with a method`);
  else if (redecorated)
    problems.push(
      `${where}: its parameters are decorated but it has no @AITool; add @AITool('what it does'), or leave the parameters as ${base} has them`,
    );
  else if (method.length > inherited.length)
    problems.push(
      `${where}: takes ${method.length.toString()} parameters, the tool ${base} that it overrides ${inherited.length.toString()}; decorate it anew with @AITool and @AIToolParam`,
    );
  else return true;
  return false;
}

const EFFECTS: readonly string[] = [READ_ONLY, MUTATING];

/** What is nearer to the method decides the effect; other groups add up. */
function mergeGroups(
  where: string,
  outer: readonly string[],
  inner: readonly string[],
  problems: string[],
): readonly string[] {
  const marked = checked(where, inner, problems);
  const decides = marked.some((group) => EFFECTS.includes(group));
  return [...new Set([...(decides ? outer.filter((group) => !EFFECTS.includes(group)) : outer), ...marked])];
}

/** What a class says of an override that is not decorated anew: it may make it mutating, never read-only. */
function tightening(classGroups: readonly string[]): readonly string[] {
  return classGroups.filter((group) => group !== READ_ONLY);
}

function checked(where: string, groups: readonly string[], problems: string[]): readonly string[] {
  if (EFFECTS.every((effect) => groups.includes(effect)))
    problems.push(`${where}: marked both ReadOnly and Mutating; keep the one that is true`);
  return groups;
}
