import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { AIError, modelFromEnv } from 'inversify-ai';
import { people } from './application.js';
import { type AgentName, play, type Scene, scenes } from './scenes.js';

const USAGE = 'npm start -- ["a question"] [--as alice|bob|sam] [--agent tier1|supervisor] [--wire]';

function fail(message: string): never {
  console.error(`${message}\n${USAGE}`);
  process.exit(2);
}

function readArguments(): { readonly list: readonly Scene[]; readonly wire: boolean } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      as: { type: 'string' },
      agent: { type: 'string' },
      wire: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const { as = 'alice', agent = 'tier1', wire } = values;
  const [question, ...more] = positionals;
  if (!Object.hasOwn(people, as)) fail(`There is no ${as}; ask as one of ${Object.keys(people).join(', ')}.`);
  if (agent !== 'tier1' && agent !== 'supervisor') fail(`There is no agent ${agent}; ask tier1 or supervisor.`);
  if (more.length > 0) fail('Put the question in quotes.');
  if (question === undefined && (values.as !== undefined || values.agent !== undefined))
    fail('--as and --agent go with a question.');
  if (question?.trim() === '') fail('The question is blank.');
  return { list: question === undefined ? scenes : [{ caller: as, agent: agent satisfies AgentName, question }], wire };
}

function parse(): ReturnType<typeof readArguments> {
  try {
    return readArguments();
  } catch (error) {
    return fail((error as Error).message);
  }
}

const { list, wire } = parse();
try {
  await play(modelFromEnv(), list, console.log, wire);
} catch (error) {
  if (!(error instanceof AIError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
