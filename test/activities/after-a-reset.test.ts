import { describe, expect, it, test } from 'vitest';
import { act, aPortalRequest, fieldsOf, plan, REPEATABLE } from './portal-support.ts';
import {
  aCatchUp,
  aWorld,
  failureOf,
  fromNow,
  outcomeOf,
  perform,
  RESET_RUN_ID,
  requests,
  STARTED_AT,
  sandbox,
  screened,
  theTransaction,
  withSandbox,
} from './support.ts';

withSandbox();

const ofAnotherRun = { runId: RESET_RUN_ID };
const FORCED = { fields: { ...fieldsOf('chargeback'), force: true } };

describe('a screening that a run before the reset began', () => {
  it('for a waiting customer looks, and adopts what that run made', async () => {
    const world = aWorld();
    const transactionId = await screened(world, 'review');
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review', ofAnotherRun));
    expect(outcome).toMatchObject({ kind: 'answered', found: true, transactionId, sentFrom: STARTED_AT });
    expect(requests('create-transaction')).toBe(1);
  });

  it('for a waiting customer creates nothing', async () => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review', ofAnotherRun));
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
  });

  it('in the catch-up creates only once that run’s create had time to be sent and to arrive', async () => {
    const { catchUp } = aWorld().background;
    const failure = await failureOf(outcomeOf(catchUp, aCatchUp('review', ofAnotherRun)));
    expect(failure).toMatchObject({ type: 'earlier-try', nextRetryDelay: 23_000 });
    expect(requests('create-transaction')).toBe(0);
    const reported = { attempt: 2, heartbeatDetails: { reported: 1, unseenSince: STARTED_AT } };
    const outcome = await outcomeOf(catchUp, aCatchUp('review', ofAnotherRun), reported);
    expect(outcome).toMatchObject({ kind: 'answered', found: false });
    expect(requests('status-by-invoice')).toBe(2);
  });
});

describe('a result', () => {
  it.each([
    [ofAnotherRun, true],
    [{ wasReset: true }, true],
    [{}, undefined],
  ])('says whether it may be of the run before: %o', async (reset, afterReset) => {
    const { catchUp } = aWorld().background;
    const reported = { attempt: 2, heartbeatDetails: { reported: 1 } };
    const result = await perform(catchUp, aCatchUp('pass', reset), reported);
    expect(result.afterReset).toBe(afterReset);
  });
});

describe('a chargeback', () => {
  test.each([ofAnotherRun, { maybeDone: true }])('is not sent with %o, but unconfirmed', async (reset) => {
    expect(await act(aPortalRequest('chargeback', reset))).toEqual({ kind: 'unconfirmed' });
    expect(requests('submit-chargeback')).toBe(0);
  });

  it('that the run before the reset may have sent is sent where a person forces it since', async () => {
    const transactionId = await screened(aWorld());
    const request = aPortalRequest('chargeback', { maybeDone: true, ...FORCED, transactionId });
    expect(await act(request)).toMatchObject({ kind: 'done' });
    expect(theTransaction().chargebacks).toHaveLength(1);
  });

  it('that was forced before the reset may be sent already, and is not sent again', async () => {
    const request = aPortalRequest('chargeback', { ...ofAnotherRun, ...FORCED });
    expect(await act(request)).toEqual({ kind: 'unconfirmed' });
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

  test.each([{}, ofAnotherRun, { maybeDone: true }])(
    'that is forced is unconfirmed after a try of its own that may have done it: %o',
    async (reset) => {
      const outcome = await act(aPortalRequest('chargeback', { ...reset, ...FORCED }), { attempt: 2 });
      expect(outcome).toEqual({ kind: 'unconfirmed' });
      expect(requests('submit-chargeback')).toBe(0);
    },
  );
});

describe.each(REPEATABLE)('%s that a run before the reset began', (kind, operation) => {
  it('is sent again, and unconfirmed when that is refused', async () => {
    const transactionId = await screened(aWorld());
    expect(await act(aPortalRequest(kind, { ...ofAnotherRun, transactionId }))).toMatchObject({
      kind: 'done',
    });
    plan(operation, 'refused-in-body');
    expect(await act(aPortalRequest(kind, { ...ofAnotherRun, transactionId }))).toEqual({
      kind: 'unconfirmed',
      message: 'Refused',
    });
  });
});

it('a cancel that a run before the reset began is unconfirmed when its time is over', async () => {
  const late = aPortalRequest('cancel', { ...ofAnotherRun, notAfter: fromNow(-1) });
  expect(await act(late)).toEqual({ kind: 'unconfirmed' });
});
