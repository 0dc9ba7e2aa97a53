import { describe, expect, it } from 'vitest';
import { type FigureInput, figureOf } from '../../bench/figures.ts';
import { tableOf } from '../../bench/table.ts';

const given: FigureInput = { part: 'decision', name: 'p50', unit: 'ms', value: [24, 20, 30] };

describe('a figure', () => {
  it('is the median of its rounds, with the ratio of the medians and the ratios of the rounds', () => {
    const [figure] = figureOf({ ...given, floor: [20, 20, 20], plain: [60, 80, 100] });
    expect(figure).toMatchObject({
      value: 24,
      floor: 20,
      plain: 80,
      toFloor: { value: 1.2, low: 1, high: 1.5 },
      toPlain: { value: 0.3, low: 0.25, high: 0.4 },
      targets: [],
    });
  });

  it.each([
    ['floor', 'at most', 1.2, true],
    ['floor', 'at most', 1.19, false],
    ['plain', 'at most', 0.3, true],
    ['itself', 'at most', 24, true],
    ['floor', 'at least', 1.2, true],
    ['floor', 'at least', 1.21, false],
  ] as const)('is held against its target: %s %s %d', (against, is, limit, met) => {
    const figures = figureOf({ ...given, floor: 20, plain: 80, targets: [{ against, is, limit }] });
    expect(figures[0]?.targets).toMatchObject([{ met }]);
  });

  it('has no target against what was not measured, and is none when it was not measured itself', () => {
    const targets = [{ against: 'floor', is: 'at most', limit: 1 }] as const;
    expect(figureOf({ ...given, targets })[0]?.targets).toEqual([]);
    expect(figureOf({ ...given, value: undefined, targets })).toEqual([]);
    expect(figureOf({ ...given, value: [], targets })).toEqual([]);
  });
});

it('the table says of each target whether it is met', () => {
  const targets = [
    { against: 'floor', is: 'at most', limit: 1.25 },
    { against: 'plain', is: 'at most', limit: 0.2 },
  ] as const;
  const table = tableOf(figureOf({ ...given, floor: 20, plain: 80, targets, note: '3 failed' }));
  expect(table).toContain('≤ 1.25 × floor');
  expect(table).toMatch(/[^t] met/);
  expect(table).toContain('not met');
  expect(table).toContain('p50: 3 failed');
});
