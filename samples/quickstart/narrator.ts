import {
  AIObserver,
  ChatModel,
  type ModelReply,
  type ModelRequest,
  type ToolEnded,
  type ToolStarted,
} from 'inversify-ai';

export type Print = (line: string) => void;

/** Prints each call and what the model was told of it. */
export class Narrator extends AIObserver {
  constructor(private readonly print: Print) {
    super();
  }

  override toolStarted({ tool, sent }: ToolStarted): void {
    this.print(
      `call: ${tool}(${Object.entries(sent)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join(', ')})`,
    );
  }

  override toolEnded({ result }: ToolEnded): void {
    this.print(`result: ${result.replaceAll('\n', ' ')}`);
  }
}

/** A model around a model: prints what is on offer and what is asked, and with `wire` each request and reply as JSON. */
export class NarratedModel extends ChatModel {
  readonly name: string;
  readonly profile: ChatModel['profile'];

  #last: ModelRequest | undefined;

  constructor(
    private readonly inner: ChatModel,
    private readonly print: Print,
    private readonly wire: boolean,
  ) {
    super();
    this.name = inner.name;
    this.profile = inner.profile;
  }

  override async complete(request: ModelRequest, options: { readonly signal: AbortSignal }): Promise<ModelReply> {
    const again = request === this.#last; // an attempt that is repeated
    this.#last = request;
    if (!again && !request.messages.some(({ role }) => role === 'assistant')) {
      this.print(`tools: ${request.tools.join(', ')}`);
      this.print(`question: ${request.messages.at(-1)?.content ?? ''}`);
    }
    if (this.wire) this.print(`request: ${JSON.stringify(request)}`);
    const reply = await this.inner.complete(request, options);
    if (this.wire) this.print(`reply: ${JSON.stringify(reply)}`);
    return reply;
  }
}
