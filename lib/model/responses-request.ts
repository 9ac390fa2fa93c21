import { AIDefinitionError } from '../errors.js';
import type { FunctionChoice, ModelMessage, ModelRequest } from './chat-model.js';
import type { BodyProfile } from './open-ai-request.js';
import type { CarriedItem } from './responses-reply.js';

/**
 * The body of a Responses request, stateless: nothing is stored at the provider, the transcript is sent each time, and
 * what the model thought comes back encrypted and is sent along with its turn.
 * Throws an `AIDefinitionError` for a setting that this API does not have.
 */
export function responsesBody(
  model: string,
  request: ModelRequest,
  { schema, extraBody }: BodyProfile,
  options: { readonly encryptedReasoning: boolean },
): Readonly<Record<string, unknown>> {
  const { messages, responseSchema, functions, functionChoice, parallelCalls, settings } = request;
  const { maxOutputTokens, temperature, topP, seed, reasoningEffort } = settings ?? {};
  if (seed !== undefined)
    throw new AIDefinitionError(
      `${model}: the Responses API has no seed; leave settings.seed out, or take openAI({ api: 'chat' })`,
    );
  return {
    model,
    input: messages.flatMap(inputItems),
    ...(responseSchema &&
      schema !== 'none' && {
        text: {
          format: {
            type: 'json_schema',
            name: responseSchema.name,
            strict: responseSchema.strict ?? true,
            schema: responseSchema.schema,
          },
        },
      }),
    ...(functions && {
      // Left out, it would be read as strict, and what may be left out as something that may not.
      tools: functions.map(({ name, description, parameters, strict }) => ({
        type: 'function',
        name,
        description,
        parameters,
        strict,
      })),
    }),
    ...(functionChoice !== undefined && { tool_choice: responsesChoice(functionChoice) }),
    ...(parallelCalls !== undefined && { parallel_tool_calls: parallelCalls }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(reasoningEffort !== undefined && { reasoning: { effort: reasoningEffort } }),
    store: false,
    ...(options.encryptedReasoning && { include: ['reasoning.encrypted_content'] }),
    ...extraBody,
  };
}

function inputItems(message: ModelMessage): readonly object[] {
  switch (message.role) {
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.callId, output: message.content }];
    case 'assistant': {
      const { content, calls = [] } = message;
      const carried = (message.carried ?? []) as readonly CarriedItem[];
      const thoughtBefore = (call: number): readonly object[] =>
        carried.filter(({ before }) => before === call).map(({ item }) => item);
      return [
        ...thoughtBefore(0),
        ...(content === '' ? [] : [{ type: 'message', role: 'assistant', content }]),
        ...calls.flatMap(({ id, name, arguments: args }, index) => [
          ...(index === 0 ? [] : thoughtBefore(index)),
          { type: 'function_call', call_id: id, name, arguments: args },
        ]),
        ...(calls.length === 0 ? [] : thoughtBefore(calls.length)),
      ];
    }
    default:
      return [{ type: 'message', role: message.role, content: message.content }];
  }
}

function responsesChoice(choice: FunctionChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name };
}
