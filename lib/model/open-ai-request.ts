import type { ModelRequest } from './chat-model.js';

/** The body of a Chat Completions request. Only what is set is sent: some servers answer 422 to a field that they do not know. */
export function chatCompletionBody(
  model: string,
  { messages, responseSchema }: ModelRequest,
): Readonly<Record<string, unknown>> {
  return {
    model,
    messages,
    ...(responseSchema && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: responseSchema.name, strict: true, schema: responseSchema.schema },
      },
    }),
  };
}
