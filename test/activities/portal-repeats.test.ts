import { describe, expect, it, test } from 'vitest';
import { act, aPortalRequest, KINDS, plan, REPEATABLE } from './portal-support.ts';
import {
  aWorld,
  failureOf,
  fromNow,
  requests,
  sandbox,
  screened,
  theTransaction,
  withSandbox,
} from './support.ts';

withSandbox();

const LOST = ['reset-after-commit', '5xx-after-commit', 'truncated-reply', 'malformed-body'] as const;

describe('a chargeback whose answer was lost', () => {
  test.each(LOST)('is unconfirmed after %s, and not sent again', async (fault) => {
    const transactionId = await screened(aWorld());
    plan('submit-chargeback', fault);
    const heartbeats: unknown[] = [];
    const outcome = await act(aPortalRequest('chargeback', { transactionId }), {}, heartbeats);
    expect(outcome).toEqual({ kind: 'unconfirmed' });
    expect(heartbeats).toEqual([]);
    expect(theTransaction().chargebacks).toHaveLength(1);
    expect(requests('submit-chargeback')).toBe(1);
  });

  it('is unconfirmed when its worker was killed, and not sent again', async () => {
    expect(await act(aPortalRequest('chargeback'), { attempt: 2 })).toEqual({ kind: 'unconfirmed' });
    expect(requests('submit-chargeback')).toBe(0);
  });

  it('is sent again when the try before it is known to have done nothing', async () => {
    const transactionId = await screened(aWorld());
    const request = aPortalRequest('chargeback', { transactionId });
    plan('submit-chargeback', '429', { retryAfter: 3 });
    const heartbeats: unknown[] = [];
    const failure = await failureOf(act(request, {}, heartbeats));
    expect(failure).toMatchObject({ type: 'rate-limited', nextRetryDelay: 3_000 });
    expect(heartbeats).toEqual([{ reported: 1 }]);
    sandbox.control.clearFaults();
    expect(await act(request, { attempt: 2, heartbeatDetails: { reported: 1 } })).toMatchObject({
      kind: 'done',
    });
    expect(theTransaction().chargebacks).toHaveLength(1);
  });

  it('is sent again when an address in the settings was none', async () => {
    const heartbeats: unknown[] = [];
    const world = aWorld({ portalBaseUrl: 'no address' });
    const failure = await failureOf(act(aPortalRequest('chargeback'), {}, heartbeats, world));
    expect(failure).toMatchObject({ type: 'unexpected', nextRetryDelay: 1_000 });
    expect(heartbeats).toEqual([{ reported: 1 }]);
  });

  it('is not sent again when only the try before the last is known to have done nothing', async () => {
    const outcome = await act(aPortalRequest('chargeback'), {
      attempt: 3,
      heartbeatDetails: { reported: 1 },
    });
    expect(outcome).toEqual({ kind: 'unconfirmed' });
  });
});

describe.each(REPEATABLE)('%s', (kind, operation, done) => {
  it('tells of a wrong key that comes after a lost answer, and that it may be done', async () => {
    plan(operation, '403');
    expect(await act(aPortalRequest(kind), { attempt: 2 })).toEqual({ kind: 'forbidden', maybeDone: true });
    expect(await act(aPortalRequest(kind, { maybeDone: true }))).toEqual({
      kind: 'forbidden',
      maybeDone: true,
    });
    const known = aPortalRequest(kind, { forbiddenKnown: true });
    expect(await failureOf(act(known, { attempt: 2 }))).toMatchObject({ type: 'forbidden' });
  });

  test.each(LOST)('is sent again after %s, and then done', async (fault) => {
    const transactionId = await screened(aWorld());
    const request = aPortalRequest(kind, { transactionId });
    plan(operation, fault);
    const heartbeats: unknown[] = [];
    const failure = await failureOf(act(request, {}, heartbeats));
    expect(failure).toMatchObject({ nextRetryDelay: 1_000, nonRetryable: false });
    expect(heartbeats).toEqual([]);
    sandbox.control.clearFaults();
    expect(await act(request, { attempt: 2 })).toMatchObject({ kind: 'done' });
    expect(requests(operation)).toBe(2);
    expect(done(theTransaction())).toBeGreaterThanOrEqual(1);
  });

  it('is unconfirmed when the repeat is refused, also after a killed worker', async () => {
    plan(operation, 'refused-in-body');
    expect(await act(aPortalRequest(kind), { attempt: 2 })).toEqual({
      kind: 'unconfirmed',
      message: 'Refused',
    });
  });

  it('is refused when the tries before are known to have done nothing', async () => {
    plan(operation, 'refused-in-body');
    const outcome = await act(aPortalRequest(kind), { attempt: 2, heartbeatDetails: { reported: 1 } });
    expect(outcome).toEqual({ kind: 'refused', code: '403', message: 'Refused' });
  });

  it('stays possibly done, whatever the tries after the lost one did', async () => {
    plan(operation, '429');
    const heartbeats: unknown[] = [];
    await failureOf(act(aPortalRequest(kind), { attempt: 2 }, heartbeats));
    expect(heartbeats).toEqual([]);
  });
});

