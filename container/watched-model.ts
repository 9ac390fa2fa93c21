import { ChatModel, type ModelReply, type ModelRequest } from '../lib/model/chat-model.js';
import type { ScopeWatcher } from './scope-owner.js';

/** A model whose requests and replies somebody waits at and sees. */
export class WatchedModel extends ChatModel {
  readonly #model: ChatModel;
  readonly #watcher: ScopeWatcher;

  constructor(model: ChatModel, watcher: ScopeWatcher) {
    super();
    this.#model = model;
    this.#watcher = watcher;
  }

  get name(): string {
    return this.#model.name;
  }

  get profile(): ChatModel['profile'] {
    return this.#model.profile;
  }

  override async complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply> {
    this.#watcher.see('a request to the model', request);
    await this.#watcher.step('before the model was asked');
    const reply = await this.#model.complete(request, options);
    this.#watcher.see('a reply of the model', reply.text);
    await this.#watcher.step('after the model was asked');
    return reply;
  }
}
