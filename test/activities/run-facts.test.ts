/** What an activity concludes from the facts of the run that calls it. */
import { describe, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/activity-contract.ts';
import {
  AFTER_RESET,
  type Attempt,
  aCatchUp,
  aCheckout,
  aLookUp,
  aWorld,
  CALLED_BEFORE_RESET,
  checkOut,
  failureOf,
  fromNow,
  outcomeOf,
  perform,
  requests,
  STARTED_AT,
  STILL,
  screened,
  UNSEEN_SINCE,
  withSandbox,
} from './support.ts';

withSandbox();

const EARLIER_TRY = { type: 'earlier-try', nextRetryDelay: 23_000 };

describe('a screening that a run before the reset began', () => {
  it('for a waiting customer looks, and adopts what that run made; else it creates nothing', async () => {
    const { screenRetry } = aWorld({ checkoutBudgetMs: 600 }).checkout;
    const outcome = await outcomeOf(screenRetry, aCatchUp('review'), CALLED_BEFORE_RESET);
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'order-reset', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
    const transactionId = await screened(aWorld(), 'review');
    const found = await outcomeOf(screenRetry, aCatchUp('review'), CALLED_BEFORE_RESET);
    expect(found).toMatchObject({ kind: 'answered', found: true, transactionId, sentFrom: STARTED_AT });
    expect(requests('create-transaction')).toBe(1);
  });

  it('in the catch-up creates only once that run’s create had time to be sent and to arrive', async () => {
    const failure = await failureOf(
      outcomeOf(aWorld({}, STILL).background.catchUp, aCatchUp('review'), CALLED_BEFORE_RESET),
    );
    expect(failure).toMatchObject(EARLIER_TRY);
    expect(requests('create-transaction')).toBe(0);
    const reported = (arrivesBy: string): Attempt => ({
      attempt: 2,
      heartbeatDetails: { reported: 1, unseenSince: STARTED_AT, arrivesBy },
    });
    // The server starts a try sooner if the end of the one before is lost.
    const early = { ...CALLED_BEFORE_RESET, ...reported(fromNow(6_000)) };
    const soon = await failureOf(outcomeOf(aWorld({}, STILL).background.catchUp, aCatchUp('review'), early));
    expect(soon).toMatchObject({ ...EARLIER_TRY, nextRetryDelay: expect.closeTo(6_000, -3) });
    expect(requests('create-transaction')).toBe(0);
    const outcome = await outcomeOf(aWorld({}, STILL).background.catchUp, aCatchUp('review'), {
      ...CALLED_BEFORE_RESET,
      ...reported(fromNow(0)),
    });
    expect(outcome).toMatchObject({ kind: 'answered', found: false });
    expect(requests('status-by-invoice')).toBe(3);
  });
});

it.each<[string, Attempt, again: true | undefined]>([
  ['that the run before the reset began may have been', CALLED_BEFORE_RESET, true],
  ['that the run after the reset began may have been', AFTER_RESET, true],
  ['without a reset was not', {}, undefined],
])('a further attempt %s answered differently before', async (_when, run, again) => {
  const world = aWorld({ checkoutBudgetMs: 600 });
  const skipping = aWorld({ skip: [{ amountBelow: 1_000_000 }] });
  const invalid = aCatchUp('review', { transaction: { amount: '1' } });
  for (const result of [
    await perform(world.checkout.screenRetry, aCatchUp('review'), run),
    await perform(skipping.checkout.screenRetry, aCatchUp('review'), run),
    await perform(world.checkout.screenRetry, invalid, run),
  ]) {
    expect(result.again).toBe(again);
  }
});

describe('a lookup', () => {
  it.each([
    ['the create that it looks for', {}, UNSEEN_SINCE],
    ['the order’s start after a reset', AFTER_RESET, STARTED_AT],
    ['the order’s start if the run before the reset called it', CALLED_BEFORE_RESET, STARTED_AT],
  ])('reports as the earliest time of the create %s', async (_what, run, sentFrom) => {
    const { lookUp } = aWorld().background;
    const result = await perform(lookUp, aLookUp(), {
      ...run,
      attempt: 2,
      heartbeatDetails: { arrivesBy: fromNow(0) },
    });
    expect(result).toMatchObject({ outcome: { kind: 'none' }, sentFrom });
  });

  it('after a reset waits until a create of the run before had time to be sent and to arrive', async () => {
    const { lookUp } = aWorld({}, STILL).background;
    expect(await failureOf(perform(lookUp, aLookUp(), AFTER_RESET))).toMatchObject(EARLIER_TRY);
    const early = { ...AFTER_RESET, attempt: 2, heartbeatDetails: { arrivesBy: fromNow(6_000) } };
    const soon = await failureOf(perform(lookUp, aLookUp(), early));
    expect(soon).toMatchObject({ ...EARLIER_TRY, nextRetryDelay: expect.closeTo(6_000, -3) });
  });
});

describe('a checkout', () => {
  it('in the first task of an order’s first run creates at once', async () => {
    const { outcome, again } = await checkOut(aWorld(), aCheckout('review'), { run: { historyLength: 3 } });
    expect(outcome).toMatchObject({ kind: 'answered', found: false });
    expect(again).toBeUndefined();
    expect(requests('status-by-invoice')).toBe(0);
  });

  it.each<[string, Partial<RunFacts>, withoutTime: string | undefined]>([
    ['whose run replays', { isReplaying: true }, undefined],
    ['whose first task was lost', { historyLength: 4 }, undefined],
    ['of a run that a reset created', { wasReset: true }, 'order-reset'],
    [
      'that the run before the reset called',
      { runId: '33333333-3333-4333-8333-333333333333' },
      'order-reset',
    ],
  ])('%s only looks for what may have been created before', async (_which, run, withoutTime) => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    const request = aCheckout('review');
    const unseenSince = request.startedAt;
    const late = await checkOut(world, { ...request, answerBy: unseenSince }, { run });
    const reason = withoutTime ?? expect.any(String);
    expect(late.outcome).toMatchObject({ kind: 'unanswered', reason, unseenSince });
    expect(requests('status-by-invoice') === 0).toBe(withoutTime !== undefined);
    const none = await checkOut(world, request, { run });
    expect(none).toMatchObject({ outcome: { kind: 'unanswered', unseenSince }, again: true });
    expect(requests('create-transaction')).toBe(0);
    const transactionId = await screened(aWorld(), 'review');
    const found = await checkOut(aWorld(), request, { run });
    const outcome = { kind: 'answered', found: true, transactionId, sentFrom: unseenSince };
    expect(found).toMatchObject({ outcome, again: true });
    expect(requests('create-transaction')).toBe(1);
  });
});

