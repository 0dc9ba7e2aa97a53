import { describe, expect, it } from 'vitest';
import type { ChargebackRequest, CustomerCodeRequest } from '../../src/contract/messages.ts';
import { CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aClosed, startedActions } from './fake-temporal.ts';

const order = { orderId: 'order-1' };
const chargeback: ChargebackRequest = { reason_code: '10.4', due_date: '2026-04-01' };

/** The id of the workflow that sends it: the same for the same. */
async function chargebackId(request: ChargebackRequest): Promise<string | undefined> {
  const client = aClosed();
  await client.orderScreening.submitChargeback(order, request);
  return startedActions(client)[0]?.workflowId;
}

async function customerCodeId(request: CustomerCodeRequest): Promise<string | undefined> {
  const client = aClosed();
  await client.orderScreening.attachCustomerCode(order, request);
  return startedActions(client)[0]?.workflowId;
}

describe('of a closed order, the same chargeback is', () => {
  it.each<[string, Partial<ChargebackRequest>]>([
    ['one without the word inquiry, which is none', { inquiry: 'false' }],
    ['one that is forced', { force: true }],
    ['one that names the same transaction', { transactionId: CLOSED_TRANSACTION }],
  ])('%s', async (_what, more) => {
    expect(await chargebackId({ ...chargeback, ...more })).toBe(await chargebackId(chargeback));
  });

  it('not one with other evidence', async () => {
    const other = await chargebackId({ ...chargeback, notes: 'goods received' });
    expect(other).not.toBe(await chargebackId(chargeback));
  });
});

it('of a closed order, a customer code with a corrected e-mail is another one', async () => {
  const one = await customerCodeId({ customerCode: '1', email: 'jnae@example.com' });
  expect(await customerCodeId({ customerCode: '1', email: 'jane@example.com' })).not.toBe(one);
  expect(await customerCodeId({ customerCode: '1', email: 'jnae@example.com' })).toBe(one);
});
