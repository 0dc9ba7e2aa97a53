import { describe, expect, it, vi } from 'vitest';
import { timed } from '../../src/activities/activity-world.ts';
import { ServerClock } from '../../src/activities/server-clock.ts';
import { MACHINE } from '../../src/screening/index.ts';
import {
  aCatchUp,
  aCheckout,
  aLookUp,
  aRead,
  aWorld,
  perform,
  sandbox,
  screened,
  withSandbox,
} from './support.ts';

withSandbox();

const BEGUN = '2026-11-22T10:00:00.000Z';
const scheduledMs = Date.parse(BEGUN);

describe('the moment of a result', () => {
  it('is the server’s time of its try and what passed since, whatever the worker’s clock does meanwhile', async () => {
    const activity = async () => {
      const since = performance.now();
      vi.useFakeTimers({ toFake: ['Date'], now: scheduledMs - 86_400_000 });
      await vi.waitUntil(() => performance.now() > since + 60);
      return 'known';
    };
    const result = await perform(timed(new ServerClock(MACHINE), activity), undefined, {
      scheduledMs,
    }).finally(() => vi.useRealTimers());
    expect(result).toMatchObject({ began: BEGUN, outcome: 'known' });
    expect(Date.parse(result.at) - scheduledMs).toBeGreaterThanOrEqual(55);
    expect(Date.parse(result.at) - scheduledMs).toBeLessThan(5_000);
  });

  it.each([300, 3_600_000])(
    'isn’t to come for a try that the server hands out %i ms too early',
    async (earlyMs) => {
      vi.useFakeTimers({ shouldAdvanceTime: true });
      try {
        const handedOut = Date.now();
        const early = perform(
          timed(new ServerClock(MACHINE), async () => Date.now()),
          undefined,
          { scheduledMs: handedOut + earlyMs, attempt: 3 },
        );
        await vi.advanceTimersByTimeAsync(10_000);
        const { began, at, outcome: performedAt } = await early;
        const waited = Math.min(earlyMs, 10_000);
        expect(performedAt - handedOut).toBeGreaterThanOrEqual(waited);
        expect(Date.parse(began) - handedOut).toBeGreaterThanOrEqual(waited);
        expect(Date.parse(began)).toBeLessThanOrEqual(performedAt);
        expect(Date.parse(at)).toBeLessThan(performedAt + 5_000);
      } finally {
        vi.useRealTimers();
      }
    },
  );
});

describe('every activity', () => {
  it('that is local tells when it was learned', async () => {
    const request = aCheckout('pass', { begun: BEGUN });
    expect(await perform(aWorld().checkout.screenAtCheckout, request)).toMatchObject({
      began: BEGUN,
      at: expect.any(String),
      outcome: { kind: 'answered' },
    });
  });

  it('that the server schedules tells when it was learned', async () => {
    const world = aWorld({}, { events: { own: new Map(), common: async () => undefined } });
    const { checkout, background, reads, polls } = world;
    const transactionId = await screened(world, 'review');
    const known = { integration: 'default', transactionId, forbiddenKnown: false };
    sandbox.control.decide(transactionId, 'pass');
    const poll = { ...known, known: 'review', troubleKnown: false } as const;
    const pauses = { firstMs: 1_000, factor: 1, maxMs: 1_000 };
    const at = { scheduledMs };
    const again = { ...at, attempt: 2, heartbeatDetails: { asked: 1, late: Date.now() - scheduledMs } };
    const results = [
      await perform(checkout.screenRetry, aCatchUp('pass', { invoiceNumber: 'A-1-2' }), again),
      await perform(background.catchUp, aCatchUp('pass', { invoiceNumber: 'A-1-3' }), again),
      await perform(background.lookUp, aLookUp(), at),
      await perform(reads.readStatus, aRead({ transactionId }), at),
      await perform(reads.readStatus, aRead(), at),
      await perform(background.sendGatewayResponse, { ...known, gateway: { result: 'pass' } }, at),
      await perform(background.deliverEvents, [], at),
      await perform(background.forgetCard, { cardRef: 'card_1', attempt: 1 }, at),
      await perform(polls.pollStatus, { ...poll, pauses }, { ...at, attempt: 2 }),
    ];
    for (const { began, at: learned } of results) {
      expect(Date.parse(began) - scheduledMs).toBeGreaterThanOrEqual(0);
      expect(Date.parse(began) - scheduledMs).toBeLessThan(5_000);
      expect(learned >= began).toBe(true);
    }
  });
});
