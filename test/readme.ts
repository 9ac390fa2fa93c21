import { readFileSync } from 'node:fs';

/** The code blocks of the README in one language, in order. */
export function readmeBlocks(language: string): readonly string[] {
  const readme = readFileSync('README.md', 'utf8');
  return [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , code = '']) => code);
}

/** The rows of the table below a heading, without their head. */
export function readmeTable(heading: string): readonly (readonly string[])[] {
  const section = readFileSync('README.md', 'utf8').split(`## ${heading}`)[1]!.split('\n## ')[0]!;
  return section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
