import { describe, expect, it } from 'vitest';
import { readScreenRequest } from '../../../src/client/read-requests.ts';
import type { OrderState } from '../../../src/contract/order/state.ts';
import { aClosedOrder } from '../../fixtures/orders.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { aCheckoutAnswer } from '../../server/api/fake-order-screening.ts';
import { aClient, alreadyStarted, described, taken } from '../fake-temporal.ts';

const request = { orderId: '1001', transaction: aTransaction() };

/** A client whose checkout's outcome is `pending` for ever. */
function aPendingCheckout() {
  const { orderScreening, temporal, integration } = aClient();
  const { fingerprint } = readScreenRequest(request, () => integration);
  const given = aCheckoutAnswer({ decision: 'pending', action: 'hold', phase: 'screening', fingerprint });
  temporal.executeUpdateWithStart.mockResolvedValue(given);
  temporal.describe.mockResolvedValue(described('RUNNING'));
  const readings = [{ decision: 'review', at: '2026-03-01T10:10:00.000Z', source: 'catch-up' } as const];
  /** The order that has a decision by now. */
  const decided = (order: Partial<OrderState> = {}) =>
    aClosedOrder({ fingerprint, answer: given, readings }, { phase: 'decided', ...order });
  return { screen: () => orderScreening.screen(request), orderScreening, temporal, given, decided };
}

describe('the same call after a pending', () => {
  it('is told the decision of the order, from its record when it has closed', async () => {
    const { screen, temporal, decided } = aPendingCheckout();
    temporal.record.mockResolvedValue(decided({ action: 'proceed' }));
    expect(await screen()).toMatchObject({ decision: 'review', action: 'proceed', phase: 'decided' });
    temporal.record.mockResolvedValue(decided({ phase: 'closed' }));
    temporal.result.mockResolvedValue(decided({ phase: 'closed' }));
    temporal.describe.mockResolvedValue(described('COMPLETED'));
    expect(await screen()).toMatchObject({ decision: 'review', phase: 'closed' });
    temporal.executeUpdateWithStart.mockRejectedValue(alreadyStarted);
    expect(await screen()).toMatchObject({ decision: 'review', phase: 'closed' });
  });

  it('is pending until then', async () => {
    const { screen, temporal, decided, given } = aPendingCheckout();
    const order = decided({ action: 'hold', phase: 'screening', decision: 'pending' });
    for (const attempt of order.attempts) Object.assign(attempt, { decision: 'pending', readings: [] });
    temporal.record.mockResolvedValue(order);
    const { decision, action, phase } = given;
    expect(await screen()).toMatchObject({ decision, action, phase });
  });

  it('is told so of a later attempt, too', async () => {
    const { orderScreening, temporal, given, decided } = aPendingCheckout();
    const order = decided();
    const second = order.attempts.map((one) => ({ ...one, number: 2, answer: { ...given, attempt: 2 } }));
    temporal.record.mockResolvedValue({ ...order, attempts: [...order.attempts, ...second] });
    temporal.startUpdate.mockResolvedValue(taken({ ...given, attempt: 2 }));
    const retried = await orderScreening.retry({ ...request, attempt: 2 });
    expect(retried).toMatchObject({ attempt: 2, decision: 'review' });
  });
});

describe('without a worker', () => {
  it('the pending stands while no record says more, and not when the record can’t be read', async () => {
    const { screen, given, temporal } = aPendingCheckout();
    expect(await screen()).toEqual({ ...given, fingerprint: undefined });
    temporal.describe.mockResolvedValue(described('RUNNING', { phase: 'decided', decision: 'fail' }));
    await expect(screen()).rejects.toMatchObject({ code: 'record-unreadable' });
  });
});
