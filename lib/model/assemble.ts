import { AIProviderError } from '../errors.js';
import type { ModelCall, ModelDelta, ModelReply } from './chat-model.js';

/** The pieces of one call. */
interface CallPieces {
  index: number | undefined;
  id: string | undefined;
  name: string;
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

  take(delta: ModelDelta): void {
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
    const calls = this.#calls.map(({ id, name, arguments: args }): ModelCall => ({
      ...(id !== undefined && { id }),
      name,
      arguments: args,
    }));
    return {
      ...end,
      text: this.#text,
      ...(this.#refusal !== '' && { refusal: this.#refusal }),
      ...(calls.length > 0 && { calls }),
    };
  }

  #takeCall(delta: Extract<ModelDelta, { readonly type: 'call' }>): void {
    const { index, id, name, arguments: args } = delta;
    let call = this.#open(index, id, name);
    if (call === undefined) {
      call = { index, id, name: '', arguments: '' };
      this.#calls.push(call);
    }
    call.id ??= id;
    // Some servers repeat the name with every piece, others send it in two.
    if (name !== undefined && call.name !== name) call.name += name;
    call.arguments += args ?? '';
  }

  /** The call that a piece goes on with. */
  #open(index: number | undefined, id: string | undefined, name: string | undefined): CallPieces | undefined {
    const isNew = id !== undefined && id !== '';
    const last = index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (last === undefined) return undefined;
    if (isNew && last.id !== undefined && last.id !== '' && last.id !== id)
      return this.#calls.findLast((call) => call.id === id && call.index === index);
    // Without index and id, a name begins another call once the last one has arguments.
    if (index === undefined && !isNew && name !== undefined && name !== '' && last.arguments !== '') return undefined;
    return last;
  }
}
