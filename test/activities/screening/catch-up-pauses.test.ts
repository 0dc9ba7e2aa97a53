import { describe, expect, it } from 'vitest';
import { CARD_LIFETIME_MS } from '../../../src/card-stash/index.ts';
import { instant, millis } from '../../../src/contract/words.ts';
import { DAY } from '../../fixtures/policies.ts';
import {
  type Attempt,
  aCatchUp,
  aCheckout,
  aWorld,
  checkOut,
  failureOf,
  outcomeOf,
  perform,
  plan,
  requests,
  sandbox,
  UNSEEN_SINCE,
  withSandbox,
} from '../support.ts';

withSandbox();

describe('the catch-up', () => {
  const catchUp = (changes: Parameters<typeof aCatchUp>[1] = {}, attempt: Attempt = {}) =>
    outcomeOf(aWorld().background.catchUp, aCatchUp('review', changes), attempt);
  /** A try that looks first. */
  const tryNumber = (attempt: number): Attempt => ({
    attempt,
    heartbeatDetails: { reported: attempt - 1, unseenSince: UNSEEN_SINCE },
  });

  it.each([
    [2, 4_000],
    [5, 32_000],
    [20, 300_000],
  ])(
    'comes back after pauses that differ, so that an outage’s orders don’t come back together: try %i, %i ms',
    async (attempt, pause) => {
      plan('status-by-invoice', '429', { retryAfter: 1 });
      const tries = Array.from({ length: 12 }, () => failureOf(catchUp({}, tryNumber(attempt))));
      const drawn = (await Promise.all(tries)).map(({ nextRetryDelay }) => Number(nextRetryDelay));
      expect(new Set(drawn).size).toBeGreaterThan(6);
      expect(Math.min(...drawn)).toBeGreaterThanOrEqual(pause / 2);
      expect(Math.max(...drawn)).toBeLessThanOrEqual(pause * 1.5);
    },
  );

  it.each([
    [7, 7_000],
    [3, 3_000],
    [9_000_000, 3_600_000],
  ])('obeys a Retry-After of %i s within reason', async (retryAfter, nextRetryDelay) => {
    plan('create-transaction', '429', { retryAfter });
    expect(await failureOf(catchUp())).toMatchObject({ type: 'rate-limited', nextRetryDelay });
  });

  it('waits as long as the screening service asked the checkout to, then screens', async () => {
    plan('create-transaction', '429', { retryAfter: 600 });
    const { outcome } = await checkOut(aWorld(), aCheckout('review'));
    if (outcome.kind !== 'unanswered' || outcome.notBefore === undefined) throw new Error(outcome.kind);
    expect(millis(outcome.notBefore) - Date.now()).toBeGreaterThan(590_000);
    const { catchUp: later } = aWorld().background;
    const asked = aCatchUp('review', { notBefore: outcome.notBefore });
    const early = await failureOf(perform(later, asked));
    expect(early).toMatchObject({ type: 'retry-after', nextRetryDelay: expect.any(Number) });
    expect(early.nextRetryDelay).toBeGreaterThan(590_000);
    expect(requests('create-transaction')).toBe(1);
    sandbox.control.setFaults({ faults: [] });
    const over = aCatchUp('review', { notBefore: instant(Date.now() - 1) });
    expect((await perform(later, over)).outcome).toMatchObject({ kind: 'answered', found: false });
    expect(requests('create-transaction')).toBe(2);
  });

  it.each([
    ['its card is deleted', (atMs: number) => ({ cardSince: instant(atMs), until: instant(atMs + DAY) })],
    ['the order gives up', (atMs: number) => ({ until: instant(atMs + CARD_LIFETIME_MS) })],
  ])('never pauses for more than half of the time until %s', async (_what, ends) => {
    const pauseOf = async (calledMs: number, changes: object, attempt: Attempt) => {
      const failed = failureOf(catchUp({ ...ends(calledMs), ...changes }, { ...attempt, calledMs }));
      return Math.round(Number((await failed).nextRetryDelay) / 1_000);
    };
    const now = Date.now();
    // The checkout was asked to wait for an hour.
    const notBefore = instant(now + 3_600_000);
    expect(await pauseOf(now, { notBefore }, { scheduledMs: now })).toBe(450);
    plan('create-transaction', '429', { retryAfter: 3_600 });
    expect(await pauseOf(now - 500_000, { notBefore }, tryNumber(2))).toBe(200);
    const withoutSettings = { integration: 'elsewhere' };
    expect(await pauseOf(now - 800_000, withoutSettings, tryNumber(30))).toBe(50);
    const rescreen = { ...withoutSettings, cardSince: instant(now - 800_000) };
    expect(await pauseOf(now, rescreen, tryNumber(30))).toBe(50);
  });
});
