import { AIDefinitionError } from '../lib/errors.js';
import { describeKind } from '../lib/declaration.js';
import { MUTATING, READ_ONLY, type ToolGroup } from '../lib/tool/group.js';
import { className, methodName, refuseStandardDecorator } from './member.js';
import { ownMetadata } from './metadata.js';

/** A group: marks a method, or all the methods that a class itself declares; and the token that `toolGroup` takes. */
export interface ToolGroupDecorator extends ToolGroup {
  (target: abstract new (...args: never[]) => object): void;
  (target: object, key: string | symbol, descriptor: PropertyDescriptor): void;
}

/**
 * Makes a group of tools that cuts across classes: `const Billing = AIToolGroup('Billing')`. Groups are equal by name.
 * Throws an `AIDefinitionError` for a blank name and for the names of the two groups that come with the package.
 */
export function AIToolGroup(name: string): ToolGroupDecorator {
  if (typeof name !== 'string' || name.trim() === '')
    throw new AIDefinitionError(
      `AIToolGroup: found ${typeof name === 'string' ? 'a blank text' : describeKind(name)} for a name; write AIToolGroup('Billing')`,
    );
  if (name === READ_ONLY || name === MUTATING)
    throw new AIDefinitionError(
      `AIToolGroup('${name}'): this group comes with the package; import ${name} from 'inversify-ai'`,
    );
  return makeGroup(name);
}

/** @internal For the groups that come with the package. */
export function makeGroup(name: string): ToolGroupDecorator {
  const group = (target: object, key?: string | symbol, descriptor?: PropertyDescriptor): void => {
    refuseStandardDecorator(`@${name}`, key);
    if (key === undefined && typeof target === 'function') {
      const { classGroups } = ownMetadata((target as { readonly prototype: object }).prototype);
      both(`@${name} on ${className(target)}`, classGroups, name);
      classGroups.push(name);
      return;
    }
    if (key === undefined) throw new AIDefinitionError(`@${name}: marks a class or a method`);
    const { name: method } = methodName(`@${name}`, target, key, descriptor);
    const { groups } = ownMetadata(target);
    groups.set(method, both(`@${name} on ${className(target.constructor)}.${method}`, groups.get(method) ?? [], name));
  };
  return Object.freeze(Object.assign(group, { groupName: name }));
}

/** The groups of one place, with one more; a tool cannot be both read-only and mutating. */
function both(where: string, groups: readonly string[], name: string): string[] {
  const other = name === READ_ONLY ? MUTATING : name === MUTATING ? READ_ONLY : undefined;
  if (other !== undefined && groups.includes(other))
    throw new AIDefinitionError(`${where}: marked ${other} as well; keep the one that is true`);
  return [...groups, name];
}
