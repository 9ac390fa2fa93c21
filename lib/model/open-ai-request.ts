import type { FunctionChoice, ModelMessage, ModelRequest } from './chat-model.js';
import type { OpenAIProfile } from './profiles.js';

/** The part of a profile that a body depends on. */
export type BodyProfile = Pick<OpenAIProfile, 'schema' | 'maxTokensField' | 'extraBody'>;

/** The body of a Chat Completions request. Only what is set is sent: some servers answer 422 to a field that they do not know. */
export function chatCompletionBody(
  model: string,
  request: ModelRequest,
  { schema, maxTokensField = 'max_tokens', extraBody }: BodyProfile,
): Readonly<Record<string, unknown>> {
  const { messages, responseSchema, functions, functionChoice, parallelCalls, settings } = request;
  const { maxOutputTokens, temperature, topP, seed, reasoningEffort } = settings ?? {};
  return {
    model,
    messages: messages.map(chatMessage),
    ...(responseSchema &&
      schema !== 'none' && {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: responseSchema.name,
            strict: responseSchema.strict ?? true,
            schema: responseSchema.schema,
          },
        },
      }),
    ...(functions && {
      tools: functions.map(({ name, description, parameters, strict }) => ({
        type: 'function',
        function: { name, description, parameters, ...(strict && schema !== 'none' && { strict }) },
      })),
    }),
    ...(functionChoice !== undefined && { tool_choice: chatChoice(functionChoice) }),
    ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls }),
    ...(maxOutputTokens !== undefined && { [maxTokensField]: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(seed !== undefined && { seed }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...extraBody,
  };
}

function chatMessage(message: ModelMessage): object {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content };
    case 'assistant': {
      const { content, calls = [] } = message;
      if (calls.length === 0) return { role: 'assistant', content };
      return {
        role: 'assistant',
        content: content === '' ? null : content,
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id,
          type: 'function',
          function: { name, arguments: args },
        })),
      };
    }
    default:
      return { role: message.role, content: message.content };
  }
}

function chatChoice(choice: FunctionChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}
