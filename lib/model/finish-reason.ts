/**
 * Why a provider stopped writing. Another word than these is one that is not known here: nothing runs from such a
 * reply, since it may not be whole.
 */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | (string & {});

/** The words of OpenAI, and those of others behind servers that pass them on. */
const FINISH_REASONS: Readonly<Record<string, readonly string[]>> = {
  stop: [
    'stop',
    'end_turn',
    'stop_sequence',
    'eos',
    'eos_token',
    'end_of_turn',
    'stop_token',
    'completed',
    'complete',
    'done',
    'normal',
  ],
  tool_calls: ['tool_calls', 'function_call', 'tool_use'],
  length: ['length', 'max_tokens', 'model_length', 'max_output_tokens'],
  content_filter: [
    'content_filter',
    'content-filter',
    'safety',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
  ],
};

/** A provider's word for why it stopped. `null`, nothing at all and an empty text are what some servers send with a complete reply. */
export function readFinish(word: unknown): FinishReason {
  if (word === undefined || word === null || word === '') return 'stop';
  if (typeof word !== 'string') return 'unknown';
  const known = Object.entries(FINISH_REASONS).find(([, words]) => words.includes(word.toLowerCase()));
  return known?.[0] ?? word;
}
