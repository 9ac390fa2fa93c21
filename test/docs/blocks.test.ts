import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readmeBlocks } from '../readme.js';

/*
 * Every piece of code on a page is run somewhere in these tests, and what it prints compared; diagrams are not code. One
 * that is added here was added there first: test/package for programs, test/docs and test/readme.test.ts for the rest.
 */
const TESTED: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'README.md': { ts: 3, text: 4, json: 2, sh: 2 },
  'docs/arguments.md': { ts: 1 },
  'docs/coming-from.md': { ts: 1, text: 1 },
  'docs/loop.md': { ts: 1, text: 2 },
  'docs/mcp.md': { ts: 2, text: 2, sh: 1 },
  'docs/tools.md': { ts: 1, text: 1 },
  'docs/who-is-asking.md': { ts: 2, text: 3 },
  'docs/wires.md': { ts: 2, text: 2, json: 3 },
};
const PAGES = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)];

describe('the pages', () => {
  it.each(PAGES)('have no code that nobody runs: %s', (page) => {
    const opened = [...readFileSync(page, 'utf8').matchAll(/^```(\w*)\n[\s\S]*?^```$/gm)].map(
      ([, found = '']) => found,
    );
    const counts: Record<string, number> = {};
    for (const language of opened) counts[language] = (counts[language] ?? 0) + 1;
    expect(counts).toEqual(TESTED[page] ?? {});
  });

  it('name commands that there are', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const commands = PAGES.flatMap((page) => [
      ...readmeBlocks('sh', page),
      ...[...readFileSync(page, 'utf8').matchAll(/`(npm [^`]+)`/g)].map(([, command = '']) => command),
    ]).join('\n');
    const named = [...commands.matchAll(/npm (?:run ([\w:-]+)|(start|test)\b)/g)].map(([, run, own]) => run ?? own!);
    expect(named).toContain('start');
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('point to pages and headings that there are', () => {
    const headings = (page: string) =>
      [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      );
    const lost: string[] = [];
    for (const page of PAGES)
      for (const [, path = '', anchor] of readFileSync(page, 'utf8').matchAll(
        /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g,
      )) {
        const target = path === '' ? page : page === 'README.md' ? path : `docs/${path}`;
        if (!PAGES.includes(target) || (anchor !== undefined && !headings(target).includes(anchor)))
          lost.push(`${page}: ${path}#${anchor ?? ''}`);
      }
    expect(lost).toEqual([]);
  });
});
