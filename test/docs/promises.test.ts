import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FIRST_E2E } from '../support/first-set.ts';

/** Folders, and one file, of which `npm test` runs only the end-to-end tests of the first set. */
const LONG = /^test\/(e2e|dev\/server|chaos|production)\/|^test\/attacks\/floods\b/;

const [, promises = ''] = readFileSync('README.md', 'utf8').split('\n## What it promises\n');
const [table = ''] = promises.split('\n## ');
const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| promise'));

const runsInFirstSet = (path: string) => FIRST_E2E.includes(path) || !LONG.test(path);

it('npm test proves each promise of the README at least once', () => {
  const proofs = rows.map((row) => [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path));
  expect(proofs.length).toBeGreaterThan(5);
  for (const [index, paths] of proofs.entries())
    expect(paths.some(runsInFirstSet), `${rows[index]}`).toBe(true);
});

it('the first set names files that are there', () => {
  expect(FIRST_E2E.filter((file) => !existsSync(file))).toEqual([]);
});
