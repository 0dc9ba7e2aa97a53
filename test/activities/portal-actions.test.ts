import { describe, expect, it } from 'vitest';
import type { GatewayResponseRequest } from '../../src/contract/activity-contract.ts';
import { act, aPortalRequest, fieldsOf, KINDS } from './portal-support.ts';
import {
  aWorld,
  failureOf,
  KEY_KNOWN,
  outcomeOf,
  plan,
  sandbox,
  screened,
  theTransaction,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

describe.each(KINDS)('%s', (kind) => {
  it('is not refused by the 404 of a wrong address', async () => {
    const asked = act(aPortalRequest(kind), {}, [], aWorld({ portalBaseUrl: `${sandbox.url}/elsewhere` }));
    if (kind === 'chargeback') expect(await asked).toEqual({ kind: 'unconfirmed' });
    else expect(await failureOf(asked)).toMatchObject({ type: 'malformed-reply', nonRetryable: false });
  });
});

describe('what is sent', () => {
  it('holds the fields of a chargeback and nothing of ours, and is told as the service echoes it', async () => {
    const transactionId = await screened(aWorld());
    const outcome = await act(aPortalRequest('chargeback', { transactionId }));
    const { kind: _kind, ...fields } = fieldsOf('chargeback');
    expect(theTransaction().chargebacks).toEqual([{ transaction_id: transactionId, ...fields }]);
    expect(outcome).toMatchObject({ chargeback: { transaction_id: transactionId, reason_code: '4837' } });
  });

  it('names the customer code and its e-mail', async () => {
    await act(aPortalRequest('customer-code'));
    expect(sandbox.control.customerCodes()).toMatchObject([{ email: 'pass@example.com' }]);
  });

  it.each([
    ['customer-code', 'an e-mail', { fields: { kind: 'customer-code', customerCode: 'c-1' } }, /no e-mail/],
    ['cancel', 'a transaction', { transactionId: '' }, /no transaction/],
    ['chargeback', 'a transaction', { transactionId: '' }, /no transaction/],
  ] as const)('is no %s without %s', async (kind, _what, without, words) => {
    const outcome = await act(aPortalRequest(kind, without));
    expect(outcome).toEqual({ kind: 'refused', message: expect.stringMatching(words), local: true });
  });
});

describe('the gateway’s result', () => {
  const send = (changes: Partial<GatewayResponseRequest> = {}, world = aWorld(), attempt = 1) => {
    const request = {
      integration: 'default',
      attempt: 1,
      transactionId: UNKNOWN_ID,
      gateway: { result: 'pass' },
      ...changes,
    } as const;
    return outcomeOf(world.background.sendGatewayResponse, request, { attempt });
  };

  it('reaches the service with what the gateway said', async () => {
    const transactionId = await screened(aWorld());
    const gateway = { result: 'fail', authcode: 'OK123', transactionId: 'gw-1' } as const;
    expect(await send({ transactionId, gateway })).toEqual({ kind: 'sent' });
    expect(theTransaction().gatewayResponses).toMatchObject([gateway]);
  });

  it('is refused with the service’s words', async () => {
    expect(await send()).toEqual({ kind: 'refused', words: 'Transaction Not Found' });
  });

  it.each(['5xx-after-commit', 'malformed-body', '429'] as const)('is sent again after %s', async (fault) => {
    plan('gateway-response', fault);
    expect(await failureOf(send())).toMatchObject({ nonRetryable: false });
  });

  it('is sent again after pauses that grow, however short a Retry-After is', async () => {
    plan('gateway-response', '429', { retryAfter: 1 });
    expect(await failureOf(send({}, aWorld(), 4))).toMatchObject({ nextRetryDelay: 16_000 });
  });

  it('is sent again after a 404 of a wrong address', async () => {
    const world = aWorld({ baseUrl: `${sandbox.url}/elsewhere` });
    expect(await failureOf(send({}, world))).toMatchObject({ type: 'malformed-reply', nonRetryable: false });
  });
});

it.each([['5xx-before-commit'], ['403']] as const)(
  'a try that fails by %s names its action',
  async (kind) => {
    plan('cancel-transaction', kind);
    const request = aPortalRequest('cancel', { action: 7 });
    expect(await failureOf(act(request, KEY_KNOWN))).toMatchObject({ details: [7] });
  },
);
