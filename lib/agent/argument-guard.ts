import { describeKind, shortly, throwProblems, unknownOptions } from '../declaration.js';
import { type NextTool, refuse, type ToolInvocation, type ToolOutcome } from '../tool/middleware.js';
import { progressOf } from '../tool/progress.js';
import { textsIn, UnseenError } from './argument-texts.js';
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
 * it was converted; numbers, dates and big integers in their text form, bytes as UTF-8, JSON within a text. A call is
 * refused, too, where a schema of another library made an object that shows nothing of itself, and where a text is JSON
 * that is not read here (a key given twice). An object that shows a part of what it holds is looked at by that part. Bind it after whatever edits arguments, so that
 * it sees what the tool gets. It is a net below the rules of the tools, not in place of them: a
 * pattern knows one spelling of what it forbids.
 * Throws an `AIDefinitionError` for options that are none.
 */
export class ArgumentGuard extends AIMiddleware {
  /** The wire names of the tools that it looks at; none where it looks at all. */
  readonly tools: readonly string[] | undefined;
  readonly #deny: readonly RegExp[];
  readonly #tools: ReadonlySet<string> | undefined;
  readonly #text: string;

  constructor(options: ArgumentGuardOptions) {
    super();
    const problems = unknownOptions('ArgumentGuard', options, ['deny', 'tools', 'text']);
    throwProblems(problems);
    const { deny, tools, text = 'This call is not allowed with these arguments.' } = options;
    if (!Array.isArray(deny) || deny.length === 0)
      problems.push(
        `ArgumentGuard: deny must list patterns, [/drop\\s+table/i]; found ${Array.isArray(deny) ? 'an empty list' : describeKind(deny)}`,
      );
    else
      for (const [index, entry] of (deny as unknown[]).entries())
        if (!(entry instanceof RegExp))
          problems.push(
            `ArgumentGuard: deny[${index.toString()}] must be a pattern, /drop\\s+table/i; found ${shortly(entry)}`,
          );
    if (tools !== undefined && (!Array.isArray(tools) || (tools as unknown[]).some((name) => typeof name !== 'string')))
      problems.push(
        `ArgumentGuard: tools must list wire names, ['OrderTools_refundOrder']; found ${describeKind(tools)}`,
      );
    if (typeof text !== 'string' || text.trim() === '')
      problems.push(`ArgumentGuard: text must be a sentence for the model; found ${describeKind(text)}`);
    throwProblems(problems);
    // One with the flags g or y remembers where it was, and would look at half of the next text.
    this.#deny = (deny as readonly RegExp[]).map(({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, '')));
    this.tools = tools && Object.freeze([...tools]);
    this.#tools = tools && new Set(tools);
    this.#text = text;
  }

  override async tool(call: ToolInvocation, next: NextTool): Promise<ToolOutcome> {
    if (this.#tools?.has(call.tool) === false) return next();
    // What is shown of the arguments is a copy, and says less of an object that keeps what it holds to itself.
    const { values, tool } = progressOf(call)?.call ?? { values: call.arguments, tool: undefined };
    const foreign = new Set(tool?.parameters.filter(({ shape }) => shape.kind === 'standard').map(({ name }) => name));
    const looked = [
      ...Object.entries(values).map(([name, value]) => [name, value, foreign.has(name)] as const),
      ...Object.entries(call.sent).map(([name, value]) => [name, value, false] as const),
    ];
    for (const [name, value, isForeign] of looked) {
      const reason = this.#deniedIn(value, isForeign);
      if (reason !== undefined) return { ...refuse(this.#text), error: new Error(`ArgumentGuard: ${name} ${reason}`) };
    }
    return next();
  }

  #deniedIn(value: unknown, isForeign: boolean): string | undefined {
    try {
      for (const text of textsIn(value, isForeign)) {
        const pattern = this.#deny.find((denied) => denied.test(text));
        if (pattern !== undefined) return `matches ${String(pattern)}`;
      }
      return undefined;
    } catch (error) {
      if (error instanceof UnseenError) return `holds ${error.message}`;
      throw error;
    }
  }
}
