/** What is read of a transaction before an order adopts it. */
import { describe, expect, it } from 'vitest';
import type { Adoption } from '../../src/contract/order/state.ts';
import { DAY, HOUR } from '../fixtures/orders.ts';
import {
  AFTER_RESET,
  aCheckout,
  aWorld,
  checkOut,
  fromNow,
  noOrders,
  ORDER_ID,
  plan,
  refusalOf,
  requests,
  sandbox,
  screened,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

const world = () => aWorld({ reviewLimitMs: 30 * DAY });
const adoption = (transactionId: string, changes: Partial<Adoption> = {}, invoiceNumber = ORDER_ID) =>
  aCheckout('pass', {
    transaction: {},
    invoiceNumber,
    adopt: { transactionId, screenedAt: fromNow(-HOUR), ...changes },
  });
const adopt = (...asked: Parameters<typeof adoption>) => checkOut(world(), adoption(...asked));
const refusal = (...asked: Parameters<typeof adoption>) => refusalOf(world(), adoption(...asked));

describe('a transaction that is adopted', () => {
  it('needs no invoice number that leads to it, but none that leads to another one without force', async () => {
    const transactionId = await screened(world(), 'review');
    sandbox.control.decide(transactionId, 'pass');
    expect((await adopt(transactionId, {}, 'unknown-invoice')).outcome).toMatchObject({ decision: 'pass' });
    await checkOut(world(), aCheckout('pass', { orderId: 'B-1', invoiceNumber: 'B-1' }));
    expect(await refusal(transactionId, {}, 'B-1')).toMatchObject({ code: 'invoice-mismatch' });
    expect((await adopt(transactionId, { force: true }, 'B-1')).outcome).toMatchObject({ transactionId });
  });

  it('is compared with that of its invoice number, also while nobody can read the decision of that one', async () => {
    const transactionId = await screened(world(), 'review');
    await checkOut(world(), aCheckout('pass', { orderId: 'B-1', invoiceNumber: 'B-1' }));
    plan('status-by-invoice', 'unknown-decision');
    expect((await adopt(transactionId)).outcome).toMatchObject({ transactionId });
    plan('status-by-invoice', 'unknown-decision');
    expect(await refusal(transactionId, {}, 'B-1')).toMatchObject({ code: 'invoice-mismatch' });
  });

  it.each([
    ['status-by-url', 'unknown-decision', 'transaction-without-decision'],
    ['status-by-url', '5xx-before-commit', 'screening-service-unavailable'],
    ['status-by-url', '403', 'screening-service-unavailable'],
    ['status-by-invoice', '5xx-before-commit', 'screening-service-unavailable'],
  ] as const)('is refused when %s is answered by %s', async (operation, kind, code) => {
    const transactionId = await screened(world(), 'review');
    plan(operation, kind);
    expect(await refusal(transactionId)).toMatchObject({ code });
  });

  it('that breaks a rule of the policy isn’t read', async () => {
    const old = { screenedAt: fromNow(-31 * DAY) };
    expect(await refusal(UNKNOWN_ID, old)).toMatchObject({ code: 'invalid-request' });
    expect(requests('status-by-url')).toBe(0);
  });

  it('and is reset is read by no rule of the policy, and never refused; but one that was refused is refused again', async () => {
    const old = { screenedAt: fromNow(-31 * DAY) };
    const adoptedBefore = aWorld({}, { orders: { ...noOrders, ended: async () => 'lost' } });
    const transactionId = await screened(world(), 'review');
    const { outcome } = await checkOut(adoptedBefore, adoption(transactionId, old), AFTER_RESET);
    expect(outcome).toMatchObject({ transactionId });
    await expect(checkOut(adoptedBefore, adoption(UNKNOWN_ID, old), AFTER_RESET)).rejects.toThrow('adopted');
    const refused = aWorld({}, { orders: noOrders });
    expect(await refusalOf(refused, adoption(UNKNOWN_ID), AFTER_RESET)).toMatchObject({
      code: 'unknown-transaction',
    });
  });
});
