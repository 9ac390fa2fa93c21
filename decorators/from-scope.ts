import type { ServiceIdentifier } from 'inversify';
import { AIDefinitionError } from '../lib/errors.js';
import { fileParameter, parameterOf } from './member.js';

/**
 * A parameter filled from the scope's container at each call: a value that the model must not choose. It is in no
 * schema and no text. `select` takes what is needed of it, and may be asynchronous.
 * Ends the run with an `AIScopeError` where the token is not bound, where it gives `undefined` or `null`, and where
 * `select` gives `undefined`: many a query builder reads that as "no filter". Select `null` where a missing part is meant.
 */
export function FromScope<T>(token: ServiceIdentifier<T>, select?: (value: T) => unknown) {
  return (target: object, key: string | symbol | undefined, index: number): void => {
    const { where, method } = parameterOf('@FromScope', target, key, index);
    if ((token as unknown) === undefined || (token as unknown) === null)
      throw new AIDefinitionError(
        `${where}: the token is ${String(token)}; a class that is declared later, or a circular import: move it to a file of its own, or use a symbol`,
      );
    if (select !== undefined && typeof select !== 'function')
      throw new AIDefinitionError(`${where}: the second argument must be a function, (caller) => caller.email`);
    fileParameter(where, target, method, index, { from: 'scope', token, select });
  };
}
