import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TABLES, withTables } from '../../tools/docs/tables.ts';
import { pagesOf, ROOT } from '../support/pages.ts';

const pages = pagesOf().map((name) => ({ name, text: readFileSync(ROOT + name, 'utf8') }));

it.each(pages)('the tables of $name are what `npm run docs` writes', ({ text }) => {
  expect(withTables(text)).toBe(text);
});

it('each table stands in one page, and one that nobody makes is refused', () => {
  for (const name of Object.keys(TABLES)) {
    expect(pages.filter(({ text }) => text.includes(`<!-- table: ${name} -->\n|`))).toHaveLength(1);
  }
  expect(() => withTables('<!-- table: moods -->\n<!-- end of table -->')).toThrow('moods');
});