describe('an attempt that an earlier run or try may have screened by other settings', () => {
  const SKIP = { skip: [{ amountBelow: 1_000_000 }] };
  const INVALID = { transaction: { amount: '1' } };
  const RUNS: [string, Attempt][] = [
    ['a lost task', { run: { historyLength: 4 } }],
    ['a reset', AFTER_RESET],
  ];

  it.each(RUNS)(
    'is neither skipped nor refused at checkout after %s if its transaction is found',
    async (_when, run) => {
      const transactionId = await screened(aWorld(), 'review');
      const found = { kind: 'answered', found: true, transactionId, decision: 'review' };
      const late = { answerBy: fromNow(-60_000) };
      for (const more of [{}, late]) {
        const skipped = await checkOut(aWorld(SKIP), aCheckout('review', more), run);
        expect(skipped.outcome).toMatchObject(found);
        const refused = await checkOut(aWorld(), aCheckout('review', { ...INVALID, ...more }), run);
        expect(refused.outcome).toMatchObject(found);
      }
      expect(requests('create-transaction')).toBe(1);
    },
  );

  it.each(RUNS)('is skipped or refused at checkout after %s if none is found', async (_when, run) => {
    const skipped = await checkOut(aWorld(SKIP), aCheckout(), run);
    expect(skipped.outcome).toEqual({ kind: 'skipped', rule: 0 });
    const { checkout } = aWorld();
    const refused = await perform(checkout.screenAtCheckout, aCheckout('pass', INVALID), run);
    expect(refused).toMatchObject({ refusal: { code: 'invalid-request' } });
    expect(requests('create-transaction')).toBe(0);
  });

  it('is not skipped at a further attempt whose earlier try made a transaction', async () => {
    const { screenRetry } = aWorld(SKIP).checkout;
    // Scheduled before it begins, also by a clock that is rounded to milliseconds: else it asks for the server's time.
    const again = () => ({ attempt: 2, scheduledMs: Date.now() - 2 });
    expect(await outcomeOf(screenRetry, aCatchUp('review'), again())).toEqual({ kind: 'skipped', rule: 0 });
    const transactionId = await screened(aWorld(), 'review');
    const found = await outcomeOf(screenRetry, aCatchUp('review'), again());
    expect(found).toMatchObject({ kind: 'answered', found: true, transactionId });
  });

  it.each(RUNS)('is not refused at checkout after %s where its integration is gone', async (_when, run) => {
    const { checkout } = aWorld();
    const request = aCheckout('pass', { integration: 'elsewhere' });
    const failure = await failureOf(perform(checkout.screenAtCheckout, request, run));
    expect(failure).toMatchObject({ type: 'unknown-integration' });
  });
});
