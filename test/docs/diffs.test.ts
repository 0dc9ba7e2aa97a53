import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { codeBlocksOf } from '../support/code-blocks.ts';
import { pagesOf, ROOT } from '../support/pages.ts';

const diffs = pagesOf()
  .flatMap((page) => codeBlocksOf(page, readFileSync(ROOT + page, 'utf8')))
  .filter(({ language }) => language === 'diff');

it.each(diffs)('the diff at $page:$line fits the file that it names', ({ text }) => {
  const [first = '', ...lines] = text.split('\n');
  const path = /^\+\+\+ b\/(\S+)$/.exec(first)?.[1] ?? '';
  const before = lines.filter((line) => /^[ -]/.test(line)).map((line) => line.slice(1));
  expect(before).not.toEqual([]);
  expect(readFileSync(ROOT + path, 'utf8')).toContain(`\n${before.join('\n')}\n`);
});
