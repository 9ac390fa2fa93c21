import { describeKind } from '../declaration.js';
import type { ToolEffect } from '../run.js';

/** The token of a group, as `toolGroup` takes it. Groups are equal by name, across copies of the package. */
export interface ToolGroup {
  readonly groupName: string;
}

/** The two groups that come with the package and say what a tool does to the world. */
export const READ_ONLY = 'ReadOnly';
export const MUTATING = 'Mutating';

export function isToolGroup(value: unknown): value is ToolGroup {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    'groupName' in value &&
    typeof value.groupName === 'string'
  );
}

/** The effect that a tool's groups say; a tool marked neither counts as mutating. */
export function effectOf(groups: Iterable<string>): ToolEffect {
  for (const group of groups) if (group === READ_ONLY) return 'read-only';
  return 'mutating';
}

/** Whether a tool is in one of the named groups. `Mutating` is all that is not read-only, marked or not. */
export function inGroups(
  tool: { readonly groups: readonly string[]; readonly effect: ToolEffect },
  wanted: readonly string[],
): boolean {
  return wanted.some((group) => (group === MUTATING ? tool.effect === 'mutating' : tool.groups.includes(group)));
}

/** Whether options narrow by group. A `toolGroup` that is there but `undefined` does: it is refused, not ignored. */
export function narrows(options: object): options is { readonly toolGroup: unknown } {
  return 'toolGroup' in options;
}

/**
 * The names in a `toolGroup`; what is wrong with it goes to `problems`. A list means any of them; one that mixes an effect with another group is refused, since
 * `[ReadOnly, Billing]` reads like "the read-only ones of Billing" and would bring in all that Billing may change.
 */
export function groupNames(where: string, toolGroup: unknown, problems: string[]): readonly string[] {
  const list: unknown[] = Array.isArray(toolGroup) ? toolGroup : [toolGroup];
  if (list.length === 0) problems.push(`${where}: toolGroup is an empty list; name a group or leave it out`);
  const names: readonly string[] = list.flatMap((group) => {
    if (isToolGroup(group)) return [group.groupName];
    problems.push(`${where}: ${noGroup(group)}`);
    return [];
  });
  const effects: readonly string[] = names.filter((name) => name === READ_ONLY || name === MUTATING);
  if (effects.length > 0 && effects.length < names.length)
    problems.push(
      `${where}: toolGroup mixes ${effects.join(' and ')} with ${names.filter((name) => !effects.includes(name)).join(', ')}; ` +
        'a list means any of them, so mutating tools would come in; name the effect or the other groups, not both',
    );
  return [...new Set(names)].sort();
}

function noGroup(found: unknown): string {
  if (found === undefined)
    return 'toolGroup is undefined, which would narrow nothing: a misspelt name, or a circular import; declare the group in a file of its own, and leave toolGroup out where all tools are meant';
  const what = typeof found === 'string' ? `the text "${found}"` : describeKind(found);
  return `toolGroup takes a group: ReadOnly, Mutating, or one that AIToolGroup('Billing') made; found ${what}`;
}
