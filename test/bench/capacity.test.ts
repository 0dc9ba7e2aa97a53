import { describe, expect, it } from 'vitest';
import { capacityFor, type Load, type Measured, pollsIn } from '../../bench/capacity.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const poll = { firstMs: 60_000, factor: 1.5, maxMs: 900_000 };

const load: Load = {
  ordersPerSecond: 10,
  peakFactor: 2,
  declined: 0.1,
  reviewed: 0.1,
  reviewMs: 4 * HOUR,
  serviceMs: 1_000,
  cancelWindowMs: 5 * DAY,
  poll,
  retentionMs: 90 * DAY,
};
const measured: Measured = {
  passed: { bytes: 10_000, actions: 8, transitions: 20 },
  declined: { bytes: 8_000, actions: 6, transitions: 14 },
  review: { bytes: 16_000, actions: 20, transitions: 40, polls: 5 },
  cpu: { worker: 0.03, api: 0.006, server: 0.03 },
};

describe('the polls of a review', () => {
  it.each([
    [30_000, 0],
    [60_000, 1],
    [150_000, 2],
    [15 * 60_000, 5],
  ])('of %d ms are %d: the pauses grow', (reviewMs, polls) => {
    expect(pollsIn(reviewMs, poll)).toBe(polls);
  });

  it('of days come every longest pause', () => {
    expect(pollsIn(2 * DAY, poll) - pollsIn(DAY, poll)).toBe(DAY / poll.maxMs);
    expect(pollsIn(DAY, { firstMs: 60_000, factor: 1, maxMs: 60_000 })).toBe(1_440);
  });
});

describe('the capacity for a load', () => {
  it('grows with the orders, but for the number of polls of one review', () => {
    const one = capacityFor(load, measured);
    const ten = capacityFor({ ...load, ordersPerSecond: 100 }, measured);
    for (const name of [
      'openOrders',
      'openReviews',
      'pollsPerSecond',
      'actionsPerMonth',
      'retainedStorageGb',
    ] as const) {
      expect(ten[name]).toBeCloseTo(10 * one[name], 4);
    }
    expect(ten.pollsPerReview).toBe(one.pollsPerReview);
    expect(ten.workers).toBe(10);
  });

  it('counts what is open from how long it stays open', () => {
    const { openOrders, openReviews, concurrentScreenings } = capacityFor(load, measured);
    expect(openOrders).toBe(10 * 0.9 * 5 * 24 * 3_600);
    expect(openReviews).toBe(10 * 0.1 * 4 * 3_600);
    expect(concurrentScreenings).toBe(20);
  });

  it('bills each poll, and stores none', () => {
    const long = capacityFor({ ...load, reviewMs: 48 * HOUR }, measured);
    const short = capacityFor(load, measured);
    const more = long.pollsPerReview - short.pollsPerReview;
    expect(long.actionsPerMonth - short.actionsPerMonth).toBeCloseTo(more * 10 * 0.1 * 30 * 24 * 3_600, 0);
    expect(long.retainedStorageGb).toBe(short.retainedStorageGb);
    expect(long.databaseTransactionsPerSecond).toBeGreaterThan(short.databaseTransactionsPerSecond);
  });

  it('has more transactions of the database than transitions of orders', () => {
    const passed = { ...load, declined: 0, reviewed: 0 };
    const { databaseTransactionsPerSecond, shards } = capacityFor(passed, measured);
    expect(databaseTransactionsPerSecond).toBe(10 * 2 * 20 * 3);
    expect(shards).toBe(64);
  });

  it('has workers for a slow service, whose checkouts hold a slot each', () => {
    const slow = capacityFor(
      { ...load, ordersPerSecond: 200, serviceMs: 7_000 },
      { ...measured, cpu: { worker: 0, api: 0, server: 0 } },
    );
    expect(slow.workers).toBe(Math.ceil((200 * 2 * 7) / 500));
  });

  it('has two of each process that may fail, and a power of two of shards', () => {
    const { workers, apiProcesses, shards } = capacityFor({ ...load, ordersPerSecond: 0.1 }, measured);
    expect({ workers, apiProcesses, shards }).toEqual({ workers: 2, apiProcesses: 2, shards: 4 });
    expect(Math.log2(capacityFor(load, measured).shards) % 1).toBe(0);
  });

  it.each([
    [{ declined: 0.6, reviewed: 0.5 }, 'shares'],
    [{ ordersPerSecond: 0 }, 'orders per second'],
    [{ peakFactor: 0.5 }, 'peak factor'],
    [{ poll: { firstMs: 0, factor: 1, maxMs: 1 } }, 'pauses'],
  ])('refuses %j, which cannot be', (change, words) => {
    expect(() => capacityFor({ ...load, ...change }, measured)).toThrow(words);
  });
});
