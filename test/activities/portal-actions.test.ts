import { describe, expect, it, test } from 'vitest';
import type { GatewayResponseRequest } from '../../src/contract/activity-contract.ts';
import { act, aPortalRequest, fieldsOf, KINDS, plan } from './portal-support.ts';
import {
  aWorld,
  expectNoSecret,
  failureOf,
  outcomeOf,
  requests,
  sandbox,
  screened,
  theTransaction,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

describe.each(KINDS)('%s', (kind, operation, done) => {
  test.each(['number', 'string'] as const)(
    'is done when the code in the body is 200 as a %s',
    async (codeType) => {
      sandbox.control.setPortal({ codeType });
      const transactionId = await screened(aWorld());
      const outcome = await act(aPortalRequest(kind, { transactionId }));
      expect(outcome).toMatchObject({ kind: 'done', code: '200', message: expect.any(String) });
      expect(done(theTransaction())).toBe(1);
      expectNoSecret(outcome);
    },
  );

  it('is refused by a body that says so under HTTP 200', async () => {
    plan(operation, 'refused-in-body', { status: 409 });
    expect(await act(aPortalRequest(kind))).toEqual({ kind: 'refused', code: '409', message: 'Refused' });
    expect(requests(operation)).toBe(1);
  });

  it('reports a wrong key once, then tries slowly', async () => {
    plan(operation, '403');
    expect(await act(aPortalRequest(kind))).toEqual({ kind: 'forbidden' });
    const failure = await failureOf(act(aPortalRequest(kind, { forbiddenKnown: true })));
    expect(failure).toMatchObject({ type: 'forbidden', nextRetryDelay: 60_000 });
  });

  it('is tried again while its integration is gone from the settings', async () => {
    const heartbeats: unknown[] = [];
    const request = aPortalRequest(kind, { integration: 'elsewhere' });
    const failure = await failureOf(act(request, {}, heartbeats));
    expect(failure).toMatchObject({ type: 'unknown-integration', nonRetryable: false });
    expect(heartbeats).toEqual([{ reported: 1 }]);
  });
});

describe('what is sent', () => {
  it('holds the fields of a chargeback and nothing of ours', async () => {
    const transactionId = await screened(aWorld());
    await act(aPortalRequest('chargeback', { transactionId }));
    expect(theTransaction().chargebacks).toEqual([
      {
        transaction_id: transactionId,
        reason_code: '4837',
        due_date: '2030-01-31',
        inquiry: 'false',
        notes: 'none',
      },
    ]);
  });

  it('is told of a chargeback as the service echoes it, without the key', async () => {
    const transactionId = await screened(aWorld());
    const outcome = await act(aPortalRequest('chargeback', { transactionId }));
    expect(outcome).toMatchObject({
      kind: 'done',
      chargeback: { transaction_id: transactionId, reason_code: '4837', due_date: '2030-01-31' },
    });
    expectNoSecret(outcome);
    expect(await act(aPortalRequest('report-fraud', { transactionId }))).not.toHaveProperty('chargeback');
  });

  it('names the e-mail that was given with a customer code, else the order’s', async () => {
    const given = { ...fieldsOf('customer-code'), email: 'other@example.com' };
    await act(aPortalRequest('customer-code', { fields: given }));
    await act(aPortalRequest('customer-code'));
    const emails = sandbox.control.customerCodes().map(({ email }) => email);
    expect(emails).toEqual(['other@example.com', 'pass@example.com']);
  });

  it('is no customer code without an e-mail', async () => {
    const outcome = await act(aPortalRequest('customer-code', { email: '' }));
    expect(outcome).toEqual({ kind: 'refused', message: expect.stringContaining('no e-mail') });
    expect(requests('customer-code')).toBe(0);
  });

  it.each(['cancel', 'report-fraud', 'chargeback'] as const)(
    'is no %s without a transaction',
    async (kind) => {
      const outcome = await act(aPortalRequest(kind, { transactionId: '' }));
      expect(outcome).toEqual({ kind: 'refused', message: 'The request names no transaction.' });
    },
  );
});

describe('the gateway’s result', () => {
  const send = (changes: Partial<GatewayResponseRequest> = {}) =>
    outcomeOf(aWorld().background.sendGatewayResponse, {
      integration: 'default',
      transactionId: UNKNOWN_ID,
      gateway: { result: 'pass' },
      forbiddenKnown: false,
      ...changes,
    });

  it('reaches the service with what the gateway said', async () => {
    const transactionId = await screened(aWorld());
    const gateway = { result: 'fail', authcode: 'OK123', transactionId: 'gw-1' } as const;
    expect(await send({ transactionId, gateway })).toEqual({ kind: 'sent' });
    expect(theTransaction().gatewayResponses).toMatchObject([
      { result: 'fail', authcode: 'OK123', transactionId: 'gw-1' },
    ]);
  });

  it('is refused with the service’s words', async () => {
    expect(await send()).toEqual({ kind: 'refused', words: 'Transaction Not Found' });
  });

  test.each(['5xx-after-commit', 'reset-before-commit', 'malformed-body', '429'] as const)(
    'is sent again after %s',
    async (fault) => {
      plan('gateway-response', fault);
      expect(await failureOf(send())).toMatchObject({ nonRetryable: false });
    },
  );

  it('reports a wrong key once, then tries slowly', async () => {
    plan('gateway-response', '403');
    expect(await send()).toEqual({ kind: 'forbidden' });
    expect(await failureOf(send({ forbiddenKnown: true }))).toMatchObject({ nextRetryDelay: 60_000 });
  });

  it('is tried again while its integration is gone from the settings', async () => {
    expect(await failureOf(send({ integration: 'elsewhere' }))).toMatchObject({
      type: 'unknown-integration',
    });
  });
});
