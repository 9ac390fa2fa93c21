/**
 * What the wires cost in tokens: the first request of an agent with 3, 10 and 50 tools, and one call and one answer, as
 * the library writes them, counted with o200k_base. Exits with 1 where docs/wires.md says otherwise. `npm run bench:tokens`
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import {
  AIObserver,
  createAIService,
  defineTool,
  type ModelReplied,
  ReadOnly,
  type Tool,
  type WireName,
} from 'inversify-ai';
import { call, scriptedModel, text } from 'inversify-ai/testing';

const WIRES: readonly WireName[] = ['envelope', 'union', 'native'];
const SIZES = [3, 10, 50] as const;
const QUESTION = 'Where is order 42, and can I still have my money back?';
const RESULT = 'Order 42 is refunded, 129.95 EUR, reference R-2026-0042.';
const ANSWER = 'Order 42 was returned on 3 March. I have refunded 129.95 EUR; the reference is R-2026-0042.';
const ARGUMENTS = { orderId: 42, amount: 129.95, reason: 'The kettle arrived broken.' };

const NOUNS = [
  'order',
  'shipment',
  'refund',
  'invoice',
  'customer',
  'address',
  'product',
  'payment',
  'return',
  'ticket',
];

/** The five tools of one class, each of one to three parameters. */
function toolsAbout(noun: string): readonly Tool[] {
  const plural = noun === 'address' ? 'addresses' : `${noun}s`;
  const prefix = `${noun[0]?.toUpperCase() ?? ''}${noun.slice(1)}Tools`;
  const id = { type: 'integer', description: `The ${noun} id` } as const;
  const execute = (): string => RESULT;
  return [
    defineTool({
      name: `${prefix}_find`,
      description: `Looks up a single ${noun} by id`,
      group: ReadOnly,
      parameters: { [`${noun}Id`]: id },
      execute,
    }),
    defineTool({
      name: `${prefix}_list`,
      description: `Lists the ${plural} of the person who is asking, newest first`,
      group: ReadOnly,
      parameters: {
        status: {
          enum: ['open', 'in_progress', 'closed'],
          description: `Only ${plural} with this status`,
          optional: true,
        },
        limit: { type: 'integer', minimum: 1, maximum: 50, description: 'At most so many', optional: true },
      },
      execute,
    }),
    defineTool({
      name: `${prefix}_refund`,
      description: `Pays back money for a ${noun} that the customer is not happy with`,
      parameters: {
        [`${noun}Id`]: id,
        amount: { type: 'number', minimum: 0, description: 'How much, in EUR' },
        reason: { type: 'string', description: 'Why, in the words of the customer' },
      },
      execute,
    }),
    defineTool({
      name: `${prefix}_reschedule`,
      description: `Moves the date of a ${noun}`,
      parameters: { [`${noun}Id`]: id, date: { type: Date, description: 'The new date' } },
      execute,
    }),
    defineTool({
      name: `${prefix}_annotate`,
      description: `Adds a note to a ${noun} that only colleagues see`,
      parameters: { [`${noun}Id`]: id, note: { type: 'string', description: 'The note' } },
      execute,
    }),
  ];
}

const TOOLS = NOUNS.flatMap(toolsAbout);

/** What the model wrote, in order. */
class Replies extends AIObserver {
  readonly written: number[] = [];

  override modelReplied({ text: said, calls = [] }: ModelReplied): void {
    const texts = [said, ...calls.flatMap(({ name, arguments: args }) => [name, args])];
    this.written.push(texts.reduce((sum, one) => sum + countTokens(one), 0));
  }
}

interface Measured {
  readonly messages: number;
  /** The schema of a turn, or the functions. */
  readonly schema: number;
  readonly whole: number;
  /** What the second request has more than the first. */
  readonly history: number;
  readonly call: number;
  readonly answer: number;
}

async function measure(wire: WireName, size: number): Promise<Measured> {
  const model = scriptedModel([call('OrderTools_refund', ARGUMENTS, { id: 'call_1' }), text(ANSWER)]);
  const replies = new Replies();
  await createAIService({ model, tools: TOOLS.slice(0, size), wire, observers: [replies] }).run(QUESTION);
  const [first = '', second = ''] = model.requests.map(({ body }) => body);
  const { messages, response_format, tools } = JSON.parse(first) as Readonly<Record<string, unknown>>;
  const [written = Number.NaN, answer = Number.NaN] = replies.written;
  return {
    messages: countTokens(JSON.stringify(messages)),
    schema: countTokens(JSON.stringify(response_format ?? tools)),
    whole: countTokens(first),
    history: countTokens(second) - countTokens(first),
    call: written,
    answer,
  };
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** The tables of the page, counted. */
export async function tokenTables(): Promise<string> {
  const requests: string[] = [];
  for (const size of SIZES)
    for (const wire of WIRES) {
      const { messages, schema, whole } = await measure(wire, size);
      requests.push(row([size, wire, messages, schema, whole - messages - schema, whole]));
    }
  const [envelope, union, native] = await Promise.all(WIRES.map((wire) => measure(wire, 3)));
  const each = (what: keyof Measured): readonly number[] =>
    [envelope, union, native].map((measured) => measured?.[what] ?? Number.NaN);
  return [
    row(['tools', 'wire', 'messages', 'schema or functions', 'the rest', 'the first request']),
    row(Array<string>(6).fill('---')),
    ...requests,
    '',
    row(['tokens of', ...WIRES]),
    row(Array<string>(4).fill('---')),
    row(['a call with three arguments, as the model writes it', ...each('call')]),
    row(['that call and its result, in each later request', ...each('history')]),
    row(['an answer of two sentences, as the model writes it', ...each('answer')]),
  ].join('\n');
}

/** The tables as the page has them. */
export function tablesOnPage(): string {
  const [, between = ''] = readFileSync('docs/wires.md', 'utf8').split(/<!-- \/?bench:tokens -->\n/);
  return between.trim();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const counted = await tokenTables();
  console.log(counted);
  const holds = counted === tablesOnPage();
  console.log(`\n${holds ? 'holds' : 'FAILS'}: docs/wires.md says so between its bench:tokens marks`);
  if (!holds) process.exitCode = 1;
}
