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
      as: { type: 'string', default: 'alice' },
      agent: { type: 'string', default: 'tier1' },
      wire: { type: 'boolean', default: false },
    },
  });
  const { as, agent, wire } = values;
  if (!Object.hasOwn(people, as)) fail(`There is no ${as}; ask as one of ${Object.keys(people).join(', ')}.`);
  if (agent !== 'tier1' && agent !== 'supervisor') fail(`There is no agent ${agent}; ask tier1 or supervisor.`);
  if (positionals.length > 1) fail('Put the question in quotes.');
  const [question] = positionals;
  return { list: question === undefined ? scenes : [{ caller: as, agent: agent satisfies AgentName, question }], wire };
}

try {
  const { list, wire } = readArguments();
  await play(modelFromEnv(), list, console.log, wire);
} catch (error) {
  if (error instanceof AIError) fail(error.message);
  if (error instanceof TypeError && 'code' in error) fail(error.message);
  throw error;
}
