import { describe, expect, it, test } from 'vitest';
import type { PortalRequest } from '../../src/contract/activity-contract.ts';
import { act, aPortalRequest, fieldsOf, plan, REPEATABLE } from './portal-support.ts';
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
  requests,
  STARTED_AT,
  sandbox,
  screened,
  theTransaction,
  UNSEEN_SINCE,
  withSandbox,
} from './support.ts';

withSandbox();

const FORCED = { fields: { ...fieldsOf('chargeback'), force: true } };

describe('a screening that a run before the reset began', () => {
  it('for a waiting customer looks, and adopts what that run made', async () => {
    const world = aWorld();
    const transactionId = await screened(world, 'review');
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review'), CALLED_BEFORE_RESET);
    expect(outcome).toMatchObject({ kind: 'answered', found: true, transactionId, sentFrom: STARTED_AT });
    expect(requests('create-transaction')).toBe(1);
  });

  it('for a waiting customer creates nothing', async () => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review'), CALLED_BEFORE_RESET);
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
  });

  it('in the catch-up creates only once that run’s create had time to be sent and to arrive', async () => {
    const { catchUp } = aWorld().background;
    const failure = await failureOf(outcomeOf(catchUp, aCatchUp('review'), CALLED_BEFORE_RESET));
    expect(failure).toMatchObject({ type: 'earlier-try', nextRetryDelay: 23_000 });
    expect(requests('create-transaction')).toBe(0);
    const reported = { attempt: 2, heartbeatDetails: { reported: 1, unseenSince: STARTED_AT } };
    const outcome = await outcomeOf(catchUp, aCatchUp('review'), { ...CALLED_BEFORE_RESET, ...reported });
    expect(outcome).toMatchObject({ kind: 'answered', found: false });
    expect(requests('status-by-invoice')).toBe(2);
  });
});

describe.each([
  ['that the run before the reset began', CALLED_BEFORE_RESET],
  ['that the run after the reset began', AFTER_RESET],
])('a screening %s', (_when, reset) => {
  it('for a waiting customer may have been answered differently before', async () => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    const { again } = await perform(world.checkout.screenRetry, aCatchUp('review'), reset);
    expect(again).toBe(true);
    const skipping = aWorld({ skip: [{ amountBelow: 1_000_000 }] });
    expect(await perform(skipping.checkout.screenRetry, aCatchUp('review'), reset)).toMatchObject({
      outcome: { kind: 'skipped' },
      again: true,
    });
    const invalid = aCatchUp('review', { transaction: { amount: '1' } });
    expect(await perform(world.checkout.screenRetry, invalid, reset)).toMatchObject({
      outcome: { kind: 'refused', unseenSince: STARTED_AT },
      again: true,
    });
  });
});

it('without a reset a further attempt is answered once', async () => {
  const result = await perform(aWorld().checkout.screenRetry, aCatchUp('review'));
  expect(result).not.toHaveProperty('again');
});

describe('a lookup', () => {
  it.each([
    ['the create that it looks for', {}, UNSEEN_SINCE],
    ['the order’s start after a reset', AFTER_RESET, STARTED_AT],
    ['the order’s start if the run before the reset called it', CALLED_BEFORE_RESET, STARTED_AT],
  ])('reports as the earliest time of the create %s', async (_what, run, sentFrom) => {
    const { lookUp } = aWorld().background;
    expect(await perform(lookUp, aLookUp(), { ...run, attempt: 2 })).toMatchObject({
      outcome: { kind: 'none' },
      sentFrom,
    });
  });

  it('after a reset waits until a create of the run before had time to be sent and to arrive', async () => {
    const { lookUp } = aWorld().background;
    const failure = await failureOf(perform(lookUp, aLookUp(), AFTER_RESET));
    expect(failure).toMatchObject({ type: 'earlier-try', nextRetryDelay: 23_000 });
  });
});

describe('a chargeback', () => {
  test.each<[string, Partial<PortalRequest>, Attempt]>([
    ['that the run before the reset began', {}, CALLED_BEFORE_RESET],
    ['after a reset', {}, AFTER_RESET],
    ['that an activity before it may have sent', { maybeDone: true }, {}],
  ])('%s is not sent, but unconfirmed', async (_what, changes, attempt) => {
    expect(await act(aPortalRequest('chargeback', changes), attempt)).toEqual({ kind: 'unconfirmed' });
    expect(requests('submit-chargeback')).toBe(0);
  });

  it('that the run before the reset may have sent is sent where a person forces it since', async () => {
    const transactionId = await screened(aWorld());
    const request = aPortalRequest('chargeback', { ...FORCED, transactionId });
    expect(await act(request, AFTER_RESET)).toMatchObject({ kind: 'done' });
    expect(theTransaction().chargebacks).toHaveLength(1);
  });

  it('that was forced before the reset may be sent already, and is not sent again', async () => {
    expect(await act(aPortalRequest('chargeback', FORCED), CALLED_BEFORE_RESET)).toEqual({
      kind: 'unconfirmed',
    });
    expect(requests('submit-chargeback')).toBe(0);
  });

  it('that is forced is sent again after a try that did nothing', async () => {
    const transactionId = await screened(aWorld());
    const request = aPortalRequest('chargeback', { maybeDone: true, ...FORCED, transactionId });
    plan('submit-chargeback', '429');
    const heartbeats: unknown[] = [];
    await failureOf(act(request, {}, heartbeats));
    expect(heartbeats).toEqual([{ reported: 1 }]);
    sandbox.control.clearFaults();
    expect(await act(request, { attempt: 2, heartbeatDetails: { reported: 1 } })).toMatchObject({
      kind: 'done',
    });
  });

  test.each<[Partial<PortalRequest>, Attempt]>([
    [{}, {}],
    [{}, CALLED_BEFORE_RESET],
    [{}, AFTER_RESET],
    [{ maybeDone: true }, {}],
  ])(
    'that is forced is unconfirmed after a try of its own that may have done it: %o, %o',
    async (changes, run) => {
      const request = aPortalRequest('chargeback', { ...changes, ...FORCED });
      const outcome = await act(request, { ...run, attempt: 2 });
      expect(outcome).toEqual({ kind: 'unconfirmed' });
      expect(requests('submit-chargeback')).toBe(0);
    },
  );
});

describe.each(REPEATABLE)('%s that a run before the reset began', (kind, operation) => {
  it('is sent again, and unconfirmed when that is refused', async () => {
    const transactionId = await screened(aWorld());
    expect(await act(aPortalRequest(kind, { transactionId }), CALLED_BEFORE_RESET)).toMatchObject({
      kind: 'done',
    });
    plan(operation, 'refused-in-body');
    expect(await act(aPortalRequest(kind, { transactionId }), CALLED_BEFORE_RESET)).toEqual({
      kind: 'unconfirmed',
      message: 'Refused',
    });
  });
});

it('a cancel that a run before the reset began is unconfirmed when its time is over', async () => {
  const late = aPortalRequest('cancel', { notAfter: fromNow(-1) });
  expect(await act(late, CALLED_BEFORE_RESET)).toEqual({ kind: 'unconfirmed' });
});
