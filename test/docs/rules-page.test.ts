import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FIRST_E2E, isInFirstSet } from '../support/vitest/first-set.ts';

const rowsOf = (text: string) => text.split('\n').filter((line) => /^\| (?!rule|promise)/.test(line));

it('the page of rules names no rule twice, and for each a test that is there', () => {
  const page = readFileSync('docs/rules.md', 'utf8');
  const rows = [...page.matchAll(/^\| ([^|]+) \| [^|]+ \| `(test\/[^`]+)`(?: «([^»]+)»)? \|$/gm)];
  const names = rows.map(([, name]) => name);
  expect(names).toHaveLength(rowsOf(page).length);
  expect(names.length).toBeGreaterThan(40);
  expect(new Set(names).size).toBe(names.length);
  const missing = rows.filter(([, , file = '', title = '']) => {
    return !existsSync(file) || !readFileSync(file, 'utf8').includes(title);
  });
  expect(missing.map(([, name, file, title]) => ({ name, file, title }))).toEqual([]);
});

it('npm test proves each promise of the README at least once', () => {
  const [, promises = ''] = readFileSync('README.md', 'utf8').split('\n## What it promises\n');
  const rows = rowsOf(promises.split('\n## ')[0] ?? '');
  expect(rows.length).toBeGreaterThan(5);
  for (const row of rows) {
    const paths = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path);
    expect(paths.some(isInFirstSet), row).toBe(true);
  }
  expect(FIRST_E2E.filter((file) => !existsSync(file))).toEqual([]);
});
