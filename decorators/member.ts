import { AIDefinitionError } from '../lib/errors.js';
import { type ParameterSource, setParameter } from './metadata.js';

/** `OrderTools.findOrder`, for messages. */
function memberName(target: object, key: string | symbol): string {
  const owner = typeof target === 'function' ? target : target.constructor;
  return `${className(owner)}.${String(key)}`;
}

export function className(owner: { readonly name: string }): string {
  return owner.name === '' ? '(anonymous class)' : owner.name;
}

/** What a standard decorator gets in place of a key; this package, like inversify, is written for the older kind. */
export function refuseStandardDecorator(decorator: string, key: unknown): void {
  if (typeof key === 'object' && key !== null && 'kind' in key)
    throw new AIDefinitionError(
      `${decorator}: called as a standard decorator; set "experimentalDecorators": true in tsconfig.json, as inversify needs it too`,
    );
}

/** The method that a decorator stands on; anything that is no instance method with a text for a name is refused. */
export function methodName(
  decorator: string,
  target: object,
  key: string | symbol,
  descriptor: PropertyDescriptor | undefined,
): { readonly where: string; readonly name: string } {
  refuseStandardDecorator(decorator, key);
  if ((key as unknown) === undefined)
    throw new AIDefinitionError(
      `${decorator} on ${className(target as { readonly name: string })}: a class; write it on a method`,
    );
  const where = `${decorator} on ${memberName(target, key)}`;
  const refuse = (found: string, instead: string): never => {
    throw new AIDefinitionError(`${where}: ${found}; ${instead}`);
  };
  if (typeof target === 'function')
    return refuse(
      'a static method',
      'a tool is called on an instance that the container resolves, so make it an instance method',
    );
  if (typeof key === 'symbol')
    return refuse('a method named by a symbol', 'a model can name texts alone, so give it a name of letters');
  if (descriptor === undefined)
    return refuse('a property', 'write a method, not a property that holds a function: findOrder(…) { … }');
  if (descriptor.get !== undefined || descriptor.set !== undefined)
    return refuse('an accessor', 'write a method: findOrder() { … }');
  if (typeof descriptor.value !== 'function') return refuse('no method', 'write a method: findOrder() { … }');
  return { where, name: key };
}

/** The method whose parameter is decorated. */
export function parameterOf(
  decorator: string,
  target: object,
  key: string | symbol | undefined,
  index: number,
): { readonly where: string; readonly method: string } {
  if (key === undefined) {
    const where = `${decorator} on parameter ${index.toString()} of the constructor of ${className(target as { readonly name: string })}`;
    throw new AIDefinitionError(`${where}: only parameters of tool methods take it; use @inject in a constructor`);
  }
  const where = `${decorator} on parameter ${index.toString()} of ${memberName(target, key)}`;
  if (typeof target === 'function')
    throw new AIDefinitionError(`${where}: a static method is no tool; make it an instance method`);
  if (typeof key === 'symbol')
    throw new AIDefinitionError(`${where}: a method named by a symbol is no tool; give it a name of letters`);
  return { where, method: key };
}

export function fileParameter(
  where: string,
  target: object,
  method: string,
  index: number,
  source: ParameterSource,
): void {
  if (!setParameter(target, method, index, source))
    throw new AIDefinitionError(
      `${where}: the parameter is decorated already; keep one of @AIToolParam, @FromScope and @AIToolContext, its value has one source`,
    );
}
