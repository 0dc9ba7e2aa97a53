import { describe, expect, it } from 'vitest';
import type { PortalRequest } from '../../src/contract/activity-contract.ts';
import { act, aPortalRequest, fieldsOf, REPEATABLE } from './portal-support.ts';
import {
  AFTER_RESET,
  type Attempt,
  aCatchUp,
  aLookUp,
  aWorld,
  CALLED_BEFORE_RESET,
  failureOf,
  fromNow,
  outcomeOf,
  perform,
  plan,
  requests,
  STARTED_AT,
  screened,
  UNSEEN_SINCE,
  withSandbox,
} from './support.ts';

withSandbox();

const FORCED = { fields: { ...fieldsOf('chargeback'), force: true } };
const EARLIER_TRY = { type: 'earlier-try', nextRetryDelay: 23_000 };

describe('a screening that a run before the reset began', () => {
  it('for a waiting customer looks, and adopts what that run made; else it creates nothing', async () => {
    const { screenRetry } = aWorld({ checkoutBudgetMs: 600 }).checkout;
    const outcome = await outcomeOf(screenRetry, aCatchUp('review'), CALLED_BEFORE_RESET);
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
    const transactionId = await screened(aWorld(), 'review');
    const found = await outcomeOf(screenRetry, aCatchUp('review'), CALLED_BEFORE_RESET);
    expect(found).toMatchObject({ kind: 'answered', found: true, transactionId, sentFrom: STARTED_AT });
    expect(requests('create-transaction')).toBe(1);
  });

  it('in the catch-up creates only once that run’s create had time to be sent and to arrive', async () => {
    const { catchUp } = aWorld().background;
    const failure = await failureOf(outcomeOf(catchUp, aCatchUp('review'), CALLED_BEFORE_RESET));
    expect(failure).toMatchObject(EARLIER_TRY);
    expect(requests('create-transaction')).toBe(0);
    const reported = { attempt: 2, heartbeatDetails: { reported: 1, unseenSince: STARTED_AT } };
    const outcome = await outcomeOf(catchUp, aCatchUp('review'), { ...CALLED_BEFORE_RESET, ...reported });
    expect(outcome).toMatchObject({ kind: 'answered', found: false });
    expect(requests('status-by-invoice')).toBe(2);
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
    const result = await perform(lookUp, aLookUp(), { ...run, attempt: 2 });
    expect(result).toMatchObject({ outcome: { kind: 'none' }, sentFrom });
  });

  it('after a reset waits until a create of the run before had time to be sent and to arrive', async () => {
    const { lookUp } = aWorld().background;
    expect(await failureOf(perform(lookUp, aLookUp(), AFTER_RESET))).toMatchObject(EARLIER_TRY);
  });
});

describe('a chargeback', () => {
  it.each<[string, Partial<PortalRequest>, Attempt]>([
    ['that the run before the reset began', {}, CALLED_BEFORE_RESET],
    ['after a reset', {}, AFTER_RESET],
    ['that an activity before it may have sent', { maybeDone: true }, {}],
    ['that was forced before the reset', FORCED, CALLED_BEFORE_RESET],
    ['that is forced, after a try of its own that may have done it', FORCED, { attempt: 2 }],
    ['that is forced, after such a try and a reset', FORCED, { ...AFTER_RESET, attempt: 2 }],
  ])('%s is not sent, but unconfirmed', async (_what, changes, attempt) => {
    expect(await act(aPortalRequest('chargeback', changes), attempt)).toEqual({ kind: 'unconfirmed' });
    expect(requests('submit-chargeback')).toBe(0);
  });

  it.each<[string, Partial<PortalRequest>, Attempt]>([
    ['after the reset', {}, AFTER_RESET],
    [
      'and after a try that did nothing',
      { maybeDone: true },
      { attempt: 2, heartbeatDetails: { reported: 1 } },
    ],
  ])('that may have been sent is sent where a person forces it %s', async (_when, changes, attempt) => {
    const transactionId = await screened(aWorld());
    const request = aPortalRequest('chargeback', { ...changes, ...FORCED, transactionId });
    expect(await act(request, attempt)).toMatchObject({ kind: 'done' });
  });
});

it.each(REPEATABLE)(
  '%s that a run before the reset began is sent again, and unconfirmed when that is refused',
  async (kind, operation) => {
    const transactionId = await screened(aWorld());
    const again = () => act(aPortalRequest(kind, { transactionId }), CALLED_BEFORE_RESET);
    expect(await again()).toMatchObject({ kind: 'done' });
    plan(operation, 'refused-in-body');
    expect(await again()).toEqual({ kind: 'unconfirmed', message: 'Refused' });
  },
);

it('a cancel that a run before the reset began is unconfirmed when its time is over', async () => {
  const late = aPortalRequest('cancel', { notAfter: fromNow(-1) });
  expect(await act(late, CALLED_BEFORE_RESET)).toEqual({ kind: 'unconfirmed' });
});
