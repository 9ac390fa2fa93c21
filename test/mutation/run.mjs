// Changes the code that keeps our promises, one place at a time, and looks whether a test notices: `npm run
// test:mutation [dispatcher|guard|convert]`. Stryker comes into a folder of its own. It changes what the compiler made,
// not the sources: to compile anew for each change would take hours.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const VERSION = '9.6.1';

/** What is changed; the tests that are asked first whether they notice, and those that are asked of what is left. */
const PROMISES = {
  dispatcher: {
    mutate: ['lib/tool/dispatcher.js'],
    first: ['lib/agent/loop', 'lib/agent/limits', 'lib/agent/middleware', 'lib/agent/observer', 'cases/loop'],
    then: ['lib/agent/*', 'lib/tool/*', 'cases/*'],
  },
  guard: {
    mutate: ['container/guard.js', 'container/captures.js', 'container/long-lived.js'],
    first: ['container/guard', 'container/captures', 'container/long-lived', 'container/scope'],
    then: ['container/*'],
  },
  convert: {
    mutate: ['lib/schema/convert.js', 'lib/schema/convert-*.js'],
    first: ['lib/schema/convert', 'lib/schema/kinds', 'cases/arguments'],
    then: ['lib/schema/*', 'cases/*', 'lib/agent/typed-answer'],
  },
};

const names = process.argv.slice(2).length > 0 ? process.argv.slice(2) : Object.keys(PROMISES);
for (const name of names)
  if (!Object.hasOwn(PROMISES, name)) {
    console.error(`There is no ${name}; take some of ${Object.keys(PROMISES).join(', ')}.`);
    process.exit(2);
  }

const stryker = resolve('build', `stryker-${VERSION}`);
if (!existsSync(stryker)) {
  // Elsewhere first: an install that broke off is none.
  const place = `${stryker}.${process.pid}`;
  mkdirSync(place, { recursive: true });
  writeFileSync(`${place}/package.json`, '{ "private": true }');
  const packages = ['core', 'jest-runner'].map((part) => `@stryker-mutator/${part}@${VERSION}`);
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...packages], {
    cwd: place,
    stdio: 'inherit',
  });
  renameSync(place, stryker);
}

const compiled = resolve('build/mutation');
rmSync(compiled, { recursive: true, force: true });
execFileSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--noEmit', 'false', '--outDir', compiled],
  { stdio: 'inherit' },
);
// What tests read, and no compiler copies.
cpSync('test', `${compiled}/test`, {
  recursive: true,
  filter: (path) => !/\.ts$/.test(path) && !/node_modules/.test(path),
});
for (const name of ['README.md', 'docs']) cpSync(name, `${compiled}/${name}`, { recursive: true });
rmSync(`${compiled}/jest.config.js`);
symlinkSync(resolve('node_modules'), `${compiled}/node_modules`);
const { version, type } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync(`${compiled}/package.json`, JSON.stringify({ name: 'mutated', version, type, private: true }));

/** Asks these tests; gives what none of them noticed, as Stryker writes where that is. */
function survivors(mutate, tests) {
  const jest = {
    testEnvironment: 'node',
    testMatch: tests.map((test) => `<rootDir>/test/${test}.test.js`),
    transform: {},
    moduleNameMapper: {
      '^inversify-ai$': '<rootDir>/index.js',
      '^inversify-ai/(express|fastify|hono)$': '<rootDir>/container/adapters/$1.js',
      '^inversify-ai/testing$': '<rootDir>/test/checked-testing.js',
      '^inversify-ai/llama$': '<rootDir>/lib/model/llama.js',
      '^inversify-ai/mcp$': '<rootDir>/container/mcp.js',
      '^inversify-ai/tools$': '<rootDir>/lib/tool/core-tools.js',
    },
  };
  const config = {
    testRunner: 'jest',
    testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning'],
    coverageAnalysis: 'perTest',
    concurrency: 2,
    mutate,
    plugins: [`${stryker}/node_modules/@stryker-mutator/jest-runner/dist/src/index.js`],
    reporters: ['clear-text', 'progress-append-only', 'json'],
    jsonReporter: { fileName: 'survivors.json' },
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false },
    allowConsoleColors: false,
    disableTypeChecks: false,
    jest: { projectType: 'custom', configFile: 'jest.config.json', enableFindRelatedTests: false },
    timeoutMS: 10_000,
  };
  writeFileSync(`${compiled}/jest.config.json`, JSON.stringify(jest));
  writeFileSync(`${compiled}/stryker.config.json`, JSON.stringify(config));
  rmSync(`${compiled}/survivors.json`, { force: true });
  const program = `${stryker}/node_modules/@stryker-mutator/core/bin/stryker.js`;
  spawnSync(process.execPath, [program, 'run'], { cwd: compiled, stdio: 'inherit' });
  const { files } = JSON.parse(readFileSync(`${compiled}/survivors.json`, 'utf8'));
  return Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ location: { start, end } }) => {
        // Its own columns begin at 0, those of the report at 1.
        const place = ({ line, column }) => `${line}:${column - 1}`;
        return `${file}:${place(start)}-${place(end)}`;
      }),
  );
}

for (const name of names) {
  const { mutate, first, then } = PROMISES[name];
  console.log(`== ${name}: ${first.join(', ')}`);
  const left = survivors(mutate, first);
  console.log(`== ${name}, what is left: ${then.join(', ')}`);
  const unnoticed = left.length === 0 ? [] : survivors(left, then);
  console.log(`== ${name}: ${unnoticed.length} changes that no test notices`);
}
