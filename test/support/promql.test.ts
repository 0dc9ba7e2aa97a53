import { expect, test } from 'vitest';
import { readExport, readPromql } from './promql.ts';

test('metrics are found with their labels, and grouping apart from them', () => {
  const expression =
    'sum by (queue) (rate(one_total{kind="a", outcome=~"b|c"}[5m])) / ignoring (kind) group_left two > 0';

  expect(readPromql(expression)).toEqual({
    uses: [
      { metric: 'one_total', labels: ['kind', 'outcome'] },
      { metric: 'two', labels: [] },
    ],
    grouping: ['queue', 'kind'],
  });
});

test('what is no PromQL is an error', () => {
  expect(() => readPromql('sum by (queue) (rate(one_total[5m])')).toThrow('not PromQL');
});

test('an export is read by sample, with the labels of all its lines', () => {
  const text = '# HELP one help\none{kind="a \\"quoted\\", x=y"} 1\none{queue="q"} 2\ntwo 3\n';

  expect(readExport(text)).toEqual(
    new Map([
      ['one', new Set(['kind', 'queue'])],
      ['two', new Set()],
    ]),
  );
});
