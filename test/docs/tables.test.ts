import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { TABLES, withTables } from '../../tools/docs/tables.ts';
import { pagesOf, ROOT } from '../support/pages.ts';

const pages = pagesOf().map((name) => ({ name, text: readFileSync(ROOT + name, 'utf8') }));

it.each(pages)('the tables of $name are what `npm run docs` writes', ({ text }) => {
  expect(withTables(text)).toBe(text);
});

it.each(Object.keys(TABLES))('the table of %s stands in a page', (name) => {
  expect(pages.filter(({ text }) => text.includes(`<!-- table: ${name} -->\n|`))).toHaveLength(1);
});

it('a table that nobody makes is refused', () => {
  expect(() => withTables('<!-- table: moods -->\n<!-- end of table -->')).toThrow('moods');
});

it('the script reads every page of docs/, and has nothing to write', async () => {
  const script = ['--import', './bin/typescript.mjs', 'tools/docs/tables.ts'];
  await promisify(execFile)(process.execPath, script, { cwd: ROOT });
  for (const { name, text } of pages) expect(readFileSync(ROOT + name, 'utf8')).toBe(text);
});
