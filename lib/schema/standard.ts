import { describeKind } from '../declaration.js';
import { anyConverter } from './convert-structure.js';
import { Findings } from './findings.js';
import type { Finished, Unchecked } from './finish.js';
import { outlineOf } from './outline.js';
import { isJsonObject } from './json.js';
import { cut } from './quote.js';
import type { Field, StandardIssue, StandardResult, StandardSchema, StandardShape } from './shape.js';

/** Whether something is a Standard Schema; some are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value))
    return false;
  const standard = value['~standard'] as { readonly validate?: unknown } | null;
  return typeof standard?.validate === 'function';
}

/** A shape that another library checks; `json` is what the model is told, where that library does not say. */
export function standardShape(
  where: string,
  schema: unknown,
  json: unknown,
  problems: string[],
): (Pick<Field, 'nullable'> & { readonly shape: StandardShape }) | undefined {
  if (!isStandardSchema(schema)) {
    problems.push(
      `${where}: schema must be a Standard Schema, as zod, valibot and arktype make them; found ${describeKind(schema)}`,
    );
    return undefined;
  }
  const { jsonSchema, vendor } = schema['~standard'];
  let told = json;
  if (told === undefined && jsonSchema !== undefined)
    try {
      // What goes in: what comes out has defaults filled in, and would ask the model for them.
      told = jsonSchema.input({ target: 'draft-2020-12' });
    } catch (error) {
      problems.push(
        `${where}: ${vendor} cannot say this schema as JSON Schema (${cut(error instanceof Error ? error.message : String(error))}); write jsonSchema of what arrives beside it, which is JSON and holds no Date, bigint or Map: z.iso.datetime().transform((at) => new Date(at)) makes one`,
      );
      return undefined;
    }
  if (!isJsonObject(told) || Object.keys(told).every((key) => key === '$schema')) {
    problems.push(
      `${where}: ${vendor} does not say what this schema is as JSON Schema, which the model reads; write jsonSchema beside it`,
    );
    return undefined;
  }
  const { $schema: _, ...rest } = told;
  const { shape: outline, nullable } = outlineOf(rest);
  return { nullable, shape: Object.freeze({ kind: 'standard', schema, json: Object.freeze(rest), outline }) };
}

/** Checks and converts by the other library. What it throws is the application's own, and not for the model. */
export async function convertByStandard(
  shape: StandardShape,
  { value: sent, optional }: { readonly value: unknown; readonly optional: boolean },
  path: string,
  findings: Findings,
  unchecked: Unchecked[],
): Promise<Finished> {
  if (sent === null && shape.passesNull === true) return { value: null };
  try {
    const result = await validate(shape, sent);
    if (result.issues === undefined) return { value: result.value };
    // Left out, which the parameter allows: the schema was only asked for its default.
    if (sent === undefined && optional) return { value: undefined };
    if (result.issues.length === 0) findings.add(`${path || ARGUMENTS}: this value is not accepted`);
    for (const issue of result.issues) {
      if (findings.isEnough()) break;
      findings.add(`${pathOf(issue, path)}: ${cut(issue.message, 200)}`);
    }
  } catch (error) {
    findings.add(`${path || ARGUMENTS}: this value could not be checked`);
    unchecked.push({ error: error ?? new Error('a rule threw nothing') });
  }
  return { value: undefined };
}

/** Where a text may be meant, a text that the schema refuses may be JSON: all that the envelope brings is text. */
async function validate({ schema, outline }: StandardShape, sent: unknown): Promise<StandardResult<unknown>> {
  const result = await ask(schema, sent);
  if (result.issues === undefined || outline.kind !== 'any' || !outline.mayBeText || typeof sent !== 'string')
    return result;
  const read = new Findings();
  const value = anyConverter({ kind: 'any', mayBeText: false })(sent, '', read);
  if (read.count > 0 || typeof value === 'string') return result;
  const again = await ask(schema, value);
  return again.issues === undefined ? again : result;
}

/**
 * zod 4 asks its own `~standard` twice where a rule is asynchronous, and leaves the promises of the first time to
 * nobody: one that rejects would end the process. Its own method for that does not.
 */
async function ask(schema: StandardSchema, sent: unknown): Promise<StandardResult<unknown>> {
  const { safeParseAsync } = schema as { readonly safeParseAsync?: unknown };
  if (schema['~standard'].vendor !== 'zod' || typeof safeParseAsync !== 'function')
    return schema['~standard'].validate(sent);
  const parsed = (await Reflect.apply(safeParseAsync, schema, [sent])) as {
    readonly success: boolean;
    readonly data?: unknown;
    readonly error?: { readonly issues: readonly StandardIssue[] };
  };
  // A box that is none of ours: `data` may have a `then`, and is handed on unread.
  return parsed.success ? { value: parsed.data } : { issues: parsed.error?.issues ?? [] };
}

/** @param root empty where the value is all arguments together: a path then begins with the name of one */
function pathOf({ path = [] }: StandardIssue, root: string): string {
  const steps = path.reduce<string>((whole, step) => {
    const key = typeof step === 'object' ? step.key : step;
    return typeof key === 'number' ? `${whole}[${key.toString()}]` : `${whole}.${cut(String(key))}`;
  }, root);
  return root === '' ? steps.slice(1) || ARGUMENTS : steps;
}

const ARGUMENTS = 'the arguments';
