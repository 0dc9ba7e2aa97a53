/** docs/assumptions.md and the code name the same assumptions, each in the place that decides it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const rows = readFileSync('docs/assumptions.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| assumption'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const named = rows.map(([, name = '', , , where = '']) => `${where.replaceAll('`', '')}: ${name}`);

test('each assumption is named where the code decides it, and nowhere an unknown one', () => {
  const files = execFileSync('git', ['grep', '-lE', 'Assumptions? «', '--', 'src'], { encoding: 'utf8' });
  const inCode = files
    .trim()
    .split('\n')
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/Assumptions? («[^»]+»(?:(?:, | and )«[^»]+»)*)/g)].flatMap(
        ([, names = '']) => [...names.matchAll(/«([^»]+)»/g)].map(([, name]) => `${file}: ${name}`),
      ),
    );
  expect(named.length).toBeGreaterThan(15);
  expect(inCode.toSorted()).toEqual(named.toSorted());
});
