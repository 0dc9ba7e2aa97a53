import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FIRST_E2E, isInFirstSet } from '../support/first-set.ts';

const [, promises = ''] = readFileSync('README.md', 'utf8').split('\n## What it promises\n');
const [table = ''] = promises.split('\n## ');
const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| promise'));

it('npm test proves each promise of the README at least once', () => {
  const proofs = rows.map((row) => [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path));
  expect(proofs.length).toBeGreaterThan(5);
  for (const [index, paths] of proofs.entries())
    expect(paths.some(isInFirstSet), `${rows[index]}`).toBe(true);
});

it('the first set names files that are there', () => {
  expect(FIRST_E2E.filter((file) => !existsSync(file))).toEqual([]);
});

it.each([
  ['test/orders/', true],
  ['test/activities/screen-*.test.ts', true],
  ['test/e2e/orders.test.ts', true],
  ['test/simulation/lives.test.ts', true],
  ['test/e2e/bench.test.ts', false],
  ['test/dev/server/temporal-main.test.ts', false],
  ['test/api/main.test.ts', false],
  ['test/attacks/floods.test.ts', false],
  ['test/simulation/more-lives.test.ts', false],
  ['test/chaos/', false],
  ['test/e2e/', false],
])('%s is in the first set: %s', (path, isFirst) => {
  expect(isInFirstSet(path)).toBe(isFirst);
});
