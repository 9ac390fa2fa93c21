import { Readable } from 'node:stream';
import { z } from 'zod';
import {
  AIError,
  AIMiddleware,
  AIObserver,
  type AIServiceOptions,
  AITool,
  AIToolError,
  ChatModel,
  type ChatOptions,
  createAIService,
  defineTool,
  FromScope,
  type ModelReply,
  type ModelRequest,
  type NextTool,
  ReadOnly,
  refuse,
  type RunEnded,
  type ToolEnded,
  type ToolInvocation,
  type ToolOutcome,
} from 'inversify-ai';
import { application, as, Desk } from '../container/orders.js';

/* One program for each row of the page on the loop. */

/** What comes for one request: a reply, what the client throws for an HTTP error, or nothing. */
type Came =
  Partial<ModelReply> | { readonly status: number; readonly headers?: object; readonly code?: string } | 'never';

const NO_USAGE = { inputTokens: 3, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 };
const ANSWER = JSON.stringify({ tool: 'ANSWER', arguments: [], answer: 'done' });

/** Plays what comes, and answers when that is over. */
class Plays extends ChatModel {
  readonly name = 'plays';
  readonly profile = { schema: 'enforced', wires: ['envelope'] } as const;
  readonly requests: ModelRequest[] = [];
  constructor(private readonly coming: readonly Came[]) {
    super();
  }
  override async complete(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): Promise<ModelReply> {
    const came = this.coming[this.requests.length] ?? { text: ANSWER };
    this.requests.push(request);
    if (came === 'never')
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    if ('status' in came) throw Object.assign(new Error('SECRET'), came);
    await Promise.resolve();
    return { text: '', finish: 'stop', usage: NO_USAGE, ...came };
  }
}

const call = (tool: string, args: Readonly<Record<string, string>> = {}, answer = ''): Came => ({
  text: JSON.stringify({ tool, arguments: Object.entries(args).map(([name, value]) => ({ name, value })), answer }),
});
const find = call('find');
const pay = call('pay', { amount: '5' });
const text = (text: string, finish = 'stop'): Came => ({ text, finish });
const half = text('{"tool":"pay"');

const tools = (pays: () => unknown = () => 'paid', options: { readonly [option: string]: unknown } = {}) => [
  defineTool({ name: 'find', description: 'Finds', group: ReadOnly, parameters: {}, execute: () => 'in transit' }),
  defineTool({
    name: 'pay',
    description: 'Pays',
    parameters: { amount: { type: 'integer', description: 'How much' } },
    execute: pays,
    ...options,
  }),
];

interface Program {
  readonly coming: readonly Came[];
  readonly options?: Partial<AIServiceOptions>;
  readonly chat?: ChatOptions;
  readonly typed?: true;
  /** Called at the first request. */
  readonly meanwhile?: () => void;
}

/** What was seen of a run, in the page's words. */
export interface Seen {
  readonly leadsTo: string;
  readonly requests: number;
  /** The text that followed what came. */
  readonly told: string;
  readonly outcome: string;
}

const words = (error: unknown): string =>
  error instanceof AIError
    ? `${error.name} [${error.code}]`
    : error === REASON
      ? "the signal's reason"
      : error === THROWN
        ? 'what it threw'
        : String(error);

const REASON = new Error('enough');
const THROWN = new Error('not on my watch');
const Answer = z.object({ state: z.enum(['in transit', 'delivered']) });

