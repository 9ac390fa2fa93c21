import type { OpenAIClient, Transport } from './open-ai-model.js';
import { member, text } from './member.js';
import { readResponse, responseDeltas } from './responses-reply.js';
import { responsesBody } from './responses-request.js';

/**
 * The Responses API, stateless. A model that does not think answers 400 where it is asked for its thoughts: that is
 * learnt once, and the request is sent again without.
 */
export function responses(): Transport {
  let encryptedReasoning = true;
  return {
    body: (model, request, profile) => responsesBody(model, request, profile, { encryptedReasoning }),
    send: (client, body, options) =>
      (client.responses as NonNullable<OpenAIClient['responses']>).create(body as never, options as never),
    streaming: { stream: true },
    read: readResponse,
    deltas: (where, _request, events, requestId) => responseDeltas(where, events, requestId),
    learns: (error, body) => {
      const refused =
        member(error, 'status') === 400 &&
        /encrypted content is not supported/i.test(text(member(error, 'message')) ?? '');
      if (refused) encryptedReasoning = false;
      // Another question may have learnt it meanwhile, which helps this one too.
      return refused && 'include' in body;
    },
  };
}
