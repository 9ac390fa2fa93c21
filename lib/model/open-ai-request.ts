import type { ModelRequest } from './chat-model.js';

/** The body of a Chat Completions request. Only what is set is sent: some servers answer 422 to a field that they do not know. */
export function chatCompletionBody(
  model: string,
  { messages, responseSchema, settings }: ModelRequest,
): Readonly<Record<string, unknown>> {
  const { maxOutputTokens, temperature, topP, seed, reasoningEffort } = settings ?? {};
  return {
    model,
    messages,
    ...(responseSchema && {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: responseSchema.name,
          strict: responseSchema.strict ?? true,
          schema: responseSchema.schema,
        },
      },
    }),
    ...(maxOutputTokens !== undefined && { max_completion_tokens: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(seed !== undefined && { seed }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
  };
}
