import { describeKind } from '../declaration.js';
import type { Unchecked } from './finish.js';
import { outlineOf } from './outline.js';
import { isJsonObject } from './json.js';
import { cut } from './quote.js';
import type { Field, StandardIssue, StandardSchema, StandardShape } from './shape.js';

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
        `${where}: ${vendor} cannot say this schema as JSON Schema (${cut(error instanceof Error ? error.message : String(error))}); write jsonSchema beside it`,
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
  { schema, passesNull }: StandardShape,
  sent: unknown,
  path: string,
  lines: string[],
  unchecked: Unchecked[],
): Promise<unknown> {
  if (sent === null && passesNull === true) return null;
  try {
    const result = await schema['~standard'].validate(sent);
    if (result.issues === undefined) return result.value;
    // Left out, which the parameter allows: the schema was only asked for its default.
    if (sent === undefined) return undefined;
    if (result.issues.length === 0) lines.push(`${path}: this value is not accepted`);
    for (const issue of result.issues) lines.push(`${pathOf(issue, path)}: ${cut(issue.message, 200)}`);
  } catch (error) {
    if (sent === undefined) return undefined;
    lines.push(`${path}: this value could not be checked`);
    unchecked.push({ error });
  }
  return undefined;
}

function pathOf({ path = [] }: StandardIssue, root: string): string {
  return path.reduce<string>((whole, step) => {
    const key = typeof step === 'object' ? step.key : step;
    return typeof key === 'number' ? `${whole}[${key.toString()}]` : `${whole}.${cut(String(key))}`;
  }, root);
}