describe.each(KINDS)('the pauses of %s', (kind, operation) => {
  test.each([
    [1, 1_000],
    [4, 8_000],
    [40, 300_000],
  ])('grow: %i tries, %i ms', async (attempt, expected) => {
    plan(operation, '429', { retryAfter: 0 });
    const details = { attempt, heartbeatDetails: { reported: attempt - 1 } };
    // A Retry-After of 0 must not become a flood.
    expect((await failureOf(act(aPortalRequest(kind), details))).nextRetryDelay).toBe(1_000);
    const closed = aWorld({ portalBaseUrl: 'http://127.0.0.1:9/api/v1/transaction-update' });
    const failure = await failureOf(act(aPortalRequest(kind), details, [], closed));
    expect(failure).toMatchObject({ type: 'connection-refused', nextRetryDelay: expected });
  });
});

describe('the last moment of a cancel', () => {
  const cancel = (leftMs: number, changes: Parameters<typeof aPortalRequest>[1] = {}) =>
    aPortalRequest('cancel', { notAfter: fromNow(leftMs), ...changes });

  it('once passed lets nothing be sent', async () => {
    expect(await act(cancel(-1))).toEqual({ kind: 'too-late' });
    expect(await act(cancel(0, { notAfter: 'no moment' }))).toEqual({ kind: 'too-late' });
    expect(requests('cancel-transaction')).toBe(0);
  });

  it('once passed leaves a cancel that may have been done unconfirmed', async () => {
    expect(await act(cancel(-1), { attempt: 2 })).toEqual({ kind: 'unconfirmed' });
    expect(await act(cancel(-1), { attempt: 2, heartbeatDetails: { reported: 1 } })).toEqual({
      kind: 'too-late',
    });
    expect(requests('cancel-transaction')).toBe(0);
  });

  it('ends a request that is on its way', async () => {
    plan('cancel-transaction', 'hang-before-commit');
    const request = cancel(300);
    const failure = await failureOf(act(request));
    const overdue = Date.now() - Date.parse(request.notAfter ?? '');
    expect(failure).toMatchObject({ type: 'timeout', nonRetryable: false });
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(5);
    expect(overdue).toBeGreaterThanOrEqual(-5);
    expect(overdue).toBeLessThan(500);
  });

  it.each([
    ['5xx-before-commit', false],
    ['429', false],
    ['403', true],
  ] as const)('is never slept through after %s', async (fault, forbiddenKnown) => {
    plan('cancel-transaction', fault, fault === '429' ? { retryAfter: 600 } : {});
    const request = cancel(20_000, { forbiddenKnown });
    const { nextRetryDelay } = await failureOf(
      act(request, { attempt: 12, heartbeatDetails: { reported: 11 } }),
    );
    expect(nextRetryDelay).toBeLessThanOrEqual(10_000);
    expect(nextRetryDelay).toBeGreaterThan(7_500);
  });

  it('leaves a second between two tries', async () => {
    plan('cancel-transaction', '429', { retryAfter: 600 });
    expect((await failureOf(act(cancel(1_800)))).nextRetryDelay).toBe(1_000);
  });

  it('changes nothing while it is far', async () => {
    plan('cancel-transaction', '429', { retryAfter: 600 });
    expect((await failureOf(act(cancel(3_600_000)))).nextRetryDelay).toBe(600_000);
  });

  it('is never slept through while the integration is gone from the settings', async () => {
    const failure = await failureOf(act(cancel(5_000, { integration: 'elsewhere' }), { attempt: 12 }));
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(2_500);
  });
});
