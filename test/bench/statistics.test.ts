import fc from 'fast-check';
import { expect, it } from 'vitest';
import { median, percentile, percentiles } from '../../bench/measure/statistics.ts';
import { property } from '../support/property.ts';

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);

it('takes percentiles by nearest rank, in whatever order the values came', () => {
  expect(percentiles(hundred)).toEqual({ p50: 50, p90: 90, p99: 99 });
  expect(percentiles([7])).toEqual({ p50: 7, p90: 7, p99: 7 });
  expect(percentile([1, 2], 0.51)).toBe(2);
});

it.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[5], 5],
  [[1, 9], 5],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

it('has no percentile of nothing', () => {
  expect(() => percentile([], 0.5)).toThrow('no values');
});

const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 });

property([values, fc.double({ min: 0.01, max: 1, noNaN: true })])(
  'a percentile is a value that at least its share does not exceed, and no smaller value is one',
  (given, share) => {
    const found = percentile(given, share);
    const notAbove = (limit: number) => given.filter((value) => value <= limit).length;
    expect(notAbove(found)).toBeGreaterThanOrEqual(share * given.length - 1e-9);
    for (const smaller of given.filter((value) => value < found)) {
      expect(notAbove(smaller)).toBeLessThan(share * given.length);
    }
  },
);
