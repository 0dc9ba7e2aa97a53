import { expect, it } from 'vitest';
import { figureOf } from '../../bench/figures.ts';
import { tableOf } from '../../bench/table.ts';

it.each([
  ['floor', 'at most', 1.2, true],
  ['floor', 'at most', 1.19, false],
  ['itself', 'at most', 24, true],
  ['floor', 'at least', 1.2, true],
  ['floor', 'at least', 1.21, false],
] as const)('a figure is held against its target, and shown so: %s %s %d: %s', (against, is, limit, met) => {
  const given = { part: 'decision', name: 'p50', unit: 'ms', value: [24, 20, 30] } as const;
  const figures = figureOf({ ...given, floor: 20, targets: [{ against, is, limit }] });
  expect(figures[0]?.targets).toMatchObject([{ met }]);
  expect(tableOf(figures)).toMatch(met ? /[^t] met/ : /not met/);
});
