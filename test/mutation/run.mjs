// Changes the code that keeps our promises, one place at a time, and looks whether a test notices: `npm run
// test:mutation [dispatcher|guard|convert]`. Stryker comes into a folder of its own. It changes what the compiler made,
// not the sources: to compile anew for each change would take hours.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const VERSION = '9.6.1';

/**
 * What is changed, and the tests that are asked first whether they notice. What none of these notices may still be noticed
 * by the others: look there before writing one more.
 */
const PROMISES = {
  dispatcher: {
    mutate: ['lib/tool/dispatcher.js'],
    tests: ['lib/agent/loop', 'lib/agent/limits', 'lib/agent/middleware', 'lib/agent/observer', 'cases/loop'],
  },
  guard: {
    mutate: ['container/guard.js', 'container/captures.js', 'container/long-lived.js'],
    tests: ['container/guard', 'container/captures', 'container/long-lived', 'container/scope'],
  },
  convert: {
    mutate: ['lib/schema/convert.js', 'lib/schema/convert-*.js'],
    tests: ['lib/schema/convert', 'lib/schema/kinds', 'cases/arguments'],
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

let failed = false;
for (const name of names) {
  const { mutate, tests } = PROMISES[name];
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
  writeFileSync(`${compiled}/jest.config.json`, JSON.stringify(jest));
  const config = {
    testRunner: 'jest',
    testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning'],
    coverageAnalysis: 'perTest',
    concurrency: 2,
    mutate,
    plugins: [`${stryker}/node_modules/@stryker-mutator/jest-runner/dist/src/index.js`],
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false },
    allowConsoleColors: false,
    disableTypeChecks: false,
    jest: { projectType: 'custom', configFile: 'jest.config.json', enableFindRelatedTests: false },
    timeoutMS: 10_000,
  };
  writeFileSync(`${compiled}/stryker.config.json`, JSON.stringify(config));
  console.log(`== ${name}`);
  const { status } = spawnSync(
    process.execPath,
    [`${stryker}/node_modules/@stryker-mutator/core/bin/stryker.js`, 'run'],
    {
      cwd: compiled,
      stdio: 'inherit',
    },
  );
  failed ||= status !== 0;
}
process.exitCode = failed ? 1 : 0;
