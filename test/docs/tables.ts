import { readFileSync } from 'node:fs';

/** The rows of each table of a page that prettier leaves alone, without their heads, as they read. */
export function tables(page: string): readonly (readonly (readonly string[])[])[] {
  return readFileSync(page, 'utf8')
    .split('<!-- prettier-ignore-start -->')
    .slice(1)
    .map((part) => part.split('<!-- prettier-ignore-end -->')[0]!.trim().split('\n').slice(2))
    .map((lines) =>
      lines.map((line) =>
        line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll('\\|', '|')),
      ),
    );
}

/** A cell that is code, as what it holds. */
export const plain = (cell: string): string => cell.replace(/^`|`$/g, '');
