import type { ServiceIdentifier } from 'inversify';
import type { Class } from '../decorators/metadata.js';
import { toolMembers } from '../decorators/tool-members.js';

/** All that a scope's container is asked for by the tools of a class: the class, and the tokens of `@FromScope`. */
export interface ToolRoots {
  readonly roots: readonly ServiceIdentifier[];
}

const known = new WeakMap<Class, ToolRoots>();

/** Made once for a class: what was looked at is known by it. */
export function rootsOf(target: Class): ToolRoots {
  let found = known.get(target);
  if (found === undefined) {
    const tokens = toolMembers(target, []).flatMap(({ sources }) =>
      sources.flatMap((source) => (source.from === 'scope' ? [source.token] : [])),
    );
    found = Object.freeze({ roots: Object.freeze([...new Set<ServiceIdentifier>([target, ...tokens])]) });
    known.set(target, found);
  }
  return found;
}
