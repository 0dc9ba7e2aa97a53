import { afterEach, describe, expect, it, vi } from 'vitest';
import { timed } from '../../src/activities/activity-world.ts';
import { ServerClock } from '../../src/activities/server-clock.ts';
import { MACHINE } from '../../src/screening-service/index.ts';
import { HOUR } from '../fixtures/orders.ts';
import { aCheckout, aWorld, perform, withSandbox } from './support.ts';

withSandbox();

const BEGUN = '2026-11-22T10:00:00.000Z';
const scheduledMs = Date.parse(BEGUN);

describe('the moment of a result', () => {
  afterEach(() => void vi.useRealTimers());

  it('is the server’s time of its try and what passed since, whatever the worker’s clock does meanwhile', async () => {
    const activity = async () => {
      const since = performance.now();
      vi.useFakeTimers({ toFake: ['Date'], now: scheduledMs - 24 * HOUR });
      await vi.waitUntil(() => performance.now() > since + 60);
      return 'known';
    };
    const result = await perform(timed(new ServerClock(MACHINE), activity), undefined, { scheduledMs });
    expect(result).toMatchObject({ began: BEGUN, outcome: 'known' });
    expect(Date.parse(result.at) - scheduledMs).toBeGreaterThanOrEqual(55);
    expect(Date.parse(result.at) - scheduledMs).toBeLessThan(5_000);
  });

  it.each([300, HOUR])(
    'isn’t to come for a try that the server hands out %i ms too early',
    async (earlyMs) => {
      vi.useFakeTimers({ shouldAdvanceTime: true });
      const handedOut = Date.now();
      const activity = timed(new ServerClock(MACHINE), async () => Date.now());
      const early = perform(activity, undefined, { scheduledMs: handedOut + earlyMs, attempt: 3 });
      await vi.advanceTimersByTimeAsync(10_000);
      const { began, at, outcome: performedAt } = await early;
      const waited = Math.min(earlyMs, 10_000);
      expect(performedAt - handedOut).toBeGreaterThanOrEqual(waited);
      expect(Date.parse(began) - handedOut).toBeGreaterThanOrEqual(waited);
      expect(Date.parse(began)).toBeLessThanOrEqual(performedAt);
      expect(Date.parse(at)).toBeLessThan(performedAt + 5_000);
    },
  );

  it('isn’t to come either where the worker’s clock is wrong and not measured yet', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    const activity = timed(new ServerClock(MACHINE), async () => Date.now());
    // By the worker's clock each try begins an hour late.
    const serverMs = () => Date.now() - HOUR;
    await perform(activity, undefined, { scheduledMs: serverMs() });
    const dueMs = Date.now() + 9_000;
    const early = perform(activity, undefined, { scheduledMs: serverMs() + 9_000, attempt: 2 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await early).outcome).toBeGreaterThanOrEqual(dueMs - 10);
  });
});

it('a checkout, which is local, tells when it was learned', async () => {
  const request = aCheckout('pass', { begun: BEGUN });
  expect(await perform(aWorld().checkout.screenAtCheckout, request)).toMatchObject({
    began: BEGUN,
    at: expect.any(String),
    outcome: { kind: 'answered' },
  });
});
