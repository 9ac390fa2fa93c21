import { describeKind, isObject, throwProblems, unknownOptions } from '../declaration.js';
import { AIDefinitionError } from '../errors.js';
import type { ToolCallRecord } from '../run.js';
import { compileHandmade, isTool } from '../tool/compile.js';
import { CompiledToolset } from '../tool/compiled-toolset.js';
import { Dispatcher } from '../tool/dispatcher.js';
import { ThrownErrors } from '../tool/thrown.js';
import type { CompiledTool, Tool } from '../tool/tool.js';

/** What a tool is called with to see that it keeps the contract. */
export interface ToolContractExamples {
  /** Arguments that it takes, as a model sends them; it is executed once with each. At least one. */
  readonly valid: readonly object[];
  /** Arguments that it must not be executed with. */
  readonly invalid?: readonly object[];
}

/**
 * Whether a `Tool` of one's own keeps the contract that every kind of tool has: it can be offered, is executed with what
 * it declares and with nothing else, gives a result that can be told, and stays what it is. It is called the way an agent
 * calls it, so give it what it may change. Rejects with an `AIDefinitionError` that has every breach.
 */
export async function toolContract(tool: Tool, examples: ToolContractExamples): Promise<void> {
  throwProblems([
    ...exampleProblems(examples),
    ...(isTool(tool) ? [] : [`toolContract: ${describeKind(tool)} is no Tool`]),
  ]);
  const problems: string[] = [];
  const compiled = compileHandmade(tool, problems);
  const before = whatItIs(tool, compiled);
  if (compiled !== undefined) {
    const { valid, invalid = [] } = examples;
    for (const [index, args] of valid.entries()) {
      const at = `${tool.name}, valid[${index.toString()}]`;
      problems.push(
        ...(await takes(compiled, args, at)),
        ...(await refuses(compiled, { ...args, [UNDECLARED]: 1 }, `${at} with an argument that it does not declare`)),
      );
    }
    for (const [index, args] of invalid.entries())
      problems.push(...(await refuses(compiled, args, `${tool.name}, invalid[${index.toString()}]`)));
    const after = compileHandmade(tool, problems);
    if (whatItIs(tool, after) !== before)
      problems.push(
        `${tool.name}: it is not what it was before it was called; a tool may change what it works on, not its name, description, parameters or groups`,
      );
  }
  if (problems.length > 0) throw new AIDefinitionError(problems);
}

const UNDECLARED = 'undeclared_argument';

function exampleProblems(examples: unknown): string[] {
  const problems = unknownOptions('toolContract', examples, ['valid', 'invalid']);
  if (!isObject(examples)) return problems;
  const { valid, invalid = [] } = examples;
  if (!Array.isArray(valid) || valid.length === 0)
    problems.push('toolContract: valid must list arguments that the tool takes, valid: [{ task: … }]; [{}] for none');
  for (const [name, list] of Object.entries({ valid, invalid }))
    if (!Array.isArray(list) || !list.every(isObject))
      problems.push(`toolContract: ${name} must be a list of objects, each the arguments of one call`);
  return problems;
}

async function takes(tool: CompiledTool, args: object, at: string): Promise<string[]> {
  const { record, error } = await dispatched(tool, args);
  if (record.outcome === 'ok') return [];
  return [
    record.outcome === 'invalid-arguments'
      ? `${at}: its own declaration refuses them: ${record.result.split('\n').slice(1).join('; ')}`
      : `${at}: the call ended as ${record.outcome}: ${said(error)}`,
  ];
}

async function refuses(tool: CompiledTool, args: object, at: string): Promise<string[]> {
  const { record } = await dispatched(tool, args);
  return record.executed ? [`${at}: it was executed, and ended as ${record.outcome}; declare what it takes`] : [];
}

/** One call, by the dispatcher that all calls go through. */
async function dispatched(tool: CompiledTool, args: object): Promise<Ended> {
  const toolset = new CompiledToolset([tool]);
  const ended: Ended[] = [];
  const dispatcher = new Dispatcher({
    runId: 'toolContract',
    site: 'toolContract',
    question: 'toolContract',
    metadata: {},
    signal: new AbortController().signal,
    check: () => undefined,
    host: undefined,
    logger: { warn: () => undefined, error: () => undefined },
    isDenial: () => false,
    middleware: [],
    perTool: {},
    transcript: () => [],
    thrown: new ThrownErrors(),
    started: () => undefined,
    ended: (record, error) => {
      ended.push({ record, error });
    },
  });
  const sent = structuredClone(args) as Readonly<Record<string, unknown>>;
  const call = { callId: 'call_1', turn: 1, tool: tool.name, sent };
  // What would end a run is in the record as well.
  await dispatcher.dispatch(call, { toolset, offered: toolset }).catch(() => undefined);
  return ended[0] as Ended;
}

interface Ended {
  readonly record: ToolCallRecord;
  readonly error: unknown;
}

/** A developer reads it, in a test of the tool. */
function said(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : describeKind(error);
}

/** All that the model learns of it, as text. */
function whatItIs({ name, description, groups }: Tool, compiled: CompiledTool | undefined): string {
  return JSON.stringify([name, description, groups.map(({ groupName }) => groupName), compiled?.schema]);
}
