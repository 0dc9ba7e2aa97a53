import { describe, expect, it } from 'vitest';
import { type FigureInput, figureOf } from '../../bench/figures.ts';
import { tableOf } from '../../bench/table.ts';

const given: FigureInput = { part: 'decision', name: 'p50', unit: 'ms', value: [24, 20, 30] };

describe('a figure', () => {
  it('is the median of its rounds, with the ratio of the medians and the ratios of the rounds', () => {
    const [figure] = figureOf({ ...given, floor: [20, 20, 20], plain: [60, 80, 100] });
    const toFloor = { value: 1.2, low: 1, high: 1.5 };
    const toPlain = { value: 0.3, low: 0.25, high: 0.4 };
    expect(figure).toMatchObject({ value: 24, floor: 20, plain: 80, toFloor, toPlain, targets: [] });
  });

  it.each([
    ['floor', 'at most', 1.2, true],
    ['floor', 'at most', 1.19, false],
    ['plain', 'at most', 0.3, true],
    ['itself', 'at most', 24, true],
    ['floor', 'at least', 1.2, true],
    ['floor', 'at least', 1.21, false],
  ] as const)('is held against its target, and shown so: %s %s %d: %s', (against, is, limit, met) => {
    const targets = [{ against, is, limit }];
    const figures = figureOf({ ...given, floor: 20, plain: 80, targets, note: '3 failed' });
    expect(figures[0]?.targets).toMatchObject([{ met }]);
    expect(tableOf(figures)).toMatch(met ? /[^t] met/ : /not met/);
    expect(tableOf(figures)).toContain('p50: 3 failed');
  });

  it('has no target against what was not measured, and is none when it was not measured itself', () => {
    const targets = [{ against: 'floor', is: 'at most', limit: 1 }] as const;
    expect(figureOf({ ...given, targets })[0]?.targets).toEqual([]);
    expect(figureOf({ ...given, value: undefined, targets })).toEqual([]);
    expect(figureOf({ ...given, value: [], targets })).toEqual([]);
  });
});
