// A real decoder: `npm run test:real`. node-llama-cpp comes into a folder of its own, with its smallest binary and
// without its scripts: what a plain install brings along for graphics cards is nine times as large.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const VERSION = '3.21.1';
const BINARIES = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-armv7l',
  'darwin-arm64': 'mac-arm64-metal',
  'darwin-x64': 'mac-x64',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
};

const machine = `${process.platform}-${process.arch}`;
const binary = BINARIES[machine];
const folder = resolve('build', `node-llama-cpp-${VERSION}-${machine}`);

function install() {
  if (existsSync(folder)) return;
  // Elsewhere first: an install that broke off is none.
  const place = `${folder}.${process.pid}`;
  mkdirSync(place, { recursive: true });
  try {
    writeFileSync(`${place}/package.json`, '{ "private": true }');
    const packages = [`node-llama-cpp@${VERSION}`, `@node-llama-cpp/${binary}@${VERSION}`];
    const flags = ['--ignore-scripts', '--omit=optional', '--save-exact', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...flags, ...packages], {
      cwd: place,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    renameSync(place, folder);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Why nothing can be tested here; nothing where it can. */
function obstacle() {
  if (binary === undefined) return `node-llama-cpp has no binary for ${machine}`;
  install();
  // From a file: it starts this program's Node once more, with the same flags.
  writeFileSync(
    `${folder}/check.mjs`,
    `import { getLlama } from 'node-llama-cpp';
     await (await getLlama({ gpu: false, build: 'never', progressLogs: false })).dispose();`,
  );
  const { status, stderr } = spawnSync(process.execPath, ['check.mjs'], { cwd: folder, encoding: 'utf8' });
  return status === 0 ? undefined : `the binary of node-llama-cpp does not load:\n${stderr}`;
}

const reason = obstacle();
if (reason !== undefined) console.log(`test:real is skipped: ${reason}`);
const { status } = spawnSync(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--no-warnings=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    `--roots=${resolve('test/real/grammar')}`,
    `--modulePaths=${folder}/node_modules`,
    // The configuration leaves the folder out. Where it is skipped, no test is found, and the report says so.
    ...(reason === undefined ? ['--testPathIgnorePatterns=/node_modules/'] : ['--passWithNoTests']),
    // Two models at once. After the lists, which take what follows them.
    '--maxWorkers=2',
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
