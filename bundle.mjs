/*
 * Makes of what the compiler wrote into dist/ what is published: each entry of the package with all that it needs in a
 * few files, since Node takes longer to find two hundred modules than to run them, and the types that an entry leads to.
 * `npm run build` writes dist/ anew.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

const { exports: entries, bin } = JSON.parse(readFileSync('package.json', 'utf8'));
const exported = Object.values(entries).filter((entry) => typeof entry === 'object');

const { outputFiles } = await build({
  entryPoints: [...exported.map((entry) => entry.default), ...Object.values(bin)],
  outdir: 'dist',
  outbase: 'dist',
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  chunkNames: 'lib/part-[hash]',
  // A class and a function have the names that their sources gave them: messages and errors say them.
  keepNames: true,
  // Without comments and indentation, in lines that an error can show.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
  write: false,
  logLevel: 'warning',
});

const types = new Set();
for (const entry of exported) collectTypes(resolve(entry.types));

for (const file of filesIn('dist', '')) if (!types.has(resolve(file))) rmSync(file);
for (const { path, contents } of outputFiles) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}

function filesIn(folder, ending) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name));
}

function collectTypes(file) {
  if (types.has(file)) return;
  if (!existsSync(file)) throw new Error(`there is no ${file}`);
  types.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.[^'"]+)\.js['"]/g))
    collectTypes(resolve(dirname(file), `${path}.d.ts`));
}
