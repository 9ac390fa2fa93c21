import { readFileSync } from 'node:fs';

/** The code blocks of the README, or of another page, in one language and in order. */
export function readmeBlocks(language: string, page = 'README.md'): readonly string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
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
