import { describe, expect, it } from 'vitest';
import { act, aPortalRequest, KINDS, REPEATABLE } from './portal-support.ts';
import {
  aWorld,
  failureOf,
  fromNow,
  plan,
  requests,
  sandbox,
  screened,
  theTransaction,
  withSandbox,
} from './support.ts';

withSandbox();

const LOST = ['reset-after-commit', '5xx-after-commit', 'truncated-reply', 'malformed-body'] as const;
/** The try before reported that it and all before it did nothing. */
const NOTHING_DONE = { attempt: 2, heartbeatDetails: { reported: 1 } };

describe('a chargeback whose answer was lost', () => {
  it.each(LOST)('is unconfirmed after %s, and not sent again', async (fault) => {
    const transactionId = await screened(aWorld());
    plan('submit-chargeback', fault);
    const heartbeats: unknown[] = [];
    const outcome = await act(aPortalRequest('chargeback', { transactionId }), {}, heartbeats);
    expect(outcome).toEqual({ kind: 'unconfirmed' });
    expect(heartbeats).toEqual([]);
    expect(theTransaction().chargebacks).toHaveLength(1);
    expect(requests('submit-chargeback')).toBe(1);
  });

  it.each([
    ['when its worker was killed', { attempt: 2 }],
    ['when only the try before the last did nothing', { attempt: 3, heartbeatDetails: { reported: 1 } }],
  ])('is unconfirmed %s, and not sent again', async (_when, attempt) => {
    expect(await act(aPortalRequest('chargeback'), attempt)).toEqual({ kind: 'unconfirmed' });
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
    expect(await act(request, NOTHING_DONE)).toMatchObject({ kind: 'done' });
    expect(theTransaction().chargebacks).toHaveLength(1);
  });

  it.each([
    ['an address in the settings is none', { portalBaseUrl: 'no address' }, 'default', 'unexpected'],
    ['its integration is gone', {}, 'elsewhere', 'unknown-integration'],
  ])('is sent again when %s', async (_what, settings, integration, type) => {
    const heartbeats: unknown[] = [];
    const request = aPortalRequest('chargeback', { integration });
    const failure = await failureOf(act(request, {}, heartbeats, aWorld(settings)));
    expect(failure).toMatchObject({ type, nextRetryDelay: 1_000 });
    expect(heartbeats).toEqual([{ reported: 1 }]);
  });
});

describe.each(REPEATABLE)('%s', (kind, operation, done) => {
  it('tells of a wrong key that comes after a lost answer, and that it may be done', async () => {
    plan(operation, '403');
    const outcome = { kind: 'forbidden', maybeDone: true };
    expect(await act(aPortalRequest(kind), { attempt: 2 })).toEqual(outcome);
    expect(await act(aPortalRequest(kind, { maybeDone: true }))).toEqual(outcome);
  });

  it.each(LOST)('is sent again after %s, and then done', async (fault) => {
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

  it('is unconfirmed when the repeat is refused, unless the tries before did nothing', async () => {
    plan(operation, 'refused-in-body');
    const unconfirmed = { kind: 'unconfirmed', message: 'Refused' };
    expect(await act(aPortalRequest(kind), { attempt: 2 })).toEqual(unconfirmed);
    const refused = { kind: 'refused', code: '403', message: 'Refused' };
    expect(await act(aPortalRequest(kind), NOTHING_DONE)).toEqual(refused);
  });

  it('stays possibly done, whatever the tries after the lost one did', async () => {
    plan(operation, '429');
    const heartbeats: unknown[] = [];
    await failureOf(act(aPortalRequest(kind), { attempt: 2 }, heartbeats));
    expect(heartbeats).toEqual([]);
  });
});

it.each([
  [1, 1_000],
  [4, 8_000],
  [40, 300_000],
])('the pauses grow: %i tries, %i ms', async (attempt, nextRetryDelay) => {
  const details = { attempt, heartbeatDetails: { reported: attempt - 1 } };
  const closed = aWorld({ portalBaseUrl: 'http://127.0.0.1:9/api/v1/transaction-update' });
  for (const [kind, operation] of KINDS) {
    // A Retry-After of 0 must not become a flood.
    plan(operation, '429', { retryAfter: 0 });
    expect((await failureOf(act(aPortalRequest(kind), details))).nextRetryDelay).toBe(1_000);
    const failure = await failureOf(act(aPortalRequest(kind), details, [], closed));
    expect(failure).toMatchObject({ type: 'connection-refused', nextRetryDelay });
  }
});

describe('the last moment of a cancel', () => {
  const cancel = (leftMs: number, changes: Parameters<typeof aPortalRequest>[1] = {}) =>
    aPortalRequest('cancel', { notAfter: fromNow(leftMs), ...changes });

  it.each<[string, object, { notAfter?: string }?]>([
    ['too-late', {}],
    ['too-late', {}, { notAfter: 'no moment' }],
    ['too-late', NOTHING_DONE],
    ['unconfirmed', { attempt: 2 }],
  ])('once passed lets nothing be sent: %s for %o', async (kind, attempt, changes) => {
    expect(await act(cancel(-1, changes), attempt)).toEqual({ kind });
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
    ['5xx-before-commit', {}],
    ['429', { retryAfter: 600 }],
    ['403', {}],
  ] as const)('is never slept through after %s, nor while the integration is gone', async (fault, more) => {
    plan('cancel-transaction', fault, more);
    const twelfth = { attempt: 12, heartbeatDetails: { reported: 11 } };
    for (const integration of ['default', 'elsewhere']) {
      const request = cancel(20_000, { integration, forbiddenKnown: true });
      const { nextRetryDelay } = await failureOf(act(request, twelfth));
      expect(nextRetryDelay).toBeLessThanOrEqual(10_000);
      expect(nextRetryDelay).toBeGreaterThan(7_500);
    }
  });

  it.each([
    ['leaves a second between two tries', 1_800, 1_000],
    ['changes nothing while it is far', 3_600_000, 600_000],
  ])('%s', async (_what, leftMs, pause) => {
    plan('cancel-transaction', '429', { retryAfter: 600 });
    expect((await failureOf(act(cancel(leftMs)))).nextRetryDelay).toBe(pause);
  });
});
