import { AIProviderError } from '../errors.js';
import type { ModelCall, ModelDelta, ModelReply } from './chat-model.js';

/** The pieces of one call. */
interface CallPieces {
  index: number | undefined;
  id: string | undefined;
  /** None where no piece bore one: such pieces belong to nothing. */
  name: string | undefined;
  arguments: string;
}

/**
 * Puts the pieces of a reply together. Which call a piece belongs to is said by its index; servers that give two calls
 * one index tell them apart by a new id, and pieces without either go on with the last call.
 */
export class ReplyAssembler {
  #text = '';
  #refusal = '';
  readonly #calls: CallPieces[] = [];
  #end: Extract<ModelDelta, { readonly type: 'end' }> | undefined;

  /** Throws a retryable `AIProviderError` for what comes after the end. */
  take(delta: ModelDelta): void {
    if (this.#end !== undefined) throw new AIProviderError('The stream went on after its end.', { retryable: true });
    switch (delta.type) {
      case 'text':
        this.#text += delta.text;
        break;
      case 'refusal':
        this.#refusal += delta.text;
        break;
      case 'call':
        this.#takeCall(delta);
        break;
      case 'end':
        this.#end = delta;
        break;
    }
  }

  /** The reply, whole. Throws a retryable `AIProviderError` where its end did not come. */
  reply(model: string): ModelReply {
    if (this.#end === undefined)
      throw new AIProviderError(`${model}: the stream ended before the reply was whole.`, { retryable: true });
    const { type: _, ...end } = this.#end;
    const calls = this.#calls.map(({ id, name, arguments: args }): ModelCall => {
      if (name === undefined)
        throw new AIProviderError(`${model}: the stream holds pieces of calls that belong to none.`, {
          retryable: true,
        });
      return { ...(id !== undefined && { id }), name, arguments: args };
    });
    return {
      ...end,
      text: this.#text,
      ...(this.#refusal !== '' && { refusal: this.#refusal }),
      ...(calls.length > 0 && { calls }),
    };
  }

  #takeCall(delta: Extract<ModelDelta, { readonly type: 'call' }>): void {
    const { index, id, name, arguments: args } = delta;
    let call = this.#open(delta);
    if (call === undefined) {
      call = { index, id, name: undefined, arguments: '' };
      this.#calls.push(call);
    }
    if (call.id === undefined || call.id === '') call.id = id ?? call.id;
    // Some servers repeat the name with every piece, others send it in two.
    if (name !== undefined && call.name !== name) call.name = (call.name ?? '') + name;
    call.arguments += args ?? '';
  }

  /** The call that a piece goes on with; none where it begins one. */
  #open({ index, id, name }: Extract<ModelDelta, { readonly type: 'call' }>): CallPieces | undefined {
    const hasId = id !== undefined && id !== '';
    const hasName = name !== undefined && name !== '';
    // Where calls are counted, a piece that is not may be any of several.
    const isLost = index === undefined && !hasId && !hasName;
    if (isLost && this.#calls.filter((call) => call.index !== undefined).length > 1) return undefined;
    const last = index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    const own = hasId ? this.#calls.findLast((call) => call.id === id && isOf(call, index)) : last;
    // One that had no id yet may get it now.
    const open = own ?? (last?.id === undefined || last.id === '' ? last : undefined);
    if (open === undefined || !hasName || open.arguments === '') return open;
    // Another name, once there are arguments, is another call, whatever index and id say; so is any where nothing is said.
    return open.name !== name || (index === undefined && !hasId) ? undefined : open;
  }
}

/** An id is one call's, unless two calls with indexes of their own share it. */
function isOf(call: CallPieces, index: number | undefined): boolean {
  return index === undefined || call.index === undefined || call.index === index;
}

/** A reply that came whole, as the pieces of one. */
export function* deltasOf({ text, refusal, calls = [], ...end }: ModelReply): Generator<ModelDelta> {
  if (text !== '') yield { type: 'text', text };
  if (refusal !== undefined) yield { type: 'refusal', text: refusal };
  for (const [index, { id, name, arguments: args }] of calls.entries())
    yield { type: 'call', index, ...(id !== undefined && { id }), name, arguments: args };
  yield { type: 'end', ...end };
}
