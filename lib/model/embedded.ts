import { throwProblems, unknownOptions } from '../declaration.js';
import type { ChatModel } from './chat-model.js';
import { embeddedFetch } from './embedded-server.js';
import { openAI, type OpenAIOptions } from './open-ai.js';

let announced = false;

/**
 * An offline stand-in for samples and tests: a few rules that match words, behind the real openai client. It is not a
 * language model, and says so in one line on the standard error stream. An application never falls back to it.
 */
export function embeddedModel(options: EmbeddedOptions = {}): ChatModel {
  throwProblems(unknownOptions('embeddedModel', options, ['api']));
  return standIn('', options.api);
}

/** What `embeddedModel` takes. */
export interface EmbeddedOptions {
  /** Which of OpenAI's two APIs stands between; it says the same in both. Default: `chat`. */
  readonly api?: NonNullable<OpenAIOptions['api']>;
}

/** @param instead what to do to have a real model, where the application did not ask for the stand-in itself */
export function standIn(instead: string, api: EmbeddedOptions['api'] = 'chat'): ChatModel {
  if (!announced)
    process.stderr.write(`inversify-ai: using the offline stand-in, a few rules and not a language model${instead}.\n`);
  announced = true;
  return openAI({
    model: 'embedded-rules',
    apiKey: 'embedded',
    baseURL: 'http://embedded.invalid/v1',
    fetch: embeddedFetch,
    api,
    profile: { schema: 'enforced', wires: ['envelope', 'union', 'native'], prefers: 'envelope' },
  });
}
