import {
  descriptionProblems,
  PARAMETER_OPTIONS,
  parameterNameProblems,
  throwProblems,
  unknownOptions,
} from '../lib/declaration.js';
import type { ParameterOptions } from '../lib/schema/parameter.js';
import { fileParameter, parameterOf } from './member.js';

/** What `@AIToolParam` takes besides name and description. */
export type AIToolParamOptions = ParameterOptions;

/**
 * A parameter whose value the model chooses. The name is what the model calls it; JavaScript erases the one in the code.
 * What the compiler says of the type need not be repeated; what it cannot say is an error when the class is scanned.
 */
export function AIToolParam(name: string, description: string, options: AIToolParamOptions = {}) {
  return (target: object, key: string | symbol | undefined, index: number): void => {
    const { where, method } = parameterOf('@AIToolParam', target, key, index);
    throwProblems([
      ...parameterNameProblems(where, name),
      ...descriptionProblems(where, description),
      ...unknownOptions(where, options, PARAMETER_OPTIONS),
    ]);
    fileParameter(where, target, method, index, { from: 'model', name, description, options });
  };
}
