import { describeKind, throwProblems, unknownOptions } from '../declaration.js';
import { type NextTool, refuse, type ToolInvocation, type ToolOutcome } from '../tool/middleware.js';
import { AIMiddleware } from './middleware.js';

/** What `ArgumentGuard` takes. */
export interface ArgumentGuardOptions {
  /** A call with an argument that one of these matches anywhere is refused. */
  readonly deny: readonly RegExp[];
  /** Wire names of the tools that it looks at. Default: all. */
  readonly tools?: readonly string[];
  /** What the model is told. Default: a fixed line that does not say which pattern it was. */
  readonly text?: string;
}

/**
 * Refuses calls by what is in their arguments: every text in them, nested ones and keys too, as the model sent it and as
 * it was converted; numbers, dates and big integers in their text form, bytes as UTF-8. Bind it after whatever edits
 * arguments, so that it sees what the tool gets. It is a net below the rules of the tools, not in place of them: a
 * pattern knows one spelling of what it forbids.
 * Throws an `AIDefinitionError` for options that are none.
 */
export class ArgumentGuard extends AIMiddleware {
  readonly #deny: readonly RegExp[];
  readonly #tools: ReadonlySet<string> | undefined;
  readonly #text: string;

  constructor(options: ArgumentGuardOptions) {
    super();
    const problems = unknownOptions('ArgumentGuard', options, ['deny', 'tools', 'text']);
    throwProblems(problems);
    const { deny, tools, text = 'This call is not allowed with these arguments.' } = options;
    if (!Array.isArray(deny) || deny.length === 0 || !(deny as unknown[]).every((entry) => entry instanceof RegExp))
      problems.push(`ArgumentGuard: deny must list patterns, [/drop\\s+table/i]; found ${describeKind(deny)}`);
    if (tools !== undefined && (!Array.isArray(tools) || (tools as unknown[]).some((name) => typeof name !== 'string')))
      problems.push(
        `ArgumentGuard: tools must list wire names, ['OrderTools_refundOrder']; found ${describeKind(tools)}`,
      );
    if (typeof text !== 'string' || text.trim() === '')
      problems.push(`ArgumentGuard: text must be a sentence for the model; found ${describeKind(text)}`);
    throwProblems(problems);
    // One with the flags g or y remembers where it was, and would look at half of the next text.
    this.#deny = (deny as readonly RegExp[]).map(({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, '')));
    this.#tools = tools && new Set(tools);
    this.#text = text;
  }

  override async tool(call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
    if (this.#tools?.has(call.tool) === false) return next();
    for (const [name, value] of [...Object.entries(call.arguments), ...Object.entries(call.sent)])
      for (const text of textsIn(value)) {
        const pattern = this.#deny.find((denied) => denied.test(text));
        if (pattern !== undefined)
          return { ...refuse(this.#text), error: new Error(`ArgumentGuard: ${name} matches ${String(pattern)}`) };
      }
    return next();
  }
}

/** Every text in a value, however deep; one that holds itself ends. */
function* textsIn(value: unknown): Generator<string> {
  const seen = new Set<object>();
  const next: unknown[] = [value];
  while (next.length > 0) {
    const held = next.pop();
    if (typeof held === 'string') yield held;
    else if (typeof held === 'number' || typeof held === 'bigint') yield held.toString();
    if (typeof held !== 'object' || held === null || seen.has(held)) continue;
    seen.add(held);
    if (held instanceof Date) yield Number.isNaN(held.getTime()) ? '' : held.toISOString();
    else if (held instanceof Uint8Array) yield Buffer.from(held).toString('utf8');
    else if (held instanceof Set || Array.isArray(held)) for (const item of held as Iterable<unknown>) next.push(item);
    else
      for (const [key, inner] of held instanceof Map ? (held as Map<unknown, unknown>) : Object.entries(held))
        next.push(key, inner);
  }
}
