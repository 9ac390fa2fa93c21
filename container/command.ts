#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect, parseArgs, types } from 'node:util';
import { isClass } from '../lib/declaration.js';
import type { SiteDescription } from './describe.js';
import type { AIHandle } from './install.js';

/* The command `inversify-ai`. It loads an application's module and shows what that exposes to models. */

const USAGE = `inversify-ai describe <module> [--export <name>] [--json]

Loads a compiled module of an application, which runs it, finds the handle that installAI returned among its exports, and
prints every agent with the tools that it can call.

  --export <name>  the export that is the handle, an object that holds it, or a function that makes either
  --json           print ai.describe() as JSON, to be kept as a snapshot
`;

/** Something that the caller can mend: told without a stack, and the command fails. */
class UsageError extends Error {}

async function main(args: readonly string[]): Promise<string> {
  const { values, positionals } = read(args);
  if (values.help === true) return USAGE;
  const [command, module, ...rest] = positionals;
  if (command !== 'describe') throw usage(command === undefined ? 'Which command?' : `There is no command ${command}.`);
  if (module === undefined) throw usage('Which module?');
  if (rest.length > 0) throw usage('One module at a time.');
  const ai = await handleOf(module, await load(module), values.export);
  const description = ai.describe();
  return values.json === true
    ? `${JSON.stringify(description, undefined, 2)}\n`
    : description.sites.map(table).join('\n');
}

function usage(problem: string): UsageError {
  return new UsageError(`${problem}\n\n${USAGE}`);
}

async function load(module: string): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(module);
  if (!existsSync(file)) throw new UsageError(`There is no module ${module}; name the compiled file, dist/app.js.\n`);
  if (!/\.[cm]?js$/.test(file))
    throw new UsageError(`${module} is no compiled module; name the file that the compiler made of it, dist/app.js.\n`);
  return (await during(`loading ${module}`, () => import(pathToFileURL(file).href))) as Readonly<
    Record<string, unknown>
  >;
}

/** What the application itself throws is told with where that was. */
async function during(doing: string, run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    throw new Error(`The application failed in ${doing}.`, { cause: error });
  }
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { export: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw usage((error as Error).message);
  }
}

async function handleOf(
  module: string,
  exported: Readonly<Record<string, unknown>>,
  name: string | undefined,
): Promise<AIHandle> {
  const names = Object.keys(exported);
  if (name !== undefined) {
    if (!names.includes(name))
      throw new UsageError(`${module} has no export ${name}; it exports ${names.join(', ') || 'nothing'}.\n`);
    const made: unknown = exported[name];
    const isMaker = typeof made === 'function' && !isClass(made);
    const found = handlesIn(await during(`${name}()`, () => (isMaker ? (made as () => unknown)() : made)));
    if (found[0] !== undefined) return found[0];
    throw new UsageError(`The export ${name} of ${module} is no handle of installAI, and gives none.\n`);
  }
  const found = names.flatMap((key) => handlesIn(exported[key]).map((handle) => ({ key, handle })));
  const distinct = new Set(found.map(({ handle }) => handle));
  if (distinct.size === 1 && found[0] !== undefined) return found[0].handle;
  throw new UsageError(
    distinct.size === 0
      ? `${module} exports no handle of installAI; write export const ai = installAI(…), or name a function that makes one: --export createApplication. It exports ${names.join(', ') || 'nothing'}.\n`
      : `${module} exports several handles of installAI; name one: --export ${found.map(({ key }) => key).join(' or --export ')}.\n`,
  );
}

/** The handle itself, or what an object holds one level down: `{ container, ai }`. */
function handlesIn(value: unknown): readonly AIHandle[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isHandle(value)) return [value];
  // Getters are not run: they are no handles, and not ours to run.
  return Object.values(Object.getOwnPropertyDescriptors(value)).flatMap(
    ({ value: held }: { readonly value?: unknown }) => (isHandle(held) ? [held] : []),
  );
}

function isHandle(value: unknown): value is AIHandle {
  if (typeof value !== 'object' || value === null || types.isProxy(value)) return false;
  const { verify, describe, openScope } = value as Partial<AIHandle>;
  return typeof verify === 'function' && typeof describe === 'function' && typeof openScope === 'function';
}

function table({ site, toolGroup, maxToolCalls, tools }: SiteDescription): string {
  const rows = [
    ['TOOL', 'EFFECT', 'GROUPS', 'THE MODEL CHOOSES', 'FROM THE SCOPE', 'SCHEMA'],
    ...tools.map(({ name, effect, groups, parameters, fromScope, schemaHash }) => [
      name,
      effect,
      groups.join(', ') || '-',
      Object.entries(parameters.properties)
        .map(([key, { type, enum: members }]) => {
          const mark = parameters.required.includes(key) ? '' : '?';
          return `${key}${mark}: ${(Array.isArray(members) ? (members as unknown[]) : [type].flat()).join(' | ')}`;
        })
        .join(', ') || '-',
      fromScope.join(', ') || '-',
      schemaHash.slice(0, 12),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
  const narrowed = toolGroup.length === 0 ? 'all its tools' : `only ${toolGroup.join(' or ')}`;
  return `${site} (${narrowed}, at most ${maxToolCalls.toString()} calls)\n${lines.join('\n')}\n`;
}

// A module that never finishes loading leaves nothing to wait for; that must not look like success.
process.exitCode = 1;
process.once('exit', () => {
  if (!isDone) process.stderr.write('The application never finished loading.\n');
});
let isDone = false;
const write: (text: string, done: () => void) => unknown = process.stdout.write.bind(process.stdout);
// What the application prints while it loads is not what was asked for.
process.stdout.write = process.stderr.write.bind(process.stderr);

// What its module has started, a server, a pool, must not keep the command waiting.
main(process.argv.slice(2)).then(
  (text) => {
    isDone = true;
    write(text, () => process.exit(0));
  },
  (error: unknown) => {
    isDone = true;
    const text = error instanceof UsageError ? error.message : `${inspect(error)}\n`;
    process.stderr.write(text, () => process.exit(error instanceof UsageError ? 2 : 1));
  },
);
