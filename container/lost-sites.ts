import type { Class, Site } from '../decorators/metadata.js';
import { className } from '../decorators/member.js';
import type { InjectedElement } from './plan.js';

/** What inversify filed of a class itself, apart from its base's. */
export interface ClassMetadata {
  readonly constructorArguments: readonly (InjectedElement | undefined)[];
  readonly properties: ReadonlyMap<string | symbol, InjectedElement>;
}

const NOTHING: ClassMetadata = { constructorArguments: [], properties: new Map() };

/** Read under inversify's own key, since `inversify` itself does not export the reader. */
export function classMetadata(target: object): ClassMetadata {
  const found: unknown = Reflect.getOwnMetadata('@inversifyjs/core/classMetadataReflectKey', target);
  return (found as ClassMetadata | undefined) ?? NOTHING;
}

/**
 * The bound classes that lose an agent of their base: inversify injects nothing that a base class declares, unless it is
 * asked to, and says nothing. The agent would be `undefined`, at the first request.
 */
export function lostSites(bound: Iterable<Class>, sites: readonly Site[]): string[] {
  const problems: string[] = [];
  for (const target of bound)
    for (const site of sites)
      if (target !== site.target && Object.prototype.isPrototypeOf.call(site.target, target) && isLost(target, site))
        problems.push(
          `${className(target)} loses @AI of ${site.name}, which it inherits: inversify injects what a base class declares only where it is asked to; write @injectFromBase() on ${className(target)}, or declare the agent there`,
        );
  return problems;
}

function isLost(target: Class, { id, member, index, target: base }: Site): boolean {
  const { properties, constructorArguments } = classMetadata(target);
  if (index === undefined) return member !== undefined && !properties.has(member);
  return constructorArguments[index]?.value !== id && inheritsConstructor(target, base);
}

/** Whether nothing between a class and its base writes a constructor: one that does passes the agent on as it likes. */
function inheritsConstructor(target: Class, base: Class): boolean {
  for (let current: unknown = target; current !== base; current = Object.getPrototypeOf(current)) {
    const code = Function.prototype.toString.call(current).replace(NO_CODE, '""');
    // It hands on what it gets, and nothing is injected into it. Older targets compile fields to that.
    if (CONSTRUCTOR.test(code) && !PASSES_ON.test(code)) return false;
  }
  return true;
}

/** Comments and texts, in which anything may be said. */
const NO_CODE = /\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|`(?:\\[\s\S]|[^`\\])*`/g;
/** `super(...arguments)`, `super(...args)`. */
const PASSES_ON = /\bsuper\s*\(\s*\.\.\.\s*\w+\s*\)/;
/** Neither the property of something, nor a part of another name. */
const CONSTRUCTOR = /(?<![.\w$#])constructor\s*\(/;
