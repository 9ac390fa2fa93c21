import { AIDefinitionError } from '../errors.js';
import type { ChatModel } from './chat-model.js';
import { standIn } from './embedded.js';
import { openAI } from './open-ai.js';

/**
 * For samples: `openAI` with `OPENAI_MODEL` where `OPENAI_API_KEY` or `OPENAI_BASE_URL` is set, else the offline
 * stand-in; it prints which. An application says itself what it wants: `openAI` without a key is an error.
 */
export function modelFromEnv(): ChatModel {
  const { OPENAI_API_KEY: key, OPENAI_BASE_URL: baseURL, OPENAI_MODEL: model } = process.env;
  if (!key && !baseURL) return standIn('; set OPENAI_API_KEY or OPENAI_BASE_URL, and OPENAI_MODEL, for a real one');
  if (!model)
    throw new AIDefinitionError(
      `modelFromEnv: ${key ? 'OPENAI_API_KEY' : 'OPENAI_BASE_URL'} is set but OPENAI_MODEL is not; set it to the name of the model, as gpt-5-mini`,
    );
  const made = openAI({ model });
  process.stderr.write(`inversify-ai: using ${model}${baseURL ? ` at ${new URL(baseURL).host}` : ''}.\n`);
  return made;
}
