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
  // Names stay, and lines that an error can show.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
  write: false,
  logLevel: 'warning',
});

/** A class that was renamed would have another name in messages and in errors. */
function classNames(text) {
  const declared = text.matchAll(/\bclass ([\w$]+)(?: extends [\w$.]+)? ?\{/g);
  const assigned = text.matchAll(/\b([\w$]+) ?= ?class(?: extends [\w$.]+)? ?\{/g);
  return [...declared, ...assigned].map(([, name]) => name);
}
const sources = filesIn('dist', '.js').map((file) => readFileSync(file, 'utf8'));
const written = new Set(sources.flatMap(classNames));
const published = outputFiles.map(({ path, text }) => {
  let restored = text;
  for (const name of classNames(text)) {
    // esbuild puts `_` before the inner name of a class that speaks of itself; both names mean the same class there.
    const own = name.slice(1);
    const isInner = name.startsWith('_') && written.has(own) && !sources.some((source) => source.includes(name));
    if (isInner) restored = restored.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), own);
  }
  const renamed = classNames(restored).filter((name) => !written.has(name));
  if (renamed.length > 0) throw new Error(`two classes have one name, and esbuild renamed one: ${renamed.join(', ')}`);
  return { path, text: restored };
});

const types = new Set();
for (const entry of exported) collectTypes(resolve(entry.types));

for (const file of filesIn('dist', '')) if (!types.has(resolve(file))) rmSync(file);
for (const { path, text } of published) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
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