export async function play({ coming, options = {}, chat = {}, typed, meanwhile }: Program): Promise<Seen> {
  const model = new Plays(coming);
  const seen: { ended?: RunEnded; last?: ToolEnded } = {};
  class Watches extends AIObserver {
    override turnStarted(): void {
      if (meanwhile !== undefined) setImmediate(meanwhile);
    }
    override toolEnded(event: ToolEnded): void {
      seen.last = event;
    }
    override runEnded(event: RunEnded): void {
      seen.ended = event;
    }
  }
  const service = createAIService({
    model,
    tools: tools(),
    logger: { warn: () => undefined, error: () => undefined },
    ...options,
    retry: { minDelayMs: 0, maxDelayMs: 0, ...options.retry },
    observers: [...(options.observers ?? []), new Watches()],
  });
  const error: unknown = await (typed === undefined ? service.run('q', chat) : service.chat('q', Answer, chat)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const next = model.requests[coming.length];
  const { stop } = seen.ended!;
  const end =
    error === undefined ? `${typed === undefined ? 'the answer' : 'the value'}, \`stop: '${stop!}'\`` : words(error);
  return {
    leadsTo: next === undefined ? end : next.responseSchema?.name === 'answer' ? 'a typed turn' : 'the next turn',
    requests: model.requests.length,
    told: next?.messages.at(-1)?.content.replace(/^q\n\n/, '') ?? '-',
    outcome: `\`${String(seen.last?.outcome)}\`${error === undefined ? '' : `, and ${words(error)} ends the run`}`,
  };
}

/** What a reply leads to, by the first cell of its row; the last that comes is what the row says. */
export const replies: Readonly<Record<string, Program>> = {
  'an answer': { coming: [text(ANSWER)] },
  'an answer, after the last permitted call': { coming: [find, text(ANSWER)], options: { maxToolCalls: 1 } },
  'an answer in a typed question': { coming: [text(ANSWER)], typed: true },
  'a call': { coming: [find] },
  'a call with text beside it': { coming: [call('find', {}, 'Let me look.')] },
  'a call of a tool with `returnDirect`': {
    coming: [pay],
    options: { tools: tools(() => 'paid', { returnDirect: true }) },
  },
  'a call, after the last permitted one': { coming: [find, find], options: { maxToolCalls: 1 } },
  'cut off at the limit on output tokens, whole as it may look': { coming: [{ ...(pay as object), finish: 'length' }] },
  'stopped for a reason that is not known here': { coming: [{ ...(pay as object), finish: 'something_new' }] },
  "blocked by the provider's filter": { coming: [text('', 'content_filter')] },
  'a refusal': { coming: [{ refusal: 'No.' }] },
  'a function call, where none was offered': { coming: [{ calls: [{ name: 'pay', arguments: '{"amount":5}' }] }] },
  'not in the agreed form': { coming: [half] },
  'not in the agreed form, a second time': { coming: [half, half] },
  'not in the agreed form, after the last permitted call': { coming: [find, half], options: { maxToolCalls: 1 } },
  empty: { coming: [text('')] },
  'empty, a second time': { coming: [text(''), text('')] },
  'a typed answer that fits': { coming: [text(ANSWER), text('{"state":"in transit"}')], typed: true },
  'a typed answer that does not fit': { coming: [text(ANSWER), text('{"state":"lost"}')], typed: true },
  'a typed answer that does not fit, a second time': {
    coming: [text(ANSWER), text('{"state":"lost"}'), text('{"state":"gone"}')],
    typed: true,
  },
};

const throws = (error: Error) => (): never => {
  throw error;
};
/** Fails the first time in this way, and would pay the second time. */
const once = (first: () => unknown): (() => unknown) => {
  let times = 0;
  return () => (++times === 1 ? first() : 'paid');
};
const never = (): Promise<never> => new Promise(() => undefined);

class Around extends AIMiddleware {
  constructor(private readonly around: (call: ToolInvocation, next: NextTool) => Promise<ToolOutcome>) {
    super();
  }
  override tool(call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
    return this.around(call, next);
  }
}

abstract class Missing {}
class NeedsMissing {
  @AITool({ name: 'pay', description: 'Pays' })
  pay(@FromScope(Missing) _missing: Missing): string {
    return 'paid';
  }
}

const abort = (): { readonly chat: ChatOptions; readonly meanwhile: () => void } => {
  const controller = new AbortController();
  return {
    chat: { signal: controller.signal },
    meanwhile: () => {
      controller.abort(REASON);
    },
  };
};

/** What a call leads to, by the first cell of its row. */
export const calls: Readonly<Record<string, () => Program>> = {
  'returns a text': () => ({ coming: [pay] }),
  'names a tool that is not of this agent': () => ({ coming: [call('drop')] }),
  'has an argument that does not fit': () => ({ coming: [call('pay', { amount: 'much' })] }),
  'throws an exception': () => ({ coming: [pay], options: { tools: tools(throws(new Error('INSERT INTO'))) } }),
  "throws `new AIToolError('The desk opens at nine.')`": () => ({
    coming: [pay],
    options: { tools: tools(throws(new AIToolError('The desk opens at nine.'))) },
  }),
  'throws what `isDenial` says is a denial': () => ({
    coming: [pay],
    options: { tools: tools(throws(new Error('not yours'))), isDenial: () => true },
  }),
  'returns what cannot be told, a stream': () => ({
    coming: [pay],
    options: { tools: tools(() => Readable.from(['a'])) },
  }),
  'does not end within its `timeoutMs`': () => ({
    coming: [pay],
    options: { tools: tools(never, { timeoutMs: 1 }) },
  }),
  'is the same again, after it succeeded': () => ({ coming: [pay, pay] }),
  'is the same again, after an exception': () => ({
    coming: [pay, pay],
    options: { tools: tools(once(throws(new Error('connection lost')))) },
  }),
  'is the same again, after it timed out': () => ({
    coming: [pay, pay],
    options: { tools: tools(once(never), { timeoutMs: 1 }) },
  }),
  'is the same again, after an `AIToolError`': () => ({
    coming: [pay, pay],
    options: { tools: tools(once(throws(new AIToolError('The desk opens at nine.')))) },
  }),
  'is the same again, of a tool that only looks': () => ({ coming: [find, find] }),
  'is the same again, of a tool with `repeatable`': () => ({
    coming: [pay, pay],
    options: { tools: tools(() => 'paid', { repeatable: true }) },
  }),
  "comes after the tool's `limits.perTool`": () => ({
    coming: [pay, call('pay', { amount: '6' })],
    options: { limits: { perTool: { pay: 1 } } },
  }),
  "is refused by a middleware, `refuse('The desk is closed.')`": () => ({
    coming: [pay],
    options: { middleware: [new Around(() => Promise.resolve(refuse('The desk is closed.')))] },
  }),
  'is answered by a middleware in its place': () => ({
    coming: [pay],
    options: { middleware: [new Around(() => Promise.resolve({ outcome: 'ok', result: 'paid by hand' }))] },
  }),
  'is edited by a middleware so that it does not fit': () => ({
    coming: [pay],
    options: { middleware: [new Around((_call, next) => next({ arguments: { amount: 'all' } }))] },
  }),
  'needs a binding that is not there': () => ({ coming: [call('pay')], options: { tools: [new NeedsMissing()] } }),
  'is at work when the run is aborted': () => ({ coming: [pay], options: { tools: tools(never) }, ...abort() }),
};

/** What else ends a run, by the first cell of its row. */
export const others: Readonly<Record<string, () => Promise<Pick<Seen, 'leadsTo' | 'requests'>>>> = {
  '503, and then an answer': () => play({ coming: [{ status: 503 }, text(ANSWER)] }),
  '503, as often as `maxAttempts`': () => play({ coming: [1, 2, 3].map(() => ({ status: 503 })) }),
  '429 with `Retry-After` below `retry.maxRetryAfterMs`, and then an answer': () =>
    play({ coming: [{ status: 429, headers: { 'retry-after-ms': '2' } }, text(ANSWER)] }),
  '429 with `Retry-After` above it': () => play({ coming: [{ status: 429, headers: { 'retry-after': '61' } }] }),
  '429, since the account is empty': () => play({ coming: [{ status: 429, code: 'insufficient_quota' }] }),
  '400, 401, 403, 404 or 422': async () => {
    const seen = await Promise.all([400, 401, 403, 404, 422].map((status) => play({ coming: [{ status }] })));
    if (new Set(seen.map((one) => JSON.stringify(one))).size > 1) throw new Error(JSON.stringify(seen));
    return seen[0]!;
  },
  'no reply within `retry.deadlineMs`': () => play({ coming: ['never'], options: { retry: { deadlineMs: 2 } } }),
  'no answer within `limits.deadlineMs`': () => play({ coming: ['never'], options: { limits: { deadlineMs: 2 } } }),
  '`limits.maxTokens` used up': () => play({ coming: [pay], options: { limits: { maxTokens: 5 } } }),
  '`limits.maxTurns` used up': () => play({ coming: [pay], options: { limits: { maxTurns: 1 } } }),
  '`signal` aborts, whatever is at work': () => play({ coming: ['never'], ...abort() }),
  '`signal` was aborted before': () => play({ coming: ['never'], chat: { signal: AbortSignal.abort(REASON) } }),
  'the scope closes': closes,
  'a middleware throws': () => {
    class Throws extends AIMiddleware {
      override turn(): Promise<ModelReply> {
        throw THROWN;
      }
    }
    return play({ coming: ['never'], options: { middleware: [new Throws()] } });
  },
  'an observer throws': () => {
    class Throws extends AIObserver {
      override turnStarted(): void {
        throw THROWN;
      }
    }
    return play({ coming: [text(ANSWER)], options: { observers: [new Throws()] } });
  },
  "a provider's error that a middleware does not catch": () => {
    class Passes extends AIMiddleware {}
    return play({ coming: [{ status: 400 }], options: { middleware: [new Passes()] } });
  },
};

async function closes(): Promise<Pick<Seen, 'leadsTo' | 'requests'>> {
  const model = new Plays(['never']);
  const { ai } = application(model);
  const scope = ai.openScope(as('alice'));
  const asked = scope.container.get(Desk).agent.run('q');
  setImmediate(() => void scope.close());
  const error: unknown = await asked.catch((thrown: unknown) => thrown);
  return { leadsTo: words(error), requests: model.requests.length };
}
