import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { performancePage } from '../../bench/page.ts';

it('docs/performance.md is what `npm run docs` writes from the kept results', async () => {
  expect(await readFile('docs/performance.md', 'utf8')).toBe(await performancePage());
});
