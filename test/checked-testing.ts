import { scriptedModel as scripted, type ScriptedModel, type ScriptedTurn } from '../container/testing.js';
import { requestProblems } from './wire/open-ai-bodies.js';

export * from '../container/testing.js';

/** The test kit's own, but every request that a test makes must be one by OpenAI's definition, whatever it is about. */
export function scriptedModel(
  ...args: [readonly ScriptedTurn[], { readonly attemptTimeoutMs?: number }?]
): ScriptedModel {
  const model = scripted(...args);
  const complete = model.complete.bind(model);
  model.complete = (...request) => {
    const reply = complete(...request);
    const problems = requestProblems(JSON.parse(model.requests.at(-1)!.body));
    if (problems !== '') {
      reply.catch(() => undefined);
      return Promise.reject(new Error(`no request by OpenAI's definition: ${problems}`));
    }
    return reply;
  };
  return model;
}
