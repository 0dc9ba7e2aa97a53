import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastCall, windowEnd, windowOpen } from '../../src/orders/transactions.ts';
import { property } from '../support/property.ts';
import { DAY, START, sinceStart } from './support.ts';

const windowMs = fc.integer({ min: 1_000, max: 5 * DAY });

describe('the cancel window', () => {
  it('is open from the first moment until 30 s before its end', () => {
    const cancelBy = windowEnd(sinceStart(0), 5 * DAY);
    expect(cancelBy).toBe(sinceStart(5 * DAY));
    expect(windowOpen(cancelBy, 5 * DAY, START)).toBe(true);
    expect(windowOpen(cancelBy, 5 * DAY, START + 5 * DAY - 30_001)).toBe(true);
    expect(windowOpen(cancelBy, 5 * DAY, START + 5 * DAY - 30_000)).toBe(false);
  });

  it('keeps a hundredth of a short window', () => {
    expect(lastCall(sinceStart(10_000), 10_000)).toBe(sinceStart(9_900));
  });

  it('isn’t open when there is none', () => {
    expect(windowOpen(undefined, 5 * DAY, START)).toBe(false);
  });

  property([windowMs, fc.double({ min: 0, max: 1, noNaN: true })])(
    'is never open in its last 30 s or hundredth, whichever is less, and always before',
    (ms, share) => {
      const cancelBy = windowEnd(sinceStart(0), ms);
      const kept = Math.min(30_000, ms / 100);
      const at = START + ms * share;
      expect(windowOpen(cancelBy, ms, at)).toBe(at < START + ms - kept);
    },
  );
});
