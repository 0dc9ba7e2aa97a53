import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { cachedOrders } from '../src/cached-orders.ts';

const MB = 1_000_000;

describe('the orders that a worker keeps at hand', () => {
  it('take half of the memory, up to 2,000 orders', () => {
    expect([312, 520, 1_040, 16_000].map((mb) => cachedOrders(100, mb * MB))).toEqual([
      600, 1_000, 2_000, 2_000,
    ]);
  });

  test.prop([fc.integer({ min: 0, max: 64_000 })])('are never fewer than the screenings at a time', (mb) => {
    expect(cachedOrders(500, mb * MB)).toBeGreaterThanOrEqual(500);
  });

  it('are a whole number on this machine', () => {
    expect(Number.isInteger(cachedOrders(500))).toBe(true);
  });
});
