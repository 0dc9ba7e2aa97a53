import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const rows = [
  ...readFileSync('docs/rules.md', 'utf8').matchAll(
    /^\| ([^|]+) \| [^|]+ \| `(test\/[^`]+)`(?: «([^»]+)»)? \|$/gm,
  ),
];

it('the page of rules names no rule twice, and for each a test that is there', () => {
  const names = rows.map(([, name]) => name);
  expect(names.length).toBeGreaterThan(40);
  expect(new Set(names).size).toBe(names.length);
  const missing = rows.filter(([, , file = '', title = '']) => {
    return !existsSync(file) || !readFileSync(file, 'utf8').includes(title);
  });
  expect(missing.map(([, name, file, title]) => ({ name, file, title }))).toEqual([]);
});

it('every row of its tables is read', () => {
  const lines = readFileSync('docs/rules.md', 'utf8').split('\n');
  const written = lines.filter((line) => line.startsWith('| ') && !line.startsWith('| rule'));
  expect(rows).toHaveLength(written.length);
});
